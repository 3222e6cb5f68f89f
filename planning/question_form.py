"""What a masked question says, apart from its values: content, marks, the kind of ask, what is asked, slots and order.

    "how many orders did ‹customers.name› place ‹time›?"
    content ("order",)   ask "count"   asked ("order",)   slots (customers.name, time)

Both sides of a comparison are read by the same function, so a stored key needs nothing but its masked text.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from qkva.planning.asked import Ask, read_ask
from qkva.planning.lexicon import (
    DIRECTIONS,
    FUNCTION_WORDS,
    KEPT_BESIDE_MARK,
    LEADS,
    LIGHT_VERBS,
    MARKS,
    PHRASE_MARKS,
    PLAIN_PREPOSITIONS,
    STOPPING_PREPOSITIONS,
    TIME_NOUNS,
)
from qkva.planning.question_tokens import Token, read_tokens, words_of

_NAMING_COLUMNS = frozenset("name title id key number code label email".split())
_ARTICLES = frozenset("the a an this that these those my our all any same".split())
_SUPERLATIVES = ("max", "min", "latest", "earliest")


@dataclass(frozen=True)
class SlotRole:
    """A slot as the words around it describe it."""

    label: str
    direction: str
    """ "from", "to", "since", "before", "gt", "not" …; "" for a plain one."""
    cue: str
    """The nearest content word in front of it, or ""."""


@dataclass(frozen=True)
class QuestionForm:
    """The reading of one masked question."""

    content: tuple[str, ...]
    """Content lemmas in order, with repetition."""
    marks: frozenset[str]
    ask: Ask
    slots: tuple[SlotRole, ...]
    sequence: tuple[str, ...]
    """Content, marks and slots in the order of the text: what decides when who did what to whom matters."""
    attached: frozenset[tuple[str, str]]
    """Each superlative with the content word that it belongs to."""
    tenses: frozenset[str]
    """Of "past", "present", "future": those that an auxiliary says."""
    personal: bool
    """Whether it is about the asker: "my", "I have"."""

    @property
    def key(self) -> tuple[object, ...]:
        """The canonical key: equal for questions that say the same in other words and another order."""
        return (
            tuple(sorted(self.content)),
            tuple(sorted(self.marks)),
            self.ask.kind,
            tuple(sorted((slot.label, slot.direction) for slot in self.slots)),
            tuple(sorted(self.attached)),
            self.personal,
        )


@lru_cache(maxsize=20_000)
def read_question_form(masked: str) -> QuestionForm:
    """Read one masked question; about 60 µs, then cached."""
    tokens = read_tokens(masked)
    ask = read_ask(tokens)
    content: list[str] = []
    sequence: list[str] = []
    marks: Counter[str] = Counter()
    for at, token in enumerate(tokens):
        if token.label is not None:
            sequence.append(f"‹{token.label}›")
            continue
        mark = _mark_of(tokens, at, ask)
        if mark:
            marks[mark] += 1
            sequence.append(f"#{mark}")
        if _is_content(tokens, at, mark):
            content.append(token.lemma)
            sequence.append(token.lemma)
    return QuestionForm(
        content=tuple(content),
        marks=frozenset(marks),
        ask=ask,
        slots=tuple(_role_of(tokens, at) for at, token in enumerate(tokens) if token.label is not None),
        sequence=tuple(sequence),
        attached=_attachments(tokens, ask),
        tenses=_tenses(tokens),
        personal=_is_personal(tokens),
    )


def _mark_of(tokens: Sequence[Token], at: int, ask: Ask) -> str | None:
    word = tokens[at].word
    if word in PHRASE_MARKS:
        return PHRASE_MARKS[word]
    if word == "<count>":
        return None if at == ask.at else "count"
    mark = MARKS.get(word)
    if word in ("all", "every") and ask.kind == "yes_no":
        return "all"  # "do all orders have …" is not "are there orders that have …"
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if mark in ("gt", "lt") and word in ("over", "under", "within", "more", "below", "above"):
        # "over" a number compares; "all over", "more orders" and "within the team" do not always.
        return mark if following is not None and following.label is not None else None
    if mark == "sum" and ask.kind == "count":
        return None  # "total number of" is a count
    if mark == "either" and word == "or" and following is not None and following.word in ("not", "so"):
        return None
    if word == "not" and at > 0 and tokens[at - 1].word == "or":
        return None
    return mark


def _is_content(tokens: Sequence[Token], at: int, mark: str | None) -> bool:
    token = tokens[at]
    word = token.word
    if word.startswith("<") or not word[0].isalnum():
        return False
    if word in MARKS and (mark or word in FUNCTION_WORDS) and word not in KEPT_BESIDE_MARK:
        return False
    if word in FUNCTION_WORDS or word in LIGHT_VERBS:
        return word in KEPT_BESIDE_MARK
    if word == "name" and all(token.word in LEADS or token.word in ("can", "could", "you") for token in tokens[:at]):
        return False  # "name the customers"
    if word in ("count", "number") and (at == 0 or tokens[at - 1].label is None) and _heads_count(tokens, at):
        return False
    if word == "place" and (at == 0 or tokens[at - 1].word not in ("the", "a", "which", "what", "this")):
        return False
    return not _names_slot_type(tokens, at)


def _heads_count(tokens: Sequence[Token], at: int) -> bool:
    return tokens[at].word == "count" and all(
        token.word in FUNCTION_WORDS or not token.word[0].isalnum() for token in tokens[:at]
    )


def _names_slot_type(tokens: Sequence[Token], at: int) -> bool:
    """Whether the word only says what kind of value stands beside it: "customer ‹customers.name›", "‹status› status"."""
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


def _role_of(tokens: Sequence[Token], at: int) -> SlotRole:
    label = tokens[at].label or ""
    direction, cue = "", ""
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
            break
        if token.word.endswith("ing") and back > 0 and tokens[back - 1].word in DIRECTIONS:
            continue  # "before taking ‹course›"
        if token.word not in _ARTICLES and not _names_slot_type(tokens, back):
            cue = token.lemma
            break
    if direction == "" and at + 2 < len(tokens) and tokens[at + 1].word == "to" and tokens[at + 2].label is not None:
        direction = "from"
    after = tokens[at + 1].word if at + 1 < len(tokens) else ""
    if direction == "" and after in ("a", "an") and _follows_be(tokens, at):
        direction = "is"  # "is ‹course› a prerequisite": it is one, and does not have one
    if after in ("<ge>", "<le>"):
        direction = PHRASE_MARKS[after]
    return SlotRole(label, direction, cue)


def _follows_be(tokens: Sequence[Token], at: int) -> bool:
    before = at - 1
    while before >= 0 and tokens[before].label is not None:
        before -= 1
    return before >= 0 and tokens[before].word in ("is", "are", "was", "were")


def _attachments(tokens: Sequence[Token], ask: Ask) -> frozenset[tuple[str, str]]:
    """What each superlative and negation belongs to: "smallest state" and "state with the smallest area" differ in that."""
    found = set()
    for at, token in enumerate(tokens):
        mark = MARKS.get(token.word)
        if mark in _SUPERLATIVES:
            found.add((mark, _owner(tokens, at) or (ask.asked[-1] if ask.asked else "")))
        elif mark == "not":
            found.add((mark, _negated(tokens, at)))
    return frozenset(found)


def _owner(tokens: Sequence[Token], at: int) -> str:
    """The content word right behind a superlative; "" where it stands alone ("which class is the easiest")."""
    for token in tokens[at + 1 : at + 3]:
        if token.label in ("number", "ordinal"):
            continue  # "top 5 customers"
        if token.label is not None:
            return "‹›"
        word = token.word
        return token.lemma if word[0].isalnum() and word not in FUNCTION_WORDS and word not in MARKS else ""
    return ""


def _negated(tokens: Sequence[Token], at: int) -> str:
    for token in tokens[at + 1 : at + 5]:
        if token.label is not None:
            return f"‹{token.label}›"
        if token.word[0].isalnum() and token.word not in FUNCTION_WORDS and token.word not in MARKS:
            return token.lemma
    return ""


def _tenses(tokens: Sequence[Token]) -> frozenset[str]:
    words = [token.word for token in tokens]
    said = set()
    if "will" in words:
        said.add("future")
    if any(word in ("did", "had", "previously", "formerly", "past") for word in words) or _is_perfect(tokens):
        said.add("past")
    if any(word in ("does", "currently") for word in words):
        said.add("present")
    return frozenset(said)


def _is_perfect(tokens: Sequence[Token]) -> bool:
    """Whether it says "has bought", "have … been"."""
    for at, token in enumerate(tokens):
        if token.word in ("has", "have", "'ve"):
            for later in tokens[at + 1 : at + 6]:
                word = later.word
                if word in ("to", "any", "a", "the", "more", "no") or word in STOPPING_PREPOSITIONS:
                    break
                if word == "been" or (word != later.lemma and not word.endswith(("s", "ing")) and word.isalpha()):
                    return word not in FUNCTION_WORDS or word == "been"
    return False


def _is_personal(tokens: Sequence[Token]) -> bool:
    """Whether the asker's own records are meant; "should I", "can I" are no more than a way of asking."""
    words = [token.word for token in tokens]
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        before = words[at - 1] if at else ""
        if word in ("my", "mine", "myself"):
            return True
        if word == "i" and (
            following in ("'ve", "had", "did", "took", "made", "sent", "own") or before in ("did", "have")
        ):
            return True
        if word == "i" and following == "have" and at + 2 < len(words) and words[at + 2] not in ("to", "a", "the"):
            return True
        if word == "me" and before in ("to", "from", "by", "with", "of", "at"):
            return True
    return False
