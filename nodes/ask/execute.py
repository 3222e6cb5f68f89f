"""Run the plan against the live source.

Reads: plan, params, plan_is_new.
Writes: result, records; or the end of the turn: no records, source unavailable, an error.
"""

from typing import Any

from qkva.contracts.cache import Door
from qkva.contracts.errors import AuthError, ParameterError, PlanRejected, QueryFailed, SourceUnavailable
from qkva.contracts.plan import Plan, PlanStatus
from qkva.contracts.source import Limits, QueryResult
from qkva.contracts.state import AskState
from qkva.nodes.runtime import AskRuntime

PREVIEW_ROWS = 5
PREVIEW_CHARS = 200


async def execute(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """Live, every time: the cache holds plans and never rows."""
    plan = Plan.model_validate(state.plan)
    settings = runtime.services.settings
    limits = Limits(
        rows=settings.row_limit,
        seconds=settings.query_timeout_sec,
        timezone=runtime.context.timezone or settings.timezone,
    )
    connector = runtime.services.sources.connectors[plan.source]
    try:
        result = await connector.execute(plan.query, plan.params, state.params, limits)
    except (SourceUnavailable, AuthError) as error:
        return {"status": "source_unavailable", "error": f"Data source unavailable: {error.message}"}
    except ParameterError as error:
        return {"status": "refused", "error": error.message}
    except (PlanRejected, QueryFailed) as error:
        if cached(plan, state):
            runtime.services.sources.forget(plan.source)  # the schema may have moved on
            return without(plan, error.message, state)
        refused = isinstance(error, PlanRejected)
        return {"status": "refused" if refused else "error", "error": error.message}
    if is_empty(result):
        return {"records": preview(result), "status": "no_records", "answer": no_records(state)}
    return {"result": result, "records": preview(result)}


def cached(plan: Plan, state: AskState) -> bool:
    """Whether the plan came from the cache."""
    return not state.plan_is_new and plan.status is not PlanStatus.FALLBACK


def without(plan: Plan, reason: str, state: AskState) -> dict[str, Any]:
    """Go on as if the cached plan were not there."""
    door = Door(name="source", verdict="shut", why=f"the source does not accept the plan any more: {reason}")
    return {
        "plan": None,
        "plan_keys": [],
        "cache": "miss",
        "excluded_plans": [*state.excluded_plans, str(plan.id)],
        "doors": [*state.doors, door.model_dump(mode="json")],
    }


def is_empty(result: QueryResult) -> bool:
    """No rows, or the one row of NULLs that a sum over no rows gives."""
    rows = result.records
    return not rows or (len(rows) == 1 and all(value is None for value in rows[0].fields.values()))


def no_records(state: AskState) -> str:
    """Said with the values that were looked for, so that a wrong one shows."""
    said = ", ".join(f"{name} = {spoken(value)}" for name, value in state.params.items() if value is not None)
    return f"No relevant records found in {(state.plan or {})['source']}" + (f" for {said}." if said else ".")


def spoken(value: Any) -> str:
    """A bound value as a person reads it: a time range by its two moments, the end excluded."""
    if isinstance(value, dict) and set(value) == {"start", "end"}:
        start, end = moment(value["start"]), moment(value["end"])
        if start and end:
            return f"{start} to before {end}"
        return f"since {start}" if start else f"before {end}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def moment(iso: str | None) -> str:
    """To the minute, and only the day at midnight."""
    return (iso or "")[:16].replace("T00:00", "").replace("T", " ")


def preview(result: QueryResult) -> dict[str, Any]:
    """A RecordsView: the first rows, with long texts cut."""
    rows = [
        {
            name: value[:PREVIEW_CHARS] + "…" if isinstance(value, str) and len(value) > PREVIEW_CHARS else value
            for name, value in record.fields.items()
        }
        for record in result.records[:PREVIEW_ROWS]
    ]
    return {"count": len(result.records), "truncated": result.truncated, "rows": rows}
