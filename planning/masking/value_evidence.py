"""Whether a word that a column holds is meant as that value.

Rare words and names are. An everyday word ("open", "new", "May") is only where the question names its table or column
beside it ("paid orders", "orders that are still open", "status new"), or spells it as the source does with a capital,
or quotes it.
"""

import re
from collections.abc import Sequence

from qkva.planning.masking.common_words import is_common
from qkva.planning.masking.number_words import spelled_number
from qkva.planning.masking.time.words import MONTHS, WEEKDAYS
from qkva.planning.masking.value_columns import ColumnNames
from qkva.planning.text import FUNCTION_WORDS, LINKING_WORDS, PREPOSITIONS, Token, is_ordinary

# What may part the words of one value.
JOINT = re.compile(r"[\s_\-–/.&'’:()*]*")
STOP = re.compile(r"[.?!;:,]\s")
QUOTES = "\"'“”‘’«»`"
# "in general", "by law": fixed phrases that no value is meant in.
IDIOMS = frozenset(
    "general fact order total case time charge stock full short line part advance detail average law hand".split()
)
REACH = 6
"""How many words may lie between a value and its table: "orders of ‹customer› that are not yet paid"."""


class Said:
    """A question as the evidence rules see it."""

    def __init__(
        self, text: str, tokens: list[Token], schema_words: frozenset[str], covered: Sequence[tuple[int, int]] = ()
    ) -> None:
        self.text = text
        self.tokens = tokens
        self.schema_words = schema_words
        self.candidates = {
            index
            for index, token in enumerate(tokens)
            if any(start < token.end and token.start < end for start, end in covered)
        }
        """Words that are values of some kind, or may be."""
        words = [token.text for token in tokens if len(token.text) > 3]
        capitals = sum(word[0].isupper() for word in words)
        self.tells_case = not text.isupper() and (capitals < 0.85 * len(words) or len(words) < 4)
        """Whether a capital says anything: not in a headline."""

    def gap(self, index: int) -> str:
        """What stands between the word at `index` and the next one."""
        if index + 1 >= len(self.tokens):
            return self.text[self.tokens[index].end :]
        return self.text[self.tokens[index].end : self.tokens[index + 1].start]

    def starts_sentence(self, index: int) -> bool:
        """Whether a capital is owed to the start of a sentence."""
        return index == 0 or re.search(r"[.?!:]\s", self.gap(index - 1)) is not None

    def is_capital(self, index: int) -> bool:
        """Whether the word starts with a capital."""
        return 0 <= index < len(self.tokens) and self.tokens[index].text[0].isupper()

    def stands_alone(self, index: int, name: str) -> bool:
        """Whether a word is the person `name` by itself: capitalised, and no other name beside it ("Ada Byron" is not
        Ada Lovelace). An everyday word is one only as a first name with a cue: "Grace's orders", "by Grace"."""
        token = self.tokens[index]
        if not self.is_capital(index) or not self.tells_case or token.stem in self.schema_words:
            return False
        if is_common(token.folded):
            owns = (
                index + 1 < len(self.tokens)
                and self.gap(index) in ("'", "’", " '", " ’")
                and self.tokens[index + 1].text == "s"
            )
            belongs = index > 0 and self.tokens[index - 1].folded in ("by", "of", "for", "from", "to", "with")
            return (
                (owns or (belongs and self.ends_name(index)))
                and name.startswith(token.text)
                and token.folded not in MONTHS
            )
        before = self.is_capital(index - 1) and not self.starts_sentence(index - 1)
        return self.ends_name(index) and not (before and self.gap(index - 1).strip() in ("", "-"))

    def ends_name(self, index: int) -> bool:
        """Whether no further name follows the word directly."""
        return index + 1 >= len(self.tokens) or self.gap(index).strip() != "" or not self.is_capital(index + 1)


def joins_words(said: Said, start: int, end: int) -> bool:
    """Whether the words belong together: only spaces, joining signs or one comma part them."""
    return all(JOINT.fullmatch(said.gap(index)) or said.gap(index).strip() == "," for index in range(start, end - 1))


