"""Run something broad when no plan could be had, and say so.

Reads: masks, source, candidates.  Writes: plan (a fallback, never stored), params, cache, warnings.
"""

from typing import Any

from qkva.contracts.plan import Plan, PlanStatus
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.state import AskState
from qkva.nodes.runtime import AskRuntime
from qkva.planning.conversation.language import looks_english

NEAREST_SHOWN = 3


async def fall_back(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """The newest rows near the question; or the questions that could be answered, if nothing in it is known."""
    nearest = nearest_plans(state)
    if runtime.services.chat is None and not looks_english(state.standalone):
        return {
            "cache": "fallback",
            "status": "refused",
            "error": "Without a model only English questions can be matched: ask in English, or configure "
            "LITELLM_PROVIDER_BASE_URL.",
        }
    source = await runtime.services.sources.ready(str(state.source))
    question = MaskedQuestion.model_validate(state.masks[source.name])
    broad = await source.connector.broaden(question)
    if broad is None:
        error = f"No query was run, because nothing in the question belongs to {source.name}.{offer(nearest)}"
        return {"cache": "fallback", "status": "refused", "error": error}
    plan = Plan(
        key_text=broad.about,
        query=broad.query,
        params=broad.params,
        status=PlanStatus.FALLBACK,
        source=source.name,
        source_type=source.connector.source_type,
        dialect=source.connector.dialect,
    )
    return {
        "cache": "fallback",
        "plan": plan.model_dump(mode="json"),
        "plan_keys": [],
        "plan_is_new": False,
        "params": broad.values,
        "warnings": [f"No plan answers this exactly, so here is something near it: {broad.about}." + offer(nearest)],
    }


def nearest_plans(state: AskState) -> list[str]:
    """The intent phrases of the nearest plans, best first."""
    ranked = sorted(state.candidates, key=lambda candidate: -candidate["similarity"])
    return list(dict.fromkeys(candidate["key_text"] for candidate in ranked))[:NEAREST_SHOWN]


def offer(nearest: list[str]) -> str:
    """What could be asked instead."""
    return f" The nearest plans are: {'; '.join(nearest)}." if nearest else ""
