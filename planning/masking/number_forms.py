"""How numbers are written and what is said around them: currencies, measures, comparisons."""

import re

from qkva.planning.masking.number_words import ORDINALS, SPELLED

CURRENCY_NAMES = {
    "USD": "$ us$ usd dollar dollars bucks",
    "EUR": "€ eur euro euros",
    "GBP": "£ gbp pound pounds quid",
    "JPY": "¥ jpy yen",
    "CHF": "chf franc francs",
    "INR": "₹ inr rupee rupees",
    "CNY": "cny rmb yuan",
    "CAD": "cad",
    "AUD": "aud",
    "SEK": "sek",
    "NOK": "nok",
    "DKK": "dkk",
    "PLN": "pln",
    "BRL": "brl",
    "MXN": "mxn",
    "cent": "cent cents",
}
CURRENCIES = {word: code for code, words in CURRENCY_NAMES.items() for word in words.split()}
SCALES = {
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "k": 1e3,
    "m": 1e6,
    "mn": 1e6,
    "mio": 1e6,
    "b": 1e9,
    "bn": 1e9,
}
MEASURES = frozenset(
    """second minute hour day week month quarter year star point mile foot feet inch meter metre kilometer kilometre
    gram kilogram ton tonne liter litre gallon byte person people item unit piece percent degree time""".split()
)
SHORT_MEASURES = "km kg mg cm mm ml lb oz gb mb kb tb mph kmh kwh hz min sec hrs hr ft sqm".split()

_CODES = "|".join(word for word in CURRENCIES if word.isalpha())
_SIGNED = r"us\$|[$€£¥₹]|(?:usd|eur|gbp|chf|jpy|inr|cad|aud)(?=\s?\d)"
DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_SCALE = r"(?:\s?(?:thousand|million|billion)|k|mio|mn|m|bn|b)(?!\w)"
_ALONE = r"(?<![\w.,:/@#-])"

NUMBER = re.compile(
    rf"{_ALONE}(?P<minus>-(?=\d))?(?:(?P<sign>{_SIGNED})\s?)?"
    rf"(?:(?P<digits>{DIGITS})(?P<scale>{_SCALE})?|\b(?P<spelled>{SPELLED})(?![\w-]))"
    rf"(?:(?P<percent>\s?%|\s+(?:percent|per\s+cent)\b)|\s?(?P<code>[€£¥₹$]|(?:{_CODES})(?!\w))"
    rf"|[\s-]?(?P<short>(?:{'|'.join(SHORT_MEASURES)})(?!\w)))?(?![\w@]|[.:/]\d|,\d{{3}})",
    re.IGNORECASE,
)
RANGE = re.compile(rf"{_ALONE}(?P<low>{DIGITS})\s?[-–]\s?(?P<high>{DIGITS})(?![\w-]|[.:/]\d)")
ORDINAL = re.compile(r"(?<![\w.,-])(?P<digits>\d+)(?:st|nd|rd|th)\b", re.IGNORECASE)
# "first" stays a word: it is the counterpart of "last", a superlative. The others count only behind an article: a
# second is also a time, a third also a part.
SPELLED_ORDINAL = re.compile(
    rf"\b(?:(?<=the )|(?<=every )|(?<=their )|(?<=its ))(?P<word>{'|'.join(list(ORDINALS)[1:])})\b"
    r"(?!\s*-?\s*(?:half|hand|party|of\s+all))",
    re.IGNORECASE,
)
ONE_IS_COUNTED = re.compile(
    r"\b(?:at\s+least|at\s+most|more\s+than|less\s+than|fewer\s+than|exactly|only|just|over|under|top|bottom)\s+$",
    re.IGNORECASE,
)


def _before(words: str, signs: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?<!\w)(?:{words})\s+|(?:{signs})\s*)(?:the\s+|a\s+total\s+of\s+)?$", re.IGNORECASE)


COMPARED_BEFORE = (
    (
        "at_least",
        _before(
            r"at\s+(?:the\s+)?least|(?:no|not)\s+(?:less|fewer|lower|smaller)\s+than|(?:a\s+)?minimum(?:\s+of)?|min",
            r">=|≥",
        ),
    ),
    (
        "at_most",
        _before(
            r"at\s+(?:the\s+)?most|(?:no|not)\s+(?:more|greater|higher|larger)\s+than|up\s+to|(?:a\s+)?maximum(?:\s+of)?|max",
            r"<=|≤",
        ),
    ),
    (
        "over",
        _before(
            r"(?:more|greater|larger|higher|bigger|longer|older|better|heavier|taller|later)\s+than|over|above|beyond"
            r"|exceed(?:s|ing|ed)?",
            r">",
        ),
    ),
    (
        "under",
        _before(
            r"(?:less|fewer|lower|smaller|shorter|younger|cheaper|worse|lighter|earlier)\s+than|under|below|beneath",
            r"<",
        ),
    ),
)
COMPARED_BEHIND = (
    (
        "at_least",
        re.compile(
            r"\s*(?:\+(?!\w)|(?:\w+\s+)?(?:or|and)\s+(?:more|above|over|higher|better|greater|up)\b)", re.IGNORECASE
        ),
    ),
    ("at_most", re.compile(r"\s*(?:\w+\s+)?(?:or|and)\s+(?:less|fewer|below|under|lower)\b", re.IGNORECASE)),
)
BETWEEN = re.compile(r"\b(?:between|from)\s+(?:the\s+)?$", re.IGNORECASE)
BETWEEN_BOTH = re.compile(r"\s*(?:and|to|-|–)\s*", re.IGNORECASE)
NEXT_WORD = re.compile(r"[\s-]+(?:more\s+|different\s+|other\s+)?([a-z]+)\b", re.IGNORECASE)
