"""Explicit dates: "2026-03-08", "03/04/2026", "March 3rd", "in March", "Q1 2026", "in 2025".

03/04/2026 is March 4th (month first) unless the first number cannot be a month; 3.4.2026 is April 3rd (day first). A
date without its year is the latest one that has begun: in May 2026, "March" is March 2026 and "November" November
2025.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

from dateutil import parser
from dateutil.relativedelta import relativedelta

from qkva.contracts.question import TimeRange
from qkva.planning.number_words import ORDINALS
from qkva.planning.time.calendar import at_wall_clock, calendar_unit, days, first_day, one_day, step
from qkva.planning.time.words import (
    DAY_OF_MONTH,
    LAST,
    MONTH,
    MONTHS,
    NEXT,
    SURE_MONTHS,
    THIS,
    WEEKDAY,
    WHICH_YEAR,
    YEAR,
    YEAR_CUE,
    Atom,
    Form,
    form,
    has_cue,
)


def read_iso(found: re.Match[str]) -> Atom | None:
    """A day, or with a clock time the minute or second that it names."""
    text = found[0].replace("/", "-")
    if found["clock"] is None:
        day = date(*(int(part) for part in text.split("-")))
        return Atom(found.start(), found.end(), "day", lambda now: one_day(day, now))
    moment = parser.isoparse(text.upper().replace(" ", "T"))
    length = timedelta(seconds=1) if found["second"] else timedelta(minutes=1)

    def resolve(now: datetime) -> TimeRange:
        start = moment.astimezone(now.tzinfo) if moment.tzinfo else at_wall_clock(moment, now)
        return TimeRange(start=start, end=start + length)

    return Atom(found.start(), found.end(), "moment", resolve)


def read_numeric(found: re.Match[str]) -> Atom | None:
    """Slashes: month first where that can be; dots: day first. Two digits are a year of this century."""
    first, second, year = int(found["a"]), int(found["b"]), int(found["year"])
    day_first = found["sign"] == "." or first > 12
    number, month = (first, second) if day_first else (second, first)
    day = date(year + 2000 if year < 100 else year, month, number)
    return Atom(found.start(), found.end(), "day", lambda now: one_day(day, now))


def latest(begins: Callable[[int], date], now: datetime) -> date:
    """Of the dates that `begins` gives for each year, the latest that has begun."""
    for year in range(now.year, now.year - 9, -1):
        try:
            day = begins(year)
        except ValueError:  # February 29th
            continue
        if day <= now.date():
            return day
    raise ValueError("no such date in the last years")


def year_of(found: re.Match[str], now: datetime) -> int | None:
    """The year that is said with a date: a number, "last year", or none."""
    groups = found.groupdict()
    if groups.get("year"):
        return int(groups["year"])
    if groups.get("which"):
        return now.year + offset_of(groups["which"])
    return None


def offset_of(which: str) -> int:
    """-1 for "last", 1 for "next", 0 for "this"."""
    word = which.lower()
    return -1 if word in LAST.split("|") else 1 if word in NEXT.split("|") else 0


def read_month_day(found: re.Match[str]) -> Atom | None:
    """A day of a month, with or without its year."""
    name, number = found["month"].lower(), int(found["day"])
    month = MONTHS[name]
    sure = found["nth"] or found["year"] or found["which"] or found["month"][0].isupper() or name in SURE_MONTHS
    sure = bool(sure) or has_cue(found)

    def resolve(now: datetime) -> TimeRange:
        year = year_of(found, now)
        day = date(year, month, number) if year else latest(lambda y: date(y, month, number), now)
        return one_day(day, now)

    return Atom(found.start(), found.end(), "day", resolve, moving=found["year"] is None, sure=sure)


def read_days_of_month(found: re.Match[str]) -> Atom | None:
    """Some days of one month: "March 3 to 5"."""
    month, first, last = MONTHS[found["month"].lower()], int(found["day"]), int(found["last"])

    def resolve(now: datetime) -> TimeRange:
        year = year_of(found, now)
        start = date(year, month, first) if year else latest(lambda y: date(y, month, first), now)
        return days(start, start.replace(day=last) + timedelta(days=1), now)

    return Atom(found.start(), found.end(), "days", resolve, moving=found["year"] is None) if first < last else None


def read_month(found: re.Match[str]) -> Atom | None:
    """A month, with or without its year. A name that is also another word needs a cue before it."""
    name, said = found["month"].lower(), found["month"]
    after_others = found.start() > 0 and said[0].isupper() and not found.string.isupper()
    sure = (
        found["year"] or found["which"] or name in SURE_MONTHS or (name == "march" and after_others) or has_cue(found)
    )
    to_someone = (
        name in ("march", "may")
        and said.islower()
        and re.match(r"\s+(?:to|be|have|i|we)\b", found.string[found.end() :])
    )
    if to_someone:
        return None

    def resolve(now: datetime) -> TimeRange:
        year = year_of(found, now)
        start = date(year, MONTHS[name], 1) if year else latest(lambda y: date(y, MONTHS[name], 1), now)
        return days(start, start + step("month"), now)

    return Atom(found.start(), found.end(), "month", resolve, moving=found["year"] is None, sure=bool(sure))


def read_which_month(found: re.Match[str]) -> Atom | None:
    """"last March" is the latest one that is over, "next March" the first that has not begun, "this March" this
    year's."""
    month, offset = MONTHS[found["month"].lower()], offset_of(found["which"])

    def resolve(now: datetime) -> TimeRange:
        this_month = now.date().replace(day=1)
        start = date(now.year, month, 1)
        if offset < 0 and start >= this_month:
            start -= relativedelta(years=1)
        if offset > 0 and start <= this_month:
            start += relativedelta(years=1)
        return days(start, start + step("month"), now)

    return Atom(found.start(), found.end(), "month", resolve)


