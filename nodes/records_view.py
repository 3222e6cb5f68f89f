"""What came back, as people read it: previews for the state, values in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from qkva.contracts.source import SourceResult

PREVIEW_ROWS = 5
"""Of each source."""
PREVIEW_CHARS = 200


def preview(results: Sequence[SourceResult]) -> dict[str, Any]:
    """A RecordsView: the first rows of each source, with long texts cut."""
    shown = [(part.source, record) for part in results for record in part.result.records[:PREVIEW_ROWS]]
    return {
        "count": sum(len(part.result.records) for part in results),
        "truncated": any(part.result.truncated for part in results),
        "rows": [{name: cut(value) for name, value in record.fields.items()} for _, record in shown],
        "sources": [source for source, _ in shown],
    }


def cut(value: Any) -> Any:
    """A long text, cut."""
    return value[:PREVIEW_CHARS] + "…" if isinstance(value, str) and len(value) > PREVIEW_CHARS else value


def said(params: Mapping[str, Any]) -> str:
    """The bound values: "country = Germany, n = 3"; empty for none."""
    return ", ".join(f"{name} = {spoken(value)}" for name, value in params.items() if value is not None)


def about(part: SourceResult) -> str:
    """What the records are: "customers of a country (country = Germany)"."""
    values = said(part.params)
    return f"{part.about} ({values})" if values else part.about


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
