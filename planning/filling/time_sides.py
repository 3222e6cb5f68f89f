"""Which sides of a time range a plan reads: a plan that only looks at the start cannot carry "in March"."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from qkva.contracts.plan import Parameter, ParamType
from qkva.contracts.question import Slot, SlotType
from qkva.planning.reading.query_form import Use


def misses_side(param: Parameter, uses: Sequence[Use], slot: Slot) -> str | None:
    """A sentence when the slot says a side of time that the plan's parameter does not read; None when all is read."""
    if slot.type is not SlotType.TIME_RANGE or not isinstance(slot.value, dict):
        return None
    said = {side for side in ("start", "end") if slot.value.get(side) is not None}
    read = sides_read(param, uses)
    if said <= read or not read:
        return None
    missing = "an end" if "end" in said - read else "a start"
    return f"“{slot.text}” has {missing}, which the plan does not look at."


def sides_read(param: Parameter, uses: Sequence[Use]) -> set[str]:
    """ "start" and "end" as far as the query looks at them; empty when that cannot be told."""
    if param.type is ParamType.TIME_RANGE:
        sided = {use.side for use in uses if use.side is not None}
        return sided or ({"start", "end"} if uses else set())
    if param.type in (ParamType.DATE, ParamType.DATETIME):
        read = set()
        for use in uses:
            if use.op in (">", ">="):
                read.add("start")
            elif use.op in ("<", "<="):
                read.add("end")
            elif use.op in ("=", "in", ""):
                read |= {"start", "end"}
        return read
    return set()


def value_on_side(param: Parameter, ops: set[str], value: Any) -> Any:
    """Of a range, the side that a date parameter compares with; the value itself where it is an equality.

    `placed_on <= {day}` includes the day, and a range's end is the moment after it: one step back.
    """
    if not isinstance(value, dict):
        return value
    if ops & {">", ">="}:
        moment = value.get("start") if ">=" in ops else value.get("end") or value.get("start")
        return moment
    if "<" in ops:
        return value.get("end")
    if "<=" in ops and value.get("end"):
        step = timedelta(days=1) if param.type is ParamType.DATE else timedelta(microseconds=1)
        return (datetime.fromisoformat(value["end"]) - step).isoformat()
    return value
