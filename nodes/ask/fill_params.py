"""Give the parameters of each plan that is served the values that the question says.

Reads: plan, plan_keys, also, plan_is_new, planned_values, masks.
Writes: params, also; or, when a cached plan does not fit, its exclusion; or one question back for a missing value.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from qkva.contracts.cache import Door, Key
from qkva.contracts.errors import ModelError, ParameterError
from qkva.contracts.plan import Parameter, Plan
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.state import AskState
from qkva.nodes.forms import fill_form_for
from qkva.nodes.prompts import prompt
from qkva.nodes.runtime import AskRuntime
from qkva.nodes.served_hits import Hit, go_on_with, hits_of
from qkva.planning.filling.coerce import coerce
from qkva.planning.filling.fill import fill_from_question
from qkva.planning.filling.said import is_said


async def fill_params(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """Each plan by itself. One that cannot be filled is left out if another can; else the best one's fate counts."""
    hits = hits_of(state)
    updates = await asyncio.gather(*(fill(hit, state, runtime) for hit in hits))
    filled: list[Hit] = []
    warnings: list[str] = []
    for hit, update in zip(hits, updates, strict=True):
        if "plan" in update or "status" in update:
            warnings.append(f"{hit['source']} was left out: {why_not(update)}")
        else:
            filled.append({name: hit[name] for name in ("source", "plan", "doors")} | {"params": update["params"]})
            warnings += update["warnings"]
    if not filled:
        return updates[0] if len(hits) == 1 else none_filled(hits, updates[0], state)
    return {"params": filled[0]["params"], **go_on_with(filled, state), "warnings": warnings}


def why_not(update: dict[str, Any]) -> str:
    """Why a plan could not be filled, for a person."""
    return str(update.get("error") or update.get("answer") or f"{update['doors'][-1]['why']}.")


def none_filled(hits: Sequence[Hit], first: dict[str, Any], state: AskState) -> dict[str, Any]:
    """Go on by the best plan's fate; if that is a miss, none of these plans is asked again."""
    if "excluded_plans" in first:
        excluded = [*state.excluded_plans, *(str(hit["plan"]["id"]) for hit in hits)]
        first = {**first, "excluded_plans": excluded}
    return {**first, "also": []}


async def fill(hit: Hit, state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """First what masking found, by rule; only what is left goes to one model call."""
    plan = Plan.model_validate(hit["plan"])
    question = MaskedQuestion.model_validate(state.masks[plan.source])
    keys = [Key.model_validate(key) for key in hit["plan_keys"]]
    try:
        filling = fill_from_question(plan, question, keys=keys, now=runtime.now)
        if filling.misfit and not state.plan_is_new:
            return exclude(plan, filling.misfit, state)
        planned = coerced(plan, state.planned_values, runtime)
        values = {**filling.values, **planned}
        missing = [param for param in filling.missing if values.get(param.name) is None]
        warnings = [filling.misfit] if filling.misfit else []
        if missing and runtime.services.chat is not None:
            try:
                values |= await ask_model(plan, missing, question, runtime)
            except ModelError as error:
                warnings.append(f"The missing values could not be asked of the model: {error.message}")
            missing = [param for param in missing if values.get(param.name) is None]
    except ParameterError as error:
        return {"status": "refused", "error": error.message}
    if missing:
        return {
            "params": values,
            "status": "needs_clarification",
            "answer": question_back(missing, plan),
            "warnings": warnings,
        }
    return {"params": {param.name: values.get(param.name) for param in plan.params}, "warnings": warnings}


def exclude(plan: Plan, misfit: str, state: AskState) -> dict[str, Any]:
    """The cached plan cannot carry this question: go on as if it were not there."""
    door = Door(name="parameters", verdict="shut", why=misfit)
    return {
        "plan": None,
        "plan_keys": [],
        "cache": "miss",
        "excluded_plans": [*state.excluded_plans, str(plan.id)],
        "doors": [*state.doors, door.model_dump(mode="json")],
    }


def coerced(plan: Plan, raw: dict[str, Any], runtime: AskRuntime) -> dict[str, Any]:
    """The planner's own values, each checked against its parameter. Raises ParameterError."""
    declared = {param.name: param for param in plan.params}
    return {
        name: coerce(declared[name], value, now=runtime.now)
        for name, value in raw.items()
        if name in declared and value is not None
    }


async def ask_model(
    plan: Plan, missing: Sequence[Parameter], question: MaskedQuestion, runtime: AskRuntime
) -> dict[str, Any]:
    """One call with a form of what is missing; what the question does not say counts as missing still."""
    assert runtime.services.chat is not None
    runtime.meter.spend("fill_params")
    wanted = "\n".join(f"- {p.name} ({p.type.value}): {p.description or p.column or p.name}" for p in missing)
    form = await runtime.services.chat.answerer.fill_form(
        fill_form_for(missing),
        system=prompt("fill_params"),
        user=f"Now: {runtime.now.isoformat()}\nPlan: {plan.key_text}\nParameters:\n{wanted}\nQuestion: {question.text}",
        purpose="fill_params",
    )
    said = {param.name: value for param, value in zip(missing, form.model_dump().values(), strict=True)}
    return coerced(plan, {p.name: said[p.name] for p in missing if is_said(p, said[p.name], question)}, runtime)


def question_back(missing: Sequence[Parameter], plan: Plan) -> str:
    """One focused question."""
    names = [param.description or param.name.replace("_", " ") for param in missing]
    listed = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    return f"To answer “{plan.key_text}” I need to know: {listed}. Which one do you mean?"
