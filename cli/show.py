"""A result on a terminal: the answer with its citations, then what cache, plan and models had to do with it."""

from typing import Any

from qkva.cli.console import line
from qkva.contracts.plan import ParamType
from qkva.contracts.result import AskResult

SNIPPETS = 10
"""Citations that are listed; a table answer already shows its rows."""
MARKS = {"open": "+", "shut": "x", "skipped": "-"}


def show_result(result: AskResult) -> None:
    """The answer, its citations, warnings, and one line on how it came about."""
    line(result.text, style="" if result.error is None else "red")
    show_citations(result)
    for warning in result.warnings:
        line(f"Note: {warning}", style="yellow")
    line()
    line(summary(result), style="dim")


def show_citations(result: AskResult) -> None:
    """Each cited record on a line."""
    for citation in result.citations[:SNIPPETS]:
        parts = [f"[{citation.index}] {citation.label}", citation.source, citation.url or ""]
        line("  " + " · ".join(part for part in parts if part), style="cyan")
    more = len(result.citations) - SNIPPETS
    if more > 0:
        line(f"  … and {more} more", style="cyan")


def summary(result: AskResult) -> str:
    """ "hit · revenue in a time range (verified) · period last month · no model calls · 12 ms"."""
    parts = [result.cache or str(result.status)]
    if result.plan:
        parts.append(f"{result.plan.key_text} ({result.plan.status})")
    parts += [f"{name}: {spoken(value)}" for name, value in result.params.items() if value is not None]
    return " · ".join([*parts, models_called(result), f"{total_ms(result)} ms"])


def models_called(result: AskResult) -> str:
    """ "2 model calls (route, answer)"."""
    calls = sum(result.model_calls.values())
    if not calls:
        return "no model calls"
    return f"{calls} model call{'s' if calls > 1 else ''} ({', '.join(result.model_calls)})"


def total_ms(result: AskResult) -> int:
    """Milliseconds of all steps."""
    return round(sum(result.timings_ms.values()))


def spoken(value: Any) -> str:
    """A bound value for a person: a range as its first and its last day."""
    if isinstance(value, dict) and set(value) == {"start", "end"}:
        start, end = (str(value[side] or "…")[:16].replace("T00:00", "") for side in ("start", "end"))
        return f"{start} to before {end}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def show_doors(result: AskResult) -> None:
    """Every door of the hit decision, then the plan's query."""
    line()
    line("Doors of the hit decision" if result.doors else "The plan cache was not asked.")
    for door in result.doors:
        line(f"  {MARKS[door.verdict]} {door.name:<14} {door.verdict:<8} {door.why}")
    if result.plan:
        line()
        line(f"Plan {result.plan.id or '(not stored)'}")
        show_query(result)


def show_query(result: AskResult, indent: str = "  ") -> None:
    """The plan's query and its parameters with their types."""
    if result.plan is None:
        return
    for text in result.plan.query.strip().splitlines():
        line(indent + text)
    for param in result.plan.params:
        value = result.params.get(param.name)
        kind = f"{param.type} of {param.column}" if param.column else str(ParamType(param.type))
        line(f"{indent}{{{param.name}}} = {'(none)' if value is None else spoken(value)}   {kind}")


def doors_line(result: AskResult) -> str:
    """The decision in a line: what was open, or why the first shut door was shut."""
    shut = next((door for door in result.doors if door.verdict == "shut"), None)
    if shut:
        return f"{shut.name}: {shut.why}"
    return "; ".join(f"{door.name}: {door.why}" for door in result.doors if door.verdict == "open")


def step_line(part: dict[str, Any]) -> str:
    """One finished step."""
    told = [f"{name}={part[name]}" for name in ("cache", "strategy", "source", "status") if part.get(name)]
    return f"{part.get('ms', 0):9.1f} ms  {part['node']:<14} {' '.join(told)}".rstrip()
