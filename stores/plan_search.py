"""Finds the plans that are near to a question: by a mirror in memory, or where there is none by a scan."""

from collections.abc import Sequence

import numpy as np
from pgvector.psycopg import HalfVector

from qkva.stores.database import Database
from qkva.stores.mirror import Row, Wanted, as_halves
from qkva.stores.mirrors import LoopMirrors
from qkva.stores.plan_rows import masked_hash
from qkva.stores.sql_blocks import load_blocks

SQL = load_blocks("plans.sql")
KEYS_PER_PLAN = 8
"""Of a candidate: enough to see how a plan was asked for, few enough to verify in a millisecond."""
WIDTH = 1536
"""Of a stored vector."""


class PlanSearch:
    """Both ways give the same plans."""

    def __init__(self, database: Database, mirror_bytes: int) -> None:
        self._database = database
        self._mirrors = LoopMirrors(database, mirror_bytes) if mirror_bytes else None

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
        if self._mirrors is not None and halves.shape == (WIDTH,) and np.isfinite(halves).all():
            wanted = Wanted(
                masked_hash=masked_hash(masked),
                embedding=halves,
                schema_fingerprint=schema_fingerprint,
                top_k=top_k,
                keys_per_plan=KEYS_PER_PLAN,
            )
            found = await self._mirrors.here.find((tenant_id, source, embedder), wanted)
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
