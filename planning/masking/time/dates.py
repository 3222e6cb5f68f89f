"""Explicit dates: "2026-03-08", "03/04/2026", "March 3rd", "in March", "the 5th".

03/04/2026 is March 4th (month first) unless the first number cannot be a month; 3.4.2026 is April 3rd (day first). A
date without its year is the latest one that has begun: in May 2026, "March" is March 2026 and "November" November
2025.
"""

import re
from datetime import date, datetime, timedelta

from dateutil import parser
from dateutil.relativedelta import relativedelta

from qkva.contracts.question import TimeRange
from qkva.planning.masking.time.calendar import at_wall_clock, days, first_day, moved, one_day, step
from qkva.planning.masking.time.words import (
    DAY_OF_MONTH,
    LAST,
    MONTH,
    MONTHS,
    NEXT,
    SURE_MONTHS,
    THIS,
    WEEKDAY,
    Atom,
    Form,
    form,
    has_cue,
)
from qkva.planning.masking.time.years import OF_YEAR, latest, offset_of, year_of


def read_iso(found: re.Match[str]) -> Atom | None:
    """A day, or with a clock time the minute or second that it names."""
    text = found[0].replace("/", "-")
    if found["clock"] is None:
        day = date(*(int(part) for part in text.split("-")))
        return Atom(found.start(), found.end(), "day", lambda now: one_day(day, now))
    moment = parser.isoparse(text.upper().replace(" ", "T"))
    unit = "second" if found["second"] else "minute"

    def resolve(now: datetime) -> TimeRange:
        start = moment.astimezone(now.tzinfo) if moment.tzinfo else at_wall_clock(moment, now)
        return TimeRange(start=start, end=moved(start, unit, 1))

    return Atom(found.start(), found.end(), "moment", resolve)


def read_numeric(found: re.Match[str]) -> Atom | None:
    """Slashes: month first where that can be; dots: day first. Two digits are a year of this century."""
    first, second, year = int(found["a"]), int(found["b"]), int(found["year"])
    day_first = found["sign"] == "." or first > 12
    number, month = (first, second) if day_first else (second, first)
    day = date(year + 2000 if year < 100 else year, month, number)
    return Atom(found.start(), found.end(), "day", lambda now: one_day(day, now))


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
    behind = found.string[found.end() :]
    is_verb = name in ("march", "may") and said.islower() and TO_DO.match(behind)
    is_person = name in PERSONS and said[0].isupper() and SURNAME.match(behind)
    if is_verb or is_person:
        return None

    def resolve(now: datetime) -> TimeRange:
        year = year_of(found, now)
        start = date(year, MONTHS[name], 1) if year else latest(lambda y: date(y, MONTHS[name], 1), now)
        return days(start, start + step("month"), now)

    return Atom(found.start(), found.end(), "month", resolve, moving=found["year"] is None, sure=bool(sure))


def read_which_month(found: re.Match[str]) -> Atom | None:
    """ "last March" is the latest one that is over, "next March" the first that has not begun, "this March" this
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


def read_day_number(found: re.Match[str]) -> Atom | None:
    """ "the 5th", where a word before says that it is a date: the latest 5th that has begun, or of the month that is
    said."""
    number, which = int(found["day"]), found["which"]

    def resolve(now: datetime) -> TimeRange:
        month = first_day("month", now.date())
        if which:
            month += step("month", offset_of(which))
        elif number > now.day:
            month -= step("month")
        return one_day(month.replace(day=number), now)

    return Atom(
        found.start(),
        found.end(),
        "day",
        resolve,
        moving=which is None,
        sure="month" in found[0].lower() or has_cue(found),
    )


PERSONS = ("jan", "april", "may", "june", "august")
TO_DO = re.compile(r"\s+(?:to|be|have|i|we)\b")
SURNAME = re.compile(r"\s+[A-Z][a-z]")
NTH = r"(?P<nth>st|nd|rd|th)"
WHICH = rf"(?P<which>{LAST}|{THIS}|{NEXT})"

DATE_FORMS: tuple[Form, ...] = (
    form(
        r"\d{4}([-/])\d{1,2}\1\d{1,2}(?P<clock>[T ]\d{2}:\d{2}(?P<second>:\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?",
        read_iso,
    ),
    form(r"(?P<a>\d{1,2})(?P<sign>[/.])(?P<b>\d{1,2})(?P=sign)(?P<year>\d{4}|\d\d)", read_numeric),
    form(
        rf"(?:(?:{WEEKDAY}),?\s+)?(?P<month>{MONTH})\.?\s+(?:the\s+)?(?P<day>{DAY_OF_MONTH}){NTH}?{OF_YEAR}",
        read_month_day,
    ),
    form(
        rf"(?:(?:{WEEKDAY}),?\s+)?(?:the\s+)?(?P<day>{DAY_OF_MONTH}){NTH}?\.?\s+(?:of\s+)?(?P<month>{MONTH})\.?{OF_YEAR}",
        read_month_day,
    ),
    form(
        rf"(?P<month>{MONTH})\.?\s+(?P<day>{DAY_OF_MONTH})(?:st|nd|rd|th)?\s*(?:-|–|to|through|until)\s*"
        rf"(?P<last>{DAY_OF_MONTH})(?:st|nd|rd|th)?{OF_YEAR}",
        read_days_of_month,
    ),
    form(rf"(?P<month>{MONTH})(?:\.(?=\s))?{OF_YEAR}(?!\.?\s+\d)", read_month),
    form(rf"{WHICH}\s+(?P<month>{MONTH})", read_which_month),
    form(
        rf"the\s+(?P<day>{DAY_OF_MONTH})(?:st|nd|rd|th)(?:\s+of\s+(?:(?P<which>{LAST}|{THIS}|{NEXT})|the)\s+month)?"
        r"(?=\s*(?:$|[?.!,;)]|(?:and|to|until|till|through|or|at|in)\b))",
        read_day_number,
    ),
)
