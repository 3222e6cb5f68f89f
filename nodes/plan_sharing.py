"""What callers who miss the same key at once give each other: a plan, and by which slots it is filled."""

from collections.abc import Iterable
from typing import Any

from qkva.contracts.cache import Candidate, Decision, Door, Key
from qkva.contracts.plan import Plan
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.result import CacheOutcome
from qkva.contracts.state import AskState
from qkva.nodes.ask.look_up import decided_on, find
from qkva.nodes.runtime import AskRuntime
from qkva.nodes.single_flight import FlightKey, Handover
from qkva.planning.drafting.parameterise import exemplar_roles


def wants_review(runtime: AskRuntime) -> bool:
    """Whether a person has to see each new plan."""
    return runtime.context.review_new_plans or runtime.services.settings.review_new_plans


def may_share(state: AskState, runtime: AskRuntime) -> bool:
    """A plan that waits for a person would keep the others waiting, and a cache that is down cannot tell of one.

    An audit asks the planner whatever is stored.
    """
    return (
        state.cache == "miss" and state.audited is None and state.embeddings is not None and not wants_review(runtime)
    )


def flight_key(question: MaskedQuestion, runtime: AskRuntime) -> FlightKey:
    """What is planned once at a time."""
    return FlightKey(tenant_id=runtime.tenant_id, source=question.source, masked=question.masked)


def handover_of(update: dict[str, Any], question: MaskedQuestion) -> Handover:
    """A leader's plan, found by its question as it will be once it is stored."""
    if update["plan"] is None:
        return Handover(candidate=None, warnings=tuple(update["warnings"]))
    plan, values = Plan.model_validate(update["plan"]), update["planned_values"]
    key = Key(
        id="handed over",
        kind="exemplar",
        masked=question.masked,
        similarity=1.0,
        exact=True,
        roles=exemplar_roles(plan, question, values),
    )
    return Handover(candidate=Candidate(plan=plan, keys=(key,)), question=question, values=values)


async def stored_plan(question: MaskedQuestion, state: AskState, runtime: AskRuntime) -> Handover | None:
    """A plan with this very mask that has been stored since the look-up. Raises StoreUnavailable."""
    assert state.embeddings is not None
    candidates = [
        candidate
        for candidate in await find(question, state.embeddings[question.source], runtime)
        if candidate.keys[0].exact and str(candidate.plan.id) not in state.excluded_plans
    ]
    hit = (await decided(question, candidates, runtime)).hit
    return Handover(candidate=hit) if hit else None


async def take_over(
    handover: Handover, question: MaskedQuestion, state: AskState, runtime: AskRuntime
) -> dict[str, Any] | None:
    """Go on with another caller's plan; None if it does not carry this question.

    With the same values it was made for this question, and the planner's values hold too. With others it has to pass
    the doors, as any hit, and is filled from this question alone.
    """
    candidate = handover.candidate
    if handover.error is not None:
        raise handover.error
    if candidate is None:
        return {"plan": None, "warnings": list(handover.warnings)}
    if str(candidate.plan.id) in state.excluded_plans:
        return None
    if handover.question is not None and says_the_same(question, handover.question):
        door = Door(name="single_flight", verdict="open", why="another caller was planning the same question")
        return coalesced(candidate.plan, [door], planned_values=handover.values, plan_is_new=True)
    decision = await decided(question, [candidate], runtime)
    if decision.hit is None:
        return None
    keys = [key.model_dump(mode="json") for key in decision.hit.keys]
    return coalesced(decision.hit.plan, decision.doors, plan_keys=keys)


async def decided(question: MaskedQuestion, candidates: list[Candidate], runtime: AskRuntime) -> Decision:
    """As the look-up decides."""
    return await decided_on(question, candidates, runtime)


def coalesced(plan: Plan, doors: Iterable[Door], **changed: Any) -> dict[str, Any]:
    """What a caller goes on with."""
    return {
        "cache": CacheOutcome.COALESCED.value,
        "doors": [door.model_dump(mode="json") for door in doors],
        "plan": plan.model_dump(mode="json"),
        "plan_keys": [],
        "planned_values": {},
        "plan_is_new": False,
        "review": False,
        **changed,
    }


def says_the_same(question: MaskedQuestion, other: MaskedQuestion) -> bool:
    """Whether two questions of one mask have the same values."""
    where = {"start", "end", "text"}
    return [slot.model_dump(exclude=where) for slot in question.slots] == [
        slot.model_dump(exclude=where) for slot in other.slots
    ]
