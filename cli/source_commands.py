"""The work of `qkva source`."""

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from qkva.cli.console import line, note, nothing_else_on_stdout, print_json
from qkva.cli.options import strictness
from qkva.cli.plan_commands import read_file
from qkva.connectors.registry import open_connector
from qkva.connectors.sql.connector import SqlConnector
from qkva.contracts.errors import (
    ConfigError,
    ParameterError,
    PlanRejected,
    SourceError,
    SourceUnavailable,
    UnknownSource,
)
from qkva.contracts.plan import Parameter, Plan
from qkva.contracts.source import ChecksLogin, Connector, Limits
from qkva.graphs.embedded_postgres import EmbeddedPostgres
from qkva.graphs.services import login_excess
from qkva.settings import Settings, load_settings

ROLE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,50}")


class Judged(BaseModel):
    """One line of the file: a query, or an object with its parameters and their values."""

    model_config = ConfigDict(extra="forbid")

    query: str
    params: tuple[Parameter, ...] = ()
    values: dict[str, Any] = {}


def print_grants(name: str, role: str | None) -> int:
    """`qkva source grant-sql`"""
    if role is not None and not ROLE.fullmatch(role):
        raise ConfigError(f"--role is {role!r}; write a name of letters, digits, - and _.")

    async def print_for(settings: Settings) -> str:
        async with open_source(settings, name) as connector:
            if not isinstance(connector, SqlConnector):
                raise ConfigError(f"The source {name!r} is no database, so it has no grants to print.")
            return await connector.grant_statements(role)

    with nothing_else_on_stdout():
        text = asyncio.run(print_for(load_settings()))
    sys.stdout.write(text)
    return 0


def check_queries(name: str, file: Path, *, run: bool, as_json: bool, strict: bool) -> int:
    """`qkva source check`; 1 if a query was refused or failed."""
    lines = [
        (number, text.strip()) for number, text in enumerate(read_file(file).splitlines(), start=1) if text.strip()
    ]
    settings = load_settings(**strictness(strict))

    async def judge_all() -> list[dict[str, Any]]:
        async with open_source(settings, name) as connector:
            await check_login(name, connector, strict=settings.strict_sources)
            return [await judge(connector, number, text, settings, run=run) for number, text in lines]

    with nothing_else_on_stdout():
        results = asyncio.run(judge_all())
    if as_json:
        print_json({"source": name, "results": results})
    else:
        for result in results:
            show(result)
    return 0 if all(result["verdict"] == "allowed" for result in results) else 1


@asynccontextmanager
async def open_source(settings: Settings, name: str) -> AsyncIterator[Connector]:
    """The source by itself, without the plan cache. Raises UnknownSource."""
    source = settings.sources.get(name)
    if source is None:
        known = ", ".join(sorted(settings.sources)) or "none"
        raise UnknownSource(f"There is no source {name!r}; the configured ones are {known}.")
    async with AsyncExitStack() as stack:
        embedded = EmbeddedPostgres(settings.cache_dir / "postgres", stack)
        connector = open_connector(name, source.type, await embedded.resolve(source.options))
        stack.push_async_callback(connector.close)
        yield connector


async def check_login(name: str, connector: Connector, *, strict: bool) -> None:
    """Warn of a login that may do more than read. Raises ConfigError if strict."""
    excess = login_excess(name, await connector.login_rights()) if isinstance(connector, ChecksLogin) else None
    if excess and strict:
        raise ConfigError(f"{excess} --strict refuses it.")
    if excess:
        note(excess, style="yellow")


async def judge(connector: Connector, number: int, text: str, settings: Settings, *, run: bool) -> dict[str, Any]:
    """The verdict on one line: allowed, refused (by a layer of ours) or failed (at the source, when it ran)."""
    verdict: dict[str, Any] = {"line": number, "query": text, "verdict": "allowed", "layer": None, "reason": None}
    limits = Limits(rows=settings.sql_row_limit, seconds=settings.sql_query_timeout_sec, timezone=settings.timezone)
    started = time.perf_counter()
    try:
        judged = read_line(text)
        verdict["query"] = judged.query
        await connector.check(plan_of(connector, judged))
        if run:
            result = await connector.execute(judged.query, judged.params, judged.values, limits)
            rows = [record.fields for record in result.records]
            verdict |= {"rows": rows, "count": len(rows), "truncated": result.truncated}
            verdict |= {"left_out": list(result.left_out)} if result.left_out else {}
    except (PlanRejected, ParameterError) as error:
        verdict |= {"verdict": "refused", "layer": error.layer or "template", "reason": error.message}
    except SourceUnavailable:
        raise
    except SourceError as error:
        verdict |= {"verdict": "failed", "layer": error.layer or "source", "reason": error.message}
    return {**verdict, "ms": round((time.perf_counter() - started) * 1000, 1)}


def read_line(text: str) -> Judged:
    """A line as a query, or as `{"query": …, "params": […], "values": {…}}`."""
    if not text.startswith('{"'):
        return Judged(query=text)
    try:
        return Judged.model_validate_json(text)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, problem["loc"])) or "the line"
        raise PlanRejected(f"The line is no query and no object of one: {place}: {problem['msg']}.") from None


def plan_of(connector: Connector, judged: Judged) -> Plan:
    """The query as a plan that nobody keeps."""
    return Plan(
        key_text="a query to judge",
        query=judged.query,
        params=judged.params,
        source=connector.name,
        source_type=connector.source_type,
        dialect=connector.dialect,
    )


def show(result: Mapping[str, Any]) -> None:
    """One verdict for a person."""
    style = {"allowed": "green", "refused": "yellow", "failed": "red"}[result["verdict"]]
    by = f" ({result['layer']})" if result["layer"] else ""
    line(f"{result['line']:>4}  {result['verdict']}{by}  {result['query']}", style=style)
    if result["reason"]:
        line(f"      {result['reason']}")
    if "rows" in result:
        cut = ", cut" if result["truncated"] else ""
        line(f"      {result['count']} rows{cut}, {result['ms']} ms")
        for row in result["rows"][:3]:
            line(f"      {json.dumps(row, ensure_ascii=False)}")
