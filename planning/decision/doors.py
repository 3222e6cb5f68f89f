"""The doors of the hit decision, one function each."""

from collections.abc import Sequence
from dataclasses import dataclass

from qkva.contracts.cache import Door, Key
from qkva.contracts.plan import Plan
from qkva.contracts.question import MaskedQuestion
from qkva.planning.decision.guards import first_conflict, flat_conflict
from qkva.planning.decision.plan_evidence import disagreement
from qkva.planning.decision.words import likeness
from qkva.planning.filling.bound import Binding
from qkva.planning.reading.query_form import QueryForm
from qkva.planning.reading.question_form import QuestionForm


@dataclass(frozen=True)
class KeyMatch:
    """A question beside one stored key and its plan."""

    key: Key
    kind: str
    """exact, canonical, similar, intent or none."""
    asked: QuestionForm
    stored: QuestionForm
    query: QueryForm
    plan: Plan


def match_key(
    question: MaskedQuestion,
    key: Key,
    asked: QuestionForm,
    stored: QuestionForm,
    query: QueryForm,
    plan: Plan,
) -> KeyMatch:
    """How a key matches."""
    kind = "intent" if key.kind == "intent" else "similar"
    if key.kind == "exemplar":
        if key.exact or key.masked == question.masked:
            kind = "exact"
        elif says_the_same(asked, stored, query):
            kind = "canonical"
    return KeyMatch(key, kind, asked, stored, query, plan)


HEADS_ALIKE = 0.8
"""Likeness of the asked nouns of two equal canonical keys: "the largest island by area" is not its area."""


def says_the_same(asked: QuestionForm, stored: QuestionForm, query: QueryForm) -> bool:
    """Whether two questions are one in other words or another order, as far as reading can tell.

    Over nine sets of questions (`qkva bench train`), 600 such pairs: none was wrong but for labels that contradict each
    other. Without the conditions beside the key, one in nine was.
    """
    if asked.key != stored.key or asked.stranded != stored.stranded or asked.moment != stored.moment:
        return False
    if asked.sequence != stored.sequence and (query.superlative is not None or query.has_subquery or query.negated):
        return False
    if sorted((s.label, s.relation) for s in asked.slots) != sorted((s.label, s.relation) for s in stored.slots):
        return False
    ours, theirs = asked.ask.asked, stored.ask.asked
    return bool(ours) == bool(theirs) and (not ours or likeness(ours[-1], theirs[-1]) > HEADS_ALIKE)


def mask_door(match: KeyMatch, floor: float, budget: float) -> Door:
    """Equal, or similar enough."""
    name = "mask"
    if match.kind == "exact":
        return Door(name=name, verdict="open", why="the masked question is one that led to this plan")
    if match.kind == "canonical":
        return Door(name=name, verdict="open", why="it says the same as a stored question in other words or order")
    if budget <= 0:
        return Door(name=name, verdict="shut", why="no wrong hit is allowed, and the question is not an equal one")
    similarity = match.key.similarity
    if match.kind != "intent":
        return Door(name=name, verdict="open", why=f"similarity {similarity:.3f}")
    if similarity < floor:
        return Door(name=name, verdict="shut", why=f"similarity {similarity:.3f} is below {floor:.3f}")
    return Door(name=name, verdict="open", why=f"similarity {similarity:.3f} reaches {floor:.3f}")


def guards_door(match: KeyMatch, *, hard: bool = True) -> Door:
    """Negation, superlative, comparison, aggregate, yes or no, the asked thing, person and tense."""
    if match.kind == "exact":
        return Door(name="guards", verdict="open", why="equal texts")
    conflict = first_conflict(match.asked, match.stored, match.query, by_intent=match.kind == "intent")
    if conflict and not hard and match.kind == "similar" and flat_conflict(match.asked, match.stored) is None:
        return Door(name="guards", verdict="open", why=f"{conflict}, which the probability takes into account")
    if conflict:
        return Door(name="guards", verdict="shut", why=conflict)
    return Door(name="guards", verdict="open", why="both ask the same kind of thing in the same direction")


def words_door(match: KeyMatch, left: Sequence[str], *, hard: bool = True) -> Door:
    """No content word without a counterpart; `left` are those that nothing accounts for.

    Of nine sets of questions, at a probability of 0.7, this door keeps 93 % of the hits and a third of the wrong ones
    out.
    """
    name = "words"
    if match.kind in ("exact", "canonical"):
        return Door(name=name, verdict="open", why="the same words")
    if left and not hard and match.kind == "similar":
        why = f"“{left[0]}” is said on one side only, which the probability takes into account"
        return Door(name=name, verdict="open", why=why)
    if left:
        return Door(name=name, verdict="shut", why=f"“{left[0]}” is said on one side only")
    return Door(name=name, verdict="open", why="every word has its counterpart")


def slots_door(match: KeyMatch, binding: Binding, plan: Plan) -> Door:
    """Types and counts of the values fit the parameters."""
    problem = slots_fit(match, binding, plan)
    if problem:
        return Door(name="slots", verdict="shut", why=problem)
    return Door(name="slots", verdict="open", why="every value has its place" if plan.params else "no values needed")


def slots_fit(match: KeyMatch, binding: Binding, plan: Plan) -> str | None:
    """A sentence where a value has no place, or a place no value; None where all fit."""
    if binding.misfit:
        return binding.misfit
    missing = binding.missing(plan)
    if missing:
        return f"{missing[0].name} is not said"
    if match.kind == "similar" and (dropped := _dropped(match, binding, plan)):
        return f"{dropped} is not said, and its default need not be meant"
    return None


def _dropped(match: KeyMatch, binding: Binding, plan: Plan) -> str | None:
    """A parameter with a default that the stored question filled and this one does not."""
    for role in match.key.roles:
        if role is None or role in binding.slots or role not in {param.name for param in plan.params}:
            continue
        if plan.param(role).default is not None and plan.status != "verified":
            return role
    return None


def constants_door(match: KeyMatch, binding: Binding, question: MaskedQuestion) -> Door:
    """Values that the plan holds as constants were said in the stored question, and must be said again."""
    problem = constants_fit(match, binding, question)
    if problem:
        return Door(name="constants", verdict="shut", why=problem)
    return Door(name="constants", verdict="open", why="what is baked into the plan is said")


def constants_fit(match: KeyMatch, binding: Binding, question: MaskedQuestion) -> str | None:
    """A sentence for a constant of the plan that the question does not say; None where all are said."""
    if binding.unsaid:
        return "the plan holds a value that this question does not say"
    if match.kind == "intent" and (unsaid := _unsaid_constant(match, question)):
        return f"the plan is about “{unsaid}”, which was not said"
    return None


def _unsaid_constant(match: KeyMatch, question: MaskedQuestion) -> str | None:
    said = set(match.asked.content)
    for constant in match.query.constants:
        if constant.is_number or not constant.op or constant.op == "interval":
            continue
        if constant.value.casefold() not in question.text.casefold() and constant.value.casefold() not in said:
            return constant.value
    return None


def plan_door(match: KeyMatch) -> Door:
    """The query's own tree against the question."""
    if match.kind == "exact" or not match.query.readable:
        return Door(
            name="plan", verdict="skipped", why="equal texts" if match.kind == "exact" else "the query was not read"
        )
    problem = disagreement(match.asked, match.query, by_intent=match.kind == "intent")
    if problem:
        return Door(name="plan", verdict="shut", why=problem)
    return Door(name="plan", verdict="open", why="the query agrees")
