"""Which mirrors a process holds, and how they are kept right: a look-up is one round trip, which also tells of changes.

A mirror chooses, and the database confirms the choice: the statement that reads the chosen plans also names the plans
that have changed since the mirror was read. If there are any, the mirror reads those and chooses again. So what is
served is what a scan by that statement's snapshot would have found. Mirrors are read as their tenant, through row-level
security.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

import numpy as np

from qkva.contracts.errors import StoreUnavailable
from qkva.stores.database import Database
from qkva.stores.mirror import Choice, Mirror, Moment, Row, Wanted
from qkva.stores.sql_blocks import load_blocks

logger = logging.getLogger(__name__)
SQL = load_blocks("mirror.sql")

MirrorKey = tuple[str, str, str]
"""Tenant, source, embedder."""

PAGE = 100
"""Plans of one statement: at three keys each 1 MB."""
PATIENCE_SEC = 0.05
"""What a look-up waits for its mirror to be read; then it scans, and a later one finds the mirror."""
MAX_TRIES = 4
"""Choices of one look-up while others keep storing; then it scans."""
MAX_CHANGES = 1_000
"""Changed plans that are read one by one; with more the mirror is read anew."""
LOADS_AT_ONCE = 2
"""Each may take as much memory as all that is held."""
ON_THE_LOOP = 10_000_000
"""Products that take one to two milliseconds; more of them go to a thread."""
RENEW_AFTER = np.timedelta64(1, "m")
"""A snapshot of this age is replaced, so that few notes are newer than it."""
MAX_AGE = np.timedelta64(12, "h")
"""Notes of changes are kept for a day; a mirror that nobody has used for half a day may have missed some."""
TOO_BIG_FOR_SEC = 600.0
"""A store that did not fit is tried again after so long."""


@dataclass
class Held:
    """One mirror in its newest state."""

    mirror: Mirror
    catching_up: asyncio.Task[None] | None = None


@dataclass(frozen=True)
class Loading:
    """A mirror that is being read."""

    task: asyncio.Task[None]
    patience_until: float


class PlanMirrors:
    """The mirrors of one process and event loop, the least recently used dropped beyond `max_bytes`."""

    def __init__(self, database: Database, max_bytes: int) -> None:
        self._database = database
        self._max_bytes = max_bytes
        self._held: OrderedDict[MirrorKey, Held] = OrderedDict()
        self._loading: dict[MirrorKey, Loading] = {}
        self._loads = asyncio.Semaphore(LOADS_AT_ONCE)
        self._too_big_until: dict[MirrorKey, float] = {}

    async def find(self, key: MirrorKey, wanted: Wanted) -> Sequence[Row] | None:
        """The rows of the candidates; None where only the scan can tell. Raises StoreUnavailable."""
        held = await self._mirror(key)
        for _ in range(MAX_TRIES if held else 0):
            assert held is not None
            mirror = held.mirror
            chosen = await choose(mirror, wanted)
            rows = await self._confirm(key, wanted, mirror, chosen)
            moment, changed = Moment.of(rows[0]), rows[0]["changed"]
            if self._is_lost(mirror, moment, changed, rows, chosen):
                if self._held.get(key) is held:
                    del self._held[key]
                return None
            if changed:
                await self._catch_up(key, held, mirror, changed, moment)
                continue
            expired = any(choice.expires <= moment.now for choice in chosen)
            if held.mirror is mirror and (expired or moment.now - mirror.moment.now > RENEW_AFTER):
                held.mirror = replace(mirror, moment=moment)
            if not expired:
                return rows if chosen else []
        return None

    async def _mirror(self, key: MirrorKey) -> Held | None:
        """The mirror if it is there or comes soon; all who wait for it share one reading."""
        if key in self._held:
            self._held.move_to_end(key)
            return self._held[key]
        if time.monotonic() < self._too_big_until.get(key, 0):
            return None
        if key not in self._loading:
            self._loading[key] = Loading(asyncio.create_task(self._load(key)), time.monotonic() + PATIENCE_SEC)
            self._loading[key].task.add_done_callback(lambda _: self._loading.pop(key, None))
        loading = self._loading[key]
        await asyncio.wait([loading.task], timeout=max(0.0, loading.patience_until - time.monotonic()))
        return self._held.get(key)

    async def _load(self, key: MirrorKey) -> None:
        """Read a mirror page by page; what changes meanwhile is noted, and read again by the first look-up."""
        try:
            async with self._loads:
                [opened] = await self._database.fetch_all(key[0], SQL["open_mirror"], values_of(key))
                mirror = Mirror.empty(Moment.of(opened), opened["keys"])
                rows = await self._read(key)
                while rows and mirror.nbytes <= self._max_bytes:
                    mirror = await asyncio.to_thread(mirror.with_changes, (), rows, mirror.moment)
                    rows = await self._read(key, after=rows[-1]["plan_id"])
                self._keep(key, Held(mirror))
        except StoreUnavailable as error:
            logger.debug("A mirror could not be read: %s", error.message)

    async def _read(self, key: MirrorKey, *, after: UUID | None = None, ids: Sequence[UUID] | None = None) -> list[Row]:
        values = {**values_of(key), "plan_ids": None if ids is None else list(ids), "after": after, "page": PAGE}
        return list(await self._database.fetch_all(key[0], SQL["read_plans"], values, binary=True))

    def _keep(self, key: MirrorKey, held: Held) -> None:
        """Hold the mirror as the newest, if it fits at all, and let the oldest go for it."""
        self._held.pop(key, None)
        if held.mirror.nbytes > self._max_bytes:
            self._too_big_until[key] = time.monotonic() + TOO_BIG_FOR_SEC
            logger.info("The plans of source %s do not fit in PLAN_CACHE_MIRROR_MB: they are scanned instead.", key[1])
            return
        self._held[key] = held
        total = sum(each.mirror.nbytes for each in self._held.values())
        while total > self._max_bytes:
            _, oldest = self._held.popitem(last=False)
            total -= oldest.mirror.nbytes

    async def _confirm(self, key: MirrorKey, wanted: Wanted, mirror: Mirror, chosen: Sequence[Choice]) -> Sequence[Row]:
        values = {
            **values_of(key),
            "masked_hash": wanted.masked_hash,
            "snapshot": mirror.moment.snapshot,
            "plan_ids": [choice.plan_id for choice in chosen],
            "key_ids": [found for choice in chosen for found in choice.keys],
            "similarities": [similarity for choice in chosen for similarity in choice.similarities],
        }
        return await self._database.fetch_all(key[0], SQL["confirm_choice"], values)

    @staticmethod
    def _is_lost(
        mirror: Mirror, moment: Moment, changed: Sequence[UUID], rows: Sequence[Row], chosen: Sequence[Choice]
    ) -> bool:
        """Whether the mirror has to be read anew: by another server, after too long, or by what cannot be."""
        vanished = not changed and any(
            row["id"] is None or len(row["keys"] or ()) != len(choice.keys)
            for row, choice in zip(rows, chosen, strict=False)
        )
        too_old = bool(moment.now - mirror.moment.now > MAX_AGE)
        moved = moment.generation != mirror.moment.generation
        return vanished or too_old or moved or len(changed) > MAX_CHANGES

    async def _catch_up(
        self, key: MirrorKey, held: Held, seen: Mirror, changed: Sequence[UUID], moment: Moment
    ) -> None:
        """Read the changed plans; of the look-ups that saw the change at once, one does it for all.

        A task of its own, since a mirror has one successor only: a caller that gives up leaves no half of one behind.
        """
        if held.catching_up is None:
            if held.mirror is not seen:
                return
            held.catching_up = asyncio.create_task(self._read_changes(key, held, changed, moment))
            held.catching_up.add_done_callback(partial(caught_up, held))
        await asyncio.shield(held.catching_up)

    async def _read_changes(self, key: MirrorKey, held: Held, changed: Sequence[UUID], moment: Moment) -> None:
        base = held.mirror
        rows: list[Row] = []
        for start in range(0, len(changed), PAGE):
            rows += await self._read(key, ids=changed[start : start + PAGE])
        held.mirror = await asyncio.to_thread(base.with_changes, changed, rows, moment)
        if self._held.get(key) is held:
            self._keep(key, held)


def caught_up(held: Held, task: asyncio.Task[None]) -> None:
    """The next change may be read; an error is of those who waited for this one, if anybody still does."""
    held.catching_up = None
    if not task.cancelled():
        task.exception()


async def choose(mirror: Mirror, wanted: Wanted) -> list[Choice]:
    """On the loop unless it would hold the loop up."""
    if mirror.work <= ON_THE_LOOP:
        return mirror.choose(wanted)
    return await asyncio.to_thread(mirror.choose, wanted)


def values_of(key: MirrorKey) -> dict[str, object]:
    """As the parameters of a statement."""
    return {"tenant_id": key[0], "source": key[1], "embedder": key[2]}
