"""Let the cache learn from an answered question.

Reads: plan, also, plan_is_new, for_this_turn, cache, status, results, params, masks, candidates, grey.
Writes: warnings, plan (with its id once stored).
"""

from typing import Any

from qkva.contracts.cache import NewKey
from qkva.contracts.errors import ModelError, StoreUnavailable
from qkva.contracts.plan import Plan, PlanStatus, StoredPlan
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.state import AskState
from qkva.nodes.labelling import add_labels, judgement_of
from qkva.nodes.prompts import fingerprint
from qkva.nodes.runtime import AskRuntime
from qkva.planning.drafting.canonical import canonical_form
from qkva.planning.drafting.parameterise import exemplar_roles


async def write_back(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """A hit counts one use of each plan that ran; a new plan is stored if it is admitted.

    A cache that is down costs a warning, no answer.
    A plan that another caller made is stored here only if that caller could not, and labels nothing.
    """
    if state.plan is None:
        return {}
    plan = Plan.model_validate(state.plan)
    try:
        if state.cache == "hit" and plan.id is not None:
            for served in (state.plan, *(hit["plan"] for hit in state.also)):
                judged = bool(judgement_of(state, served["id"]))
                await runtime.services.plans.record_hit(runtime.tenant_id, served["id"], judged=judged)
            return {}
        refusal = not_admitted(state, plan)
        if refusal:
            return {"warnings": [f"The plan was not stored: {refusal}."]} if state.plan_is_new else {}
        if state.cache == "coalesced" and (known := await stored_id(plan, runtime)):
            return {"plan": {**state.plan, "id": known}}
        stored = await store(plan, state, runtime)
        if state.cache != "coalesced":
            await add_labels(stored, state, runtime)
    except (StoreUnavailable, ModelError) as error:
        return {"warnings": [f"The plan cache was not written: {error.message}"]}
    return {"plan": {**state.plan, "id": stored.plan.id}}


def not_admitted(state: AskState, plan: Plan) -> str | None:
    """Why a plan may not be stored, or None."""
    if not (state.plan_is_new or state.cache == "coalesced") or plan.status is PlanStatus.FALLBACK:
        return "it is a fallback"
    if state.for_this_turn:
        return "who passed it may not decide what others are served"
    if state.status != "answered" or not state.results:
        return "its run gave no answer"
    if state.results[0].result.truncated:
        return "its result was cut at the row limit"
    return None


async def store(plan: Plan, state: AskState, runtime: AskRuntime) -> StoredPlan:
    """The plan, found again by its intent phrase and by the masked question that led to it."""
    services = runtime.services
    question = MaskedQuestion.model_validate(state.masks[plan.source])
    source = await services.sources.ready(plan.source)
    vectors = await services.embedder.embed([plan.key_text, question.masked])
    keys = [
        NewKey(kind="intent", masked=plan.key_text, embedding=tuple(vectors[0])),
        NewKey(
            kind="exemplar",
            masked=question.masked,
            roles=exemplar_roles(plan, question, state.params),
            embedding=tuple(vectors[1]),
        ),
    ]
    verified = plan.status is PlanStatus.VERIFIED
    stored = StoredPlan(
        plan=plan,
        canonical=canonical_form(plan),
        schema_fingerprint=source.description.fingerprint,
        dependency_ids=state.results[0].result.dependency_ids if state.results else (),
        model=services.chat.planner.name if services.chat else None,
        prompt=fingerprint("build_plan"),
    )
    return await services.plans.save_plan(
        runtime.tenant_id,
        stored,
        keys,
        embedder=services.embedder.fingerprint,
        ttl_hours=None if verified else services.settings.plan_ttl_hours,
    )


async def stored_id(plan: Plan, runtime: AskRuntime) -> str | None:
    """Under which id the plan is stored, if it is."""
    if plan.id is not None:
        return plan.id
    equal = await runtime.services.plans.find_equal(
        runtime.tenant_id, source=plan.source, canonical=canonical_form(plan)
    )
    return equal.plan.id if equal else None
