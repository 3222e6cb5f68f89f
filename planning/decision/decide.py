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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qkva.contracts.cache import Candidate, Decision, Door, Key
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.source import SourceDescription
from qkva.planning.decision.doors import (
    KeyMatch,
    constants_door,
    guards_door,
    mask_door,
    match_key,
    plan_door,
    slots_door,
    words_door,
)
from qkva.planning.filling.binding import bind_slots
from qkva.planning.reading.plan_form import read_plan_form
from qkva.planning.reading.question_form import read_question_form


@dataclass(frozen=True)
class HitPolicy:
    """What a caller allows."""

    similarity_floor: float = 0.88
    """Least cosine of keys that are not equal."""
    max_wrong_hits: float = 0.01
    """Error budget; 0 lets only equal masks and equal canonical keys pass."""


GREY_DOORS: frozenset[str] = frozenset()
"""A candidate that only these doors keep from being served is one for a judge."""

DOOR_NAMES = ("mask", "guards", "words", "slots", "constants", "plan")


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
    grey = not served and {door.name for door in doors if door.verdict == "shut"} <= GREY_DOORS
    return Decision(
        hit=_by_its_key(best) if served else None,
        score=best.score,
        doors=doors,
        grey=_by_its_key(best) if grey else None,
    )


def _by_its_key(verdict: Verdict) -> Candidate:
    """The candidate with the key that opened its doors in front, for its roles say what each value fills."""
    opener = verdict.match.key
    return Candidate(
        plan=verdict.candidate.plan, keys=(opener, *(key for key in verdict.candidate.keys if key is not opener))
    )


def judge(
    question: MaskedQuestion, candidate: Candidate, policy: HitPolicy, description: SourceDescription | None
) -> Verdict:
    """The doors of one candidate, by the key that opens most of them."""
    verdicts: list[Verdict] = []
    for key in candidate.keys:
        verdicts.append(_judge_by(question, candidate, key, policy, description))
        if verdicts[-1].passed and verdicts[-1].match.kind == "exact":
            break
    return max(verdicts, key=lambda verdict: (verdict.passed, verdict.score))


def _judge_by(
    question: MaskedQuestion, candidate: Candidate, key: Key, policy: HitPolicy, description: SourceDescription | None
) -> Verdict:
    asked, stored = read_question_form(question.masked), read_question_form(key.masked)
    match = match_key(question, key, asked, stored, read_plan_form(candidate.plan), candidate.plan)
    doors: list[Door] = []
    for door in _doors(match, question, candidate, policy, description):
        doors.append(door)
        if door.verdict == "shut":
            break
    passed = doors[-1].verdict != "shut"
    score = match.strength * (1.0 if passed else 0.25 + 0.05 * len(doors))
    unopened = [Door(name=name, verdict="skipped", why="another door is shut") for name in DOOR_NAMES[len(doors) :]]
    return Verdict(candidate, match, (*doors, *unopened), round(max(0.0, min(1.0, score)), 4))


def _doors(
    match: KeyMatch,
    question: MaskedQuestion,
    candidate: Candidate,
    policy: HitPolicy,
    description: SourceDescription | None,
) -> Iterator[Door]:
    """One by one, cheap ones first: most keys stop at the first three. Named as DOOR_NAMES has them."""
    yield mask_door(match, policy.similarity_floor, policy.max_wrong_hits)
    yield guards_door(match)
    yield words_door(match, candidate.keys, description)
    binding = bind_slots(candidate.plan, question, [match.key])
    yield slots_door(match, binding, candidate.plan)
    yield constants_door(match, binding, question)
    yield plan_door(match)


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
