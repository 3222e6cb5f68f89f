"""Numbers in digits or words, with what they count or measure and how they are compared."""

import re
from collections.abc import Iterator

from qkva.contracts.question import Slot, SlotType
from qkva.planning.number_words import ORDINALS, SPELLED, spelled_number
from qkva.planning.text import FUNCTION_WORDS

CURRENCIES = {
    "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "bucks": "USD", "€": "EUR", "eur": "EUR", "euro": "EUR",
    "euros": "EUR", "£": "GBP", "gbp": "GBP", "pound": "GBP", "pounds": "GBP", "quid": "GBP", "¥": "JPY", "jpy": "JPY", "yen": "JPY",
    "chf": "CHF", "franc": "CHF", "francs": "CHF", "cad": "CAD", "aud": "AUD", "inr": "INR", "₹": "INR", "rupee": "INR", "rupees": "INR",
    "cny": "CNY", "rmb": "CNY", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN", "brl": "BRL", "mxn": "MXN", "cent": "cent", "cents": "cent",
}  # fmt: skip
SCALES = {
    "k": 1e3,
    "thousand": 1e3,
    "m": 1e6,
    "mio": 1e6,
    "mn": 1e6,
    "million": 1e6,
    "bn": 1e9,
    "b": 1e9,
    "billion": 1e9,
}
MEASURES = (
    "second minute hour day week month quarter year star point mile foot feet inch meter metre kilometer kilometre gram kilogram ton tonne"
    " liter litre gallon byte person people item unit piece percent degree time"
).split()
SHORT_MEASURES = "km kg mg cm mm ml lb oz gb mb kb tb mph kmh kwh hz min sec hrs hr ft sqm".split()

_SIGN = r"us\$|[$€£¥₹]"
_CODE = "|".join(word for word in CURRENCIES if word.isalpha())
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_SCALE = r"(?:\s?(?:thousand|million|billion)|k|mio|mn|m|bn|b)(?!\w)"

NUMBER = re.compile(
    rf"(?<![\w.,:/@#-])(?P<minus>-(?=\d))?(?:(?P<sign>{_SIGN}|(?:usd|eur|gbp|chf|jpy|inr|cad|aud)(?=\s?\d))\s?)?"
    rf"(?:(?P<digits>{_DIGITS})(?P<scale>{_SCALE})?|\b(?P<spelled>{SPELLED})(?![\w-]))"
    rf"(?:(?P<percent>\s?%|\s+(?:percent|per\s+cent)\b)|\s?(?P<code>[€£¥₹$]|(?:{_CODE})(?!\w))"
    rf"|[\s-]?(?P<short>(?:{'|'.join(SHORT_MEASURES)})(?!\w)))?(?![\w@]|[.:/]\d|,\d{{3}})",
    re.IGNORECASE,
)
RANGE = re.compile(rf"(?<![\w.,:/@#-])(?P<low>{_DIGITS})\s?[-–]\s?(?P<high>{_DIGITS})(?![\w-]|[.:/]\d)")
ORDINAL = re.compile(r"(?<![\w.,-])(?P<digits>\d+)(?:st|nd|rd|th)\b", re.IGNORECASE)
# "first" stays a word: it is the counterpart of "last", a superlative. "second" counts only behind an article: else
# it is a time.
SPELLED_ORDINAL = re.compile(
    rf"\b(?:(?<=the )|(?<=every )|(?<=their )|(?<=its ))(?P<word>{'|'.join(list(ORDINALS)[1:])})\b(?!\s*-?\s*(?:half|hand|party|of\s+all))",
    re.IGNORECASE,
)
ONE_IS_COUNTED = re.compile(
    r"\b(?:at\s+least|at\s+most|more\s+than|less\s+than|fewer\s+than|exactly|only|just|over|under|top|bottom)\s+$",
    re.IGNORECASE,
)

BEFORE_IT = tuple(
    (name, re.compile(rf"(?:(?<!\w)(?:{words})\s+|(?:{signs})\s*)(?:the\s+|a\s+total\s+of\s+)?$", re.IGNORECASE))
    for name, words, signs in (
        ("at_least", r"at\s+(?:the\s+)?least|(?:no|not)\s+(?:less|fewer|lower|smaller)\s+than|(?:a\s+)?minimum(?:\s+of)?|min", r">=|≥"),
        ("at_most", r"at\s+(?:the\s+)?most|(?:no|not)\s+(?:more|greater|higher|larger)\s+than|up\s+to|(?:a\s+)?maximum(?:\s+of)?|max", r"<=|≤"),
        (
            "over",
            r"(?:more|greater|larger|higher|bigger|longer|older|better|heavier|taller|later)\s+than|over|above|exceed(?:s|ing|ed)?|beyond",
            r">",
        ),
        ("under", r"(?:less|fewer|lower|smaller|shorter|younger|cheaper|worse|lighter|earlier)\s+than|under|below|beneath", r"<"),
    )
)  # fmt: skip
BETWEEN = re.compile(r"\b(?:between|from)\s+(?:the\s+)?$", re.IGNORECASE)
BETWEEN_BOTH = re.compile(r"\s*(?:and|to|-|–)\s*", re.IGNORECASE)
BEHIND_IT = (
    (
        "at_least",
        re.compile(
            r"\s*(?:\+(?!\w)|(?:\w+\s+)?(?:or|and)\s+(?:more|above|over|higher|better|greater|up)\b)", re.IGNORECASE
        ),
    ),
    ("at_most", re.compile(r"\s*(?:\w+\s+)?(?:or|and)\s+(?:less|fewer|below|under|lower)\b", re.IGNORECASE)),
)
NEXT_WORD = re.compile(r"[\s-]+(?:more\s+|different\s+|other\s+)?([a-z]+)\b", re.IGNORECASE)


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
    return behind is not None and behind[1].lower() in (*MEASURES, *SHORT_MEASURES)


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
    for name, pattern in BEFORE_IT:
        if pattern.search(before):
            return name
    for name, pattern in BEHIND_IT:
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
