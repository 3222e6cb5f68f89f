"""Years and their parts: "in 2025", "Q1 2026", "the second half of last year"; and which year a date means."""

import re
from collections.abc import Callable
from datetime import date, datetime

from dateutil.relativedelta import relativedelta

from qkva.contracts.question import TimeRange
from qkva.planning.masking.number_words import ORDINALS
from qkva.planning.masking.time.calendar import days
from qkva.planning.masking.time.words import LAST, NEXT, WHICH_YEAR, YEAR, YEAR_CUE, Atom, Form, form, has_cue

# "in 2020 dollars", "for 2000 orders": what a number before it counts.
COUNTED = re.compile(
    r"\s*(?:[%€$£]|(?!(?:was|is|has|does|as|this|us|vs|plus|versus)\b)[a-z]{2,}[a-rt-z]s\b|usd\b|eur\b|k[gm]\b|people\b)",
    re.I,
)
OF_YEAR = rf"(?:,?\s+(?:of\s+|in\s+)?(?:(?P<year>{YEAR})|{WHICH_YEAR}))?"
PART = r"(?:the\s+)?(?P<nth>first|second|third|fourth|last|1st|2nd|3rd|4th)\s+(?P<part>quarter|half)"


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
    is_relative = ordinal == "last" and not (found["year"] or found["which"])  # "last quarter" is the one before this
    if is_relative or not 1 <= number <= count:
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
    """Read "the 1990s"."""
    first = int(found["decade"])
    return Atom(found.start(), found.end(), "decade", lambda now: days(date(first, 1, 1), date(first + 10, 1, 1), now))


YEAR_FORMS: tuple[Form, ...] = (
    form(rf"(?:Q(?P<q>[1-4])|H(?P<h>[12]))(?:[ -/]?(?:of\s+)?(?:(?P<year>{YEAR})|{WHICH_YEAR}))?", read_part_of_year),
    form(rf"(?P<year>{YEAR})[ -/]?(?:Q(?P<q>[1-4])|H(?P<h>[12]))", read_part_of_year),
    form(rf"{PART}{OF_YEAR}", read_part_of_year),
    form(rf"(?P<year>{YEAR})", read_year),
    form(r"(?:the\s+)?(?P<decade>(?:19|20)\d0)'?s", read_decade),
)
