"""What directly beside a date changes it: "the week of March 3rd", "yesterday at 5 pm", "early March", "the end of
2025".

"early", "mid" and "late" are thirds: of a month from the 1st, 11th and 21st on, of a year four months each. The start
and the end of a period are its first and its last day.
"""

import re
from dataclasses import replace
from datetime import datetime, timedelta

from dateutil.relativedelta import relativedelta

from qkva.contracts.question import TimeRange
from qkva.planning.masking.detectors_clock import CLOCK, clock_value
from qkva.planning.masking.time.calendar import at_wall_clock, calendar_unit, midnight, moved, one_day
from qkva.planning.masking.time.words import Atom, Resolve

WEEK_OF = re.compile(
    r"(?<!\w)(?:the\s+)?week\s+(?:of|beginning|starting|commencing)\s+(?:the\s+|on\s+)?$", re.IGNORECASE
)
THIRD = re.compile(r"(?<!\w)(early|mid|late)(?:\s+|-)$", re.IGNORECASE)
EDGE = re.compile(r"(?<!\w)(?:the\s+)?(start|beginning|end)\s+of\s+(?:the\s+)?$", re.IGNORECASE)
AT = re.compile(r"\s+(?:at\s+)?$|,\s*$", re.IGNORECASE)
ON = re.compile(r"\s+(?:on\s+(?:the\s+)?)?$", re.IGNORECASE)


def with_neighbours(text: str, atoms: list[Atom]) -> list[Atom]:
    """The atoms, those that are days widened by the week or the clock time that is said beside them."""
    clocks = [(found.start(), found.end(), clock_value(found)) for found in CLOCK.finditer(text)]
    changed = []
    for atom in atoms:
        if atom.kind == "day" and atom.sure:
            atom = widened(text, atom, clocks)
        elif atom.kind in ("month", "year", "quarter"):
            atom = narrowed(text, atom)
        changed.append(atom)
    return changed


def narrowed(text: str, period: Atom) -> Atom:
    """The part of a month, quarter or year that the words before it pick."""
    third = THIRD.search(text, 0, period.start)
    if third and period.kind != "quarter":
        part = {"early": 0, "mid": 1, "late": 2}[third[1].lower()]
        return replace(period, start=third.start(), resolve=third_of(period.resolve, period.kind, part))
    edge = EDGE.search(text, 0, period.start)
    if edge:
        return replace(period, start=edge.start(), resolve=edge_of(period.resolve, edge[1].lower() == "end"))
    return period


def widened(text: str, day: Atom, clocks: list[tuple[int, int, str]]) -> Atom:
    """The week of the day, or the minute on it."""
    week = WEEK_OF.search(text, 0, day.start)
    if week:
        return replace(day, start=week.start(), kind="week", resolve=week_of(day.resolve))
    for start, end, clock in clocks:
        if start >= day.end and AT.fullmatch(text, day.end, start):
            return replace(day, end=end, kind="moment", resolve=minute_of(day.resolve, clock))
        if end <= day.start and ON.fullmatch(text, end, day.start):
            return replace(day, start=start, kind="moment", resolve=minute_of(day.resolve, clock))
    return day


def third_of(period: Resolve, kind: str, part: int) -> Resolve:
    """The first, second or last third of a month or year."""

    def resolve(now: datetime) -> TimeRange:
        whole = period(now)
        if whole.start is None:
            raise ValueError("a period has a start")
        first = whole.start.date()
        cuts = [first + (timedelta(days=10 * n) if kind == "month" else relativedelta(months=4 * n)) for n in range(3)]
        start, end = midnight(cuts[part], now), midnight(cuts[part + 1], now) if part < 2 else whole.end
        return TimeRange(start=start, end=end)

    return resolve


def edge_of(period: Resolve, last: bool) -> Resolve:
    """The first or the last day of a period."""

    def resolve(now: datetime) -> TimeRange:
        whole = period(now)
        if whole.start is None or whole.end is None:
            raise ValueError("a period has two ends")
        return one_day(whole.end.date() - timedelta(days=1) if last else whole.start.date(), now)

    return resolve


def week_of(day: Resolve) -> Resolve:
    """The calendar week that holds a day."""

    def resolve(now: datetime) -> TimeRange:
        start = day(now).start
        if start is None:
            raise ValueError("a day has a start")
        return calendar_unit("week", 0, start)

    return resolve


def minute_of(day: Resolve, clock: str) -> Resolve:
    """The minute (or second, if one is said) on a day when the wall clock shows `clock`."""
    hour, minute, *second = (int(part) for part in clock.split(":"))

    def resolve(now: datetime) -> TimeRange:
        start = day(now).start
        if start is None:
            raise ValueError("a day has a start")
        wall = start.replace(hour=hour, minute=minute, second=second[0] if second else 0, tzinfo=None)
        moment = at_wall_clock(wall, now)
        return TimeRange(start=moment, end=moved(moment, "second" if second else "minute", 1))

    return resolve
