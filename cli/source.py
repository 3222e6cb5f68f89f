"""`qkva source`: give a source a login that only reads, and judge queries as the source would."""

from pathlib import Path
from typing import Annotated

import typer

from qkva.cli.options import AsJson, Strict

app = typer.Typer(help="Print a source's read-only login, and judge queries.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The source, as qkva.toml names it.")]


@app.command("grant-sql")
def grant_sql(
    name: Name,
    role: Annotated[
        str | None,
        typer.Option(
            "--role", help="The login to make; default: that of the source's url, or a new one if it may write."
        ),
    ] = None,
) -> int:
    """Print the statements that make a login which may only read what the source shows."""
    from qkva.cli import source_commands

    return source_commands.print_grants(name, role)


@app.command()
def check(
    name: Name,
    query: Annotated[
        Path,
        typer.Option(
            "--query", help="A file of queries, one a line (or a JSON object a line); - reads standard input."
        ),
    ],
    run: Annotated[bool, typer.Option("--run", help="Run what is allowed, and show what came back.")] = False,
    as_json: AsJson = False,
    strict: Strict = False,
) -> int:
    """Say of each query whether the source would run it, and if not which layer refuses it and why."""
    from qkva.cli import source_commands

    return source_commands.check_queries(name, query, run=run, as_json=as_json, strict=strict)
