"""Mask the question for each source in scope, and embed the masked texts.

Reads: standalone.  Writes: masks, embeddings, source (the only one in scope), cache and warnings when embedding fails.
"""

from typing import Any

from qkva.contracts.errors import ModelError, SourceError, UnknownSource
from qkva.contracts.question import MaskedQuestion, SlotType
from qkva.contracts.state import AskState
from qkva.nodes.runtime import AskRuntime
from qkva.planning.masking.mask import mask_question


async def embed(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """Values become types; what is left is the meaning that the cache is searched by."""
    warnings: list[str] = []
    masks: dict[str, dict[str, Any]] = {}
    texts: dict[str, str] = {}
    names = names_in_scope(runtime)
    for name in names:
        try:
            ready = await runtime.services.sources.ready(name)
        except SourceError as error:
            if len(names) == 1:
                return {"source": name, "status": "source_unavailable", "error": error.message}
            warnings.append(error.message)
            continue
        mask = mask_question(state.standalone, source=name, values=ready.values, now=runtime.now)
        if has_misspelt_value(mask):
            values = (await runtime.services.sources.renewed(name)).values
            mask = mask_question(state.standalone, source=name, values=values, now=runtime.now)
        masks[name], texts[name] = mask.model_dump(mode="json"), mask.masked
    if not masks:
        return {"status": "source_unavailable", "error": "Every data source is unavailable: " + " ".join(warnings)}
    update = {"masks": masks, "warnings": warnings, "source": names[0] if len(names) == 1 else None}
    try:
        vectors = await runtime.services.embedder.embed(list(texts.values()))
    except ModelError as error:
        warnings.append(f"The plan cache was not searched: {error.message}")
        return {**update, "embeddings": None, "cache": "unavailable"}
    return {**update, "embeddings": dict(zip(texts, vectors, strict=True))}


def has_misspelt_value(mask: MaskedQuestion) -> bool:
    """Whether a value is not spelled as the source spells it: it may be another one, which has come in since."""
    return any(
        slot.type == SlotType.VALUE and str(slot.value).casefold() != slot.text.casefold() for slot in mask.slots
    )


def names_in_scope(runtime: AskRuntime) -> list[str]:
    """The sources to ask. Raises UnknownSource, naming the known ones."""
    known = list(runtime.services.sources.connectors)
    asked = runtime.context.source
    if not known:
        raise UnknownSource("No source is configured: declare one in qkva.toml, or run `qkva demo` for the demo shop.")
    if asked is None:
        return known
    if asked not in known:
        raise UnknownSource(f"There is no source {asked!r}; the configured ones are {', '.join(sorted(known))}.")
    return [asked]
