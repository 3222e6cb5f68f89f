"""Who plans a key, among all processes: an advisory lock, which PostgreSQL frees by itself when its holder dies.

The locks of a process live on one connection beside the pool, so that planning, which takes seconds, holds no
connection that look-ups need.
"""

import asyncio
import weakref

from qkva.contracts.errors import StoreUnavailable
from qkva.stores.database import OPERATION_TIMEOUT_SEC, Connection, Database, cut_off_after, our_errors
from qkva.stores.sql_blocks import load_blocks

SQL = load_blocks("leads.sql")


class PostgresLead:
    """One lock that is held; a `contracts.stores.Lead`."""

    def __init__(self, connection: Connection, values: dict[str, object]) -> None:
        self._connection = connection
        self._values = values

    async def release(self) -> None:
        """Let the next one lead; never raises."""
        if self._connection.closed:
            return
        try:
            await _ask(self._connection, "release_lead", self._values)
        except StoreUnavailable:
            pass  # the connection has been closed, and every lock with it


class PostgresLeads:
    """A `contracts.stores.LeadStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connections: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Connection]
        self._connections = weakref.WeakKeyDictionary()
        self._opening: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]
        self._opening = weakref.WeakKeyDictionary()

    async def try_lead(self, tenant_id: str, *, source: str, masked: str) -> PostgresLead | None:
        """The lead, or None while another process has it. Raises StoreUnavailable."""
        values: dict[str, object] = {"tenant_id": tenant_id, "source": source, "masked": masked}
        connection = await self._connection()
        return PostgresLead(connection, values) if await _ask(connection, "try_lead", values) else None

    async def close(self) -> None:
        """Close this event loop's connection, and with it give up its leads."""
        connection = self._connections.pop(asyncio.get_running_loop(), None)
        if connection is not None:
            await connection.close()

    async def _connection(self) -> Connection:
        loop = asyncio.get_running_loop()
        async with self._opening.setdefault(loop, asyncio.Lock()):
            connection = self._connections.get(loop)
            if connection is None or connection.closed:
                connection = self._connections[loop] = await self._database.connect()
            return connection


async def _ask(connection: Connection, name: str, values: dict[str, object]) -> bool:
    """The one truth value that a statement gives. Raises StoreUnavailable."""
    try:
        with our_errors(), cut_off_after(OPERATION_TIMEOUT_SEC + 1, connection):
            row = await (await connection.execute(SQL[name], values)).fetchone()
    except BaseException:
        # Nobody knows now whether the lock is held. Without the connection it is not, and neither are its others: at
        # worst a plan is made twice.
        await connection.close()
        raise
    return bool(row and row["done"])
