"""The hits that are served for one question: the first stands in the state's own fields, the others in `also`."""

from collections.abc import Sequence
from typing import Any

from qkva.contracts.plan import Plan
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.state import AskState

Hit = dict[str, Any]
"""An entry of `also`: source, plan, plan_keys, doors, params, records."""


def hits_of(state: AskState) -> list[Hit]:
    """All plans that are to run, best first; the plan of a miss is the only one."""
    plan = Plan.model_validate(state.plan)
    first = {
        "source": plan.source,
        "plan": state.plan,
        "plan_keys": state.plan_keys,
        "params": state.params,
        "doors": state.doors,
    }
    return [first, *state.also]


def go_on_with(hits: Sequence[Hit], state: AskState) -> dict[str, Any]:
    """What changes when only these are served on; a first one that was not the first before takes its place."""
    first, *further = hits
    update: dict[str, Any] = {"also": further} if further or state.also else {}
    if first["plan"] == state.plan:
        return update
    question = MaskedQuestion.model_validate(state.masks[first["source"]])
    return {
        **update,
        "source": first["source"],
        "strategy": Plan.model_validate(first["plan"]).strategy.value,
        "plan": first["plan"],
        "plan_keys": first.get("plan_keys", []),
        "params": first["params"],
        "doors": first["doors"],
        "masked_question": question.masked,
        "slots": [slot.model_dump(mode="json") for slot in question.slots],
    }
