"""The hit decision: may a cached plan be served for this question?

Similarity only finds the candidates. Each has to pass every door, and each door says why it opened or not:

    mask        how the question was found: an equal mask, an equal canonical key, or a likeness
    guards      negation, superlative, comparison, aggregate, the asked thing, who does it to whom … agree
    words       no content word on either side is left without an explanation
    slots       every value has its parameter, every parameter its value
    constants   what is baked into the plan is said, and nothing else
    plan        the query itself agrees with the question
    meaning     the probability that the plan means the question is within the caller's error budget
    margin      no other plan fits as well

A served hit must be right: what is doubtful is a miss, or goes to a judge.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qkva.contracts.cache import Candidate, Decision, Door
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.source import SourceDescription
from qkva.planning.decision.confidence import Confidence, shipped_confidence
from qkva.planning.decision.doors import constants_door, guards_door, mask_door, plan_door, slots_door, words_door
from qkva.planning.decision.evidence import Evidence, gather


@dataclass(frozen=True)
class HitPolicy:
    """What a caller allows."""

    similarity_floor: float = 0.88
    """Least cosine of a question to an intent phrase."""
    max_wrong_hits: float = 0.01
    """Error budget; 0 lets only equal masks and equal canonical keys pass."""


DOOR_NAMES = ("mask", "guards", "words", "slots", "constants", "plan", "meaning")


@dataclass(frozen=True)
class Verdict:
    """The doors of one candidate by its best key."""

    evidence: Evidence
    doors: tuple[Door, ...]
    score: float
    """The verifier's probability; for equal masks and keys what those are worth."""

    @property
    def candidate(self) -> Candidate:
        """Whose doors these are."""
        return self.evidence.candidate

    @property
    def passed(self) -> bool:
        """Whether no door is shut."""
        return all(door.verdict != "shut" for door in self.doors)

    @property
    def asked_verifier(self) -> bool:
        """Whether the probability is the verifier's."""
        return self.evidence.match.kind == "similar"

    @property
    def is_grey(self) -> bool:
        """Whether nothing but the probability speaks against it."""
        shut = [door.name for door in self.doors if door.verdict == "shut"]
        return shut == ["meaning"] and self.evidence.match.kind == "similar"


def decide(
    question: MaskedQuestion,
    candidates: Sequence[Candidate],
    *,
    policy: HitPolicy,
    description: SourceDescription | None = None,
    confidence: Confidence | None = None,
) -> Decision:
    """The candidate that may be served, if there is one, with the doors of the one that came closest.

    `confidence` is what the source's own labels say of the verifier; without it only its training does.
    """
    confidence = confidence or shipped_confidence()
    verdicts = [
        _judge(question, evidence, policy, confidence) for evidence in gather(question, candidates, description)
    ]
    if not verdicts:
        return Decision(
            hit=None, score=0.0, doors=(Door(name="mask", verdict="shut", why="the cache has no plan near it"),)
        )
    best = max(verdicts, key=_rank)
    doors = (*best.doors, margin_door(best, verdicts))
    served = best.passed and doors[-1].verdict != "shut"
    scores = {str(verdict.candidate.plan.id): verdict.score for verdict in verdicts}
    return Decision(
        hit=_by_its_key(best) if served else None,
        grey=_by_its_key(best) if best.is_grey else None,
        score=best.score,
        scores=scores,
        decisive=str(best.candidate.plan.id) if best.is_grey or (served and best.asked_verifier) else None,
        doors=doors,
    )


def _rank(verdict: Verdict) -> tuple[bool, int, int, float]:
    kinds = {"exact": 2, "canonical": 1}
    return verdict.passed, kinds.get(verdict.evidence.match.kind, 0), verdict.evidence.match.key.votes, verdict.score


def _by_its_key(verdict: Verdict) -> Candidate:
    """The candidate with the key that opened its doors in front, for its roles say what each value fills."""
    opener = verdict.evidence.match.key
    others = (key for key in verdict.candidate.keys if key is not opener)
    return verdict.candidate.model_copy(update={"keys": (opener, *others)})


def _judge(question: MaskedQuestion, evidence: Evidence, policy: HitPolicy, confidence: Confidence) -> Verdict:
    doors: list[Door] = []
    score = confidence.score(evidence)
    for door in _doors(question, evidence, score, policy, confidence):
        doors.append(door)
        if door.verdict == "shut":
            break
    unopened = [Door(name=name, verdict="skipped", why="another door is shut") for name in DOOR_NAMES[len(doors) :]]
    return Verdict(evidence, (*doors, *unopened), round(score, 4))


def _doors(
    question: MaskedQuestion, evidence: Evidence, score: float, policy: HitPolicy, confidence: Confidence
) -> Iterator[Door]:
    """One by one, as DOOR_NAMES has them."""
    match, plan = evidence.match, evidence.candidate.plan
    yield mask_door(match, policy.similarity_floor, policy.max_wrong_hits)
    yield guards_door(match, hard=confidence.verifier.hard_guards)
    yield words_door(match, evidence.left, hard=confidence.verifier.hard_guards)
    yield slots_door(match, evidence.binding, plan)
    yield constants_door(match, evidence.binding, question)
    yield plan_door(match)
    yield confidence.door(evidence, score, policy.max_wrong_hits)


MARGIN = 0.04


def margin_door(best: Verdict, verdicts: Sequence[Verdict]) -> Door:
    """Shut when a different plan fits as well: then nothing tells which of the two is meant.

    Of two plans with the same mask the one wins that the planner has confirmed more often; a tie is a miss.
    """
    if not best.passed:
        return Door(name="margin", verdict="skipped", why="another door is shut")
    kind, votes = best.evidence.match.kind, best.evidence.match.key.votes
    rivals = [v for v in verdicts if v is not best and v.passed and v.evidence.match.kind == kind]
    if kind == "exact":
        rivals = [v for v in rivals if v.evidence.match.key.votes >= votes]
    else:
        rivals = [v for v in rivals if best.score - v.score < MARGIN]
    if rivals:
        return Door(name="margin", verdict="shut", why=f"the plan “{rivals[0].candidate.plan.key_text}” fits as well")
    return Door(name="margin", verdict="open", why="no other plan passes every door")
