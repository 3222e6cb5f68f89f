"""Let the cache learn from an answered question.

Reads: plan, plan_is_new, cache, status, result, params, masks.
Writes: warnings, plan (with its id once stored).
"""

from typing import Any

from qkva.contracts.cache import NewKey
from qkva.contracts.errors import ModelError, StoreUnavailable
from qkva.contracts.plan import Plan, PlanStatus, StoredPlan
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.state import AskState
from qkva.nodes.prompts import fingerprint
from qkva.nodes.runtime import AskRuntime
from qkva.planning.drafting.canonical import canonical_form
from qkva.planning.drafting.parameterise import exemplar_roles


async def write_back(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """A hit counts one use; a new plan is stored if it is admitted. A cache that is down costs a warning, no answer."""
    if state.plan is None:
        return {}
    plan = Plan.model_validate(state.plan)
    try:
        if state.cache == "hit" and plan.id is not None:
            await runtime.services.plans.record_hit(runtime.tenant_id, plan.id)
            return {}
        refusal = not_admitted(state, plan)
        if refusal:
            return {"warnings": [f"The plan was not stored: {refusal}."]} if state.plan_is_new else {}
        stored = await store(plan, state, runtime)
    except (StoreUnavailable, ModelError) as error:
        return {"warnings": [f"The plan cache was not written: {error.message}"]}
    return {"plan": {**state.plan, "id": stored.plan.id}}


def not_admitted(state: AskState, plan: Plan) -> str | None:
    """Why a plan may not be stored, or None."""
    if not state.plan_is_new or plan.status is PlanStatus.FALLBACK:
        return "it is a fallback"
    if state.status != "answered" or state.result is None:
        return "its run gave no answer"
    if state.result.truncated:
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
        dependency_ids=state.result.dependency_ids if state.result else (),
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
