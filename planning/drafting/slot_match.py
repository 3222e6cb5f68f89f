"""Which literals of a query are values of the question that it was made for."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from qkva.contracts.question import Slot, SlotType
from qkva.planning.drafting.literals import Literal
from qkva.planning.filling.fits import same_column

_NUMBERS = {SlotType.NUMBER, SlotType.MONEY, SlotType.PERCENT, SlotType.ORDINAL}


@dataclass(frozen=True)
class Match:
    """A literal, or a whole list of them, and the slot it says."""

    literal: Literal
    slot: Slot | None
    side: str | None = None
    """"start" or "end" of a time range."""
    makes_exclusive: bool = False
    """Whether `<=` the last day must become `<` the end."""
    items: tuple[Literal, ...] = ()
    """The items of an IN (…) list, all of them values of the question."""
    slots: tuple[Slot, ...] = ()


def match_literals(literals: Sequence[Literal], slots: Sequence[Slot]) -> list[Match]:
    """Matches in no particular order; a literal that says no slot stays a constant."""
    lists: dict[int, list[Literal]] = defaultdict(list)
    for literal in literals:
        if literal.list_id is not None:
            lists[literal.list_id].append(literal)
    found: list[Match] = []
    whole: set[int] = set()
    for list_id, items in lists.items():
        said = [_slot_of(item, slots) for item in items]
        if len(items) == items[0].list_length and len(items) > 1 and all(slot is not None for slot in said):
            whole.add(list_id)
            found.append(
                Match(items[0], None, items=tuple(items), slots=tuple(slot for slot in said if slot is not None))
            )
    for literal in literals:
        if literal.list_id in whole:
            continue
        match = _time_match(literal, slots) or _plain_match(literal, slots)
        if match is not None:
            found.append(match)
    return found


def _plain_match(literal: Literal, slots: Sequence[Slot]) -> Match | None:
    slot = _slot_of(literal, slots)
    return Match(literal, slot) if slot is not None else None


def _slot_of(literal: Literal, slots: Sequence[Slot]) -> Slot | None:
    """The slot that a literal says: the one whose column it is compared with, else the only one of its value."""
    equal = [slot for slot in slots if slot.type is not SlotType.TIME_RANGE and _says(literal, slot)]
    if literal.column is not None:
        at_home = [s for s in equal if any(same_column(column, literal.column) for column in s.columns)]
        if at_home:
            return at_home[0]
    return equal[0] if equal else None


def _says(literal: Literal, slot: Slot) -> bool:
    if not literal.op or literal.op == "interval":
        return False
    if slot.type in _NUMBERS:
        if literal.op == "limit" and (slot.type is not SlotType.NUMBER or slot.comparison is not None):
            return False
        return _number(literal.value) is not None and _number(literal.value) == _number(slot.value)
    said = {str(slot.value).casefold(), slot.text.strip("\"'“”").casefold()}
    return literal.value.strip().casefold() in said


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _time_match(literal: Literal, slots: Sequence[Slot]) -> Match | None:
    moment = _moment(literal.value) if literal.is_string else None
    if moment is None:
        return None
    for slot in slots:
        if slot.type is not SlotType.TIME_RANGE or not isinstance(slot.value, dict):
            continue
        start, end = _moment(slot.value.get("start")), _moment(slot.value.get("end"))
        if literal.op == ">=" and _same(moment, start, literal):
            return Match(literal, slot, "start")
        if literal.op == "<" and _same(moment, end, literal):
            return Match(literal, slot, "end")
        if literal.op == "<=" and literal.op_span is not None and _is_last(moment, end, literal):
            return Match(literal, slot, "end", makes_exclusive=True)
        if (
            literal.op == "="
            and start is not None
            and _same(moment, start, literal)
            and end == start + timedelta(days=1)
        ):
            return Match(literal, slot)
    return None


def _moment(value: Any) -> datetime | None:
    """Wall clock time: a literal without a zone is meant in the caller's, as the slot is."""
    if not isinstance(value, str) or len(value) < 10:
        return None
    try:
        return datetime.fromisoformat(value).replace(tzinfo=None)
    except ValueError:
        return None


def _same(moment: datetime, side: datetime | None, literal: Literal) -> bool:
    if side is None:
        return False
    return moment == side or (
        len(literal.value) == 10 and moment.date() == side.date() and side.time() == moment.time()
    )


def _is_last(moment: datetime, end: datetime | None, literal: Literal) -> bool:
    """Whether `<=` this moment includes the last day of the range: the day itself, or its last second."""
    if end is None:
        return False
    if moment == end:
        return True
    last: date = (end - timedelta(microseconds=1)).date()
    is_day = len(literal.value) == 10
    return moment.date() == last and (is_day or moment.time().isoformat() >= "23:59")
