"""The hit decision: may a cached plan be served for this question?

Similarity is only the first of several doors, and each says why it opened or not:

    mask        the masked texts are equal, or the canonical keys are, or they are similar enough
    guards      negation, superlative, comparison, count, sum, yes or no, the asked thing … agree
    words       no content word on either side is left without an explanation
    slots       every value has its parameter, every parameter its value
    constants   what is baked into the plan is said, and nothing else
    plan        the query itself agrees with the question
    margin      no other plan fits as well

A served hit must be right: what is doubtful is a miss.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from qkva.contracts.cache import Candidate, Decision, Door, Key
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.source import SourceDescription
from qkva.planning.binding import bind_slots
from qkva.planning.doors import (
    KeyMatch,
    constants_door,
    guards_door,
    mask_door,
    match_key,
    plan_door,
    slots_door,
    words_door,
)
from qkva.planning.plan_form import read_plan_form
from qkva.planning.question_form import read_question_form


@dataclass(frozen=True)
class HitPolicy:
    """What a caller allows."""

    similarity_floor: float = 0.88
    """Least cosine of keys that are not equal."""
    max_wrong_hits: float = 0.01
    """Error budget; 0 lets only equal masks and equal canonical keys pass."""


@dataclass(frozen=True)
class Verdict:
    """The doors of one candidate by its best key."""

    candidate: Candidate
    match: KeyMatch
    doors: tuple[Door, ...]
    score: float

    @property
    def passed(self) -> bool:
        """Whether no door is shut."""
        return all(door.verdict != "shut" for door in self.doors)


def decide(
    question: MaskedQuestion,
    candidates: Sequence[Candidate],
    *,
    policy: HitPolicy,
    description: SourceDescription | None = None,
) -> Decision:
    """The candidate that may be served, if there is one, with the doors of the one that came closest."""
    verdicts = [judge(question, candidate, policy, description) for candidate in candidates]
    if not verdicts:
        return Decision(
            hit=None, score=0.0, doors=(Door(name="mask", verdict="shut", why="the cache has no plan near it"),)
        )
    best = max(verdicts, key=lambda verdict: (verdict.passed, verdict.score))
    doors = (*best.doors, margin_door(best, verdicts))
    served = best.passed and doors[-1].verdict != "shut"
    return Decision(hit=best.candidate if served else None, score=best.score, doors=doors)


def judge(
    question: MaskedQuestion, candidate: Candidate, policy: HitPolicy, description: SourceDescription | None
) -> Verdict:
    """The doors of one candidate, by the key that opens most of them."""
    verdicts = [_judge_by(question, candidate, key, policy, description) for key in candidate.keys]
    return max(verdicts, key=lambda verdict: (verdict.passed, verdict.score))


def _judge_by(
    question: MaskedQuestion, candidate: Candidate, key: Key, policy: HitPolicy, description: SourceDescription | None
) -> Verdict:
    plan = candidate.plan
    asked, stored, query = read_question_form(question.masked), read_question_form(key.masked), read_plan_form(plan)
    match = match_key(question, key, asked, stored, query, plan)
    doors = [mask_door(match, policy.similarity_floor, policy.max_wrong_hits)]
    if doors[0].verdict == "open":
        binding = bind_slots(plan, question, [key])
        doors += [
            guards_door(match, candidate.keys),
            words_door(match, candidate.keys, description),
            slots_door(match, binding, plan),
            constants_door(match, binding, question),
            plan_door(match),
        ]
    opened = sum(door.verdict != "shut" for door in doors)
    score = match.strength * (1.0 if opened == len(doors) and opened > 1 else 0.5 + 0.05 * (opened - len(doors)))
    return Verdict(candidate, match, tuple(doors), round(max(0.0, min(1.0, score)), 4))


MARGIN = 0.04


def margin_door(best: Verdict, verdicts: Sequence[Verdict]) -> Door:
    """Shut when a different plan fits as well: then nothing tells which of the two is meant."""
    others = [v for v in verdicts if v is not best and v.passed]
    rivals = [v for v in others if v.match.kind == best.match.kind and best.score - v.score < MARGIN]
    if not best.passed:
        return Door(name="margin", verdict="skipped", why="another door is shut")
    if rivals:
        return Door(name="margin", verdict="shut", why=f"the plan “{rivals[0].candidate.plan.key_text}” fits as well")
    return Door(name="margin", verdict="open", why="no other plan passes every door")
