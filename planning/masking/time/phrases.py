"""Time phrases in a text: what is said in one piece, joined in pairs and read with the words around it.

"since", "before", "between" stay outside the phrase, and the range accounts for them. "until", "through" and "by"
include the day, month or year that is named; "since" starts with it, "after" when it is over.
"""

import re
from collections.abc import Iterator
from datetime import datetime

from qkva.contracts.errors import ParameterError
from qkva.contracts.question import TimeRange
from qkva.planning.masking.time.dates import DATE_FORMS
from qkva.planning.masking.time.nearby import with_neighbours
from qkva.planning.masking.time.periods import PERIOD_FORMS
from qkva.planning.masking.time.words import Atom
from qkva.planning.masking.time.years import YEAR_FORMS

Phrase = tuple[int, int, TimeRange, str | None]
"""Start and end in the text, the range, and the comparison that was said."""

ALL_FORMS = (*DATE_FORMS, *YEAR_FORMS, *PERIOD_FORMS)
# Without one of these no form can match; most questions without a time end here.
HINT = re.compile(
    r"\d|day|week|month|quarter|year|decade|hour|minute|morrow|night|morning|noon|evening|td\b|half|jan|feb|mar|apr|may|jun|jul|aug"
    r"|sep|oct|nov|dec|\b(?:mon|tue|wed|thu|fri)",
    re.IGNORECASE,
)
JOIN = re.compile(r"\s*(?:-|–|—|to|until|till|through|thru|up\s+to)\s*(?:the\s+)?", re.IGNORECASE)
AND = re.compile(r"\s*(?:and|or|&|,|vs\.?|versus)\s*(?:the\s+)?", re.IGNORECASE)
BETWEEN = re.compile(r"\bbetween\s+(?:the\s+)?$", re.IGNORECASE)
FROM = re.compile(r"\bfrom\s+(?:the\s+)?$", re.IGNORECASE)
COMPARISONS = (
    (
        "since",
        r"since|starting(?:\s+(?:from|on|in|with))?|on\s+or\s+after|(?:no|not)\s+(?:earlier|sooner)\s+than"
        r"|beginning(?:\s+(?:in|on))?",
    ),
    ("until", r"until|till|til|through|by|up\s+to|on\s+or\s+before|(?:no|not)\s+later\s+than"),
    ("after", r"after|later\s+than|newer\s+than|more\s+recent\s+than|past"),
    ("before", r"before|prior\s+to|earlier\s+than|older\s+than"),
)
BEFORE_IT = tuple(
    (name, re.compile(rf"(?<!\w)(?:{words})(?:\s+(?:in|on))?\s+(?:the\s+)?$", re.IGNORECASE))
    for name, words in COMPARISONS
)
BEHIND_IT = (
    (
        "since",
        re.compile(r"\s*(?:on(?:wards?)?\b(?!\s+\w)|onwards?\b|(?:or|and)\s+(?:later|after|newer)\b)", re.IGNORECASE),
    ),
    ("until", re.compile(r"\s*(?:or|and)\s+(?:earlier|before|older)\b", re.IGNORECASE)),
)


ONLY_BEFORE = re.compile(
    r"\s*(?:(?:in|on|during|from|between|since|starting|before|after|until|till|through|by|up\s+to|prior\s+to"
    r"|on\s+or\s+(?:after|before))\s+)*(?:the\s+)?",
    re.IGNORECASE,
)
ONLY_BEHIND = re.compile(r"\s*(?:onwards?|or\s+later|or\s+earlier)?[\s.]*", re.IGNORECASE)


def find_time_phrases(text: str, now: datetime) -> list[Phrase]:
    """The times that a text names, in order, by the caller's clock `now` (aware, in the caller's zone)."""
    if HINT.search(text) is None:
        return []
    atoms = longest_first(list(read_atoms(text, now)))
    return list(read_phrases(text, with_neighbours(text, joined(text, atoms)), now))


def resolve_time_phrase(phrase: str, now: datetime) -> TimeRange:
    """The range of a phrase that is nothing but a time, such as a parameter's default "last month". Raises
    ParameterError."""
    # The bare month or year of a default needs no preposition.
    for prefix in ("", "in "):
        found = find_time_phrases(prefix + phrase, now)
        if len(found) == 1 and is_all(prefix + phrase, found[0]):
            return found[0][2]
    raise ParameterError(
        f'"{phrase}" is not a time that can be read: say it like "last month", "2026-03-08" or "since Monday".'
    )


