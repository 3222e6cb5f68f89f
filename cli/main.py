"""The command line: `qkva ask | plans | source | keys | stats | doctor | migrate | demo`.

Exit codes: 0 done or answered, 1 refused or failed, 2 wrong usage or configuration, 130 stopped by Ctrl-C.
Each command imports its work only when it runs, so that `qkva --version` takes a tenth of a second.
"""

import contextlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from qkva.cli import bench, keys, plans, source
from qkva.cli.options import AsJson, Strict, TenantName
from qkva.contracts.errors import ConfigError, QkvaError

STOPPED = 130
UsageError = cast("type[Exception]", typer.BadParameter.__base__)
"""click's, which newer versions of typer carry inside themselves."""

app = typer.Typer(
    help="Ask questions of your own data: plan once, run live every time.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(plans.app, name="plans")
app.add_typer(keys.app, name="keys")
app.add_typer(source.app, name="source")
app.add_typer(bench.app, name="bench")


def show_version(wanted: bool) -> None:
    """`--version`"""
    if wanted:
        typer.echo(f"qkva {version('qkva')}")
        raise typer.Exit


@app.callback()
def qkva(
    _: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Ask questions of your own data: plan once, run live every time."""


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="One question in plain words; - reads it from standard input.")],
    source_name: Annotated[str | None, typer.Option("--source", help="Ask only this source.")] = None,
    now: Annotated[
        str | None, typer.Option(help="The clock to use, as 2026-06-15T12:00 (with or without offset).")
    ] = None,
    timezone: Annotated[str | None, typer.Option(help="Zone of dates in the question, such as Europe/Berlin.")] = None,
    as_json: AsJson = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show each step as it finishes, on standard error.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show every door of the hit decision.")] = False,
    strict: Strict = False,
) -> int:
    """Answer one question with a live query."""
    from qkva.cli.ask import AskOptions, ask_once

    options = AskOptions(
        source=source_name, now=now, timezone=timezone, as_json=as_json, trace=trace, explain=explain, strict=strict
    )
    return ask_once(question, options)


@app.command()
def stats(
    days: Annotated[float, typer.Option(min=0.01, max=36_500, help="How many days back to count.")] = 30,
    source: Annotated[str | None, typer.Option(help="Only questions of this source.")] = None,
    tenant: TenantName = None,
    as_json: AsJson = False,
) -> int:
    """Show hit rate, calls and money saved, wrong hits, and the slowest sources."""
    from qkva.cli.stats import show_stats

    return show_stats(days, source, tenant, as_json=as_json)


@app.command()
def doctor(as_json: AsJson = False, strict: Strict = False) -> int:
    """Test each piece, and say what to do about what is wrong."""
    from qkva.cli.doctor import examine

    return examine(as_json=as_json, strict=strict)


@app.command()
def migrate() -> int:
    """Create or upgrade the plan cache's tables."""
    from qkva.cli.migrate import migrate_database

    return migrate_database()


@app.command()
def demo(
    setup_only: Annotated[bool, typer.Option("--setup-only", help="Set up, and ask nothing.")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the embedded PostgreSQL if nobody uses it.")] = False,
) -> int:
    """Set up a demo shop, and answer a few questions about it."""
    from qkva.cli.demo.run import run_demo, stop_server

    return stop_server() if stop else run_demo(setup_only=setup_only)


def main() -> None:
    """The entry point: every failure is one sentence and an exit code."""
    code = run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is left is closing down
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    try:
        code = app(list(arguments), standalone_mode=False)
    except UsageError as error:
        return fail(usage_sentence(error), 2, arguments)
    except ConfigError as error:
        return fail(error.message, 2, arguments)
    except QkvaError as error:
        return fail(error.message, 1, arguments)
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except BrokenPipeError:
        silence_stdout()
        return 1
    except Exception as error:  # noqa: BLE001  the edge of the process: also what nobody foresaw is said, with its place
        if not was_interrupted(error):
            traceback.print_exc()
            return fail(
                f"This is a bug in qkva ({type(error).__name__}); please report what is printed above.", 1, arguments
            )
        code = STOPPED
    if code == STOPPED:
        return fail("Stopped.", STOPPED, arguments)
    return code or 0


def was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: compiled code that is interrupted while it imports raises errors of its own,
    which hold the interrupt as their cause or only in their text."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt) or KeyboardInterrupt.__name__ in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def usage_sentence(error: Exception) -> str:
    """What is wrong with the command line, and where help is; a command without anything shows its help."""
    context = getattr(error, "ctx", None)
    message = str(getattr(error, "format_message", lambda: error)()).rstrip(".")
    command = context.command_path if context else "qkva"
    if type(error).__name__ == "NoArgsIsHelpError":
        return message
    return f"{message}. See `{command} --help`."


def fail(message: str, code: int, arguments: Sequence[str]) -> int:
    """One sentence on standard error; with --json one object on standard output, whatever happened."""
    if "--json" in arguments:
        typer.echo(json.dumps(failure(message, arguments), ensure_ascii=False))
    elif message:
        typer.echo(message, err=True)
    return code


def failure(message: str, arguments: Sequence[str]) -> dict[str, Any]:
    """What `--json` prints: of a question, a result like any other."""
    if "ask" not in arguments:
        return {"status": "error", "error": message}
    from qkva.contracts.result import AskResult, Status

    return AskResult(question="", status=Status.ERROR, error=message).model_dump(mode="json")


def silence_stdout() -> None:
    """The reader of a pipe is gone; Python would complain once more when it flushes at the end."""
    with Path("/dev/null").open("w") as nothing, contextlib.suppress(OSError, ValueError):
        os.dup2(nothing.fileno(), sys.stdout.fileno())
