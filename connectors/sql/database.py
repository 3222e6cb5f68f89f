"""Connections to the source's database: read-only transactions on a small pool of our own.

A pool per event loop, because a connection belongs to the loop that opened it; opened at the first use, so that a
source that is down does not stop the start. psycopg_pool is not used: it connects in the background and answers a
refused login with a time-out.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import psycopg
from psycopg import AsyncConnection, sql

from qkva.connectors.sql.errors import map_connect_error, mapped_errors
from qkva.connectors.sql.loaders import register_loaders

CONNECT_SECONDS = 2
GRACE_SECONDS = 2.0
"""How much longer than the server's own limit we wait for its answer, before it counts as gone."""

log = logging.getLogger(__name__)


@dataclass
class _Pool:
    slots: asyncio.Semaphore
    idle: list[AsyncConnection] = field(default_factory=list)


class Database:
    """Lends connections, each inside a read-only transaction."""

    def __init__(self, source: str, url: str, *, schemas: Sequence[str], max_connections: int) -> None:
        self.source = source
        self._url = url
        self._schemas = schemas
        self._max_connections = max_connections
        self._pools: dict[asyncio.AbstractEventLoop, _Pool] = {}

    @asynccontextmanager
    async def transaction(self, *, seconds: float, timezone: str) -> AsyncIterator[AsyncConnection]:
        """A connection in a READ ONLY transaction that is rolled back at the end.

        Raises SourceUnavailable, AuthError or, for a wrong query, QueryFailed.
        """
        pool = self._pool()
        with mapped_errors(self.source, seconds):
            async with asyncio.timeout(seconds + CONNECT_SECONDS + GRACE_SECONDS), pool.slots:
                connection = await self._begin(pool, self._opening(seconds, timezone))
                try:
                    yield connection
                except psycopg.Error:
                    await self._give_back(pool, connection)
                    raise
                except BaseException:
                    await connection.close()
                    raise
                await self._give_back(pool, connection)

    async def close(self) -> None:
        """Close every connection, whichever loop opened it."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            for connection in pool.idle:
                await connection.close()

    def _pool(self) -> _Pool:
        loop = asyncio.get_running_loop()
        for old in [old for old in self._pools if old.is_closed()]:
            for connection in self._pools.pop(old).idle:
                connection.pgconn.finish()
        if loop not in self._pools:
            self._pools[loop] = _Pool(asyncio.Semaphore(self._max_connections))
        return self._pools[loop]

    async def _begin(self, pool: _Pool, opening: sql.Composed) -> AsyncConnection:
        """An idle connection if one still works, else a new one; all idle ones go when one turns out broken."""
        while pool.idle:
            connection = pool.idle.pop()
            try:
                await connection.execute(opening)
            except psycopg.OperationalError:
                log.info("source %s: pooled connection was broken, opening a new one", self.source)
                for broken in [connection, *pool.idle]:
                    await broken.close()
                pool.idle.clear()
            except BaseException:
                await connection.close()
                raise
            else:
                return connection
        return await self._open(opening)

    async def _open(self, opening: sql.Composed) -> AsyncConnection:
        try:
            connection = await AsyncConnection.connect(
                self._url,
                autocommit=True,
                prepare_threshold=None,
                connect_timeout=CONNECT_SECONDS,
                application_name="qkva",
            )
        except psycopg.OperationalError as error:
            raise map_connect_error(error, self.source) from error
        register_loaders(connection.adapters)
        try:
            await connection.execute(opening)
        except BaseException:
            await connection.close()
            raise
        return connection

    def _opening(self, seconds: float, timezone: str) -> sql.Composed:
        """BEGIN and its settings as one round trip."""
        milliseconds = max(1, round(seconds * 1000))
        return sql.SQL(
            "begin transaction read only; set local statement_timeout = {time}; set local lock_timeout = {time}; "
            "set local idle_in_transaction_session_timeout = {idle}; "
            "set local timezone = {zone}; set local search_path = {path}, pg_temp; "
            "set local standard_conforming_strings = on"
        ).format(
            time=sql.Literal(milliseconds),
            idle=sql.Literal(milliseconds + round((CONNECT_SECONDS + GRACE_SECONDS) * 1000)),
            zone=sql.Literal(timezone),
            path=sql.SQL(", ").join(map(sql.Identifier, self._schemas)),
        )

    async def _give_back(self, pool: _Pool, connection: AsyncConnection) -> None:
        """Roll back, wipe the session, keep the connection; one that cannot be wiped is closed."""
        try:
            await connection.execute("rollback")
            await connection.execute("discard all")
        except psycopg.Error:
            await connection.close()
            return
        if self._pools.get(asyncio.get_running_loop()) is pool:
            pool.idle.append(connection)
        else:  # the source was closed meanwhile
            await connection.close()
