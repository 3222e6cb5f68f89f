"""The words that dates are said in, and where a word such as "may" or "march" is a month."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from qkva.contracts.question import TimeRange
from qkva.planning.masking.number_words import SPELLED

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",), ("june", "jun"),
            ("july", "jul"), ("august", "aug"), ("september", "sept", "sep"), ("october", "oct"), ("november", "nov"),
            ("december", "dec"),
        ),
        start=1,
    )
    for name in names
}  # fmt: skip
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            ("monday", "mon"), ("tuesday", "tues", "tue"), ("wednesday", "wed"), ("thursday", "thurs", "thur", "thu"),
            ("friday", "fri"), ("saturday",), ("sunday",),
        )
    )
    for name in names
}  # fmt: skip
# Months that are nothing else, so that "January orders" needs no preposition; "May", "April", "June" and "August" are
# also people, "march" also walks, and short forms such as "Jan" and "mar" are other words.
SURE_MONTHS = frozenset("january february july september october november december".split())

MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
WEEKDAY = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
UNIT = "day|week|month|quarter|year|decade"
CLOCK_UNIT = "minute|hour"
NUMBER = rf"(?:\d{{1,4}}|one|{SPELLED})"
YEAR = r"(?:19|20)\d\d"
DAY_OF_MONTH = r"(?:0?[1-9]|[12]\d|3[01])"
LAST = "last|previous|past|prior|preceding"
NEXT = "next|coming|upcoming|following"
THIS = "this|current"
WHICH_YEAR = rf"(?P<which>{LAST}|{THIS}|{NEXT})\s+year"

DAY_PARTS = {
    "early morning": (5, 8), "late morning": (10, 12), "morning": (6, 12), "early afternoon": (12, 15),
    "late afternoon": (15, 18), "afternoon": (12, 18), "early evening": (17, 19), "late evening": (21, 24),
    "evening": (18, 24), "late night": (22, 24), "night": (18, 30),
}  # fmt: skip
"""Hours of the local day that a part of the day means, half-open; the night runs to six in the next morning."""
DAY_PART = "|".join(DAY_PARTS)

# What stands before a date: whether a word or a number that could be something else is one there.
CUE = re.compile(
    r"(?:(?:^|\W)(?:in|on|since|before|after|until|till|til|by|from|to|through|thru|during|of|for|between|within|starting|ending"
    r"|as\s+of|prior\s+to|throughout|year|(?:what|how)\s+about|vs\.?|versus|against)|^\W*(?:and|or))"
    r"\s+(?:(?:the\s+)?(?:early\s+|late\s+|mid-?|calendar\s+)?(?:(?:month|year)(?:\s+of)?\s+)?(?:the\s+)?)?$",
    re.IGNORECASE,
)
# A number of four digits is a year after fewer words: "compared to 2025 orders" counts orders.
YEAR_CUE = re.compile(
    r"(?:(?:^|\W)(?:in|since|before|after|until|till|by|from|through|during|of|for|between|starting|as\s+of|prior\s+to|throughout|year"
    r"|(?:what|how)\s+about|vs\.?|versus|against)|^\W*(?:and|or))\s+(?:(?:the\s+)?(?:early\s+|late\s+|mid-?|calendar\s+)?"
    r"(?:year\s+)?)?$",
    re.IGNORECASE,
)

Resolve = Callable[[datetime], TimeRange]


@dataclass(frozen=True, slots=True)
class Atom:
    """A time that is said in one piece, before the words around it are read."""

    start: int
    end: int
    kind: str
    """"day", "month", "year", "quarter", "weekday", "period", "window", "moment" …: pairs join what is alike."""
    resolve: Resolve
    """The range, seen from a moment; raises ValueError or OverflowError for a date that does not exist."""
    moving: bool = False
    """Whether another moment gives another range, as for "March" without its year."""
    sure: bool = True
    """False for a word or number that is a time only where it joins another: the second of "from 2020 to 2022"."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which times are said."""

    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], Atom | None]


def form(pattern: str, read: Callable[[re.Match[str]], Atom | None]) -> Form:
    """Compile a form; it starts and ends at the border of a word."""
    return Form(re.compile(rf"(?<![\w.])(?:{pattern})(?!\w)", re.IGNORECASE), read)


def has_cue(found: re.Match[str], cue: re.Pattern[str] = CUE) -> bool:
    """Whether a preposition or the like stands before the match."""
    return cue.search(found.string, max(0, found.start() - 40), found.start()) is not None
