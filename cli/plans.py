"""`qkva plans`: look at the plan cache, and move verified plans in and out of it."""

from pathlib import Path
from typing import Annotated

import typer

from qkva.cli.options import AsJson, SourceName

app = typer.Typer(help="List, show, verify, retire, import and export plans.", no_args_is_help=True)

PlanId = Annotated[str, typer.Argument(help="The plan's id, or the beginning of it.")]
Status = Annotated[
    str | None, typer.Option("--status", help="Only plans of this status: learned, verified or retired.")
]


@app.command("list")
def list_plans(source: SourceName = None, status: Status = None, as_json: AsJson = False) -> int:
    """List the cached plans, newest first."""
    from qkva.cli import plan_commands

    return plan_commands.list_plans(source, status, as_json=as_json)


@app.command()
def show(plan_id: PlanId, as_json: AsJson = False) -> int:
    """Show one plan with its query, parameters and questions."""
    from qkva.cli import plan_commands

    return plan_commands.show_plan(plan_id, as_json=as_json)


@app.command()
def verify(plan_id: PlanId) -> int:
    """Mark a plan as verified: it does not expire any more."""
    from qkva.cli import plan_commands

    return plan_commands.set_status(plan_id, "verified")


@app.command()
def retire(plan_id: PlanId) -> int:
    """Take a plan out of use."""
    from qkva.cli import plan_commands

    return plan_commands.set_status(plan_id, "retired")


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(help="A YAML file of verified plans; - reads standard input.")],
) -> int:
    """Check the plans of a file against the live source, and store them as verified."""
    from qkva.cli import plan_commands

    return plan_commands.import_file(file)


@app.command("export")
def export_file(
    source: Annotated[str, typer.Argument(help="The source whose plans are written.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file; default: standard output.")] = None,
    status: Annotated[str, typer.Option("--status", help="verified, learned, or all.")] = "verified",
) -> int:
    """Write plans as YAML, as `plans import` reads it."""
    from qkva.cli import plan_commands

    return plan_commands.export_file(source, output, status)
