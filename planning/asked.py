"""The kind of ask of a question (a list, a count, yes or no, who, when …) and the thing that is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from qkva.planning.lexicon import (
    AUXILIARIES,
    FUNCTION_WORDS,
    IMPERATIVES,
    LEADS,
    MARKS,
    STOPPING_PREPOSITIONS,
    WH_WORDS,
)
from qkva.planning.question_tokens import Token

_KINDS = {
    "<count>": "count",
    "<much>": "much",
    "<long>": "long",
    "<often>": "often",
    "who": "who",
    "whom": "who",
    "whose": "who",
    "where": "where",
    "when": "when",
    "how": "how",
    "why": "why",
}
_HEAD = 9  # words from the start in which the ask is looked for


@dataclass(frozen=True)
class Ask:
    """What kind of answer is wanted, and of what."""

    kind: str
    """list, count, much, long, often, who, where, when, how, why or yes_no."""
    asked: tuple[str, ...]
    """Lemmas of the thing asked for, at most three: ("email", "address")."""
    at: int
    """Index of the word that says so; -1 for none."""


def read_ask(tokens: Sequence[Token]) -> Ask:
    """The kind and the thing of a question."""
    words = [token.word for token in tokens]
    first = next((at for at, word in enumerate(words) if word not in LEADS), len(words))
    question_word = next((at for at, word in enumerate(words) if word in WH_WORDS), None)
    imperative = next((at for at, word in enumerate(words[:_HEAD]) if word in IMPERATIVES), None)
    counted = _count_at(words, first, imperative)
    if counted is not None:
        return Ask("count", _chunk(tokens, counted + 1), counted)
    if _asks_yes_or_no(words, first, question_word, imperative):
        return Ask("yes_no", _chunk(tokens, first + 1), first)
    if question_word is not None and (
        imperative is None or imperative > question_word or question_word - imperative < 4
    ):
        kind = _KINDS.get(words[question_word], "list")
        if kind != "how" or imperative is None:
            return Ask(kind, _chunk(tokens, question_word + 1), question_word)
    if imperative is not None:
        return Ask("list", _chunk(tokens, imperative + 1), imperative)
    return Ask("list", _chunk(tokens, first), -1)


def _count_at(words: Sequence[str], first: int, imperative: int | None) -> int | None:
    for at, word in enumerate(words[:_HEAD]):
        if word == "<count>":
            # "customers with the number of orders" is a list: the count has to come before any other noun.
            between = words[first:at]
            if all(w in FUNCTION_WORDS or w in MARKS or w in IMPERATIVES or not w[0].isalnum() for w in between):
                return at
            return at if words[at - 1] in ("and", ",") or "how" in between else None
        if word == "count" and (at == first or at == imperative or words[at - 1] in ("the", "a")):
            return at
    return None


def _asks_yes_or_no(words: Sequence[str], first: int, question_word: int | None, imperative: int | None) -> bool:
    if any(word in ("whether", "if") for word in words[first : first + 6]):
        return True
    if first >= len(words) or words[first] not in AUXILIARIES:
        return False
    asks_politely = (
        imperative is not None and imperative < first + 4 and words[first] in ("can", "could", "would", "do", "will")
    )
    return not asks_politely and not (question_word is not None and question_word < first + 6)


def _chunk(tokens: Sequence[Token], start: int, most: int = 3) -> tuple[str, ...]:
    """The first run of content words from `start` on."""
    found: list[str] = []
    for token in tokens[start:]:
        if len(found) == most:
            break
        if token.label is not None:
            if found:
                break
            continue
        word = token.word
        if word in STOPPING_PREPOSITIONS or word in (".", "?", ";"):
            if found:
                break
            continue
        if word in FUNCTION_WORDS or word in MARKS or word in IMPERATIVES or not word[0].isalnum():
            if found:
                break
            continue
        found.append(token.lemma)
    return tuple(found)
