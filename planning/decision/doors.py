"""The doors of the hit decision, one function each."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from qkva.contracts.cache import Door, Key
from qkva.contracts.plan import Plan
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.source import SourceDescription
from qkva.planning.decision.guards import first_conflict
from qkva.planning.decision.plan_evidence import disagreement
from qkva.planning.decision.residual import unexplained
from qkva.planning.filling.binding import Binding
from qkva.planning.reading.query_form import QueryForm
from qkva.planning.reading.question_form import QuestionForm

STRENGTH = {"exact": 1.0, "canonical": 0.995, "similar": 0.98, "intent": 0.9, "none": 0.5}


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

    @property
    def words_equal(self) -> bool:
        """Whether both say the same content words."""
        return Counter(self.asked.content) == Counter(self.stored.content)

    @property
    def strength(self) -> float:
        """0 to 1: how much the kind of match is worth, before any other door."""
        base = STRENGTH[self.kind]
        return base * max(0.0, self.key.similarity) if self.kind in ("similar", "intent", "none") else base


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
        elif asked.key == stored.key:
            kind = "canonical"
    return KeyMatch(key, kind, asked, stored, query, plan)


def mask_door(match: KeyMatch, floor: float, budget: float) -> Door:
    """Equal, or similar enough."""
    name = "mask"
    if match.kind == "exact":
        return Door(name=name, verdict="open", why="the masked question is one that led to this plan")
    if match.kind == "canonical":
        return Door(name=name, verdict="open", why="it says the same as a stored question in other words or order")
    similarity = match.key.similarity
    if budget <= 0:
        return Door(name=name, verdict="shut", why="no wrong hit is allowed, and the question is not an equal one")
    if similarity < floor:
        return Door(name=name, verdict="shut", why=f"similarity {similarity:.2f} is below {floor:.2f}")
    return Door(name=name, verdict="open", why=f"similarity {similarity:.2f} reaches {floor:.2f}")


def guards_door(match: KeyMatch) -> Door:
    """Negation, superlative, comparison, aggregate, yes or no, the asked thing, person and tense."""
    if match.kind == "exact":
        return Door(name="guards", verdict="open", why="equal texts")
    conflict = first_conflict(match.asked, match.stored, match.query, by_intent=match.kind == "intent")
    if conflict:
        return Door(name="guards", verdict="shut", why=conflict)
    return Door(name="guards", verdict="open", why="both ask the same kind of thing in the same direction")


def words_door(match: KeyMatch, keys: Sequence[Key], description: SourceDescription | None) -> Door:
    """No content word without a counterpart."""
    if match.kind in ("exact", "canonical"):
        return Door(name="words", verdict="open", why="the same words")
    left = unexplained(match.asked, match.stored, match.query, keys, description, by_intent=match.kind == "intent")
    if left:
        return Door(name="words", verdict="shut", why=f"“{left[0]}” is said on one side only")
    return Door(name="words", verdict="open", why="every word has its counterpart")


def slots_door(match: KeyMatch, binding: Binding, plan: Plan) -> Door:
    """Types and counts of the values fit the parameters."""
    if binding.misfit:
        return Door(name="slots", verdict="shut", why=binding.misfit)
    missing = binding.missing(plan)
    if missing:
        return Door(name="slots", verdict="shut", why=f"{missing[0].name} is not said")
    if match.kind == "similar" and (dropped := _dropped(match, binding, plan)):
        return Door(name="slots", verdict="shut", why=f"{dropped} is not said, and its default need not be meant")
    return Door(name="slots", verdict="open", why="every value has its place" if plan.params else "no values needed")


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
    name = "constants"
    if binding.unsaid:
        return Door(name=name, verdict="shut", why="the plan holds a value that this question does not say")
    if match.kind == "intent" and (unsaid := _unsaid_constant(match, question)):
        return Door(name=name, verdict="shut", why=f"the plan is about “{unsaid}”, which was not said")
    return Door(name=name, verdict="open", why="what is baked into the plan is said")


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
