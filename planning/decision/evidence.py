"""All evidence on a question and its candidates: of each plan the key that speaks for it most, the doors, features.

The verifier is trained on exactly what this makes, so a stored plan is seen in training as it is in service.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from qkva.contracts.cache import Candidate, Key
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.source import SourceDescription
from qkva.planning.decision.doors import KeyMatch, constants_fit, match_key, slots_fit
from qkva.planning.decision.pair_features import AGAINST, PAIR_FEATURES, PlanKey, pair_features
from qkva.planning.decision.residual import unexplained
from qkva.planning.decision.store_features import STORE_FEATURES, store_features, usage_of
from qkva.planning.decision.synonyms import schema_words
from qkva.planning.filling.binding import bind_slots
from qkva.planning.filling.bound import Binding
from qkva.planning.reading.plan_form import read_plan_form
from qkva.planning.reading.question_form import read_question_form

FEATURES: dict[str, int] = {**PAIR_FEATURES, **STORE_FEATURES, "unexplained": AGAINST}
KEYS_READ = 2
"""Of a candidate, the exemplars that are read closely, chosen by their words."""


@dataclass(frozen=True)
class Evidence:
    """One candidate by its best key."""

    candidate: Candidate
    match: KeyMatch
    binding: Binding
    fits: bool
    """Whether the values and constants of the question have their places."""
    features: dict[str, float]
    """All of FEATURES; empty for an intent phrase, which the verifier does not judge."""
    left: tuple[str, ...] = ()
    """Content words on one side only that nothing accounts for."""


def gather(
    question: MaskedQuestion, candidates: Sequence[Candidate], description: SourceDescription | None
) -> list[Evidence]:
    """The evidence on each candidate, in their order."""
    schema = schema_words(description)
    usages = [usage_of(candidate) for candidate in candidates]
    found = []
    for at, candidate in enumerate(candidates):
        plan = PlanKey(candidate.plan)
        best = _best_exemplar(question, candidate, plan, schema)
        if best is None:  # a plan that nobody has asked for yet: its intent phrase is all there is
            read = _read(question, candidate, candidate.keys[0], {})
            found.append(replace(read, left=_left(read.match, candidate, description)))
            continue
        key, pair = best.match.key, best.features
        left = _left(best.match, candidate, description)
        found.append(
            Evidence(
                candidate,
                best.match,
                best.binding,
                best.fits,
                pair | store_features(question.masked, candidates, usages, at, key) | {"unexplained": float(len(left))},
                left,
            )
        )
    return found


def _left(match: KeyMatch, candidate: Candidate, description: SourceDescription | None) -> tuple[str, ...]:
    if match.kind in ("exact", "canonical"):
        return ()
    by_intent = match.kind == "intent"
    return tuple(unexplained(match.asked, match.stored, match.query, candidate.keys, description, by_intent=by_intent))


def _best_exemplar(
    question: MaskedQuestion, candidate: Candidate, plan: PlanKey, schema: frozenset[str]
) -> Evidence | None:
    exemplars = [key for key in candidate.keys if key.kind == "exemplar"]
    exemplars.sort(key=lambda key: _distance(question.masked, key))
    read = [
        _read(question, candidate, key, pair_features(question.masked, key.masked, plan, schema))
        for key in exemplars[:KEYS_READ]
    ]
    return max(read, key=_promise, default=None)


def _distance(masked: str, key: Key) -> float:
    """A first guess at how far the two texts are from each other: words and marks on one side only, and the cosine."""
    if key.exact:
        return -math.inf
    asked, stored = read_question_form(masked), read_question_form(key.masked)
    apart = len(Counter(asked.sequence) - Counter(stored.sequence)) + len(
        Counter(stored.sequence) - Counter(asked.sequence)
    )
    return apart + (asked.ask.kind != stored.ask.kind) - 4 * key.similarity


def _read(question: MaskedQuestion, candidate: Candidate, key: Key, features: dict[str, float]) -> Evidence:
    match = _match(question, key, candidate)
    binding = bind_slots(candidate.plan, question, [key])
    fits = slots_fit(match, binding, candidate.plan) is None and constants_fit(match, binding, question) is None
    return Evidence(candidate, match, binding, fits, features)


def _match(question: MaskedQuestion, key: Key, candidate: Candidate) -> KeyMatch:
    asked, stored = read_question_form(question.masked), read_question_form(key.masked)
    return match_key(question, key, asked, stored, read_plan_form(candidate.plan), candidate.plan)


def _promise(evidence: Evidence) -> tuple[float, ...]:
    """What makes one exemplar of a plan speak for it more than another."""
    f = evidence.features
    against = f["extra_unlike"] + f["lost_unlike"] + 0.5 * (f["guarded"] + f["marks_extreme"] + f["marks_negation"])
    against += 0.5 * (f["kinds_disagree"] + f["marks_other"] + f["marks_choice"] + f["plan_count"])
    return (evidence.fits, f["masks_equal"], f["sequences_equal"], f["keys_equal"], 0.2 * f["order_shared"] - against)
