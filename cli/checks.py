"""The pieces that `qkva doctor` tests, each by using it once."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Literal

import psycopg
from pydantic import BaseModel

from qkva.connectors.registry import open_connector
from qkva.contracts.errors import ModelError
from qkva.contracts.models import Chat
from qkva.contracts.source import ChecksLogin, Connector, Limits, LoginRights, SourceDescription
from qkva.graphs.embedded_postgres import EmbeddedPostgres
from qkva.graphs.services import open_chat, open_embedder
from qkva.planning.masking.value_index import ValueIndex
from qkva.settings import Settings, SourceConfig
from qkva.stores.app_login import migrate_and_log_in
from qkva.stores.connection import Login, libpq_url
from qkva.stores.migrate import head_revision, migrate

FIRST_ROWS = {
    **dict.fromkeys(("postgres", "sqlite", "duckdb", "mysql"), "SELECT count(*) FROM {table}"),
    "jql": "ORDER BY created DESC",
}
"""By dialect, a query that reads any rows."""

KEYS_DEMANDED = "select exists (select from qkva.key_demands)"
CACHE_FACTS = """
select current_setting('server_version'), (select extversion from pg_extension where extname = 'vector'),
    session_user, r.rolsuper or r.rolbypassrls, c.relowner = r.oid, c.relforcerowsecurity
from pg_roles r, pg_class c
where r.rolname = session_user and c.oid = 'qkva.plan_cache_entries'::regclass
"""


@dataclass(frozen=True)
class Check:
    """What was found of one piece, and what to do about it."""

    name: str
    state: Literal["ok", "note", "broken"]
    found: str
    advice: str | None = None


class Ready(BaseModel):
    """The form of the tiny call."""

    ready: bool


def show_settings(settings: Settings) -> list[Check]:
    """The mode, the config file and the settings that decide most."""
    if settings.gateway_url:
        mode = Check("mode", "ok", f"gateway at {settings.gateway_url.rpartition('@')[2]}")
    else:
        mode = Check(
            "mode",
            "ok",
            "no gateway: verified plans, rules and tables, no model",
            "Set LITELLM_PROVIDER_BASE_URL to have new kinds of questions planned.",
        )
    file = str(settings.config_file) if settings.config_file else "none"
    clock = f"{settings.fixed_now.isoformat()} (fixed)" if settings.fixed_now else "the machine's"
    checks = [
        mode,
        Check("config file", "ok", file),
        Check("settings", "ok", f"tenant {settings.tenant_id}, timezone {settings.timezone}, clock {clock}"),
    ]
    if not settings.sources:
        advice = "Declare one as [sources.NAME] in qkva.toml, or run `qkva demo`."
        checks.append(Check("sources", "note", "none is configured", advice))
    return checks


async def check_database(settings: Settings, embedded: EmbeddedPostgres) -> list[Check]:
    """Server, pgvector, revision, and the role that rows are read through."""
    if settings.database_url is not None:
        admin, where = settings.database_url.get_secret_value(), "DATABASE_URL"
        app = settings.database_app_url.get_secret_value() if settings.database_app_url else None
        login = await asyncio.to_thread(migrate_and_log_in, admin, app)
    else:
        server = await embedded.start()
        admin, login, where = server.admin_url, Login(server.app_url), f"embedded in {settings.cache_dir}"
    revision = await asyncio.to_thread(migrate, admin)
    options = f"-c role={login.role}" if login.role else ""
    started = time.perf_counter()
    try:
        async with await psycopg.AsyncConnection.connect(
            libpq_url(login.url), options=options, connect_timeout=5
        ) as connection:
            row = await (await connection.execute(CACHE_FACTS)).fetchone()
            await connection.execute("select set_config('app.tenant_id', '*', true)")  # the row of no tenant
            demanded = await (await connection.execute(KEYS_DEMANDED)).fetchone()
    except psycopg.Error as error:
        return [Check("plan cache", "broken", f"{where}: {first_line(error)}", "See that the login may use the role.")]
    assert row is not None
    server_version, vector, user, above_rules, owns, forced = row
    took = (time.perf_counter() - started) * 1000
    state = "at the newest revision" if revision == head_revision() else f"at revision {revision}"
    checks = [
        check_server(settings, key_exists=bool(demanded and demanded[0])),
        Check("plan cache", "ok", f"{where}: PostgreSQL {server_version.split()[0]}, {took:.0f} ms"),
        Check("pgvector", "ok", vector),
        Check("migrations", "ok", f"{revision}, {state}"),
    ]
    if login.warning:
        return [*checks, Check("cache role", "note", "it can be taken off again", login.warning)]
    if above_rules or (owns and not forced):
        advice = "Row-level security does not hold for this role: use a login that is neither owner nor superuser."
        return [*checks, Check("cache role", "broken", f"{user} passes row-level security by", advice)]
    return [*checks, Check("cache role", "ok", f"{user}: neither owner nor superuser; row-level security holds")]


def check_server(settings: Settings, *, key_exists: bool) -> Check:
    """Whom a server with these settings serves."""
    if settings.server_auth == "off":
        return Check("server", "ok", f"programs on its own machine, as tenant {settings.tenant_id} (SERVER_AUTH=off)")
    ways = [
        *(["API keys"] if key_exists else []),
        *(["bearer tokens"] if settings.jwt_key or settings.jwt_jwks_url else []),
    ]
    if ways:
        return Check("server", "ok", f"callers with {' or '.join(ways)}")
    if settings.server_auth == "keys":
        return Check("server", "note", "nobody: no API key exists", "`qkva keys create --user NAME` makes one.")
    return Check(
        "server", "ok", f"programs on its own machine, as tenant {settings.tenant_id}, until a first key exists"
    )


async def check_embedder(settings: Settings, stack: AsyncExitStack) -> list[Check]:
    """Embed twice: the first call loads the model."""
    embedder = open_embedder(settings, stack)
    started = time.perf_counter()
    await embedder.embed(["how many orders were placed ‹time›"])
    loaded = time.perf_counter()
    vectors = await embedder.embed(["which orders did ‹customers.name› place"])
    done = time.perf_counter()
    name = settings.embedding_model if settings.gateway_url and settings.embedding_model else "wordllama, local"
    times = f"{(loaded - started) * 1000:.0f} ms to load, {(done - loaded) * 1000:.1f} ms for a question"
    return [Check("embedder", "ok", f"{name}, vectors of {len(vectors[0])}, {times}")]


async def check_models(settings: Settings, stack: AsyncExitStack) -> list[Check]:
    """One tiny call to each model of the gateway; all but the one that answers also have to fill a form."""
    models = await open_chat(settings, stack)
    if models is None:
        return []
    checks = [await check_call("answers", models.answerer, fills=False)]
    seen = set[str]()
    for purpose, model in (("plans", models.planner), ("routes", models.router), ("judges", models.judge)):
        if model.name not in seen:
            seen.add(model.name)
            checks.append(await check_call(purpose, model, fills=True))
    return checks


async def check_call(purpose: str, model: Chat, *, fills: bool) -> Check:
    """One call, timed; a failure says the gateway's own reason."""
    started = time.perf_counter()
    try:
        if fills:
            await model.fill_form(Ready, system="Fill the form.", user="Say that you are ready.", purpose="doctor")
        else:
            await model.write(system="Answer with one word.", user="Are you ready?", purpose="doctor")
    except ModelError as error:
        return Check(f"model {purpose}", "broken", error.message)
    kind = "a form filled" if fills else "a word written"
    return Check(f"model {purpose}", "ok", f"{model.name}, {kind} in {(time.perf_counter() - started) * 1000:.0f} ms")


