"""Which value of a new question plays which role of a stored one."""

import pytest

from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.planning.filling.alignment import align
from qkva.planning.filling.alike import treats_alike
from qkva.planning.filling.said_constants import fingerprint, said_in_words
from qkva.planning.reading.question_form import read_question_form
from qkva.planning.reading.question_tokens import read_tokens
from qkva.planning.reading.slot_roles import SlotRole


def pairs(asked, stored):
    found = align(
        read_question_form(asked).slots, read_question_form(stored).slots, same=lambda one, other: one == other
    )
    return None if found.ambiguous else found.pairs


@pytest.mark.parametrize(
    ("asked", "stored", "placed"),
    [
        ("to ‹city› from ‹city›", "from ‹city› to ‹city›", (1, 0)),
        ("‹city› to ‹city› trains", "trains from ‹city› to ‹city›", (0, 1)),
        ("what do ‹dept› ‹number› and ‹number› need", "‹dept› ‹number› and ‹number› need what", (0, 1, 2)),
        ("is ‹number› needed for ‹dept› ‹number›", "does ‹dept› ‹number› need ‹number›", (2, 0, 1)),
        ("orders of ‹name› over ‹number›", "over ‹number›: orders of ‹name›", (1, 0)),
        ("orders of ‹name› in ‹time›", "orders of ‹name›", (0, None)),
    ],
)
def test_slots_find_their_counterparts(asked, stored, placed):
    assert pairs(asked, stored) == placed


def test_what_nothing_tells_is_ambiguous():
    """The order says the one thing and the noun in front the other."""
    plain, cued = SlotRole("name", "", ""), SlotRole("name", "", "author")
    assert align([plain, cued], [cued, plain], same=lambda one, other: one == other).ambiguous == (0, 1)


def test_parameters_of_an_and_may_swap(make_plan):
    both = make_plan("SELECT id FROM t WHERE a = {x} AND a = {y}")
    one_way = make_plan("SELECT id FROM t WHERE a = {x} AND b = {y}")
    swap = (("x", "y"), ("y", "x"))
    assert treats_alike(both, swap) and not treats_alike(one_way, swap)


@pytest.fixture
def make_plan():
    def made(query):
        params = tuple(Parameter(name=name, type=ParamType.TEXT) for name in "xy")
        return Plan(key_text="x", query=query, params=params, source="s", source_type="sql", dialect="postgres")

    return made


def test_constant_is_said_by_plain_words_too():
    assert said_in_words(fingerprint(["wednesday"]), read_tokens("is it open on wednesdays"))
    assert not said_in_words(fingerprint(["friday"]), read_tokens("is it open on wednesdays"))
