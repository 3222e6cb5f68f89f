"""Options that several commands have."""

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else, on standard output.")]
TenantName = Annotated[str | None, typer.Option("--tenant", help="Of this tenant; default: TENANT_ID.")]
SourceName = Annotated[str | None, typer.Option("--source", help="Only plans of this source.")]