async def check_source(name: str, source: SourceConfig, embedded: EmbeddedPostgres, *, strict: bool) -> list[Check]:
    """Describe it, read a row, count its values, and see whether its login could write."""
    options = await embedded.resolve(source.options)
    connector = open_connector(name, source.type, options)
    try:
        started = time.perf_counter()
        description = await connector.describe()
        took = (time.perf_counter() - started) * 1000
        values = sum(len(column.values) for column in description.values)
        await asyncio.to_thread(ValueIndex.build, description)
        tables = ", ".join(table.name for table in description.tables[:8]) or "nothing"
        found = f"{source.type}: {tables}; {values} values known; {took:.0f} ms"
        label = f"source {name}"
        if not description.tables:
            advice = "Grant its login SELECT on what may be asked, or name the schemas in qkva.toml."
            return [Check(label, "broken", f"{source.type}: no table can be read", advice)]
        checks = [Check(label, "ok", found), await check_rows(label, connector, description)]
        cut = [column.column for column in description.values if not column.complete]
        if cut:
            advice = "Raise max_values_per_column, or names beyond it are not recognised in questions."
            checks.append(Check(label, "note", f"only a part of the values of {', '.join(cut[:4])} is known", advice))
        if isinstance(connector, ChecksLogin):
            checks.append(rights_check(name, await connector.login_rights(), strict=strict))
    finally:
        await connector.close()
    return checks


async def check_rows(label: str, connector: Connector, description: SourceDescription) -> Check:
    """Whether rows come back. Raises SourceError."""
    query = FIRST_ROWS.get(connector.dialect)
    if query is None:
        return Check(label, "note", f"rows were not read: no test query is known for {connector.dialect}")
    table = description.tables[0].name
    result = await connector.execute(query.format(table=table), (), {}, Limits(rows=1, seconds=5))
    return Check(label, "ok", f"rows of {table} are readable" if result.records else f"{table} is readable and empty")


def rights_check(name: str, rights: LoginRights, *, strict: bool) -> Check:
    """Whether the source's login could write, if qkva's own guards were not there."""
    label = f"source {name}"
    if rights.excess:
        advice = f"`qkva source grant-sql {name}` prints the statements that make a login which may only read."
        found = f"the login {rights.login} {', '.join(rights.excess)}"
        return Check(label, "broken" if strict else "note", found, advice)
    spare = f"; {', '.join(rights.functions)} are not revoked" if rights.functions else ""
    return Check(label, "ok", f"the login {rights.login} may only read{spare}")


def first_line(error: psycopg.Error) -> str:
    """The driver's first line, which holds no password."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__
