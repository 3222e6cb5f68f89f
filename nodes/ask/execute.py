"""Run each plan that is served against its live source, side by side, and merge their records.

Reads: plan, params, also, plan_is_new.
Writes: results, records, also, warnings; or the end of the turn: no records, source unavailable, an error.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from qkva.contracts.cache import Door
from qkva.contracts.errors import AuthError, ParameterError, PlanRejected, QkvaError, QueryFailed, SourceUnavailable
from qkva.contracts.plan import Plan, PlanStatus
from qkva.contracts.source import Limits, QueryResult, SourceResult
from qkva.contracts.state import AskState
from qkva.nodes.records_view import preview, said
from qkva.nodes.runtime import AskRuntime
from qkva.nodes.served_hits import Hit, go_on_with, hits_of
from qkva.planning.merging import emptied, merged

Failed = tuple[Hit, QkvaError]


async def execute(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """Live, every time: the cache holds plans and never rows. A source that fails is left out if another answers."""
    hits = hits_of(state)
    outcomes = await asyncio.gather(*(run(hit, runtime) for hit in hits))
    failed: list[Failed] = []
    ran: list[tuple[Hit, SourceResult]] = []
    for hit, outcome in zip(hits, outcomes, strict=True):
        if isinstance(outcome, QkvaError):
            failed.append((hit, outcome))
        else:
            part = SourceResult(
                source=hit["source"], about=hit["plan"]["key_text"], params=hit["params"], result=outcome
            )
            ran.append((hit, part))
    for hit, error in failed:
        if is_stale(hit, error, state):
            runtime.services.sources.forget(hit["source"])  # the schema may have moved on
    if not ran:
        return none_ran(failed, state)
    results = merged(part for _, part in ran)
    served = [{**hit, "records": preview([part])} for (hit, _), part in zip(ran, results, strict=True)]
    update = {
        "records": preview(results),
        "warnings": [f"{hit['source']} was left out: {error.message}" for hit, error in failed],
        **go_on_with(served, state),
    }
    if not any(part.result.records for part in results):
        return {**update, "status": "no_records", "answer": no_records(results)}
    return {**update, "results": results}


async def run(hit: Hit, runtime: AskRuntime) -> QueryResult | QkvaError:
    """What the source brings, or how it failed."""
    plan = Plan.model_validate(hit["plan"])
    settings = runtime.services.settings
    limits = Limits(
        rows=settings.row_limit,
        seconds=settings.query_timeout_sec,
        timezone=runtime.context.timezone or settings.timezone,
    )
    connector = runtime.services.sources.connectors[plan.source]
    try:
        return emptied(await connector.execute(plan.query, plan.params, hit["params"], limits))
    except (SourceUnavailable, AuthError, ParameterError, PlanRejected, QueryFailed) as error:
        return error


def none_ran(failed: Sequence[Failed], state: AskState) -> dict[str, Any]:
    """A miss if the sources only rejected cached plans; else the end of the turn."""
    if all(is_stale(hit, error, state) for hit, error in failed):
        return without(failed, state)
    ended: dict[str, Any] = {"also": []} if state.also else {}
    if any(isinstance(error, SourceUnavailable | AuthError) for _, error in failed):
        messages = " ".join(error.message for _, error in failed)
        return {**ended, "status": "source_unavailable", "error": f"Data source unavailable: {messages}"}
    error = failed[0][1]
    refused = isinstance(error, ParameterError | PlanRejected)
    return {**ended, "status": "refused" if refused else "error", "error": error.message}


def is_stale(hit: Hit, error: QkvaError, state: AskState) -> bool:
    """Whether the source does not accept a plan of the cache any more."""
    cached = not state.plan_is_new and hit["plan"]["status"] != PlanStatus.FALLBACK
    return cached and isinstance(error, PlanRejected | QueryFailed)


def without(failed: Sequence[Failed], state: AskState) -> dict[str, Any]:
    """Go on as if the cached plans were not there."""
    reason = failed[0][1].message
    door = Door(name="source", verdict="shut", why=f"the source does not accept the plan any more: {reason}")
    return {
        "plan": None,
        "plan_keys": [],
        "also": [],
        "cache": "miss",
        "excluded_plans": [*state.excluded_plans, *(str(hit["plan"]["id"]) for hit, _ in failed)],
        "doors": [*state.doors, door.model_dump(mode="json")],
    }


def no_records(results: Sequence[SourceResult]) -> str:
    """Said with the values that were looked for, so that a wrong one shows."""
    looked = [part.source + (f" for {values}" if (values := said(part.params)) else "") for part in results]
    return f"No relevant records found in {' or in '.join(looked)}."
