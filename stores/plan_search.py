"""Finds the plans that are near to a question: by a mirror in memory, or where there is none by a scan."""

import asyncio
import weakref
from collections.abc import Sequence

import numpy as np
from pgvector.psycopg import HalfVector

from qkva.stores.database import Database
from qkva.stores.mirror import Row, Wanted
from qkva.stores.mirrors import PlanMirrors
from qkva.stores.plan_rows import masked_hash
from qkva.stores.sql_blocks import load_blocks
from qkva.stores.vectors import as_halves

SQL = load_blocks("plans.sql")
KEYS_PER_PLAN = 8
"""Of a candidate: enough to see how a plan was asked for, few enough to verify in a millisecond."""
WIDTH = 1536
"""Of a stored vector."""


class PlanSearch:
    """Both ways give the same plans."""

    def __init__(self, database: Database, mirror_bytes: int) -> None:
        self._database = database
        self._mirror_bytes = mirror_bytes
        self._mirrors: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, PlanMirrors] = weakref.WeakKeyDictionary()

    @property
    def mirrors(self) -> PlanMirrors:
        """Those of the running event loop: they who wait for one reading have to share a loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._mirrors:
            for closed in [other for other in self._mirrors if other.is_closed()]:
                del self._mirrors[closed]  # what it holds may refer to it, so that it would never go by itself
            self._mirrors[loop] = PlanMirrors(self._database, self._mirror_bytes)
        return self._mirrors[loop]

    async def find(
        self,
        tenant_id: str,
        *,
        source: str,
        masked: str,
        embedding: Sequence[float],
        embedder: str,
        schema_fingerprint: str,
        top_k: int,
    ) -> Sequence[Row]:
        """Entries with `keys` and `exemplars`, best first. Raises StoreUnavailable."""
        halves = as_halves(embedding)
        # What the database would refuse it is left to refuse.
        if self._mirror_bytes and halves.shape == (WIDTH,) and np.isfinite(halves).all():
            wanted = Wanted(
                masked_hash=masked_hash(masked),
                embedding=halves,
                schema_fingerprint=schema_fingerprint,
                top_k=top_k,
                keys_per_plan=KEYS_PER_PLAN,
            )
            found = await self.mirrors.find((tenant_id, source, embedder), wanted)
            if found is not None:
                return found
        values = {
            "tenant_id": tenant_id,
            "source": source,
            "masked_hash": masked_hash(masked),
            "embedding": HalfVector(embedding),
            "embedder": embedder,
            "schema_fingerprint": schema_fingerprint,
            "top_k": top_k,
            "keys_per_plan": KEYS_PER_PLAN,
        }
        return await self._database.fetch_all(tenant_id, SQL["find_candidates"], values)
