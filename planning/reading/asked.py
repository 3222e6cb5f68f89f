"""The kind of ask of a question (a list, a count, yes or no, who, when …) and the thing that is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from qkva.planning.reading.lexicon import (
    AUXILIARIES,
    FUNCTION_WORDS,
    IMPERATIVES,
    LEADS,
    MARKS,
    STOPPING_PREPOSITIONS,
    WH_WORDS,
)
from qkva.planning.reading.question_tokens import Token

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
_WEAK = frozenset("need want like have".split())
_POLITE = frozenset("can could would do will may".split())
_EXISTENCE = frozenset(
    (verb, word)
    for verb in ("is", "are", "was", "were", "do", "does", "did", "can", "has", "have")
    for word in ("there", "any", "i")
)
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
    question_word = next(
        (at for at, word in enumerate(words) if word in WH_WORDS and not _is_relative(words, at)), None
    )
    imperative = next((at for at, word in enumerate(words[:_HEAD]) if word in IMPERATIVES), None)
    counted = _count_at(words, first, imperative, question_word)
    if counted is not None:
        return Ask("count", _chunk(tokens, counted + 1) or _topic(tokens, first), counted)
    if _asks_yes_or_no(words, first, question_word, imperative):
        return Ask("yes_no", _yes_no_thing(tokens, first), first)
    if question_word is not None and (
        imperative is None or imperative > question_word or question_word - imperative < 4 or words[imperative] in _WEAK
    ):
        kind = _KINDS.get(words[question_word], "list")
        if kind != "how" or imperative is None:
            return Ask(kind, _thing_of(tokens, question_word, first), question_word)
    if imperative is not None:
        return Ask("list", _chunk(tokens, imperative + 1) or _topic(tokens, first), imperative)
    return Ask("list", _chunk(tokens, first), -1)


def _is_relative(words: Sequence[str], at: int) -> bool:
    """ "courses which have labs", "people who": not a question word, where another word asks."""
    if words[at] not in ("which", "who", "whom", "whose", "where", "when") or at == 0:
        return False
    before = words[at - 1]
    if before in LEADS or before in STOPPING_PREPOSITIONS or before in AUXILIARIES or not before[0].isalnum():
        return False
    if before in ("me", "know", "us", "tell", "see", "find", "in", "out"):
        return False
    asks_elsewhere = any(word in ("what", "<count>", "<much>") for word in words) or words[0] in AUXILIARIES
    return asks_elsewhere or any(word in IMPERATIVES for word in words[: max(0, at - 1)])


def _thing_of(tokens: Sequence[Token], at: int, first: int) -> tuple[str, ...]:
    """What a question word asks for: the noun behind it, or the topic in front of it ("of the courses, which …")."""
    following = next((t.word for t in tokens[at + 1 :] if t.word not in ("'s", "all", "ones", "one")), "")
    ones = at + 1 < len(tokens) and tokens[at + 1].word in ("ones", "one")
    topic = _topic(tokens[:at], first)
    if topic and tokens[first].word in ("of", "among", "from") and (ones or following in AUXILIARIES):
        return topic
    if following in AUXILIARIES and following not in ("is", "are", "was", "were"):
        return topic if tokens[first].word in ("of", "among") else ()
    return _chunk(tokens, at + 1) or topic


def _topic(tokens: Sequence[Token], first: int) -> tuple[str, ...]:
    return _chunk(tokens, first)


def _yes_no_thing(tokens: Sequence[Token], first: int) -> tuple[str, ...]:
    start = first + 1 if first < len(tokens) and tokens[first].word in AUXILIARIES else first
    return _chunk(tokens, start)


def _count_at(words: Sequence[str], first: int, imperative: int | None, question_word: int | None) -> int | None:
    for at, word in enumerate(words):
        if word == "<count>":
            # "customers with the number of orders" is a list: the count has to come before any other noun.
            between = words[first:at]
            if all(w in FUNCTION_WORDS or w in MARKS or w in IMPERATIVES or not w[0].isalnum() for w in between):
                return at
            if at == question_word and (
                words[at - 1] in (",", "and", "-", ":", "contains", "has", "have") or at + 1 == len(words)
            ):
                return at
        if word == "count" and at < _HEAD and (at == first or at == imperative or words[at - 1] in ("the", "a")):
            return at
    return None


def _asks_yes_or_no(words: Sequence[str], first: int, question_word: int | None, imperative: int | None) -> bool:
    if any(word in ("whether", "if") for word in words[first : first + 6]):
        return True
    if first >= len(words):
        return False
    if words[first] in AUXILIARIES:
        asks_politely = imperative is not None and imperative < first + 4 and words[first] in _POLITE
        return not asks_politely and not (question_word is not None and question_word < first + 6)
    if question_word is not None or (imperative is not None and imperative <= first + 3):
        return False
    if words[first] == "any" or any(pair in _EXISTENCE for pair in zip(words, words[1:], strict=False)):
        return True  # "for X, are there …", "any refunds of Ada?"
    return words[-1] == "?" and any(
        word in ("is", "are", "was", "were", "does", "do", "did", "can", "has") for word in words
    )


def _parts(word: str) -> bool:
    """Whether a word is no part of a noun phrase."""
    if not word[0].isalnum():
        return True
    return word in STOPPING_PREPOSITIONS or word in FUNCTION_WORDS or word in MARKS or word in IMPERATIVES


def _chunk(tokens: Sequence[Token], start: int, most: int = 3) -> tuple[str, ...]:
    """The first run of content words from `start` on."""
    found: list[str] = []
    for token in tokens[start:]:
        if token.word == "'s" and found:
            found = []  # "next semester's classes" are classes
            continue
        if len(found) == most:
            break
        if token.label is not None:
            if found:
                break
            continue
        if token.word in STOPPING_PREPOSITIONS and token.word not in ("of", "as") and start > 0:
            break  # what stands behind a preposition is not what is asked for
        if _parts(token.word):
            if found:
                break
            continue
        found.append(token.lemma)
    return tuple(found)
