"""When a judge may be believed, against bounds that are counted by hand.

With none wrong in n, the upper bound is 1 − 0.1^(1/n): 0.05 from 45 labels on, 0.01 from 230.
"""

import pytest

from qkva.contracts.cache import HitCounts, LabelledScore
from qkva.planning.decision.judged import judge_accepts, own_budget


def labels(probability, *, right=0, wrong=0):
    made = [(True, right), (False, wrong)]
    return [
        LabelledScore(score=0.5, judge=probability, same=same, origin="miss")
        for same, count in made
        for _ in range(count)
    ]


def accepts(probability, known, budget=0.05, hits=None):
    return judge_accepts(probability, known, budget, hits)[0]


@pytest.mark.parametrize(
    ("right", "budget", "enough"), [(44, 0.05, False), (45, 0.05, True), (229, 0.01, False), (230, 0.01, True)]
)
def test_evidence_of_a_flawless_judge(right, budget, enough):
    assert accepts(0.9, labels(0.9, right=right), budget) is enough


@pytest.mark.parametrize("count", [0, 1, 19])
def test_few_labels_open_nothing_whatever_the_budget(count):
    accepted, why = judge_accepts(1.0, labels(1.0, right=count), 1.0)
    assert not accepted
    assert f"only {count} labels of the 20" in why


def test_twenty_labels_open_within_a_wide_budget():
    assert accepts(1.0, labels(1.0, right=20), 0.11)  # 1 − 0.1^(1/20) = 0.109
    assert not accepts(1.0, labels(1.0, right=20), 0.10)


def test_lowest_threshold_that_holds():
    known = labels(0.9, right=60) + labels(0.7, right=60) + labels(0.5, right=30, wrong=30)
    assert accepts(0.9, known) and accepts(0.7, known) and accepts(0.8, known)
    assert not accepts(0.69, known)
    accepted, why = judge_accepts(0.6, known, 0.05)
    assert (accepted, "from 0.70 on it was wrong 0 times of 120" in why) == (False, True)


def test_threshold_may_lie_below_one_that_does_not_hold():
    known = labels(0.9, right=30) + labels(0.8, right=30)  # 30 prove 7.4 %, 60 prove 3.8 %
    assert accepts(0.9, known) and accepts(0.8, known)


def test_wrong_labels_cost():
    assert accepts(0.9, labels(0.9, right=76, wrong=1))  # 1 of 77: at most 4.96 %
    assert not accepts(0.9, labels(0.9, right=75, wrong=1))  # 1 of 76: at most 5.02 %


def test_judge_that_tells_nothing_opens_nothing():
    known = [label for p in (0.1, 0.5, 0.9) for label in labels(p, right=80, wrong=20)]
    accepted, why = judge_accepts(1.0, known, 0.01)
    assert (accepted, "wrong too often" in why) == (False, True)


def test_labels_that_no_judge_saw_count_for_nothing():
    unseen = [label.model_copy(update={"judge": None}) for label in labels(0.9, right=500)]
    assert not accepts(1.0, unseen)
    assert accepts(0.9, unseen + labels(0.9, right=45))


def test_no_budget_no_hit():
    assert not accepts(1.0, labels(1.0, right=4000), 0.0)


@pytest.mark.parametrize(
    ("hits", "own"),
    [
        (HitCounts(), 0.01),  # nothing known: every hit is a judged one
        (HitCounts(other=100), 0.02),  # half of the hits
        (HitCounts(judged=100, other=100), 0.015),  # two of three
        (HitCounts(other=100_000), 0.05),  # five times the budget at most
    ],
)
def test_budget_of_the_judged_hits(hits, own):
    assert own_budget(0.01, 100, hits) == pytest.approx(own)


def test_rare_judge_may_be_believed_sooner():
    known = labels(0.9, right=45)
    assert not accepts(0.9, known, 0.01)
    assert accepts(0.9, known, 0.01, HitCounts(other=180))  # a fifth of the hits
    assert not accepts(0.9, known, 0.01, HitCounts(other=170))
