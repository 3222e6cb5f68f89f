"""Connections to our own database: a pool for each event loop, one tenant for each transaction."""

import asyncio
import logging
import os
import socket
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, LiteralString, Self

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from qkva.contracts.errors import ConfigError, StoreUnavailable
from qkva.stores.connection import Login, libpq_url, reason

logger = logging.getLogger(__name__)
Connection = psycopg.AsyncConnection[dict[str, Any]]

CONNECT_TIMEOUT_SEC = 2
"""A question waits no longer for its cache."""
CHECK_TIMEOUT_SEC = 1.0
OPERATION_TIMEOUT_SEC = 5
"""What a statement may take; the server's own timeout stops it first, unless the server hangs."""
PAUSE_SEC = 3.0
"""After a failure to connect, calls fail at once for so long: a question makes several, and waits only once."""
MAX_CONNECTIONS = 8
"""Of one event loop."""

SET_TENANT = "select set_config('app.tenant_id', %s, true)"

# The pool tells of each attempt to reconnect; callers get one StoreUnavailable instead.
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)


class Database:
    """Our own PostgreSQL, opened lazily in each event loop; every connection acts for one tenant at a time."""

    def __init__(self, url: str, role: str | None = None, prepare: Callable[[], Login | None] | None = None) -> None:
        self._conninfo = _conninfo(url, role)
        self._unprepared = prepare
        self._pools: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncConnectionPool[Connection]]
        self._pools = weakref.WeakKeyDictionary()
        self._paused_until = 0.0

    @classmethod
    async def open(cls, url: str, role: str | None = None, prepare: Callable[[], Login | None] | None = None) -> Self:
        """A database whose first connection is made by its first use. Raises ConfigError for a URL that is none.

        `prepare` (blocking: the migration) runs once before that, in a thread; if the database is not there, again
        before the next use, so that a database that comes up late is ready all the same. If it returns a login, that
        one is used in place of `url` and `role`.
        `role` is taken on by each connection, for a login that has no rights by itself. It is no border: the statement
        `reset role` gives back what the login may do.
        """
        return cls(url, role, prepare)

    async def prepare(self) -> None:
        """Run what has to run before the first use, unless it has run. Raises StoreUnavailable or ConfigError."""
        if self._unprepared is None:
            return
        self._refuse_in_pause()
        try:
            login = await asyncio.to_thread(self._unprepared)
        except StoreUnavailable:
            self._paused_until = time.monotonic() + PAUSE_SEC
            raise
        self._unprepared = None
        if login is not None:
            self._conninfo = _conninfo(login.url, login.role)
            if login.warning:
                logger.warning("%s", login.warning)

    @asynccontextmanager
    async def tenant_transaction(self, tenant_id: str) -> AsyncIterator[Connection]:
        """A transaction that sees and writes the rows of this tenant only; rolled back by an error.

        Raises StoreUnavailable, within two seconds, when the database does not answer, and for whatever it refuses.
        """
        async with self._connection() as connection, connection.transaction():
            await connection.execute(SET_TENANT, (tenant_id,))
            yield connection

    async def fetch_all(
        self, tenant_id: str, query: LiteralString, values: Mapping[str, object], *, binary: bool = False
    ) -> list[dict[str, Any]]:
        """The rows of one statement of this tenant, in one round trip. Raises as `tenant_transaction`.

        `binary`: bytes come as they are, not as twice as many hexadecimal digits.
        """
        async with self._one_statement(tenant_id, query, values, binary) as cursor:
            return await cursor.fetchall()

    async def execute(self, tenant_id: str, query: LiteralString, values: Mapping[str, object]) -> int:
        """How many rows one statement of this tenant changed, in one round trip. Raises as `tenant_transaction`."""
        async with self._one_statement(tenant_id, query, values) as cursor:
            return cursor.rowcount

    @asynccontextmanager
    async def _one_statement(
        self, tenant_id: str, query: LiteralString, values: Mapping[str, object], binary: bool = False
    ) -> AsyncIterator[psycopg.AsyncCursor[dict[str, Any]]]:
        # The statements of a pipeline are one transaction, so the tenant is set for this statement only.
        async with self._connection() as connection:
            async with connection.pipeline():
                await connection.execute(SET_TENANT, (tenant_id,))
                cursor = await connection.execute(query, values, binary=binary)
            yield cursor

    async def connect(self) -> Connection:
        """A connection beside the pool, for what outlives a transaction; it is the caller's to close.

        Raises as `tenant_transaction`.
        """
        self._refuse_in_pause()
        await self.prepare()
        with our_errors():
            return await psycopg.AsyncConnection[dict[str, Any]].connect(
                self._conninfo, autocommit=True, row_factory=dict_row
            )

    async def close(self) -> None:
        """Close the connections of this event loop."""
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.close(timeout=2)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        """A connection of the pool."""
        self._refuse_in_pause()
        await self.prepare()
        try:
            with our_errors():
                pool = await self._pool()
                async with pool.connection() as connection:
                    with cut_off_after(OPERATION_TIMEOUT_SEC + 1, connection):
                        yield connection
        except (PoolTimeout, PoolClosed, TooManyRequests) as error:
            self._paused_until = time.monotonic() + PAUSE_SEC
            raise StoreUnavailable(
                f"qkva's own database did not answer within {CONNECT_TIMEOUT_SEC} s: see that it runs at DATABASE_URL."
            ) from error

    def _refuse_in_pause(self) -> None:
        if time.monotonic() < self._paused_until:
            raise StoreUnavailable("qkva's own database did not answer a moment ago: see that it runs at DATABASE_URL.")

    async def _pool(self) -> AsyncConnectionPool[Connection]:
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None:
            pool = self._pools[loop] = _new_pool(self._conninfo)
        await pool.open()  # does nothing the second time, but waits for a first caller that is opening it
        return pool


