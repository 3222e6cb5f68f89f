"""Words of a text: tokens with their spans, folding of case and accents, simple plurals, ordinary words."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from simplemma import is_known

# Letters and digits make a word; "_", "-" and apostrophes part words, so that "in_transit", "in-transit" and "in
# transit" are the same two. "+", "#" and a hanging "-" stay with it: "C++", "C#" and the grade "B-" are other values
# than "C" and "B".
WORD = re.compile(r"[^\W_]+(?:[+#]+|(?<=\b[A-Za-z])-(?=\s|$|[.,?!;:)]))?")
UNSPLIT = {"ø": "o", "đ": "d", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}

FUNCTION_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being both but by can could did do does
    doing done each either else ever every for from give given had has have having he her here hers him his how i if
    in into is it its just let list like many may me might mine more most much must my neither no nor not now of off
    on once only or other our ours out over own per please same shall she should show since so some such tell than
    that the their theirs them then there these they this those through till to too under until up us very was we
    were what when where whether which while who whom whose why will with within without would you your yours""".split()
)
# The words that may stand between a table and a value that says what state its rows are in: "orders that are still
# open".
LINKING_WORDS = frozenset(
    """a all also already always am an any are as at be been being by currently ever had has have having in is it its
    just marked never no not now of on only or and still that the their there to was were which who whose will with
    would yet""".split()
)
PREPOSITIONS = frozenset(
    "about across against among at by during for from in inside like of off on outside to toward via with".split()
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a text."""

    start: int
    end: int
    text: str
    folded: str
    """Lower-cased, without accents."""
    stem: str
    """Folded, and in the singular."""


@lru_cache(maxsize=50_000)
def fold(text: str) -> str:
    """Case and accents removed: "Zoë" and "ZOE" are both "zoe"."""
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(letter for letter in spread if not unicodedata.combining(letter))
    return "".join(UNSPLIT.get(letter, letter) for letter in kept)


@lru_cache(maxsize=50_000)
def singular(word: str) -> str:
    """The singular of a folded word by its ending; words of three letters or fewer, such as codes, stay as they are."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "zzes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


def tokenise(text: str) -> list[Token]:
    """The words of a text, in order, with their spans."""
    tokens = []
    for found in WORD.finditer(text):
        folded = fold(found[0])
        tokens.append(Token(found.start(), found.end(), found[0], folded, singular(folded)))
    return tokens


def stems(text: str) -> tuple[str, ...]:
    """The stems of a text's words, in order: equal for spellings that differ in case, accents, plural or joining
    signs."""
    return tuple(token.stem for token in tokenise(text))


def words_of_name(name: str) -> tuple[str, ...]:
    """The stems of a column's or table's name: "shipCountry", "ship_country" and "ship-country" give ship, country."""
    return stems(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name))


@lru_cache(maxsize=50_000)
def is_ordinary(word: str) -> bool:
    """Whether a folded word stands in an English dictionary (names such as "Paris" and "Grace" included)."""
    return word in FUNCTION_WORDS or is_known(word, lang="en")
