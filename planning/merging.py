"""The records of several sources as one answer: in the order of the sources, each thing once, and room for each.

A record is the same thing as another source's when both have the same deep link, or when both are known by a key and
agree in it and in every field: two sources may be two ways to one database. A row without a key ("14 customers") is a
fact about its source, and stays with it even if another source has an equal one.
"""

import json
import re
from collections.abc import Iterable, Sequence

from qkva.contracts.source import QueryResult, Record, SourceResult

ROW_NUMBER = re.compile(r"row-\d+")
"""The id of a record that has no key."""


def merged(results: Iterable[SourceResult]) -> list[SourceResult]:
    """The results in their order, each without what a source before it brought; it says how many those were."""
    seen: set[tuple[str, ...]] = set()
    parts: list[SourceResult] = []
    for part in results:
        kept = [record for record in part.result.records if identity(record) not in seen]
        repeated = len(part.result.records) - len(kept)
        seen |= {known for record in kept if (known := identity(record)) is not None}
        result = part.result.model_copy(update={"records": tuple(kept)})
        parts.append(part.model_copy(update={"result": result, "repeated": repeated}))
    return parts


def identity(record: Record) -> tuple[str, ...] | None:
    """What a record is known by across sources; None if by nothing."""
    if record.url is not None:
        return ("link", record.url)
    if ROW_NUMBER.fullmatch(record.id):
        return None
    return ("key", record.id, record.label, json.dumps(record.fields, sort_keys=True, default=str))


def emptied(result: QueryResult) -> QueryResult:
    """The result, without the one row of NULLs that a sum over no rows gives."""
    rows = result.records
    if len(rows) == 1 and all(value is None for value in rows[0].fields.values()):
        return result.model_copy(update={"records": ()})
    return result


def shares(counts: Sequence[int], room: int) -> list[int]:
    """How many of each are shown if `room` are shown in all: equal parts; what one leaves over goes to the others."""
    given = [0] * len(counts)
    waiting = [place for place, count in enumerate(counts) if count]
    while waiting and room > 0:
        each = max(1, room // len(waiting))
        for place in waiting:
            more = min(each, counts[place] - given[place], room)
            given[place] += more
            room -= more
        waiting = [place for place in waiting if given[place] < counts[place]]
    return given


def shown_records(results: Sequence[SourceResult], room: int) -> list[tuple[Record, ...]]:
    """The first records of each source, `room` in all; marks count through them: [1] is the first source's first."""
    given = shares([len(part.result.records) for part in results], room)
    return [part.result.records[:number] for part, number in zip(results, given, strict=True)]