def _new_pool(conninfo: str) -> AsyncConnectionPool[Connection]:
    return AsyncConnectionPool(
        conninfo,
        kwargs={"autocommit": True, "row_factory": dict_row},
        configure=register_vector_async,
        check=_check,
        min_size=1,
        max_size=MAX_CONNECTIONS,
        timeout=CONNECT_TIMEOUT_SEC,
        reconnect_timeout=CONNECT_TIMEOUT_SEC,  # then the next caller tries at once, instead of after a long back-off
        open=False,
    )


async def _check(connection: Connection) -> None:
    """Raise psycopg's error if the connection has been lost while it was idle: one empty round trip, 0.1 ms."""
    with cut_off_after(CHECK_TIMEOUT_SEC, connection):
        await connection.execute("")


@contextmanager
def our_errors() -> Iterator[None]:
    """The one place where the driver's errors become StoreUnavailable."""
    try:
        yield
    except (PoolTimeout, PoolClosed, TooManyRequests):
        raise  # these are of the class below, and the pool's owner tells more of them
    except UnicodeEncodeError as error:  # half a surrogate pair
        raise StoreUnavailable("qkva's own database cannot hold this text: it is not valid Unicode.") from error
    except psycopg.Error as error:
        raise StoreUnavailable(f"qkva's own database failed: {reason(error)}.") from error


@contextmanager
def cut_off_after(seconds: float, connection: Connection) -> Iterator[None]:
    """Shut the connection's socket when the server hangs, which ends every wait on it at once.

    Cancelling would first ask the hanging server to cancel, and wait ten seconds for that.
    """

    def cut_off() -> None:
        if not connection.closed:
            with socket.socket(fileno=os.dup(connection.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)

    timer = asyncio.get_running_loop().call_later(seconds, cut_off)
    try:
        yield
    finally:
        timer.cancel()


def _conninfo(url: str, role: str | None) -> str:
    try:
        given: dict[str, Any] = conninfo_to_dict(libpq_url(url))
    except psycopg.ProgrammingError:
        # The URL holds a password, and the driver's message may repeat it.
        raise ConfigError(
            "DATABASE_URL is no PostgreSQL URL: write postgresql://user:password@host:5432/database."
        ) from None
    # A generic plan, made for one tenant, may be wrong by orders of magnitude for the next.
    options = f"{given.get('options', '')} -c plan_cache_mode=force_custom_plan -c jit=off"
    options += f" -c statement_timeout={OPERATION_TIMEOUT_SEC}s"
    # A host that vanished holds no lock for longer than a minute.
    options += " -c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3"
    if role is not None:
        options += f" -c role={role}"
    defaults = {"connect_timeout": CONNECT_TIMEOUT_SEC, "application_name": "qkva"}
    return make_conninfo(**{**defaults, **given, "options": options.strip()})
