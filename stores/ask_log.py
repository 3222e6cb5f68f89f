"""The audit log in PostgreSQL: written beside the questions, so that none waits for it or fails by it."""

import asyncio
import logging
import time
import weakref
from collections import deque
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from qkva.contracts.ask_log import AskEntry, LabelFigures, LogFigures, OutcomeFigures, SourceFigures
from qkva.contracts.errors import StoreUnavailable
from qkva.stores.database import Database
from qkva.stores.sql_blocks import load_blocks

SQL = load_blocks("ask_log.sql")
logger = logging.getLogger(__name__)

MOST_WAITING = 10_000
"""Entries that wait for a database which is slow or away; more are lost, and counted."""
FORGET_EVERY_SEC = 3600.0
NO_TENANT = ""
JSON_FIELDS = ("param_types", "doors", "also", "model_calls", "tokens", "param_values")

Waiting = tuple[str, AskEntry]

REFUSALS = (psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError)
"""The database answers, and does not take this entry: then it never will."""


class PostgresAskLog:
    """A `contracts.ask_log.AskLog`; each event loop writes its own entries, one after the other."""

    def __init__(self, database: Database, *, retention_days: float) -> None:
        self._database = database
        self._retention_days = retention_days
        self._waiting: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, deque[Waiting]]
        self._waiting = weakref.WeakKeyDictionary()
        self._writers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[None]]
        self._writers = weakref.WeakKeyDictionary()
        self._forgot_at = float("-inf")

    def add(self, tenant_id: str, entry: AskEntry) -> None:
        """Keep an entry soon; never waits and never raises."""
        loop = asyncio.get_running_loop()
        waiting = self._waiting.setdefault(loop, deque())
        if len(waiting) >= MOST_WAITING:
            logger.error("the audit log has lost an entry: %d wait for the database", MOST_WAITING)
            return
        waiting.append((tenant_id, entry))
        self._wake(loop, waiting)

    async def flush(self) -> None:
        """Wait until what this event loop has added is kept; what cannot be kept now still waits then."""
        loop = asyncio.get_running_loop()
        waiting = self._waiting.get(loop)
        if waiting:
            await asyncio.wait([self._wake(loop, waiting)])

    async def close(self) -> None:
        """Keep what waits, and say how much is lost if the database is away."""
        await self.flush()
        waiting = self._waiting.pop(asyncio.get_running_loop(), None)
        if waiting:
            logger.error("the audit log has lost %d entries: the database is away", len(waiting))

    async def figures(self, tenant_id: str, *, days: float, source: str | None = None) -> LogFigures:
        """Figures of the last `days`. Raises StoreUnavailable."""
        async with self._database.tenant_transaction(tenant_id) as connection:

            async def rows(name: str, values: dict[str, object]) -> list[dict[str, Any]]:
                return await (await connection.execute(SQL[name], values)).fetchall()

            since = (await rows("since", {"days": days}))[0]["since"]
            wanted: dict[str, object] = {"tenant_id": tenant_id, "since": since, "source": source}
            return LogFigures(
                since=since,
                statuses={row["status"]: row["questions"] for row in await rows("statuses", wanted)},
                outcomes=tuple(OutcomeFigures.model_validate(row) for row in await rows("outcomes", wanted)),
                sources=tuple(SourceFigures.model_validate(row) for row in await rows("sources", wanted)),
                labels=tuple(LabelFigures.model_validate(row) for row in await rows("labels", wanted)),
            )

    async def entries(self, tenant_id: str, *, limit: int = 100) -> list[AskEntry]:
        """The newest entries, newest first. Raises StoreUnavailable."""
        rows = await self._database.fetch_all(tenant_id, SQL["entries"], {"tenant_id": tenant_id, "limit": limit})
        return [AskEntry.model_validate(row) for row in rows]

    async def forget_old(self) -> int:
        """Delete what is over, of every tenant; returns how many. Raises StoreUnavailable."""
        return await self._database.execute(NO_TENANT, SQL["forget_old_entries"], {})

    def _wake(self, loop: asyncio.AbstractEventLoop, waiting: deque[Waiting]) -> asyncio.Task[None]:
        """The task that writes, started if it does not run."""
        writer = self._writers.get(loop)
        if writer is None or writer.done():
            writer = self._writers[loop] = loop.create_task(self._write(waiting))
        return writer

    async def _write(self, waiting: deque[Waiting]) -> None:
        """Keep what waits, in order. What cannot be kept now is tried again with the next entry."""
        while waiting:
            tenant_id, entry = waiting[0]
            try:
                await self._database.execute(tenant_id, SQL["add_entry"], self._values(tenant_id, entry))
            except StoreUnavailable as error:
                if not isinstance(error.__cause__, REFUSALS):
                    logger.warning("the audit log waits with %d entries: %s", len(waiting), error.message)
                    return
                logger.error("the audit log has lost an entry: %s", error.message)
            waiting.popleft()
        await self._forget_at_times()

    async def _forget_at_times(self) -> None:
        if time.monotonic() - self._forgot_at > FORGET_EVERY_SEC:
            self._forgot_at = time.monotonic()
            try:
                await self.forget_old()
            except StoreUnavailable as error:
                logger.warning("old entries of the audit log stay for now: %s", error.message)

    def _values(self, tenant_id: str, entry: AskEntry) -> dict[str, object]:
        values: dict[str, object] = {"tenant_id": tenant_id, "retention_days": self._retention_days}
        for name, value in entry.model_dump(mode="json").items():
            kept = storable(value)
            values[name] = Jsonb(kept) if name in JSON_FIELDS and kept is not None else kept
        return values


def storable(value: Any) -> Any:
    """The value without what PostgreSQL cannot hold, so that no question escapes the log by an odd character."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    return [storable(item) for item in value] if isinstance(value, list) else value
