"""A model's value counts only if the question says it."""

import pytest

from qkva.contracts.plan import Parameter, ParamType
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.planning.filling.said import is_said


def asked(text, *slots):
    return MaskedQuestion(source="s", text=text, masked=text.lower(), slots=slots)


def slot(text, kind, value, at=0):
    return Slot(start=at, end=at + len(text), text=text, type=kind, label="x", value=value)


@pytest.mark.parametrize(
    ("kind", "value", "question", "said"),
    [
        ("text", "Ursula Le Guin", asked("books by Ursula Le Guin"), True),
        ("text", "Ursula Le Guin", asked("books by that author"), False),
        ("text", "Norway", asked("loans in norway"), True),
        ("integer", 10, asked("the best books"), False),
        ("integer", 3, asked("the top three books", slot("three", SlotType.NUMBER, 3)), True),
        ("integer", 5, asked("the top 5 books"), True),
        ("time_range", "last month", asked("loans of Mira"), False),
        ("time_range", "last month", asked("loans last month", slot("last month", SlotType.TIME_RANGE, {})), True),
        ("boolean", True, asked("books that are lent"), True),
        ("list", ["Solaris", "Tehanu"], asked("loans of Solaris"), False),
        ("text", None, asked("books"), False),
    ],
)
def test_value_is_said(kind, value, question, said):
    assert is_said(Parameter(name="p", type=ParamType(kind)), value, question) is said