def read_part_of_year(found: re.Match[str]) -> Atom | None:
    """A quarter or half of a year: "Q1 2026", "the second half of last year"; without a year the latest that has
    begun."""
    groups = found.groupdict()
    ordinal = (groups.get("nth") or "").lower()
    months = 3 if groups.get("q") or (groups.get("part") or "").lower() == "quarter" else 6
    count = 12 // months
    if ordinal:
        number = count if ordinal == "last" else ORDINALS.get(ordinal) or int(ordinal[0])
    else:
        number = int(groups.get("q") or groups.get("h") or 0)
    if not 1 <= number <= count:
        return None

    def resolve(now: datetime) -> TimeRange:
        year = year_of(found, now)
        first_month = 1 + months * (number - 1)
        start = date(year, first_month, 1) if year else latest(lambda y: date(y, first_month, 1), now)
        return days(start, start + relativedelta(months=months), now)

    return Atom(found.start(), found.end(), "quarter", resolve, moving=found["year"] is None)


def read_year(found: re.Match[str]) -> Atom | None:
    """A year, where a word before it says that it is one, and none after it that it counts something."""
    rest = found.string[found.end() :]
    if COUNTED.match(rest):
        return None
    year, sure = int(found["year"]), has_cue(found, YEAR_CUE)
    return Atom(
        found.start(), found.end(), "year", lambda now: days(date(year, 1, 1), date(year + 1, 1, 1), now), sure=sure
    )


def read_decade(found: re.Match[str]) -> Atom | None:
    """"the 1990s"."""
    first = int(found["decade"])
    return Atom(found.start(), found.end(), "decade", lambda now: days(date(first, 1, 1), date(first + 10, 1, 1), now))


def read_day_number(found: re.Match[str]) -> Atom | None:
    """"the 5th", where a word before says that it is a date: the latest 5th that has begun, or of the month that is
    said."""
    number, which = int(found["day"]), found["which"]

    def resolve(now: datetime) -> TimeRange:
        month = first_day("month", now.date())
        if which:
            month += step("month", offset_of(which))
        elif number > now.day:
            month -= step("month")
        return one_day(month.replace(day=number), now)

    return Atom(found.start(), found.end(), "day", resolve, moving=which is None, sure=has_cue(found))


