"""Make a plan for a question that the cache has none for.

Reads: standalone, masks, source; and for sharing a plan: cache, embeddings, excluded_plans.
Writes: plan, plan_keys, planned_values, plan_is_new, review; flight when others may wait for the plan; cache and doors
when another caller made it; or, when no plan could be had, a warning that says why.
"""

import logging
import re
from typing import Any

from pydantic import ValidationError

from qkva.contracts.errors import KeyTooLong, ModelError, PlanRejected, StoreUnavailable
from qkva.contracts.plan import Parameter, ParamType, Plan, Strategy
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.state import AskState
from qkva.nodes.forms import PlanForm
from qkva.nodes.plan_sharing import flight_key, handover_of, may_share, stored_plan, take_over, wants_review
from qkva.nodes.planner_prompt import planner_sees
from qkva.nodes.prompts import prompt
from qkva.nodes.runtime import AskRuntime, ReadySource
from qkva.nodes.single_flight import Handover
from qkva.planning.drafting.canonical import canonical_form, canonical_params
from qkva.planning.drafting.keys import check_key_length
from qkva.planning.drafting.parameterise import parameterise

logger = logging.getLogger(__name__)

FENCE = re.compile(r"```(?:\w+\n)?(.*?)```", re.DOTALL)
ATTEMPTS = 2
"""A rejected plan goes back to the planner once, with the reason."""


async def build_plan(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """Of all callers that miss the same key at once, one plans and the others take its plan."""
    if runtime.services.chat is None:
        return {"plan": None, "warnings": ["No model is configured, so no new plan can be made."]}
    source = await runtime.services.sources.ready(str(state.source))
    question = MaskedQuestion.model_validate(state.masks[source.name])
    if not may_share(state, runtime):
        return await plan_freshly(question, source, state, runtime)

    async def look() -> Handover | None:
        return await stored_plan(question, state, runtime)

    async with runtime.services.flights.join(flight_key(question, runtime), look) as seat:
        if seat.handover is not None:
            taken = await take_over(seat.handover, question, state, runtime)
            if taken is not None:
                return taken
        update = await plan_freshly(question, source, state, runtime)
        return {**update, "flight": seat.hand_over(handover_of(update, question))}


async def plan_freshly(
    question: MaskedQuestion, source: ReadySource, state: AskState, runtime: AskRuntime
) -> dict[str, Any]:
    """Ask the planner; check what it answers against the live source before anything runs."""
    complaint: str | None = None
    for _ in range(ATTEMPTS):
        try:
            form = await ask_planner(question, source, complaint, runtime)
            plan, values = plan_from(form, question, source, Strategy(state.strategy or Strategy.SQL_ONLY))
            check_key_length(plan.key_text)
            await source.connector.check(plan)
        except ModelError as error:
            logger.error("the planner failed: %s", error.message)
            return {"plan": None, "warnings": [f"No plan could be made: {error.message}"]}
        except KeyTooLong as error:
            logger.warning("a plan was rejected: %s", error.message)
            return {"plan": None, "warnings": [f"The plan was rejected: {error.message}"]}
        except PlanRejected as error:
            complaint = error.message
            continue
        return await made(plan, values, runtime)
    logger.error("the planner's plan was rejected: %s", complaint)
    return {"plan": None, "warnings": [f"No plan could be made: {complaint}"]}


async def made(plan: Plan, values: dict[str, Any], runtime: AskRuntime) -> dict[str, Any]:
    """The new plan; or, if one that means the same is stored, that one, which the question then becomes a key of."""
    equal = await equal_plan(plan, runtime)
    if equal is not None:
        names = dict(zip(canonical_params(plan), canonical_params(equal), strict=True))
        plan, values = equal, {names[name]: value for name, value in values.items() if name in names}
    return {
        "plan": plan.model_dump(mode="json"),
        "plan_keys": [],
        "planned_values": values,
        "plan_is_new": True,
        "review": wants_review(runtime) and equal is None,
    }


async def equal_plan(plan: Plan, runtime: AskRuntime) -> Plan | None:
    """The stored plan of the same meaning; a cache that is down knows none."""
    try:
        stored = await runtime.services.plans.find_equal(
            runtime.tenant_id, source=plan.source, canonical=canonical_form(plan)
        )
    except StoreUnavailable:
        return None
    return stored.plan if stored else None


async def ask_planner(
    question: MaskedQuestion, source: ReadySource, complaint: str | None, runtime: AskRuntime
) -> PlanForm:
    """One planning call."""
    assert runtime.services.chat is not None
    runtime.meter.spend("build_plan")
    return await runtime.services.chat.planner.fill_form(
        PlanForm,
        system=prompt("build_plan"),
        user=planner_sees(question, source.description, now=runtime.now, complaint=complaint),
        purpose="build_plan",
    )


def plan_from(
    form: PlanForm, question: MaskedQuestion, source: ReadySource, strategy: Strategy
) -> tuple[Plan, dict[str, Any]]:
    """The planner's form as a plan without values, and the values it is to run with. Raises PlanRejected."""
    if not form.answerable or not form.query.strip():
        raise PlanRejected(f"The planner found no query for this question: {form.why or 'it gave no reason'}.")
    try:
        declared = [
            Parameter(
                name=param.name,
                type=ParamType(param.type),
                column=known(param.column, source),
                description=param.description or "",
            )
            for param in form.params
        ]
    except (ValidationError, ValueError) as error:
        raise PlanRejected(f"A parameter of the plan is malformed: {error}.") from None
    query, found, values = parameterise(bare(form.query), source.connector.dialect, question, declared)
    params = tuple(param.model_copy(update={"column": known(param.column, source)}) for param in found)
    said = {param.name: param.value for param in form.params if param.value not in (None, "")}
    plan = Plan(
        key_text=without_values(form.key_text.strip(), question),
        query=query,
        params=params,
        strategy=strategy,
        source=source.name,
        source_type=source.connector.source_type,
        dialect=source.connector.dialect,
    )
    return plan, {**{name: value for name, value in said.items() if name in {p.name for p in params}}, **values}


def bare(query: str) -> str:
    """The query without the fence and the semicolon that models like to put around it."""
    fenced = FENCE.search(query)
    return (fenced[1] if fenced else query).strip().rstrip(";")


def known(column: str | None, source: ReadySource) -> str | None:
    """The column as the source spells it, whatever case the planner or the parser made of it; None if it has none."""
    if not column or source.description.field(column):
        return column or None
    names = (f"{table.name}.{field.name}" for table in source.description.tables for field in table.fields)
    same = [name for name in names if name.casefold() == column.casefold()]
    return same[0] if len(same) == 1 else None


def without_values(key_text: str, question: MaskedQuestion) -> str:
    """The intent phrase with the question's values replaced by what they are: "loans in a country", not "in Norway"."""
    for slot in question.slots:
        kind = slot.label.rpartition(".")[2].replace("_", " ").replace("/", " or ")
        key_text = re.sub(rf"\b{re.escape(slot.text)}\b", f"a {kind}", key_text, flags=re.IGNORECASE)
    return key_text
