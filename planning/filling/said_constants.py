"""Values that a question says and a plan does not bind: part of what the plan means, so they must be said again.

A stored key holds no value of any question. Of such a value it keeps a fingerprint, `=` and a few hexadecimal digits,
in the place of the parameter that the slot would fill: enough to see whether another question says the same.
"""

import hashlib
from collections.abc import Sequence

from qkva.contracts.question import Slot, SlotType
from qkva.planning.reading.question_tokens import Token, lemma_of

MARK = "="


def said_constant(slot: Slot) -> str:
    """The fingerprint of what a slot says; equal for other spellings of one value."""
    text = str(slot.value) if slot.type is SlotType.VALUE else slot.text
    return fingerprint([lemma_of(word) for word in text.casefold().replace("-", " ").split()])


def fingerprint(words: Sequence[str]) -> str:
    """Of a run of lemmas."""
    return MARK + hashlib.sha256(" ".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def is_constant_role(role: str | None) -> bool:
    """Whether a slot's role is to say a constant of the plan."""
    return role is None or role.startswith(MARK)


def said_in_words(constant: str, tokens: Sequence[Token], longest: int = 3) -> bool:
    """Whether a run of words outside of the slots says the constant: "on wednesdays", where the key had a slot."""
    words = [token.lemma if token.label is None else "" for token in tokens]
    return any(
        fingerprint(words[start : start + length]) == constant
        for length in range(1, longest + 1)
        for start in range(len(words) - length + 1)
    )
