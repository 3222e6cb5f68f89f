"""Whether a question says a value that a model gives for it; small models like to fill in what nobody said."""

from typing import Any

from qkva.contracts.plan import Parameter, ParamType
from qkva.contracts.question import MaskedQuestion, SlotType
from qkva.planning.text import stems

NUMBERS = (ParamType.INTEGER, ParamType.NUMBER)
TIMES = (ParamType.DATE, ParamType.DATETIME, ParamType.TIME_RANGE)
FREE = (ParamType.BOOLEAN, ParamType.ENUM)
"""Chosen from a few, in words that need not be the question's."""


def is_said(param: Parameter, value: Any, question: MaskedQuestion) -> bool:
    """By its words; a number or a time by a slot of that kind, since both have many spellings."""
    if value is None or param.type in FREE:
        return value is not None
    if param.type in TIMES:
        return any(slot.type in (SlotType.TIME_RANGE, SlotType.CLOCK_TIME) for slot in question.slots)
    if param.type in NUMBERS:
        return any(is_number(slot.value, value) for slot in question.slots) or words_occur(str(value), question)
    items = value if isinstance(value, list) else [value]
    return all(words_occur(str(item), question) for item in items)


def is_number(said: Any, value: Any) -> bool:
    """Whether a slot holds this number."""
    try:
        return float(said) == float(value)
    except (TypeError, ValueError):
        return False


def words_occur(text: str, question: MaskedQuestion) -> bool:
    """Whether every word of it stands in the question, or in the stored spelling of a value found there."""
    known = set(stems(question.text))
    for slot in question.slots:
        known |= set(stems(str(slot.value)))
    words = stems(text)
    return bool(words) and set(words) <= known
