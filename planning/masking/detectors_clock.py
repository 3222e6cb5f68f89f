"""Times of the day: "9:30", "5 pm", "noon", "early morning"."""

import re
from collections.abc import Iterator

from qkva.contracts.question import Slot, SlotType
from qkva.planning.masking.time.words import DAY_PART, DAY_PARTS

CLOCK = re.compile(
    r"(?<![\w:.])(?:(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?:\s*(?P<half>[ap]\.?\s?m\b\.?))?"
    r"|(?P<bare>1[0-2]|0?[1-9])\s*(?:(?P<bare_half>[ap]\.?\s?m\b\.?)|o'?\s?clock)|(?P<word>noon|midday|midnight))(?![\w:])",
    re.IGNORECASE,
)
# A part of the day alone is a time of the day only where the words before it say so: "in the morning", "early morning".
PART = re.compile(rf"\b(?:(?<=in the )|(?<=at )|(?=early |late ))(?P<part>{DAY_PART})\b", re.IGNORECASE)
COMPARISONS = {
    "since": re.compile(
        r"(?<!\w)(?:since|from|starting(?:\s+(?:at|from))?|no\s+(?:earlier|sooner)\s+than)\s+(?:the\s+)?$",
        re.IGNORECASE,
    ),
    "before": re.compile(r"(?<!\w)(?:before|prior\s+to|earlier\s+than)\s+(?:the\s+)?$", re.IGNORECASE),
    "after": re.compile(r"(?<!\w)(?:after|later\s+than|past)\s+(?:the\s+)?$", re.IGNORECASE),
    "until": re.compile(r"(?<!\w)(?:until|till|by|no\s+later\s+than|to)\s+(?:the\s+)?$", re.IGNORECASE),
    "between": re.compile(r"(?<!\w)between\s+(?:the\s+)?$", re.IGNORECASE),
}
WORDS = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}


def find_clock_times(text: str) -> Iterator[Slot]:
    """Clock times as "HH:MM" (with ":SS" if said), parts of the day as {"start", "end"} of such."""
    behind_between = -1
    for found in CLOCK.finditer(text):
        value = clock_value(found)
        comparison = comparison_before(text, found.start())
        if comparison == "between":
            behind_between = found.end()
        elif behind_between >= 0 and re.fullmatch(r"\s*(?:and|to|-|–)\s*", text[behind_between : found.start()]):
            comparison = "between"
        yield make(text, found.start(), found.end(), value, comparison)
    for found in PART.finditer(text):
        first, after = DAY_PARTS[found["part"].lower()]
        hours = {"start": f"{first:02}:00", "end": f"{after % 24:02}:00"}
        yield make(text, found.start("part"), found.end("part"), hours, comparison_before(text, found.start("part")))


def clock_value(found: re.Match[str]) -> str:
    """24-hour "HH:MM", with seconds if they are said."""
    if found["word"]:
        return WORDS[found["word"].lower()]
    half = (found["half"] or found["bare_half"] or "").lower()
    hour, minute = int(found["hour"] or found["bare"]), int(found["minute"] or 0)
    if half and hour <= 12:  # "18:15 A.M." can only be 18:15
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    seconds = f":{found['second']}" if found["second"] else ""
    return f"{hour % 24:02}:{minute:02}{seconds}"


def comparison_before(text: str, start: int) -> str | None:
    """The comparison that is said before a clock time."""
    before = text[max(0, start - 30) : start]
    return next((name for name, pattern in COMPARISONS.items() if pattern.search(before)), None)


def make(text: str, start: int, end: int, value: str | dict[str, str], comparison: str | None) -> Slot:
    """A clock-time slot."""
    return Slot(
        start=start,
        end=end,
        text=text[start:end],
        type=SlotType.CLOCK_TIME,
        label="clock time",
        value=value,
        comparison=comparison,
    )
