"""The answer without a model: the records as a Markdown table, each with its citation mark."""

from typing import Any

from qkva.contracts.source import QueryResult
from qkva.nodes.ask.execute import spoken

SHOWN_ROWS = 20
SHOWN_CHARS = 60


def table_answer(result: QueryResult, *, source: str, params: dict[str, Any], plan: dict[str, Any]) -> tuple[str, int]:
    """The text, and how many records it shows."""
    records = result.records[:SHOWN_ROWS]
    said = ", ".join(f"{name} = {spoken(value)}" for name, value in params.items() if value is not None)
    head = f"{plan['key_text']}" + (f" ({said})" if said else "")
    if len(result.records) == 1 and len(records[0].fields) == 1:
        name, value = next(iter(records[0].fields.items()))
        return f"{head}: {name} = {cell(value)} [1]", 1
    names = list(records[0].fields)
    lines = [f"{head}:", "", "| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for number, record in enumerate(records, 1):
        lines.append(f"| [{number}] | " + " | ".join(cell(record.fields.get(name)) for name in names) + " |")
    hidden = len(result.records) - len(records)
    if hidden:
        lines += ["", f"… and {hidden} more rows."]
    if result.truncated:
        lines += ["", f"Only the first {len(result.records)} rows were read; {source} has more."]
    return "\n".join(lines), len(records)


def cell(value: Any) -> str:
    """One value, short and without what would break the table."""
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value)
    text = " ".join(text.replace("|", "\\|").split()).replace("[", "(").replace("]", ")")
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
