"""Hold a new plan until a person has approved, edited or rejected it.

Reads: plan.  Writes: plan (verified, or as edited), for_this_turn, or the end of the turn when it was rejected.
"""

from typing import Any

from langgraph.types import interrupt
from pydantic import BaseModel, ConfigDict, ValidationError

from qkva.contracts.errors import PlanRejected
from qkva.contracts.plan import Parameter, Plan, PlanStatus
from qkva.contracts.state import AskState
from qkva.nodes.runtime import AskRuntime
from qkva.planning.drafting.keys import check_key_length


class Review(BaseModel):
    """What the reviewer answers: `{"decision": "approve" | "edit" | "reject", …}`, or just the word."""

    model_config = ConfigDict(extra="forbid")

    decision: str
    key_text: str | None = None
    query: str | None = None
    params: tuple[Parameter, ...] | None = None
    why: str = ""


async def review_plan(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """Nothing is done before the interrupt, so that nothing is done twice when the run resumes."""
    plan = Plan.model_validate(state.plan)
    problem: str | None = None
    while True:
        answer = interrupt({**shown(plan, state), **({"problem": problem} if problem else {})})
        try:
            review = Review.model_validate({"decision": answer} if isinstance(answer, str) else answer)
            if review.decision == "reject":
                reason = f": {review.why}" if review.why else "."
                return {"plan": None, "status": "refused", "error": f"The reviewer rejected the plan{reason}"}
            if review.decision not in ("approve", "edit"):
                raise PlanRejected(f"A review is approve, edit or reject; {review.decision!r} is none of them.")
            edited = apply(review, plan)
            check_key_length(edited.key_text)
            source = await runtime.services.sources.ready(edited.source)
            await source.connector.check(edited)
        except (PlanRejected, ValidationError) as error:
            problem = error.message if isinstance(error, PlanRejected) else f"The review is malformed: {error}."
            continue
        if not runtime.may_review:
            # Stored, it would be served to everybody of the tenant as verified.
            return {
                "plan": edited.model_copy(update={"id": None, "status": plan.status}).model_dump(mode="json"),
                "for_this_turn": True,
            }
        return {"plan": edited.model_dump(mode="json")}


def shown(plan: Plan, state: AskState) -> dict[str, Any]:
    """What the reviewer sees."""
    return {
        "review": "A new plan waits for review: approve, edit (key_text, query, params) or reject.",
        "question": state.standalone,
        "plan": plan.model_dump(mode="json", include={"key_text", "query", "params", "source", "dialect"}),
        "values": state.planned_values,
    }


def apply(review: Review, plan: Plan) -> Plan:
    """The plan as the reviewer wants it; a plan that a person has passed is a verified one."""
    changes: dict[str, Any] = {"status": PlanStatus.VERIFIED}
    if review.decision == "edit":
        edits = {"key_text": review.key_text, "query": review.query, "params": review.params}
        changes |= {name: value for name, value in edits.items() if value is not None}
    return plan.model_copy(update=changes)
