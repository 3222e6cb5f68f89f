"""Choose how a question without a cached plan is answered, and by which source.

Reads: standalone, masks, source, cache.
Writes: strategy, source, masked_question, slots; for `clarify` the question back.
"""

from typing import Any

from qkva.contracts.errors import ModelError
from qkva.contracts.plan import Strategy
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.state import AskState
from qkva.nodes.forms import RouteForm
from qkva.nodes.prompts import prompt
from qkva.nodes.runtime import AskRuntime, ReadySource
from qkva.planning.source_choice import evidence_for


async def route(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """By the router model where there is one, and always cut down to what can be fulfilled."""
    sources = [await runtime.services.sources.ready(name) for name in state.masks]
    masks = {name: MaskedQuestion.model_validate(dump) for name, dump in state.masks.items()}
    evidence = {source.name: evidence_for(masks[source.name], source.description) for source in sources}
    likely = max(evidence, key=lambda name: (evidence[name], nearest_key(name, state)))
    chosen = {"strategy": Strategy.SQL_ONLY, "source": likely}
    warnings: list[str] = []
    if runtime.services.chat is not None and not state.excluded_plans:
        runtime.meter.spend("route")
        try:
            form = await runtime.services.chat.router.fill_form(
                RouteForm, system=prompt("route"), user=router_sees(state, sources), purpose="route"
            )
        except ModelError as error:
            warnings.append(f"The router failed, so a live query is tried: {error.message}")
        else:
            chosen = fulfillable(form, sources, likely, evidence)
            if chosen["strategy"] is Strategy.CLARIFY:
                return {
                    "strategy": Strategy.CLARIFY.value,
                    "status": "needs_clarification",
                    "answer": form.clarifying_question,
                    "warnings": warnings,
                }
    question = masks[str(chosen["source"])]
    return {
        "strategy": Strategy(chosen["strategy"]).value,
        "source": question.source,
        "masked_question": question.masked,
        "slots": [slot.model_dump(mode="json") for slot in question.slots],
        "cache": "unavailable" if state.cache == "unavailable" else "miss",
        "warnings": warnings,
    }


def nearest_key(source: str, state: AskState) -> float:
    """How similar the question is to what the source's plans have been asked; decides where words tell nothing."""
    return max((found["similarity"] for found in state.candidates if found["source"] == source), default=-1.0)


def router_sees(state: AskState, sources: list[ReadySource]) -> str:
    """The question, and each source by its tables."""
    lines = [f"Question: {state.standalone}", "Sources:"]
    for source in sources:
        tables = ", ".join(table.name for table in source.description.tables)
        lines.append(f"- {source.name} ({source.description.source_type}): {tables}")
    return "\n".join(lines)


def fulfillable(
    form: RouteForm, sources: list[ReadySource], likely: str, evidence: dict[str, float]
) -> dict[str, Strategy | str]:
    """The router's wish, cut down: no strategy without a backend, no small talk about what the sources hold."""
    known = {source.name: source for source in sources}
    name = form.source if form.source in known else likely
    strategy = Strategy(form.strategy)
    if strategy in (Strategy.VECTOR_ONLY, Strategy.HYBRID) and not known[name].description.indexable:
        strategy = Strategy.SQL_ONLY
    if strategy is Strategy.NO_RETRIEVAL and evidence[likely] > 0:
        strategy = Strategy.SQL_ONLY
    if strategy is Strategy.CLARIFY and not (form.clarifying_question or "").strip():
        strategy = Strategy.SQL_ONLY
    return {"strategy": strategy, "source": name}