def is_evident(said: Said, start: int, end: int, spelling: str, names: ColumnNames) -> bool:
    """Whether the words `start` to `end` mean the value `spelling` of the column."""
    tokens = said.tokens[start:end]
    if is_quoted(said, start, end):
        return True
    if all(token.folded.isdigit() for token in tokens):
        return False  # numbers are typed values
    words = [token.folded for token in tokens]
    if len(tokens) > 1:
        plain = all(word in FUNCTION_WORDS for word in words)
        named = all(token.stem in said.schema_words or token.folded in FUNCTION_WORDS for token in tokens)
        return not (plain or named) or is_near(said, start, end, names) or is_spelled_so(said, start, end, spelling)
    word = words[0]
    if word in ("a", "i") and (tokens[0].text != spelling or said.starts_sentence(start)):
        return False  # the article before "grade" is not the grade A
    if len(word) == 1 or tokens[0].stem in said.schema_words:
        return is_beside_column(said, start, end, names)
    if not needs_evidence(word, names):
        return True
    return (
        is_near(said, start, end, names)
        or is_spelled_so(said, start, end, spelling)
        or is_place(said, start, end, spelling)
    )


def needs_evidence(word: str, names: ColumnNames) -> bool:
    """Whether a single word says too little by itself."""
    if len(word) <= 2 or is_common(word) or word in MONTHS or word in WEEKDAYS or spelled_number(word) is not None:
        return True
    return names.everyday and is_ordinary(word)


def is_quoted(said: Said, start: int, end: int) -> bool:
    """Whether quotes stand directly around the words."""
    first, after = said.tokens[start].start, said.tokens[end - 1].end
    before, behind = said.text[:first].rstrip(), said.text[after:].lstrip()
    return before[-1:] in QUOTES and behind[:1] in QUOTES and bool(before and behind)


def is_spelled_so(said: Said, start: int, end: int, spelling: str) -> bool:
    """Whether the words have the source's own capitals where a capital says something."""
    text = said.text[said.tokens[start].start : said.tokens[end - 1].end]
    if not said.tells_case or not any(letter.isupper() for letter in text) or text.rstrip("s") != spelling.rstrip("s"):
        return False
    if text.isupper() and len(text) > 1:
        return text.lower() not in ("and", "or", "not")
    return not said.starts_sentence(start)


def is_place(said: Said, start: int, end: int, spelling: str) -> bool:
    """Whether a value that is a name at the source stands behind a preposition of place: "customers in turkey"."""
    word = said.tokens[start].folded
    is_name = spelling[:1].isupper() and not spelling.isupper() and word not in IDIOMS
    behind = said.tokens[start - 1].folded in ("in", "from", "at") if start else False
    return is_name and behind and ends_clause(said, end)


def is_near(said: Said, start: int, end: int, names: ColumnNames) -> bool:
    """Whether the question names the value's table or column beside it."""
    return is_before_noun(said, end, names.table | names.column) or is_behind_noun(said, start, end, names)


def is_beside_column(said: Said, start: int, end: int, names: ColumnNames) -> bool:
    """Whether the column's own name stands directly before or behind, or before with "is", "of" or "=" between."""
    if end < len(said.tokens) and said.tokens[end].stem in names.column:
        return True
    before = start - 1
    while (
        before >= 0
        and start - before <= 3
        and said.tokens[before].folded in ("is", "of", "was", "a", "an", "the", "equal", "to", "in")
    ):
        before -= 1
    return before >= 0 and said.tokens[before].stem in names.column


def is_before_noun(said: Said, end: int, nouns: frozenset[str]) -> bool:
    """As in "paid orders", "new or open tickets", "open ‹priority› tickets": nothing but values before the noun."""
    for index in range(end, min(end + 4, len(said.tokens))):
        if STOP.match(said.gap(index - 1)) and said.gap(index - 1).strip() != ",":
            return False
        token = said.tokens[index]
        if token.stem in nouns:
            return True
        if index not in said.candidates and token.folded not in ("and", "or", "not"):
            return False
    return False


def is_behind_noun(said: Said, start: int, end: int, names: ColumnNames) -> bool:
    """As in "orders that are still open", "status is new": only linking words and other values between, and no noun
    behind."""
    for index in range(start - 1, max(-1, start - 1 - REACH), -1):
        if re.search(r"[.?!;]\s", said.gap(index)):
            return False
        token = said.tokens[index]
        if token.stem in names.column:
            return True
        if token.stem in names.table:
            return ends_clause(said, end)
        before_value = token.folded in PREPOSITIONS and index + 1 in said.candidates and index + 1 != start
        if not (index in said.candidates or token.folded in LINKING_WORDS or token.folded == "s" or before_value):
            return False
    return False


def ends_clause(said: Said, end: int) -> bool:
    """Whether no noun follows that the value would describe instead."""
    if end >= len(said.tokens) or said.gap(end - 1).strip():
        return True
    token = said.tokens[end]
    if token.folded in ("to", "by", "with", "via", "as"):
        return False  # "orders shipped to Spain", "paid by card": a verb, not a state
    return (
        end in said.candidates or token.folded in FUNCTION_WORDS or token.folded in PREPOSITIONS or token.folded == "s"
    )
