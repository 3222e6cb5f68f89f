"""The figures, against values from textbooks and by hand."""

import importlib.util

import pytest

from qkva.contracts.cache import Door
from qkva.contracts.errors import ConfigError
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.evals.curve import curve_points, draw_curve
from qkva.evals.players import Looked
from qkva.evals.questions import Asked, Form, Template
from qkva.evals.stream import Turn, same_value
from qkva.evals.tally import tally

PLAN = Plan(
    key_text="loans",
    query="select 1 where a = {a} and b = {b}",
    params=(Parameter(name="a", type=ParamType.TEXT), Parameter(name="b", type=ParamType.INTEGER)),
    source="bench",
    source_type="sql",
    dialect="sqlite",
)


def turn(*, values=None, right=True, score=1.0, said=("a", "b"), ms=1.0):
    """A question that means a = x and b = 3; a hit if there are `values`."""
    template = Template(0, (Form(PLAN, "loans"),), {})
    asked = Asked("q", template, {"a": "x", "b": "3"}, frozenset(said))
    plan = None if values is None else PLAN
    door = Door(name="mask", verdict="open", why="equal")
    looked = Looked(plan=plan, values=values or {}, score=score, masked="q", doors=(door,))
    return Turn(asked, looked, ms, right, asked.values if right else None)


def count(*turns, indexed=frozenset({"x"})):
    return tally(turns, {"loans": 0}, indexed, None)


@pytest.mark.parametrize(
    ("filled", "right", "same"),
    [("Ada  Lovelace", "ada lovelace", True), (550, "550", True), ("0550", "550", False), (2.5, "2.5", True),
     (None, "", False), ("x", "y", False), ({"start": "2016-01-01"}, "2016", False), ("nan", "NaN", True)],
)  # fmt: skip
def test_values_are_compared_as_meant(filled, right, same):
    assert same_value(filled, right) is same


def test_hits_and_parameters_are_counted():
    exact, half, empty = {"a": "X", "b": 3}, {"a": "x", "b": 4}, {"a": "x", "b": None}
    found = count(turn(), turn(values=exact), turn(values=half), turn(values=empty), turn(values=exact, right=False))

    assert (found.questions, found.plans, found.ceiling) == (5, 1, 0.8)
    assert (found.hits, found.wrong_hits, found.planner_calls, found.audits) == (4, 1, 1, 0)
    assert (found.hit_rate, found.wrong_rate) == (0.8, 0.25)
    assert (found.filled, found.filled_exact, found.params, found.params_exact) == (3, 1, 6, 4)
    assert (found.left_for_model, found.filled_by_model, found.end_to_end_correct) == (1, 0, 2)
    assert (found.executed, found.executed_correct) == (None, None)


def test_unsaid_or_unindexed_values_are_not_known():
    exact = {"a": "x", "b": 3}
    assert count(turn(values=exact), turn(values=exact, said=("a",))).known == 1
    assert count(turn(values=exact), indexed=frozenset()).known == 0


def test_times_are_median_and_p95():
    found = count(*(turn(ms=float(n)) for n in range(1, 101)))

    assert (found.median_ms, found.p95_ms) == (50.5, 95.0)


def test_curve_goes_down_the_scores():
    turns = [turn(values={}, score=0.9), turn(values={}, score=0.8, right=False), turn(values={}, score=0.9), turn()]

    assert curve_points(turns) == [(0.9, 0.0, 0.5), (0.8, pytest.approx(1 / 3), 0.75)]


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="the extra `bench` is not installed")
def test_curve_is_a_picture(tmp_path):
    draw_curve([turn(values={}, score=0.9)], "one hit", tmp_path / "curve.png")

    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is not None, reason="matplotlib is installed")
def test_curve_without_matplotlib_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="install qkva with its extra `bench`"):
        draw_curve([turn(values={})], "one hit", tmp_path / "curve.png")
