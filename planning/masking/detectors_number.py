"""Numbers in digits or words, with what they count or measure and how they are compared."""

import re
from collections.abc import Iterator

from qkva.contracts.question import Slot, SlotType
from qkva.planning.masking.number_forms import (
    BETWEEN,
    BETWEEN_BOTH,
    COMPARED_BEFORE,
    COMPARED_BEHIND,
    CURRENCIES,
    MEASURES,
    NEXT_WORD,
    NUMBER,
    ONE_IS_COUNTED,
    ORDINAL,
    RANGE,
    SCALES,
    SHORT_MEASURES,
    SPELLED_ORDINAL,
)
from qkva.planning.masking.number_words import ORDINALS, spelled_number
from qkva.planning.text import FUNCTION_WORDS


def find_numbers(text: str) -> Iterator[Slot]:
    """Numbers, money, percentages and ordinals; both ends of "10-20" and of "between 3 and 5"."""
    low_end = -1
    ranges = list(find_ranges(text))
    yield from ranges
    for found in NUMBER.finditer(text):
        if any(found.start() < end.end and found.end() > end.start for end in ranges):
            continue
        number = read_number(text, found)
        if number is None:
            continue
        if low_end >= 0 and BETWEEN_BOTH.fullmatch(text[low_end : number.start]):
            number = number.model_copy(update={"comparison": "between"})
        low_end = number.end if number.comparison == "between" else -1
        yield number
    for pattern in (ORDINAL, SPELLED_ORDINAL):
        for found in pattern.finditer(text):
            groups = found.groupdict()
            value = int(groups["digits"]) if groups.get("digits") else ORDINALS[groups["word"].lower()]
            yield make(text, found.start(), found.end(), SlotType.ORDINAL, value)


def find_ranges(text: str) -> Iterator[Slot]:
    """The two ends of "10-20"."""
    for found in RANGE.finditer(text):
        low, high = amount(found["low"]), amount(found["high"])
        if low < high:
            unit = unit_behind(text, found.end())
            for group, value in (("low", low), ("high", high)):
                yield make(text, found.start(group), found.end(group), SlotType.NUMBER, value, unit, "between")


def read_number(text: str, found: re.Match[str]) -> Slot | None:
    """The slot of one match, or None for "one" as a pronoun and other words that only look like numbers."""
    start, end = found.span()
    if found["digits"]:
        value = amount(found["digits"], (found["scale"] or "").strip().lower(), found["minus"] is not None)
    else:
        said = found["spelled"].lower()
        number = spelled_number(said)
        if number is None or (said in ("one", "zero") and not counts_one(text, found)):
            return None
        value = number
    comparison = comparison_at(text, start, end)
    if found["percent"]:
        return make(text, start, end, SlotType.PERCENT, value, "%", comparison)
    currency = found["sign"] or found["code"]
    if currency:
        return make(text, start, end, SlotType.MONEY, value, CURRENCIES[currency.lower()], comparison)
    unit = found["short"].lower() if found["short"] else unit_behind(text, end)
    return make(text, start, end, SlotType.NUMBER, value, unit, comparison)


def counts_one(text: str, found: re.Match[str]) -> bool:
    """Whether "one" is a number: "at least one", "one day", but not "which one" or "one of them"."""
    if ONE_IS_COUNTED.search(text[: found.start()]):
        return True
    behind = NEXT_WORD.match(text, found.end())
    return behind is not None and behind[1].lower() in MEASURES.union(SHORT_MEASURES)


def amount(digits: str, scale: str = "", negative: bool = False) -> int | float:
    """The number that digits and a scale say: an int where it is whole and was not written with a decimal point."""
    plain = digits.replace(",", "")
    value = float(plain) if "." in plain else int(plain)
    if scale:
        value = round(value * SCALES[scale], 6)
    value = -value if negative else value
    return int(value) if scale and value == int(value) else value


def unit_behind(text: str, end: int) -> str | None:
    """What is counted: a measure or a noun in the plural directly behind the number, as said, in lower case."""
    found = NEXT_WORD.match(text, end)
    if found is None:
        return None
    word = found[1].lower()
    is_plural = len(word) > 3 and word.endswith("s") and not word.endswith("ss") and word not in FUNCTION_WORDS
    return word if is_plural or word in MEASURES or word in SHORT_MEASURES else None


def comparison_at(text: str, start: int, end: int) -> str | None:
    """The comparison that is said before or behind a number."""
    before = text[max(0, start - 40) : start]
    for name, pattern in COMPARED_BEFORE:
        if pattern.search(before):
            return name
    for name, pattern in COMPARED_BEHIND:
        if pattern.match(text, end):
            return name
    if BETWEEN.search(before):
        return "between"
    return None


def make(
    text: str,
    start: int,
    end: int,
    type_: SlotType,
    value: int | float,
    unit: str | None = None,
    comparison: str | None = None,
) -> Slot:
    """A number slot; its label is its type."""
    return Slot(
        start=start,
        end=end,
        text=text[start:end],
        type=type_,
        label=type_.value,
        value=value,
        unit=unit,
        comparison=comparison,
    )