def read_week_of(found: re.Match[str]) -> Atom | None:
    """The calendar week that holds a date: "the week of 2026-03-03"."""
    day = date.fromisoformat(found["iso"])
    return Atom(
        found.start(),
        found.end(),
        "week",
        lambda now: calendar_unit("week", 0, at_wall_clock(datetime(day.year, day.month, day.day, 12), now)),
    )


# "in 2020 dollars", "for 2000 orders": what a number before it counts.
COUNTED = re.compile(
    r"\s*(?:[%€$£]|(?!(?:was|is|has|does|as|this|us|vs|plus|versus)\b)[a-z]{2,}[a-rt-z]s\b|usd\b|eur\b|k[gm]\b|people\b)",
    re.I,
)
NTH = r"(?P<nth>st|nd|rd|th)"
WHICH = rf"(?P<which>{LAST}|{THIS}|{NEXT})"
OF_YEAR = rf"(?:,?\s+(?:of\s+|in\s+)?(?:(?P<year>{YEAR})|{WHICH_YEAR}))?"
PART = r"(?:the\s+)?(?P<nth>first|second|third|fourth|last|1st|2nd|3rd|4th)\s+(?P<part>quarter|half)"

DATE_FORMS: tuple[Form, ...] = (
    form(
        r"\d{4}([-/])\d{1,2}\1\d{1,2}(?P<clock>[T ]\d{2}:\d{2}(?P<second>:\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?",
        read_iso,
    ),
    form(r"(?P<a>\d{1,2})(?P<sign>[/.])(?P<b>\d{1,2})(?P=sign)(?P<year>\d{4}|\d\d)", read_numeric),
    form(r"(?:the\s+)?week\s+of\s+(?P<iso>\d{4}-\d\d-\d\d)", read_week_of),
    form(
        rf"(?:(?:{WEEKDAY}),?\s+)?(?P<month>{MONTH})\.?\s+(?:the\s+)?(?P<day>{DAY_OF_MONTH}){NTH}?{OF_YEAR}",
        read_month_day,
    ),
    form(
        rf"(?:(?:{WEEKDAY}),?\s+)?(?:the\s+)?(?P<day>{DAY_OF_MONTH}){NTH}?\.?\s+(?:of\s+)?(?P<month>{MONTH})\.?{OF_YEAR}",
        read_month_day,
    ),
    form(
        rf"(?P<month>{MONTH})\.?\s+(?P<day>{DAY_OF_MONTH})(?:st|nd|rd|th)?\s*(?:-|–|to|through|until)\s*(?P<last>{DAY_OF_MONTH})"
        rf"(?:st|nd|rd|th)?{OF_YEAR}",
        read_days_of_month,
    ),
    form(rf"(?P<month>{MONTH})(?:\.(?=\s))?{OF_YEAR}(?!\.?\s+\d)", read_month),
    form(rf"{WHICH}\s+(?P<month>{MONTH})", read_which_month),
    form(rf"(?:Q(?P<q>[1-4])|H(?P<h>[12]))(?:[ -/]?(?:of\s+)?(?:(?P<year>{YEAR})|{WHICH_YEAR}))?", read_part_of_year),
    form(rf"(?P<year>{YEAR})[ -/]?(?:Q(?P<q>[1-4])|H(?P<h>[12]))", read_part_of_year),
    form(rf"{PART}{OF_YEAR}", read_part_of_year),
    form(rf"(?P<year>{YEAR})", read_year),
    form(r"(?:the\s+)?(?P<decade>(?:19|20)\d0)'?s", read_decade),
    form(
        rf"the\s+(?P<day>{DAY_OF_MONTH})(?:st|nd|rd|th)(?:\s+of\s+(?:(?P<which>{LAST}|{THIS}|{NEXT})|the)\s+month)?"
        r"(?=\s*(?:$|[?.!,;)]|(?:and|to|until|till|through|or|at|in)\b))",
        read_day_number,
    ),
)
