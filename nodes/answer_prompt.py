"""What the model sees of the records that it answers from."""

from collections.abc import Iterator, Sequence

from qkva.contracts.source import Record, SourceResult
from qkva.nodes.records_view import about

Shown = tuple[Record, ...]
"""The records of one source that are shown; marks count through those of all sources."""
CLOSING = (
    "Answer the question from these records, and write the mark of the record, such as [1], behind each statement."
)
"""Last of all, because small models heed what they read last: without it a 1.5-billion-parameter model cited nothing in
any answer tried, with it in all six."""


def answerer_sees(question: str, results: Sequence[SourceResult], shown: Sequence[Shown]) -> str:
    """The question, what was looked for, and the numbered records, fenced off as data."""
    heads: list[str] = []
    lines: list[str] = []
    first = 1
    for part, records in zip(results, shown, strict=True):
        heads.append(head(part, records, first))
        lines += [f"[{number}] {record.label}: {fields(record)}" for number, record in enumerate(records, first)]
        lines += notes(part, len(records), of=f" of {part.source}" if len(results) > 1 else "")
        first += len(records)
    looked_for = about(results[0]) if len(results) == 1 else "\n".join(["", *heads])
    records_seen = "\n".join(lines)
    return f"Question: {question}\nThe records are: {looked_for}\n<records>\n{records_seen}\n</records>\n{CLOSING}"


def head(part: SourceResult, records: Shown, first: int) -> str:
    """What one of several sources was asked for, and by which marks its records go."""
    last = first + len(records) - 1
    marks = f"[{first}]" if last == first else f"[{first}] to [{last}]" if records else "no records"
    return f"- from {part.source}, {about(part)}: {marks}"


def notes(part: SourceResult, shown: int, *, of: str) -> Iterator[str]:
    """What is not there to see."""
    more = len(part.result.records) - shown
    if more > 0:
        yield f"({more} more records{of} are not shown)"
    if part.repeated:
        yield f"({part.repeated} more records{of} are the same as some above)"
    if part.result.truncated:
        yield f"(the result{of} was cut at {len(part.result.records) + part.repeated} rows: say so)"


def fields(record: Record) -> str:
    """One record on one line."""
    line = "; ".join(f"{name}: {value}" for name, value in record.fields.items())
    return " ".join(line.split()).replace("</records>", "")  # no value can end the fence or start a line
