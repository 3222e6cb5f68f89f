"""May a plan be served because a judge says that it means the question? As its own labels have earned it, no sooner."""

from collections.abc import Sequence
from itertools import groupby

from qkva.contracts.cache import HitCounts, LabelledScore
from qkva.planning.proportions import at_most, clopper_pearson

MIN_LABELS = 20
MOST_BUDGETS = 5
"""A judge that is rarely asked may be wrong more often than a hit, but not more than so many budgets allow."""
CONFIDENCE = 0.9
"""One-sided."""


def judge_accepts(
    probability: float, labels: Sequence[LabelledScore], budget: float, hits: HitCounts | None = None
) -> tuple[bool, str]:
    """Whether a judge's `probability` (0 to 1) is enough, and why, in words for a person.

    `labels` are this judge's, of plans that the judge was shown; those without a probability count for nothing. It is
    enough from the lowest t at which the labels with a probability of at least t are wrong so rarely that the upper
    confidence bound of their share (Clopper-Pearson, one-sided 90 %) is within the judged hits' own budget.

    That budget is wider than the caller's: what the judge serves is only a part of all hits, so a wrong share of
    budget / (share of judged hits among all) costs all hits together no more than the budget. It is at most 5 times
    the budget, whatever the share. The hits that need no judge keep the same budget for themselves, so both together
    can at worst use twice of it. The share is that of the labels from t on and the `hits` that were judged, against the
    other `hits`; not knowing these, all hits count as judged, and the budget is the caller's own.

    Fewer than 20 labels from t on prove nothing. With none wrong, 45 are needed for 5 %, and 230 for 1 %.
    """
    seen = sorted(((label.judge, label.same) for label in labels if label.judge is not None), reverse=True)
    said = f"the judge gives it {probability:.2f}"
    if len(seen) < MIN_LABELS:
        return False, f"{said}, and has only {len(seen)} labels of the {MIN_LABELS} that it takes to be believed"
    hits = hits or HitCounts()
    number = wrong = 0
    opened: tuple[float, int, int] | None = None
    for threshold, group in groupby(seen, key=lambda label: label[0]):
        same = [same for _, same in group]
        number, wrong = number + len(same), wrong + same.count(False)
        if number >= MIN_LABELS and _within(wrong, number, own_budget(budget, number, hits)):
            opened = (threshold, number, wrong)
    if opened is None:
        return False, f"{said}, and has been wrong too often, or right too seldom, to be believed at any probability"
    threshold, number, wrong = opened
    bound = clopper_pearson(wrong, number, 2 * CONFIDENCE - 1)[1]
    record = f"from {threshold:.2f} on it was wrong {wrong} times of {number}, so at most {bound:.1%}"
    if probability < threshold:
        return False, f"{said}; {record}, but not below"
    return True, f"{said}; {record}"


def own_budget(budget: float, labels: int, hits: HitCounts) -> float:
    """Which share of the judged hits may be wrong, if they come as often as `labels` and `hits` have it."""
    judged = labels + hits.judged
    return min(1.0, budget * min(MOST_BUDGETS, (judged + hits.other) / judged))


def _within(wrong: int, of: int, budget: float) -> bool:
    """Whether the upper bound of the wrong share is within the budget: of more than that, so few would be unlikely."""
    if wrong > of * budget or budget <= 0:
        return False
    return at_most(wrong, of, budget) <= 1 - CONFIDENCE or budget >= 1
