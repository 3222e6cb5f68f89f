"""The answer without a model: the records of each source as a Markdown table, each with its citation mark."""

from collections.abc import Sequence
from typing import Any

from qkva.contracts.source import Record, SourceResult
from qkva.nodes.records_view import about
from qkva.planning.merging import shown_records

SHOWN_ROWS = 20
"""Of all sources together."""
SHOWN_CHARS = 60


def table_answer(results: Sequence[SourceResult]) -> tuple[str, list[tuple[Record, ...]]]:
    """The text, and the records that it shows, by source; marks count through them."""
    shown = shown_records(results, SHOWN_ROWS)
    sections: list[str] = []
    first = 1
    for part, records in zip(results, shown, strict=True):
        head = about(part) if len(results) == 1 else f"{part.source}: {about(part)}"
        sections.append(section(head, part, records, first))
        first += len(records)
    return "\n\n".join(sections), shown


def section(head: str, part: SourceResult, records: Sequence[Record], first: int) -> str:
    """What one source brought; `first` is the mark of its first record."""
    if not records:
        return f"{head}: {'nothing else' if part.repeated else 'no relevant records found'}.{repeated(part)}"
    if len(part.result.records) == 1 and len(records[0].fields) == 1:
        name, value = next(iter(records[0].fields.items()))
        return f"{head}: {name} = {cell(value)} [{first}]{repeated(part)}"
    names = list(records[0].fields)
    lines = [f"{head}:", "", "| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for number, record in enumerate(records, first):
        lines.append(f"| [{number}] | " + " | ".join(cell(record.fields.get(name)) for name in names) + " |")
    hidden = len(part.result.records) - len(records)
    if hidden:
        lines += ["", f"… and {hidden} more rows."]
    if part.repeated:
        lines += ["", repeated(part).strip()]
    if part.result.truncated:
        read = len(part.result.records) + part.repeated
        lines += ["", f"Only the first {read} rows were read; {part.source} has more."]
    return "\n".join(lines)


def repeated(part: SourceResult) -> str:
    """What was left out, so that nobody counts it as missing."""
    if not part.repeated:
        return ""
    rows = "1 row is" if part.repeated == 1 else f"{part.repeated} rows are"
    return f" {rows} the same as above."


def cell(value: Any) -> str:
    """One value, short and without what would break the table."""
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value)
    text = " ".join(text.replace("|", "\\|").split()).replace("[", "(").replace("]", ")")
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
