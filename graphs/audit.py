"""The line that a question leaves in the audit log."""

from collections.abc import Mapping
from typing import Any

from qkva.contracts.ask_log import AskEntry, FurtherPlan, TokenCounts
from qkva.contracts.result import Status
from qkva.contracts.state import AskState

ANSWERING_NODE = "answer"
TORN_DOWN = "stopped"
"""Status of a turn whose node was cancelled or met a bug."""


def ends_turn(name: str, last: str, state: AskState, update: Mapping[str, Any] | None) -> bool:
    """Whether no node follows: as the edges of the graph say."""
    if update is None or name == last:
        return True
    status = update.get("status")
    if name == ANSWERING_NODE:
        return bool(status) and not (status == Status.ANSWERED and state.plan)
    return bool(status)


def entry_of(
    state: AskState, update: Mapping[str, Any], *, user: str | None, thread_id: str | None, with_text: bool
) -> AskEntry:
    """A turn that has ended; `update` is what its last node changed, with times, calls and tokens of that node."""
    after: dict[str, Any] = {**vars(state), **update}
    totals = {name: summed(getattr(state, name), after[name]) for name in ("timings_ms", "model_calls", "tokens")}
    plan: dict[str, Any] = after["plan"] or {}
    records: dict[str, Any] = after["records"] or {}
    timings = totals["timings_ms"]
    return AskEntry(
        user=user,
        thread_id=thread_id,
        status=after["status"] or TORN_DOWN,
        cache=after["cache"],
        strategy=after["strategy"],
        source=after["source"],
        plan_id=plan.get("id"),
        plan_status=plan.get("status"),
        plan_is_new=after["plan_is_new"],
        param_types=types_of(plan),
        doors={door["name"]: door["verdict"] for door in after["doors"]},
        also=tuple(further(hit, with_text=with_text) for hit in after["also"]),
        model_calls=totals["model_calls"],
        tokens=totals["tokens"],
        row_count=records.get("count"),
        truncated=records.get("truncated"),
        execute_ms=timings.get("execute"),
        total_ms=round(sum(timings.values()), 3),
        question=after["question"] if with_text else None,
        masked=after["masked_question"] or None if with_text else None,
        param_values=after["params"] if with_text else None,
    )


def further(hit: Mapping[str, Any], *, with_text: bool) -> FurtherPlan:
    """A plan that answered beside the first."""
    plan: dict[str, Any] = hit["plan"] or {}
    return FurtherPlan(
        source=hit["source"],
        plan_id=plan.get("id"),
        plan_status=plan.get("status"),
        param_types=types_of(plan),
        row_count=(hit.get("records") or {}).get("count"),
        param_values=hit.get("params") if with_text else None,
    )


def types_of(plan: Mapping[str, Any]) -> dict[str, str]:
    """The type of each parameter."""
    return {param["name"]: param["type"] for param in plan.get("params", ())}


def summed(before: Mapping[str, Any], change: Any) -> dict[str, Any]:
    """The counts of a turn with those of its last node."""
    added = getattr(change, "value", change)  # an Overwrite: the first node of a turn
    if added is before or added is not change:
        return dict(added)
    return {**before, **{name: before.get(name, 0) + count for name, count in added.items()}}


def token_counts(usage: Mapping[str, Any]) -> TokenCounts:
    """LangChain's usage by model as counts, with the cached part of the input counted once."""
    counts: TokenCounts = {}
    for model, used in usage.items():
        cached = int((used.get("input_token_details") or {}).get("cache_read") or 0)
        for kind, count in (
            ("input", used["input_tokens"] - cached),
            ("cached", cached),
            ("output", used["output_tokens"]),
        ):
            if count > 0:
                counts[f"{model}:{kind}"] = count
    return counts
