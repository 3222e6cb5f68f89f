"""Options that several commands have."""

from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else, on standard output.")]
TenantName = Annotated[str | None, typer.Option("--tenant", help="Of this tenant; default: TENANT_ID.")]
SourceName = Annotated[str | None, typer.Option("--source", help="Only plans of this source.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse a source whose login may do more than read.")]


def strictness(strict: bool) -> dict[str, Any]:
    """The override of the settings that `--strict` is; without it they decide."""
    return {"strict_sources": True} if strict else {}
