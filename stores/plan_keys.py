"""Changes the keys of one plan, in the transaction of whoever holds the plan's row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np

from qkva.contracts.cache import NewKey
from qkva.stores.database import Connection
from qkva.stores.exemplars import redundant
from qkva.stores.plan_rows import values_of_key
from qkva.stores.sql_blocks import load_blocks

SQL = load_blocks("plans.sql")


@dataclass(frozen=True)
class KeyWriter:
    """The keys of a plan by one embedder; the plan's row has to be locked, so that nobody else adds to them."""

    connection: Connection
    tenant_id: str
    plan_id: UUID
    embedder: str

    @property
    def _values(self) -> dict[str, Any]:
        return {"tenant_id": self.tenant_id, "plan_id": self.plan_id, "embedder": self.embedder}

    async def add(self, keys: Sequence[NewKey], max_exemplars: int) -> int:
        """Add what the plan does not have yet, and let go what is too much; returns how many are new and stay.

        In portions, for what is let go is chosen in time that grows with the cube of their number.
        """
        new: set[UUID] = set()
        for start in range(0, len(keys), max_exemplars):
            added = await self._add_portion(keys[start : start + max_exemplars])
            gone = await self._crowd_out(max_exemplars) if "exemplar" in added.values() else []
            new = (new | added.keys()) - set(gone)
        return len(new)

    async def _add_portion(self, keys: Sequence[NewKey]) -> dict[UUID, str]:
        """The new ones among them, by id with their kind."""
        new: dict[UUID, str] = {}
        for key in keys:
            values = {**self._values, **values_of_key(key)}
            rows = await (await self.connection.execute(SQL["add_keys"], values)).fetchall()
            new |= {row["id"]: row["kind"] for row in rows if row["is_new"]}
        return new

    async def drop_unwritten(self, keys: Sequence[NewKey]) -> None:
        """Where keys come from a file, let go what came from a file before and is not among them."""
        written = [values_of_key(key)["masked_hash"] for key in keys if key.from_file]
        if written:
            await self.connection.execute(SQL["drop_unwritten_keys"], {**self._values, "masked_hashes": written})

    async def _crowd_out(self, max_exemplars: int) -> list[UUID]:
        """The exemplars that had to go."""
        values = {**self._values, "max_exemplars": max_exemplars}
        rows = await (await self.connection.execute(SQL["crowded_exemplars"], values)).fetchall()
        if not rows:
            return []
        vectors = np.stack([row["embedding"].to_numpy() for row in rows]).astype(np.float32)
        protected = np.array([row["from_file"] for row in rows])
        gone = [rows[place]["id"] for place in redundant(vectors, protected, len(rows) - max_exemplars)]
        await self.connection.execute(SQL["delete_keys"], {**self._values, "key_ids": gone})
        return gone
