"""A result on a terminal: the answer with its citations, then what cache, plan and models had to do with it."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from qkva.cli.console import line, note, out
from qkva.contracts.cache import Door
from qkva.contracts.plan import ParamType
from qkva.contracts.result import AskResult, PlanView
from qkva.planning.merging import shares

SNIPPETS = 10
"""Citations that are listed, of all sources together; a table answer already shows its rows."""
CELL_BORDER = re.compile(r"(?<!\\)\|")
"""A bar that is no part of a value."""
NARROWEST = 8
PIPE_WIDTH = 160
"""Width of a table that goes to no terminal; --json cuts nothing."""
MARKS = {"open": "+", "shut": "x", "skipped": "-"}


class Served(NamedTuple):
    """One plan that ran."""

    source: str
    plan: PlanView
    params: dict[str, Any]
    doors: tuple[Door, ...]


def served_in(result: AskResult) -> list[Served]:
    """Every plan that ran, the best first."""
    first = [Served(result.source or "", result.plan, result.params, result.doors)] if result.plan else []
    return [*first, *(Served(also.source, also.plan, also.params, also.doors) for also in result.also)]


def show_result(result: AskResult) -> None:
    """The answer, its citations, warnings, and one line on how it came about."""
    line(aligned(result.text))
    show_citations(result)
    for warning in result.warnings:
        line(f"Note: {warning}", style="yellow")
    line()
    line(summary(result), style="dim")


def show_failure(result: AskResult) -> None:
    """Why there is no answer: on standard error, in one sentence and the warnings that led to it."""
    note(result.text, style="red")
    for warning in result.warnings:
        note(f"Note: {warning}", style="yellow")


def aligned(text: str) -> str:
    """The text with the cells of its Markdown tables padded to columns."""
    lines = text.split("\n")
    for first, last in tables_in(lines):
        rows = [cells(row) for row in lines[first:last]]
        if len({len(row) for row in rows}) == 1:
            lines[first:last] = columns([rows[0], *rows[2:]])
    return "\n".join(lines)


def cells(row: str) -> list[str]:
    """The cells of a row of a Markdown table, as plain text."""
    found = [cell.strip().replace("\\|", "|") for cell in CELL_BORDER.split(row.strip().removeprefix("|"))]
    return found if found[-1] else found[:-1]


def columns(rows: list[list[str]]) -> list[str]:
    """The rows as lines with aligned cells; the first row is a head, and is underlined."""
    widths = narrowed([max(map(len, column)) for column in zip(*rows, strict=True)])
    rows = [rows[0], ["-" * width for width in widths], *rows[1:]]
    return ["  ".join(map(fitted, row, widths)).rstrip() for row in rows]


def narrowed(widths: list[int]) -> list[int]:
    """The widths, with the widest columns cut until a row fits the terminal."""
    room = (out.width if out.is_terminal else PIPE_WIDTH) - 2 * len(widths)
    while sum(widths) > room and max(widths) > NARROWEST:
        widest = widths.index(max(widths))
        widths[widest] -= 1
    return widths


def fitted(cell: str, width: int) -> str:
    """The cell, padded or cut to a width."""
    return cell.ljust(width) if len(cell) <= width else cell[: width - 1] + "…"


def tables_in(lines: list[str]) -> list[tuple[int, int]]:
    """First and one past the last line of each Markdown table."""
    found: list[tuple[int, int]] = []
    for number, text in enumerate(lines):
        if not text.startswith("|"):
            continue
        if found and found[-1][1] == number:
            found[-1] = (found[-1][0], number + 1)
        elif number + 1 < len(lines) and lines[number + 1].startswith("|--"):
            found.append((number, number + 1))
    return found


def show_citations(result: AskResult) -> None:
    """Each cited record on a line; of several sources, some of each."""
    sources = list(dict.fromkeys(citation.source for citation in result.citations))
    cited = [[citation for citation in result.citations if citation.source == source] for source in sources]
    for source, citations, count in zip(sources, cited, shares([len(each) for each in cited], SNIPPETS), strict=True):
        for citation in citations[:count]:
            parts = [f"[{citation.index}] {citation.label}", source, citation.url or ""]
            line("  " + " · ".join(part for part in parts if part), style="cyan")
        if len(citations) > count:
            of = f" of {source}" if len(sources) > 1 else ""
            line(f"  … and {len(citations) - count} more{of}", style="cyan")


def summary(result: AskResult) -> str:
    """ "hit · revenue in a time range (verified) · period last month · no model calls · 12 ms"."""
    parts = [result.cache or str(result.status)]
    served = served_in(result)
    for source, plan, params, _ in served:
        parts.append(f"{source + ': ' if len(served) > 1 else ''}{plan.key_text} ({plan.status})")
        parts += [f"{name}: {spoken(value)}" for name, value in params.items() if value is not None]
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
    """Every door of the hit decision and the plan's query, for each plan that ran."""
    served = served_in(result)
    if not served:
        show_decision(result.doors, "")
    for each in served:
        show_decision(each.doors, f" for {each.source}" if len(served) > 1 else "")
        line()
        line(f"Plan {each.plan.id or '(not stored)'}")
        show_query(each)


def show_decision(doors: Sequence[Door], of: str) -> None:
    """The doors of one hit decision."""
    line()
    line(f"Doors of the hit decision{of}" if doors else "The plan cache was not asked.")
    for door in doors:
        line(f"  {MARKS[door.verdict]} {door.name:<14} {door.verdict:<8} {door.why}")


def show_query(served: Served, indent: str = "  ") -> None:
    """The plan's query and its parameters with their types."""
    for text in served.plan.query.strip().splitlines():
        line(indent + text)
    for param in served.plan.params:
        value = served.params.get(param.name)
        kind = f"{param.type} of {param.column}" if param.column else str(ParamType(param.type))
        line(f"{indent}{{{param.name}}} = {'(none)' if value is None else spoken(value)}   {kind}")


def doors_line(result: AskResult) -> str:
    """The decision in a line: what was open, or why the first shut door was shut."""
    shut = next((door for door in result.doors if door.verdict == "shut"), None)
    if shut:
        return f"{shut.name}: {shut.why}"
    opened = [door for door in result.doors if door.verdict == "open"]
    return f"{opened[0].why} (open: {', '.join(door.name for door in opened)})" if opened else ""


def step_line(part: dict[str, Any]) -> str:
    """One finished step."""
    told = [f"{name}={part[name]}" for name in ("cache", "strategy", "source", "status") if part.get(name)]
    return f"{part.get('ms', 0):9.1f} ms  {part['node']:<14} {' '.join(told)}".rstrip()
