"""Open and close all that the nodes use."""

import asyncio
import logging
import time
import weakref
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial

from qkva.connectors.registry import open_connector
from qkva.contracts.errors import AuthError, ConfigError, SourceError, StoreUnavailable, UnknownSource
from qkva.contracts.models import ChatModels, Embedder
from qkva.contracts.source import ChecksLogin, Connector, LoginRights
from qkva.graphs.embedded_postgres import EmbeddedPostgres
from qkva.graphs.schema_change import FollowingPlanStore
from qkva.models.embeddings import GatewayEmbedder, LocalEmbedder
from qkva.nodes.runtime import AskServices, AskSettings, ReadySource
from qkva.nodes.single_flight import SingleFlight
from qkva.planning.masking.value_index import ValueIndex
from qkva.settings import Settings, load_settings
from qkva.stores.app_login import APP_ROLE, migrate_and_log_in
from qkva.stores.ask_log import PostgresAskLog
from qkva.stores.database import Database
from qkva.stores.keys import PostgresKeyStore
from qkva.stores.leads import PostgresLeads
from qkva.stores.migrate import migrate

logger = logging.getLogger(__name__)
login_log = logging.getLogger("qkva.login")
"""By itself, since the command line shows it to whoever sits there."""

RENEW_SECONDS = 60.0
"""How old a description may be for a value that it does not know."""
RENEW_PATIENCE_SECONDS = 2.0


class ConfiguredSources:
    """The configured sources; each is described at its first use, and again after `refresh_seconds`.

    `strict` refuses a source whose login may do more than read.
    """

    def __init__(self, connectors: Mapping[str, Connector], *, refresh_seconds: float, strict: bool = False) -> None:
        self._connectors = dict(connectors)
        self._refresh_seconds = refresh_seconds
        self._strict = strict
        self._ready: dict[str, tuple[float, ReadySource]] = {}
        self._locks = {name: asyncio.Lock() for name in connectors}
        self._checked: set[str] = set()
        self._renewals: dict[str, asyncio.Task[None]] = {}

    @property
    def connectors(self) -> Mapping[str, Connector]:
        """By name."""
        return self._connectors

    def forget(self, name: str) -> None:
        """Describe the source anew at its next use."""
        self._ready.pop(name, None)

    async def ready(self, name: str) -> ReadySource:
        """The source, described. Raises UnknownSource, SourceUnavailable or AuthError."""
        if name not in self._connectors:
            known = ", ".join(sorted(self._connectors)) or "none"
            raise UnknownSource(f"There is no source {name!r}; the configured ones are {known}.")
        async with self._locks[name]:
            described_at, ready = self._ready.get(name, (0.0, None))
            if ready is None or time.monotonic() - described_at > self._refresh_seconds:
                await self._check_login(name)
                ready = await describe(name, self._connectors[name])
                self._ready[name] = (time.monotonic(), ready)
            return ready

    async def renewed(self, name: str) -> ReadySource:
        """The source as it is now, for a value that is not known as it was said: it may have come in since.

        Described anew at most once in `RENEW_SECONDS`; if that takes long, the answer is what was known, and the next
        question gets the news. Raises as `ready`.
        """
        ready = await self.ready(name)
        described_at, _ = self._ready.get(name, (0.0, None))
        if time.monotonic() - described_at < RENEW_SECONDS:
            return ready
        if name not in self._renewals:
            self._renewals[name] = asyncio.create_task(self._renew(name))
            self._renewals[name].add_done_callback(lambda _: self._renewals.pop(name, None))
        await asyncio.wait([self._renewals[name]], timeout=RENEW_PATIENCE_SECONDS)
        return await self.ready(name)

    async def _renew(self, name: str) -> None:
        with suppress(SourceError):  # what is known stays until the source is asked itself
            self._ready[name] = (time.monotonic(), await describe(name, self._connectors[name]))

    async def check_logins(self) -> None:
        """Warn of each login that may do more than read, or raise ConfigError if strict; of one that is down later."""
        checks = await asyncio.gather(*map(self._check_login, self._connectors), return_exceptions=True)
        for problem in checks:
            if isinstance(problem, AuthError) and problem.layer == "login":
                raise ConfigError(problem.message)
            if isinstance(problem, BaseException) and not isinstance(problem, SourceError):
                raise problem

    async def _check_login(self, name: str) -> None:
        """Raises AuthError if strict and the login may do more than read, or SourceUnavailable."""
        connector = self._connectors[name]
        if name in self._checked or not isinstance(connector, ChecksLogin):
            return
        excess = login_excess(name, await connector.login_rights())
        if excess and self._strict:
            raise AuthError(f"{excess} STRICT_SOURCES refuses it.", layer="login")
        if excess:
            login_log.warning("%s", excess)
        self._checked.add(name)

    async def close(self) -> None:
        """Give back every connection."""
        for renewal in list(self._renewals.values()):
            renewal.cancel()
        for connector in self._connectors.values():
            await connector.close()


def login_excess(source: str, rights: LoginRights) -> str | None:
    """What a login may do besides reading, and what to do about it; None if it only reads."""
    if not rights.excess:
        return None
    return (
        f"The login {rights.login} of the source {source!r} is not read-only: it {'; it '.join(rights.excess)}. "
        f"`qkva source grant-sql {source}` prints the statements that make one which is."
    )


