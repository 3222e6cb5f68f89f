"""The verifier's file, the correction by a source's labels, and the audits."""

import json
import math
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qkva.contracts.cache import LabelledScore
from qkva.planning.decision.audits import audit_share, is_proven_wrong
from qkva.planning.decision.confidence import confidence_of, required
from qkva.planning.decision.evidence import FEATURES
from qkva.planning.decision.recalibration import fit_line, recalibrate
from qkva.planning.decision.verifier import Node, Prior, Verifier, Weight, logistic, read_verifier, shipped_verifier

SMALL = Verifier(
    version="test",
    intercept=0.5,
    weights={"margin": Weight(0.1, 0.2, 2.0)},
    baseline=-1.0,
    trees=((Node("rank", 0.5, 1, 2), Node(value=3.0), Node(value=-1.0)),),
)


def test_probability_by_hand():
    # linear: 0.5 + 2 · (0.3 − 0.1) / 0.2 = 2.5; grown: −1 + 3 for the first rank, −1 − 1 for another
    first = math.sqrt(1 / (1 + math.exp(-2.5)) * 1 / (1 + math.exp(-2.0)))
    other = math.sqrt(1 / (1 + math.exp(-2.5)) * 1 / (1 + math.exp(2.0)))
    assert SMALL.probability({"margin": 0.3, "rank": 0.0}) == pytest.approx(first)
    assert SMALL.probability({"margin": 0.3, "rank": 1.0}) == pytest.approx(other)


def test_far_values_count_as_four_deviations():
    far, clipped = {"margin": 100.0, "rank": 0.0}, {"margin": 0.1 + 4 * 0.2, "rank": 0.0}
    assert SMALL.probability(far) == SMALL.probability(clipped)


def test_file_is_read_as_it_was_written():
    assert read_verifier(json.dumps(SMALL.dump())) == SMALL


def test_shipped_file_knows_the_features_of_today():
    verifier = shipped_verifier()
    used = {*verifier.weights, *(node.feature for tree in verifier.trees for node in tree if node.feature)}
    assert used <= set(FEATURES) and verifier.hard_guards
    assert len(files("qkva.planning.decision").joinpath("verifier.json").read_bytes()) < 60_000


def test_trees_only_ever_follow_the_declared_direction():
    """What speaks against a plan never makes it likelier: the trees are monotone in each feature."""
    verifier = shipped_verifier()
    grown = Verifier("", 0.0, {}, verifier.baseline, verifier.trees)
    base = {name: 0.5 for name in FEATURES}
    for name, direction in FEATURES.items():
        steps = [grown.probability({**base, name: value}) for value in (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)]
        assert direction == 0 or all((b - a) * direction >= -1e-9 for a, b in zip(steps, steps[1:], strict=False)), name


def test_line_of_known_labels():
    """200 labels at logit 0 of which 150 are right, and 200 at logit 2 of which 190 are: the line through both."""
    logits = [0.0] * 200 + [2.0] * 200
    same = [True] * 150 + [False] * 50 + [True] * 190 + [False] * 10
    slope, shift = fit_line(logits, same)
    assert shift == pytest.approx(math.log(150 / 50), abs=0.05)
    assert slope == pytest.approx((math.log(190 / 10) - math.log(150 / 50)) / 2, abs=0.05)


def test_labels_open_and_close():
    prior = Prior(1.0, 0.0, 0.3, 0.8)
    unknown = recalibrate(prior, [], [])
    good = recalibrate(prior, [0.7] * 200, [True] * 200)
    bad = recalibrate(prior, [0.7] * 200, [True] * 100 + [False] * 100)
    assert bad.at_least(0.9, 1.0) < unknown.probability(0.9) < good.at_least(0.9, 1.0)
    assert unknown.at_least(0.9, 1.0) < unknown.probability(0.9) == pytest.approx(0.9)


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999), st.lists(st.tuples(st.floats(0.01, 0.99), st.booleans())))
def test_more_likely_stays_more_likely(one, other, labels):
    found = recalibrate(Prior(), [p for p, _ in labels], [same for _, same in labels])
    low, high = sorted((one, other))
    assert found.probability(low) <= found.probability(high) + 1e-12


@pytest.mark.parametrize(("budget", "least"), [(0.0, 1.0), (0.01, 0.9), (0.001, 0.99), (1.0, 0.5)])
def test_budget_sets_the_least_probability(budget, least):
    assert required(budget) == pytest.approx(least)


def test_wrong_audits_shut_what_was_open():
    labels = [LabelledScore(score=0.8, same=True, origin="miss")] * 150
    opened = confidence_of(labels).recalibration.at_least(0.9, 1.0)
    audits = [LabelledScore(score=0.9, same=False, origin="audit")] * 30
    assert opened >= required(0.01) > confidence_of([*labels, *audits]).recalibration.at_least(0.9, 1.0)


@pytest.mark.parametrize(("audits", "share"), [(0, 0.05), (19, 0.05), (20, 0.02), (299, 0.02), (300, 0.005)])
def test_audits_grow_rarer(audits, share):
    assert audit_share(0.05, audits) == pytest.approx(share)


@pytest.mark.parametrize(("same", "different", "proven"), [(0, 1, False), (0, 2, True), (2, 2, False), (2, 3, True)])
def test_one_odd_audit_proves_nothing(same, different, proven):
    assert is_proven_wrong(same, different) is proven


def test_logistic_bears_any_number():
    assert (logistic(-1000), logistic(1000)) == (0.0, 1.0)
