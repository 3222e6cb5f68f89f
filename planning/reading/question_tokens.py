"""Cut a masked question into words, with their lemmas, runs of words that read as one, and its ‹slots›."""

import re
from functools import lru_cache
from typing import NamedTuple

from simplemma import lemmatize

from qkva.planning.reading.lexicon import FORMS, PHRASES

_TOKEN = re.compile(r"‹([^›]*)›|[^\W_]+(?:_[^\W_]+)*|['’](?:s|d|m|re|ve|ll)\b|[^\w\s]", re.UNICODE)
_NOT = re.compile(r"\b(\w+)n['’]t\b")
_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")
_SYMBOLS = {
    **dict.fromkeys((">=", "=>", "≥"), " at least "),
    **dict.fromkeys(("<=", "=<", "≤"), " at most "),
    **dict.fromkeys(("!=", "<>", "≠"), " not "),
    ">": " more than ",
    "<": " less than ",
    "=": " ",
}
_SYMBOL = re.compile("|".join(map(re.escape, sorted(_SYMBOLS, key=len, reverse=True))))
_SHORT = re.compile(r"\b(?:nr|no)\.? of\b|#(?= ?of\b| ?[a-z])")
_LONGEST_PHRASE = max(len(phrase) for phrase in PHRASES)


class Token(NamedTuple):
    """One word, one ‹slot›, or one mark of punctuation."""

    word: str
    """Lower-cased; "<count>" and the like for a run of words that reads as one; "‹›" for a slot."""
    lemma: str
    label: str | None = None
    """The slot's label, if it is one."""


@lru_cache(maxsize=50_000)
def lemma_of(word: str) -> str:
    """The dictionary form of an English word, lower-cased; the word itself where none is known.

    The first call loads the language's table (0.1 s), a new word costs 10 µs.
    """
    if word in FORMS:
        return FORMS[word]
    if not word.isalpha() or not word.isascii():
        return word
    lemma = lemmatize(word, "en").lower()
    return FORMS.get(lemma, lemma)


def words_of(name: str) -> tuple[str, ...]:
    """The lemmas in a name of a column, a table or a label: "order_items.unitPrice" → order, item, unit, price."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return tuple(lemma_of(part) for part in re.findall(r"[a-z]+", spaced.lower()))


@lru_cache(maxsize=20_000)
def read_tokens(masked: str) -> tuple[Token, ...]:
    """Tokens of a masked question, in order."""
    words: list[tuple[str, str | None]] = []
    text = _NOT.sub(_split_negation, _HYPHEN.sub(" ", masked.lower().replace("’", "'")))
    text = _SYMBOL.sub(lambda found: _SYMBOLS[found[0]], _SHORT.sub("number of", text))
    for found in _TOKEN.finditer(text):
        words.append(("‹›", found[1].strip()) if found[1] is not None else (found[0], None))
    return tuple(_fold_phrases(words))


def _split_negation(found: re.Match[str]) -> str:
    """ "doesn't" → "does not"; "can't" → "can not"; "won't" → "will not"."""
    stem = {"ca": "can", "wo": "will", "sha": "shall"}.get(found[1], found[1])
    return f"{stem} not"


def _fold_phrases(words: list[tuple[str, str | None]]) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    while at < len(words):
        word, label = words[at]
        if label is not None:
            tokens.append(Token("‹›", "‹›", label))
            at += 1
            continue
        folded, length = _phrase_at(words, at)
        if length:
            if folded:
                tokens.append(Token(folded, lemma_of(folded)))
            at += length
        else:
            tokens.append(Token(word, lemma_of(word)))
            at += 1
    return tokens


def _phrase_at(words: list[tuple[str, str | None]], at: int) -> tuple[str, int]:
    """The phrase that starts here and how many words it takes; 0 words for none."""
    for length in range(min(_LONGEST_PHRASE, len(words) - at), 1, -1):
        run = tuple(word for word, _ in words[at : at + length])
        if run in PHRASES:
            return PHRASES[run], length
    return "", 0
