"""The words around a slot: its direction, the noun that cues it, and the nouns that only name its type."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from qkva.planning.reading.lexicon import DIRECTIONS, PHRASE_MARKS, PLAIN_PREPOSITIONS, TIME_NOUNS
from qkva.planning.reading.question_tokens import Token, words_of
from qkva.planning.reading.relations import relation_of

_NAMING_COLUMNS = frozenset("name title id key number code label email".split())
_ARTICLES = frozenset("the a an this that these those my our all any same".split())


@dataclass(frozen=True)
class SlotRole:
    """A slot as the words around it describe it."""

    label: str
    direction: str
    """ "from", "to", "since", "before", "gt", "not" …; "" for a plain one."""
    cue: str
    """The nearest content word in front of it, or "", where no preposition stands between."""
    preposition: str = ""
    """The plain preposition in front of it: "by", "for", "in" …"""
    beside: tuple[str, str] = ("", "")
    """The labels of slots that stand right before and right behind it, or ""."""
    relation: str = ""
    """As `relations` names it."""


def names_slot_type(tokens: Sequence[Token], at: int) -> bool:
    """Whether the word only says what kind of value stands beside it: "customer ‹customers.name›"."""
    lemma = tokens[at].lemma
    if (
        at + 1 < len(tokens)
        and (label := tokens[at + 1].label) is not None
        and lemma in _type_words(label, before=True)
    ):
        return True
    return at > 0 and (label := tokens[at - 1].label) is not None and lemma in _type_words(label, before=False)


@lru_cache(maxsize=2_000)
def _type_words(label: str, *, before: bool) -> frozenset[str]:
    if label in ("time", "date") and before:
        return TIME_NOUNS
    table, _, column = label.rpartition(".")
    words = set(words_of(column))
    if before and words & _NAMING_COLUMNS:
        words |= set(words_of(table)[-1:])
    return frozenset(words)


def role_of(tokens: Sequence[Token], at: int) -> SlotRole:
    """Read the few words in front of a slot, and the one behind it."""
    direction, cue, preposition = _in_front(tokens, at)
    beside = (_label_at(tokens, at - 1), _label_at(tokens, at + 1))
    return SlotRole(
        tokens[at].label or "", direction or _behind(tokens, at), cue, preposition, beside, relation_of(tokens, at)
    )


def _label_at(tokens: Sequence[Token], at: int) -> str:
    return (tokens[at].label or "") if 0 <= at < len(tokens) else ""


def _in_front(tokens: Sequence[Token], at: int) -> tuple[str, str, str]:
    direction, cue, preposition = "", "", ""
    for back in range(at - 1, max(-1, at - 5), -1):
        token = tokens[back]
        if token.label is not None:
            break
        if token.word in DIRECTIONS:
            direction = DIRECTIONS[token.word]
            break
        if token.word in PLAIN_PREPOSITIONS and back > 0 and DIRECTIONS.get(tokens[back - 1].word) == "not":
            direction = "not"  # "not in ‹country›"
            break
        if token.word in PLAIN_PREPOSITIONS or not token.word[0].isalnum():
            preposition = token.word if token.word in PLAIN_PREPOSITIONS else ""
            break
        if token.word.endswith("ing") and back > 0 and tokens[back - 1].word in DIRECTIONS:
            continue  # "before taking ‹course›"
        if token.word not in _ARTICLES and not names_slot_type(tokens, back):
            cue = token.lemma
            break
    return direction, cue, preposition


def _behind(tokens: Sequence[Token], at: int) -> str:
    after = tokens[at + 1].word if at + 1 < len(tokens) else ""
    if after in ("<ge>", "<le>"):
        return PHRASE_MARKS[after]
    if after == "to" and at + 2 < len(tokens) and tokens[at + 2].label is not None:
        return "from"
    if after in ("a", "an") and _follows_be(tokens, at):
        return "is"  # "is ‹course› a prerequisite": it is one, and does not have one
    return ""


def _follows_be(tokens: Sequence[Token], at: int) -> bool:
    before = at - 1
    while before >= 0 and tokens[before].label is not None:
        before -= 1
    return before >= 0 and tokens[before].word in ("is", "are", "was", "were")
