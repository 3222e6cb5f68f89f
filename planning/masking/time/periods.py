"""Times relative to now: "yesterday", "last week", "past three months", "3 days ago", "on Monday", "so far this year".

One unit is the calendar's ("last week" is Monday to Monday), except "the past week" and "the last hour", which end
now; several are a window that ends now ("last 7 days"). A weekday is the latest that has begun ("on Monday", today
included), "last Friday" lies before today, "next Monday" after it. Parts of the day: planning.time.words.
"""

import re
from datetime import datetime, timedelta

from qkva.contracts.question import TimeRange
from qkva.planning.masking.number_words import whole_number
from qkva.planning.masking.time.calendar import at_wall_clock, calendar_unit, first_day, moved, one_day, sliding
from qkva.planning.masking.time.words import (
    CLOCK_UNIT,
    DAY_PART,
    DAY_PARTS,
    LAST,
    NEXT,
    NUMBER,
    THIS,
    UNIT,
    WEEKDAY,
    WEEKDAYS,
    Atom,
    Form,
    form,
    has_cue,
)
from qkva.planning.masking.time.years import offset_of

NAMED_DAYS = {"today": 0, "yesterday": -1, "tomorrow": 1, "the day before yesterday": -2, "the day after tomorrow": 2}
TO_DATE = {"ytd": "year", "qtd": "quarter", "mtd": "month", "wtd": "week"}


def part_of_day(day: datetime, part: str | None) -> TimeRange:
    """A part of the day that `day` lies in, or all of it."""
    if not part:
        return one_day(day.date(), day)
    first, after = DAY_PARTS[part.lower()]
    start = datetime(day.year, day.month, day.day)
    return TimeRange(
        start=at_wall_clock(start + timedelta(hours=first), day), end=at_wall_clock(start + timedelta(hours=after), day)
    )


def read_named_day(found: re.Match[str]) -> Atom | None:
    """Today, yesterday, tomorrow and the days beside them, with a part of the day."""
    name = re.sub(r"\s+", " ", found["day"].lower())
    offset = NAMED_DAYS.get(name, NAMED_DAYS.get(f"the {name}", 0))
    return Atom(found.start(), found.end(), "day", lambda now: part_of_day(moved(now, "day", offset), found["part"]))


def read_this_part(found: re.Match[str]) -> Atom | None:
    """Read "this morning", "tonight", "last night"."""
    text = re.sub(r"\s+", " ", found[0].lower())
    offset = -1 if text == "last night" else 0
    part = {"tonight": "evening", "last night": "night"}.get(text) or found["part"]
    return Atom(found.start(), found.end(), "day", lambda now: part_of_day(moved(now, "day", offset), part))


def read_unit(found: re.Match[str]) -> Atom | None:
    """ "last week", "this quarter", "next year", "the past month", "this month so far"."""
    unit, which = found["unit"].lower(), found["which"].lower()
    offset, start, end = offset_of(which), found.start(), found.end()
    if unit == "minute" and "the" not in found[0].lower():
        return None  # "last minute orders"
    if offset and unit in CLOCK_UNIT or which == "past" and unit != "weekend":
        return Atom(start, end, "window", lambda now: sliding(unit, -offset, now))
    if found["so_far"]:
        return Atom(start, end, "period", lambda now: TimeRange(start=calendar_unit(unit, offset, now).start, end=now))
    return Atom(start, end, "period", lambda now: calendar_unit(unit, offset, now))


def read_before_last(found: re.Match[str]) -> Atom | None:
    """Read "the week before last", "the month after next"."""
    unit, offset = found["unit"].lower(), -2 if found["side"].lower() == "before" else 2
    return Atom(found.start(), found.end(), "period", lambda now: calendar_unit(unit, offset, now))


def read_window(found: re.Match[str]) -> Atom | None:
    """A window that ends or starts now: "last 7 days", "the next two weeks"; "the last 3 full months" are the
    calendar's."""
    count, unit = whole_number(found["count"]), found["unit"].lower()
    if not count:
        return None
    signed = -count if offset_of(found["which"]) > 0 else count
    if found["whole"]:
        return Atom(found.start(), found.end(), "period", lambda now: whole_units(unit, signed, now))
    return Atom(found.start(), found.end(), "window", lambda now: sliding(unit, signed, now))


def whole_units(unit: str, count: int, now: datetime) -> TimeRange:
    """The last `count` units that are over, or the next that have not begun."""
    if count < 0:
        return TimeRange(start=calendar_unit(unit, 1, now).start, end=calendar_unit(unit, -count, now).end)
    return TimeRange(start=calendar_unit(unit, -count, now).start, end=calendar_unit(unit, -1, now).end)


def read_ago(found: re.Match[str]) -> Atom | None:
    """A day that is so long ago: "3 days ago", "2 weeks ago"; "3 hours ago" is the hour that begins then."""
    count, unit = whole_number(found["count"]), found["unit"].lower()
    if count is None:
        return None
    signed = count if "from" in found["way"].lower() else -count
    if unit in CLOCK_UNIT.split("|"):
        return Atom(
            found.start(), found.end(), "ago",
            lambda now: TimeRange(start=moved(now, unit, signed), end=moved(now, unit, signed + 1)),
        )  # fmt: skip
    return Atom(found.start(), found.end(), "ago", lambda now: one_day(moved(now, unit, signed).date(), now))


