"""`qkva doctor`: what is configured, whether each piece works, and what to do about what does not."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import asdict

from qkva.cli.checks import Check, check_database, check_embedder, check_models, check_source, show_settings
from qkva.cli.console import line, nothing_else_on_stdout, print_json
from qkva.cli.options import strictness
from qkva.contracts.errors import AuthError, ConfigError, QkvaError, SourceUnavailable, StoreUnavailable
from qkva.graphs.embedded_postgres import EmbeddedPostgres
from qkva.settings import Settings, load_settings

MARKS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "broken": ("BROKEN", "red")}


def examine(*, as_json: bool, strict: bool = False) -> int:
    """Test everything and print it; 1 if something is broken, 2 if the configuration cannot even be read."""
    show: Callable[[Check], None] = (lambda check: None) if as_json else show_check
    try:
        settings = load_settings(**strictness(strict))
    except ConfigError as error:
        checks, code = [Check("configuration", "broken", error.message)], 2
        show(checks[0])
    else:
        with nothing_else_on_stdout():
            checks = asyncio.run(examined(settings))
        for check in checks:
            show(check)
        code = 1 if any(check.state == "broken" for check in checks) else 0
    if as_json:
        print_json({"ok": code == 0, "checks": [asdict(check) for check in checks]})
    elif code == 0:
        line()
        line("Everything works." if all(check.state == "ok" for check in checks) else "It works; see the notes above.")
    return code


async def examined(settings: Settings) -> list[Check]:
    """All checks, each on its own: one that fails does not hide the others."""
    checks = show_settings(settings)
    async with AsyncExitStack() as stack:
        embedded = EmbeddedPostgres(settings.cache_dir / "postgres", stack)
        checks += await tried("plan cache", check_database(settings, embedded))
        checks += await tried("embedder", check_embedder(settings, stack))
        checks += await tried("models", check_models(settings, stack))
        for name, source in settings.sources.items():
            checks += await tried(
                f"source {name}", check_source(name, source, embedded, strict=settings.strict_sources)
            )
    return checks


async def tried(name: str, checks: Awaitable[list[Check]]) -> list[Check]:
    """The checks of one piece, or the sentence with which it failed."""
    try:
        return await checks
    except QkvaError as error:
        return [Check(name, "broken", error.message, advice_on(error))]


def advice_on(error: QkvaError) -> str | None:
    """What to do, where the sentence does not say it itself."""
    if isinstance(error, AuthError):
        return "Check the login and the password in its url; a secret can be written as env:NAME."
    if isinstance(error, SourceUnavailable):
        return "See that it runs, and that its url in qkva.toml is right."
    if isinstance(error, StoreUnavailable):
        return "See that it runs and that DATABASE_URL is right; unset, qkva uses its embedded PostgreSQL."
    return None


def show_check(check: Check) -> None:
    """One line, and below it what to do."""
    mark, style = MARKS[check.state]
    line(f"{mark:<7}{check.name:<18} {check.found}", style=style if check.state != "ok" else "")
    if check.advice:
        line(f"{'':<25} {check.advice}", style=style)
