"""How sure the decision has to be: the verifier's probability, corrected by what the source's own labels say of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from qkva.contracts.cache import Door, LabelledScore
from qkva.planning.decision.evidence import Evidence
from qkva.planning.decision.recalibration import Recalibration, recalibrate
from qkva.planning.decision.verifier import Verifier, shipped_verifier

EQUAL_MASK, EQUAL_KEY = 0.999, 0.99
"""What an equal mask and an equal canonical key are worth as a score: no model was asked."""

MARGINAL = 10.0
"""The last plan that is let in may be wrong so many times as often as the budget allows on average, for most hits lie
far above the threshold. Streams of 600 to 1,500 questions with the shipped verifier, budget 1 %, hits / wrong hits:
    advising   5: 23.1 % / 4 of 347    10: 28.5 % / 9 of 428 (read by hand: 1)    20: 33.6 % / 13 of 504 (3 by hand)
    places     5: 13.6 % / 0 of 80     10: 15.9 % / 1 of 94                       20: 21.0 % / 3 of 124
"""
DEVIATIONS = 1.0
"""Standard deviations of doubt about the source that are taken off each probability."""


@dataclass(frozen=True)
class Confidence:
    """A verifier as it holds on one source."""

    verifier: Verifier
    recalibration: Recalibration

    def score(self, evidence: Evidence) -> float:
        """0 to 1: how likely the plan means the question, before what the source's labels say."""
        kind = evidence.match.kind
        if kind == "exact":
            return EQUAL_MASK
        if kind == "canonical":
            return EQUAL_KEY
        if kind == "intent":
            return 0.9 * max(0.0, evidence.match.key.similarity)
        return self.verifier.probability(evidence.features)

    def door(self, evidence: Evidence, score: float, budget: float) -> Door:
        """Open where the corrected probability, less what is uncertain about the source, is within the budget."""
        if evidence.match.kind in ("exact", "canonical"):
            return Door(name="meaning", verdict="open", why="the same words")
        if evidence.match.kind == "intent":
            return Door(name="meaning", verdict="open", why="the phrase says what is asked")
        sure, wanted = self.recalibration.at_least(score, DEVIATIONS), required(budget)
        labels = f"{self.recalibration.labels} labels of this source"
        if sure < wanted:
            why = (
                f"probability {score:.2f}, surely at least {sure:.3f} ({labels}), below the {wanted:.3f} of the budget"
            )
            return Door(name="meaning", verdict="shut", why=why)
        return Door(
            name="meaning", verdict="open", why=f"probability {score:.2f}, surely at least {sure:.3f} ({labels})"
        )


def required(budget: float) -> float:
    """The least corrected probability for a budget of wrong hits."""
    return 1.0 if budget <= 0 else max(0.5, 1 - MARGINAL * budget)


def confidence_of(labels: Sequence[LabelledScore], verifier: Verifier | None = None) -> Confidence:
    """From a source's labels of one verifier."""
    verifier = verifier or shipped_verifier()
    return Confidence(
        verifier, recalibrate(verifier.prior, [label.score for label in labels], [label.same for label in labels])
    )


@cache
def shipped_confidence() -> Confidence:
    """Of the shipped verifier on a source that is not known yet."""
    return confidence_of(())