def read_age(found: re.Match[str]) -> Atom | None:
    """Read "older than 30 days", "more than a week ago", "less than 3 hours old": before or since the moment that long
    ago."""
    count, unit = whole_number(found["count"]), found["unit"].lower()
    if count is None:
        return None
    older = found["older"] is not None

    def resolve(now: datetime) -> TimeRange:
        then = moved(now, unit, -count)
        return TimeRange(end=then) if older else TimeRange(start=then)

    return Atom(found.start("count"), found.end(), "older" if older else "newer", resolve)


def read_to_date(found: re.Match[str]) -> Atom | None:
    """Read "year to date", "MTD", "so far this year"."""
    unit = (found["unit"] or found["so_far"] or TO_DATE.get((found["short"] or "").lower(), "")).lower()
    return Atom(
        found.start(), found.end(), "to date", lambda now: TimeRange(start=calendar_unit(unit, 0, now).start, end=now)
    )


def read_edge(found: re.Match[str]) -> Atom | None:
    """The first or last day of a period: "the beginning of the year", "the end of last month"."""
    unit, first = found["unit"].lower(), found["edge"].lower() not in ("end", "close")
    offset = offset_of(found["which"] or "this")

    def resolve(now: datetime) -> TimeRange:
        period = calendar_unit(unit, offset, now)
        if period.start is None or period.end is None:
            raise ValueError("a calendar unit has two ends")
        day = period.start.date() if first else period.end.date() - timedelta(days=1)
        return one_day(day, now)

    return Atom(found.start(), found.end(), "day", resolve)


def read_weekday(found: re.Match[str]) -> Atom | None:
    """A weekday, with a part of the day. Short forms need a preposition; "every Monday" is a habit, not a date."""
    name, which = found["weekday"].lower(), (found["which"] or "").lower()
    if re.search(r"\b(?:every|each|any|all|per)\s+$", found.string[: found.start()], re.IGNORECASE):
        return None
    number, offset = WEEKDAYS[name], offset_of(which)
    sure = bool(which) or name.endswith("day") or has_cue(found)

    def resolve(now: datetime) -> TimeRange:
        today = now.weekday()
        if not which:
            away = -((today - number) % 7)
        elif offset:
            away = -((today - number - 1) % 7 + 1) if offset < 0 else (number - today - 1) % 7 + 1
        else:
            away = (first_day("week", now.date()) - now.date()).days + number
        return part_of_day(moved(now, "day", away), found["part"])

    return Atom(found.start(), found.end(), "weekday", resolve, moving=not which, sure=sure)


WHICH = rf"(?P<which>{LAST}|{THIS}|{NEXT})"
ANY_UNIT = f"{CLOCK_UNIT}|{UNIT}"
PART_AFTER = rf"(?:\s+(?P<part>{DAY_PART}))?"

PERIOD_FORMS: tuple[Form, ...] = (
    form(
        rf"(?P<day>today|yesterday|tomorrow|(?:the\s+)?day\s+before\s+yesterday|(?:the\s+)?day\s+after\s+tomorrow){PART_AFTER}",
        read_named_day,
    ),
    form(rf"tonight|last\s+night|this\s+(?P<part>{DAY_PART})", read_this_part),
    form(rf"(?:the\s+)?{WHICH}\s+(?P<unit>{ANY_UNIT}|weekend)(?P<so_far>\s+(?:so\s+far|to\s+date))?", read_unit),
    form(rf"(?:the\s+)?(?P<unit>{UNIT}|weekend)\s+(?P<side>before|after)\s+(?:last|next)", read_before_last),
    form(
        rf"(?:the\s+)?(?P<which>{LAST}|trailing|{NEXT})[\s-]+(?P<count>{NUMBER})[\s-]+(?P<whole>(?:full|whole|calendar|complete)\s+)?(?P<unit>{ANY_UNIT})s?",
        read_window,
    ),
    form(
        rf"(?P<count>an?|{NUMBER})[\s-]+(?P<unit>{ANY_UNIT})s?\s+(?P<way>ago|earlier\s+than\s+now|from\s+now)", read_ago
    ),
    form(
        rf"(?:(?P<older>(?:more|longer|older|over)(?:\s+than)?|over)|(?:less|fewer|newer|younger|under)(?:\s+than)?)\s+"
        rf"(?P<count>an?|{NUMBER})[\s-]+(?P<unit>{ANY_UNIT})s?(?:\s+(?P<way>ago|old))?",
        read_age,
    ),
    form(
        rf"(?:the\s+)?(?:(?P<unit>{UNIT})[\s-]+to[\s-]+date|(?P<short>ytd|mtd|qtd|wtd)|so\s+far\s+this\s+(?P<so_far>{UNIT}))",
        read_to_date,
    ),
    form(
        rf"(?:the\s+)?(?P<edge>start|beginning|end|close)\s+of\s+(?:the\s+)?(?P<which>{LAST}|{THIS}|{NEXT})?\s*(?P<unit>{UNIT})",
        read_edge,
    ),
    form(rf"(?:{WHICH}\s+)?(?P<weekday>{WEEKDAY}){PART_AFTER}", read_weekday),
)
