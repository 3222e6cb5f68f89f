"""Which mirrors a process holds, and how they are kept right: a look-up is one round trip, which also tells what changed.

A mirror chooses, and the database confirms the choice: the same statement that reads the chosen plans names the plans that
have changed since the mirror was read. If there are any, the mirror reads those and chooses again. So what is served is
what a scan by that statement's snapshot would have served. Mirrors are read as their tenant, through row-level security.
"""

import asyncio
import logging
import time
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
    catching_up: asyncio.Lock = field(default_factory=asyncio.Lock)


class PlanMirrors:
    """The mirrors of one process and event loop, the least recently used dropped beyond `max_bytes`."""

    def __init__(self, database: Database, max_bytes: int) -> None:
        self._database = database
        self._max_bytes = max_bytes
        self._held: OrderedDict[MirrorKey, Held] = OrderedDict()
        self._loading: dict[MirrorKey, asyncio.Task[None]] = {}
        self._too_big_until: dict[MirrorKey, float] = {}

    async def find(self, key: MirrorKey, wanted: Wanted) -> list[Row] | None:
        """The rows of the candidates; None where only the scan can tell. Raises StoreUnavailable."""
        held = await self._mirror(key)
        for _ in range(MAX_TRIES if held else 0):
            assert held is not None
            mirror = held.mirror
            chosen = await choose(mirror, wanted)
            rows = await self._confirm(key, wanted, mirror, chosen)
            moment, changed = Moment.of(rows[0]), rows[0]["changed"]
            if self._is_lost(mirror, moment, changed, rows, chosen):
                self._held.pop(key, None)
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
            self._loading[key] = asyncio.create_task(self._load(key))
            self._loading[key].add_done_callback(lambda _: self._loading.pop(key, None))
        await asyncio.wait([self._loading[key]], timeout=PATIENCE_SEC)
        return self._held.get(key)

    async def _load(self, key: MirrorKey) -> None:
        """Read a mirror page by page; what changes meanwhile is noted, and read again by the first look-up."""
        try:
            [opened] = await self._database.fetch_all(key[0], SQL["open_mirror"], values_of(key))
            mirror = Mirror.empty(Moment.of(opened), opened["keys"])
            rows = await self._read(key)
            while rows and mirror.nbytes <= self._max_bytes:
                mirror = await asyncio.to_thread(mirror.with_changes, (), rows, mirror.moment)
                rows = await self._read(key, after=rows[-1]["plan_id"])
        except StoreUnavailable as error:
            logger.debug("A mirror could not be read: %s", error.message)
            return
        self._keep(key, Held(mirror))

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

    async def _confirm(
        self, key: MirrorKey, wanted: Wanted, mirror: Mirror, chosen: Sequence[Choice]
    ) -> Sequence[Row]:
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
        return (
            moment.generation != mirror.moment.generation
            or moment.now - mirror.moment.now > MAX_AGE
            or len(changed) > MAX_CHANGES
            or vanished
        )

    async def _catch_up(
        self, key: MirrorKey, held: Held, seen: Mirror, changed: Sequence[UUID], moment: Moment
    ) -> None:
        """Read the changed plans; of the look-ups that saw the change at once, one does it for all."""
        async with held.catching_up:
            if held.mirror is not seen:
                return
            rows: list[Row] = []
            for start in range(0, len(changed), PAGE):
                rows += await self._read(key, ids=changed[start : start + PAGE])
            held.mirror = await asyncio.to_thread(seen.with_changes, changed, rows, moment)
            if self._held.get(key) is held:
                self._keep(key, held)


class LoopMirrors:
    """Mirrors for each event loop, since those who wait for one reading have to share a loop."""

    def __init__(self, database: Database, max_bytes: int) -> None:
        self._new = lambda: PlanMirrors(database, max_bytes)
        self._of_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, PlanMirrors] = weakref.WeakKeyDictionary()

    @property
    def here(self) -> PlanMirrors:
        """Those of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._of_loop:
            self._of_loop[loop] = self._new()
        return self._of_loop[loop]


async def choose(mirror: Mirror, wanted: Wanted) -> list[Choice]:
    """On the loop unless it would hold the loop up."""
    if mirror.work <= ON_THE_LOOP:
        return mirror.choose(wanted)
    return await asyncio.to_thread(mirror.choose, wanted)


def values_of(key: MirrorKey) -> dict[str, object]:
    """As the parameters of a statement."""
    return {"tenant_id": key[0], "source": key[1], "embedder": key[2]}
