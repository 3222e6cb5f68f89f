"""What a planner's answer says of the plans that were looked at: labels, and repairs where an audit shows one wrong.

Labels hold masked text only, no value. Plans that mean the same share one id, so equal ids are equal meanings.
"""

from typing import Any

from qkva.contracts.cache import LabelledScore, LabelOrigin
from qkva.contracts.plan import PlanStatus, StoredPlan
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.state import AskState
from qkva.nodes.runtime import AskRuntime
from qkva.planning.decision.audits import is_proven_wrong


async def add_labels(stored: StoredPlan, state: AskState, runtime: AskRuntime) -> None:
    """One label for each candidate of the plan's source. Raises StoreUnavailable."""
    services = runtime.services
    source = stored.plan.source
    question = MaskedQuestion.model_validate(state.masks[source])
    audited = (state.audited or {}).get("plan_id")
    scorer = services.confidences.scorer(services.embedder.fingerprint)
    for candidate in state.candidates:
        if candidate["source"] != source:
            continue
        same = candidate["plan_id"] == stored.plan.id
        origin: LabelOrigin = "audit" if candidate["plan_id"] == audited else "miss"
        judgement = judgement_of(state, candidate["plan_id"])
        score = candidate["score"] if candidate["decisive"] else None
        await services.plans.add_label(
            runtime.tenant_id,
            plan_id=candidate["plan_id"],
            masked=question.masked,
            verdict="same" if same else "different",
            similarity=candidate["similarity"],
            score=score,
            source_of_label=origin,
            key_masked=state.audited["key"] if state.audited and origin == "audit" else candidate["nearest_key"],
            embedder=scorer,
            **judgement,
        )
        if score is not None:
            label = LabelledScore(score=score, same=same, origin=origin, judge=judgement.get("judge"))
            services.confidences.learn(runtime.tenant_id, source, label)
    if audited is not None and audited != stored.plan.id and state.audited is not None:
        await repair(state.audited, runtime)


async def repair(audited: dict[str, Any], runtime: AskRuntime) -> None:
    """Take away the exemplar, or the learned plan, that audits have proven wrong. Raises StoreUnavailable."""
    plans = runtime.services.plans
    plan_id, key = audited["plan_id"], audited["key"]
    if is_proven_wrong(*await plans.audit_counts(runtime.tenant_id, plan_id=plan_id, key_masked=key)):
        await plans.remove_key(runtime.tenant_id, plan_id, key)
    if audited["status"] == PlanStatus.LEARNED and is_proven_wrong(
        *await plans.audit_counts(runtime.tenant_id, plan_id=plan_id)
    ):
        await plans.set_status(runtime.tenant_id, plan_id, PlanStatus.RETIRED)


def judgement_of(state: AskState, plan_id: str) -> dict[str, Any]:
    """What the judge said of this plan, as `add_label` takes it; nothing for a plan that it was not asked about."""
    grey = state.grey or {}
    if "judge" not in grey or grey["plan"]["id"] != plan_id:
        return {}
    return {"judge": grey["judge"], "judged_by": grey["judged_by"]}