async def describe(name: str, connector: Connector) -> ReadySource:
    """Read the source's schema and values; building the index is work for a thread."""
    description = await connector.describe()
    values = await asyncio.to_thread(ValueIndex.build, description)
    return ReadySource(name=name, connector=connector, description=description, values=values)


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[AskServices]:
    """Start the embedded database if no other is given, migrate, and open what nodes use. Raises QkvaError."""
    async with AsyncExitStack() as stack:
        embedded = EmbeddedPostgres(settings.cache_dir / "postgres", stack)
        database = await open_database(settings, embedded, stack)
        connectors = {
            name: open_connector(name, source.type, await embedded.resolve(source.options))
            for name, source in settings.sources.items()
        }
        sources = ConfiguredSources(
            connectors, refresh_seconds=settings.source_refresh_minutes * 60, strict=settings.strict_sources
        )
        stack.push_async_callback(sources.close)
        await sources.check_logins()
        ask_log = PostgresAskLog(database, retention_days=settings.audit_retention_days)
        stack.push_async_callback(ask_log.close)
        flights = SingleFlight(PostgresLeads(database), patience_sec=settings.llm_timeout_sec)
        stack.push_async_callback(flights.close)
        yield AskServices(
            tenant_id=settings.tenant_id,
            settings=ask_settings(settings),
            plans=FollowingPlanStore(
                database,
                sources,
                mirror_bytes=settings.plan_cache_mirror_mb * 2**20,
                max_exemplars=settings.plan_cache_max_exemplars,
            ),
            sources=sources,
            embedder=open_embedder(settings, stack),
            chat=await open_chat(settings, stack),
            fixed_now=settings.fixed_now,
            flights=flights,
            ask_log=ask_log if settings.audit_log else None,
            keys=PostgresKeyStore(database),
        )


async def open_database(settings: Settings, embedded: EmbeddedPostgres, stack: AsyncExitStack) -> Database:
    """Our own database: migrated by its owner, used by a role that is neither owner nor superuser.

    One that is not there stops nobody: questions are planned without the cache until it is.
    """
    if settings.database_url is not None:
        owner = settings.database_url.get_secret_value()
        app = settings.database_app_url.get_secret_value() if settings.database_app_url else None
        database = await Database.open(owner, APP_ROLE, prepare=partial(migrate_and_log_in, owner, app))
    else:
        server = await embedded.start()
        database = await Database.open(server.app_url, prepare=partial(migrated, server.admin_url))
    stack.push_async_callback(database.close)
    try:
        await database.prepare()
    except StoreUnavailable as error:
        logger.warning("%s Questions are planned without the cache.", error.message)
    return database


def migrated(owner: str) -> None:
    """Migrate, for a login that is there already."""
    migrate(owner)


def open_embedder(settings: Settings, stack: AsyncExitStack) -> Embedder:
    """The gateway's model if one is named, else the local one."""
    if settings.gateway_url and settings.embedding_model:
        embedder = GatewayEmbedder(
            base_url=settings.gateway_url,
            api_key=settings.llm_api_key,
            model=settings.embedding_model,
            dimensions=settings.embedding_dimensions,
            timeout=settings.llm_timeout_sec,
            max_retries=settings.llm_max_retries,
        )
        stack.push_async_callback(embedder.close)
        return embedder
    return LocalEmbedder()


async def open_chat(settings: Settings, stack: AsyncExitStack) -> ChatModels | None:
    """The gateway's chat models, or None without a gateway."""
    if settings.gateway_url is None:
        return None
    # langchain_openai takes over a second to import, which the no-gateway mode need not pay
    from qkva.models.chat import open_chat_models  # noqa: PLC0415

    models = open_chat_models(
        base_url=settings.gateway_url,
        api_key=settings.llm_api_key,
        answerer=settings.llm_model,
        router=settings.router_model,
        judge=settings.judge_model,
        planner=settings.planner_model,
        temperature=settings.llm_temperature,
        timeout=settings.llm_timeout_sec,
        max_retries=settings.llm_max_retries,
        max_tokens=settings.llm_max_tokens,
    )
    stack.push_async_callback(models.close)
    return models


def ask_settings(settings: Settings) -> AskSettings:
    """The part of the settings that nodes read."""
    return AskSettings(
        plan_ttl_hours=settings.plan_cache_ttl_hours,
        similarity_threshold=settings.plan_cache_similarity_threshold,
        top_k=settings.plan_cache_top_k,
        max_wrong_hits=settings.plan_cache_max_wrong_hits,
        row_limit=settings.sql_row_limit,
        query_timeout_sec=settings.sql_query_timeout_sec,
        timezone=settings.timezone,
        max_model_calls=settings.max_model_calls,
        audit_share=settings.plan_cache_audit_share if settings.litellm_provider_base_url else 0.0,
        judge=settings.plan_cache_judge != "off",
        review_new_plans=settings.review_new_plans,
        audit_text=settings.audit_text,
    )


Opened = tuple[asyncio.Lock, list[AskServices], AsyncExitStack]

_opened: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Opened] = weakref.WeakKeyDictionary()
"""The services of graphs that nobody handed any, per event loop: pools of one loop do not work in another."""


async def default_services() -> AskServices:
    """The services by the environment's settings, opened at the first question."""
    lock, opened, stack = _opened.setdefault(asyncio.get_running_loop(), (asyncio.Lock(), [], AsyncExitStack()))
    async with lock:
        if not opened:
            settings = await asyncio.to_thread(load_settings)
            opened.append(await stack.enter_async_context(open_services(settings)))
    return opened[0]


async def close_default_services() -> None:
    """Close what default_services opened on this event loop; the next question opens it again."""
    found = _opened.pop(asyncio.get_running_loop(), None)
    if found is not None:
        await found[2].aclose()