def is_all(text: str, phrase: Phrase) -> bool:
    """Whether a phrase with its prepositions is the whole text."""
    before, behind = text[: phrase[0]], text[phrase[1] :]
    return ONLY_BEFORE.fullmatch(before) is not None and ONLY_BEHIND.fullmatch(behind) is not None


def read_atoms(text: str, now: datetime) -> Iterator[Atom]:
    """Each form wherever it matches and names a date that exists."""
    for form in ALL_FORMS:
        for found in form.pattern.finditer(text):
            try:
                atom = form.read(found)
                if atom is not None:
                    atom.resolve(now)
                    yield atom
            except (ValueError, OverflowError):  # February 30th, or a billion years ago
                continue


def longest_first(atoms: list[Atom]) -> list[Atom]:
    """Of atoms that overlap only the longest, a sure one before one that needs its neighbour; in the order of the
    text."""
    kept: list[Atom] = []
    for atom in sorted(
        atoms, key=lambda atom: (-(atom.end - atom.start), not atom.sure, atom.kind == "ago", atom.start)
    ):
        if all(atom.end <= other.start or atom.start >= other.end for other in kept):
            kept.append(atom)
    return sorted(kept, key=lambda atom: atom.start)


def joined(text: str, atoms: list[Atom]) -> list[Atom]:
    """Without the unsure atoms that do not follow another one directly: "and 2025" is a year behind "in 2024"."""
    kept: list[Atom] = []
    for atom in atoms:
        between = text[kept[-1].end : atom.start] if kept else "?"
        if atom.sure or JOIN.fullmatch(between) or AND.fullmatch(between):
            kept.append(atom)
    return kept


def read_phrases(text: str, atoms: list[Atom], now: datetime) -> Iterator[Phrase]:
    """Pairs become one phrase, single atoms take the comparison beside them."""
    index = 0
    while index < len(atoms):
        first = atoms[index]
        second = atoms[index + 1] if index + 1 < len(atoms) else None
        pair = second and read_pair(text, first, second, now)
        yield pair or read_single(text, first, now)
        index += 2 if pair else 1


def read_pair(text: str, first: Atom, second: Atom, now: datetime) -> Phrase | None:
    """Join "between March and May", "from Monday to Friday", "March to May": from the start of one to the end of the
    other."""
    between, before = text[first.end : second.start], text[: first.start]
    is_pair = JOIN.fullmatch(between) or (AND.fullmatch(between) and BETWEEN.search(before))
    if not is_pair or "," in between:
        return None
    start, end = first.resolve(now), second.resolve(now)
    if start.start is None or end.start is None or end.end is None:
        return None
    if first.moving:
        start = first.resolve(end.start)  # "between March and May 2026": the latest March before that May
    if start.start is None or start.start > end.start:
        return None
    return (first.start, second.end, TimeRange(start=start.start, end=end.end), "between")


def read_single(text: str, atom: Atom, now: datetime) -> Phrase:
    """A time with the comparison that is said before or behind it."""
    said = atom.resolve(now)
    if atom.kind in ("older", "newer"):
        return (atom.start, atom.end, said, "before" if atom.kind == "older" else "since")
    if atom.kind == "days":
        return (atom.start, atom.end, said, "between")
    comparison = comparison_at(text, atom)
    match comparison:
        case "since":
            said = TimeRange(start=said.start)
        case "after":
            said = TimeRange(start=said.start if atom.kind == "ago" and is_hours(said) else said.end)
        case "before":
            said = TimeRange(end=said.start)
        case "until":
            said = TimeRange(end=said.end)
    return (atom.start, atom.end, said, comparison)


def is_hours(said: TimeRange) -> bool:
    """Whether a range starts at a moment of the clock rather than with a day."""
    return said.start is not None and (said.start.hour, said.start.minute, said.start.second) != (0, 0, 0)


def comparison_at(text: str, atom: Atom) -> str | None:
    """The comparison in the words beside an atom."""
    before, behind = text[max(0, atom.start - 40) : atom.start], text[atom.end : atom.end + 20]
    for name, pattern in BEHIND_IT:
        if pattern.match(behind) and (name != "since" or "or" in behind or "and" in behind or FROM.search(before)):
            return name
    for name, pattern in BEFORE_IT:
        if pattern.search(before):
            return name
    return None
