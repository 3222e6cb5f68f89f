"""What a masked question says, apart from its values: content, marks, the kind of ask, what is asked, slots and order.

    "how many orders did ‹customers.name› place ‹time›?"
    content ("order",)   ask "count"   asked ("order",)   slots (customers.name, time)

Both sides of a comparison are read by the same function, so a stored key needs nothing but its masked text.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from qkva.planning.reading.asked import Ask, read_ask
from qkva.planning.reading.lexicon import (
    FUNCTION_WORDS,
    KEPT_BESIDE_MARK,
    LEADS,
    LIGHT_VERBS,
    MARKS,
    PHRASE_MARKS,
    TIME_NOUNS,
    WH_WORDS,
)
from qkva.planning.reading.question_tokens import Token, read_tokens
from qkva.planning.reading.relations import asker_of, person_of, stranded_preposition
from qkva.planning.reading.scope import attachments, is_personal, moment_of, tenses_of
from qkva.planning.reading.slot_roles import SlotRole, names_slot_type, role_of


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
    asker: str = ""
    """What the asker is: source or target of what is done, as `relations` names it."""
    person: str = ""
    """What "who" is, likewise."""
    stranded: str = ""
    """The preposition that it ends with."""
    moment: str = ""
    """ "now" or "ever", where one of them is said."""

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
            mark = "twice not" if mark == "not" and marks["not"] else mark
            marks[mark] += 1
            sequence.append(f"#{mark}")
        if _is_content(tokens, at, mark):
            content.append(token.lemma)
            sequence.append(token.lemma)
    return QuestionForm(
        content=tuple(content),
        marks=frozenset(marks),
        ask=ask,
        slots=tuple(role_of(tokens, at) for at, token in enumerate(tokens) if token.label is not None),
        sequence=tuple(sequence),
        attached=attachments(tokens, ask),
        tenses=tenses_of(tokens),
        personal=is_personal(tokens),
        asker=asker_of(tokens),
        person=person_of(tokens),
        stranded=stranded_preposition(tokens),
        moment=moment_of(tokens),
    )


def _mark_of(tokens: Sequence[Token], at: int, ask: Ask) -> str | None:
    word = tokens[at].word
    if word in PHRASE_MARKS:
        return PHRASE_MARKS[word]
    if word == "<count>":
        return None if at == ask.at else "count"
    if word in WH_WORDS and at > 0 and tokens[at - 1].word == "and" and at != ask.at:
        return "also"  # "is it offered, and when": two questions
    return _mark_by_place(tokens, at, ask) or _mark_by_word(tokens, at, ask)


def _mark_by_place(tokens: Sequence[Token], at: int, ask: Ask) -> str | None:
    """What a word says by the words beside it, and not by itself."""
    word = tokens[at].word
    if word == "all" and at > 0 and tokens[at - 1].word in ("are", "were", "been", "being"):
        return "only"  # "whose tickets are all in …"
    if word == "by" and 0 < at < len(tokens) - 1 and _groups(tokens[at + 1], tokens[at - 1]):
        return "each"  # "issues by type"
    if word in ("all", "every") and ask.kind == "yes_no":
        return "all"  # "do all orders have …" is not "are there orders that have …"
    return None


def _mark_by_word(tokens: Sequence[Token], at: int, ask: Ask) -> str | None:
    word = tokens[at].word
    mark = MARKS.get(word)
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


def _groups(behind: Token, before: Token) -> bool:
    """Whether "by" in front of this word counts or sorts by it, as against "by me", "by whom", "by paying"."""
    if before.lemma in ("sort", "order", "rank", "list"):
        return False
    word = behind.word
    return (
        behind.label is None
        and word.isalpha()
        and (word not in FUNCTION_WORDS or word in ("type", "kind", "sort"))
        and word not in MARKS
        and not word.endswith("ing")
    )


def _is_content(tokens: Sequence[Token], at: int, mark: str | None) -> bool:
    token = tokens[at]
    word = token.word
    if word.startswith("<") or not word[0].isalnum():
        return False
    if word in MARKS and (mark or word in FUNCTION_WORDS) and word not in KEPT_BESIDE_MARK:
        return False
    if word in ("need", "needs") and at > 0 and _is_noun_like(tokens[at - 1]):
        return True  # "classes that need ‹course›", not "I need to see"
    if word in ("return", "returns", "returned") and not _opens_request(tokens, at):
        return True  # "orders that she returned", not "return all orders"
    if word in FUNCTION_WORDS or word in LIGHT_VERBS:
        return word in KEPT_BESIDE_MARK
    if token.lemma in TIME_NOUNS and at > 0 and tokens[at - 1].word in ("by", "per", "each", "every"):
        return True  # "revenue by day last month": what is grouped by, not what kind of value ‹time› is
    if word == "name" and _opens_request(tokens, at):
        return False  # "name the customers"
    if word in ("count", "number") and (at == 0 or tokens[at - 1].label is None) and _heads_count(tokens, at):
        return False
    if word == "place" and (at == 0 or tokens[at - 1].word not in ("the", "a", "which", "what", "this")):
        return False
    return not names_slot_type(tokens, at)


def _opens_request(tokens: Sequence[Token], at: int) -> bool:
    """Whether only polite words stand before it: "return …", "can you return …"."""
    return all(token.word in LEADS or token.word in ("can", "could", "you") for token in tokens[:at])


def _is_noun_like(token: Token) -> bool:
    if token.label is not None or token.word in ("that", "which", "who"):
        return True
    return token.word[0].isalnum() and token.word not in FUNCTION_WORDS and token.word not in MARKS


def _heads_count(tokens: Sequence[Token], at: int) -> bool:
    return tokens[at].word == "count" and all(
        token.word in FUNCTION_WORDS or not token.word[0].isalnum() for token in tokens[:at]
    )
