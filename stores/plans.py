"""The plan cache in PostgreSQL. Each method has a statement of its name in plans.sql."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from pgvector.psycopg import HalfVector

from qkva.contracts.cache import Candidate, LabelCounts, LabelOrigin, LabelVerdict, NewKey
from qkva.contracts.errors import PlanRejected, StoreUnavailable
from qkva.contracts.plan import PlanStatus, StoredPlan
from qkva.contracts.source import COLUMNS_LISTED
from qkva.stores.database import Connection, Database
from qkva.stores.plan_rows import (
    candidate_from_row,
    label_counts_from_rows,
    masked_hash,
    stored_from_row,
    values_of_key,
    values_of_plan,
)
from qkva.stores.sql_blocks import load_blocks

SQL = load_blocks("plans.sql")
KEYS_PER_PLAN = 8
"""Of a candidate: enough to see how a plan was asked for, few enough to verify in a millisecond."""

MAX_LEARNED_PLANS = 2_000
"""Of a tenant and source: at three keys each the scan takes 35 ms."""


class PostgresPlanStore:
    """A `contracts.stores.PlanStore`; all its methods raise StoreUnavailable when the database does not answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_candidates(
        self,
        tenant_id: str,
        *,
        source: str,
        masked: str,
        embedding: Sequence[float],
        embedder: str,
        schema_fingerprint: str,
        top_k: int,
    ) -> list[Candidate]:
        """The `top_k` live plans with the nearest keys, best first; where masks are equal, only their plans."""
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
        rows = await self._database.fetch_all(tenant_id, SQL["find_candidates"], values)
        return [candidate_from_row(row) for row in rows]

    async def find_equal(self, tenant_id: str, *, source: str, canonical: str) -> StoredPlan | None:
        """The live plan that means the same, if one is stored."""
        plans = await self._list(tenant_id, source=source, canonical=canonical, live=True)
        return plans[0] if plans else None

    async def save_plan(
        self, tenant_id: str, stored: StoredPlan, keys: Sequence[NewKey], *, embedder: str, ttl_hours: float | None
    ) -> StoredPlan:
        """Store a plan with its keys in one transaction; an equal live plan gets the keys, a verified one replaces it.

        Keys whose roles name parameters that the kept plan does not have are left out. Raises PlanRejected for a
        plan that is a fallback or retired.
        """
        if stored.plan.status not in (PlanStatus.LEARNED, PlanStatus.VERIFIED):
            raise PlanRejected(f"A {stored.plan.status.value} plan is never stored.")
        values = {"tenant_id": tenant_id, **values_of_plan(stored, ttl_hours)}
        async with self._database.tenant_transaction(tenant_id) as connection:
            await connection.execute(SQL["forget_old_plans"], {**values, "max_learned_plans": MAX_LEARNED_PLANS})
            plan_id = await _save_entry(connection, values, [param.name for param in stored.plan.params])
            await _add_keys(connection, tenant_id, plan_id, keys, embedder)
        saved = await self._list(tenant_id, id_prefix=str(plan_id))
        if not saved:
            raise StoreUnavailable("The plan was deleted while it was stored.")
        return saved[0]

    async def add_keys(self, tenant_id: str, plan_id: str, keys: Sequence[NewKey], *, embedder: str) -> int:
        """Add keys that the plan does not have yet; returns how many were new (0 for an unknown plan)."""
        known = _uuid(plan_id)
        if known is None or not keys:
            return 0
        async with self._database.tenant_transaction(tenant_id) as connection:
            return await _add_keys(connection, tenant_id, known, keys, embedder)

    async def record_hit(self, tenant_id: str, plan_id: str) -> None:
        """Count one use."""
        known = _uuid(plan_id)
        if known is not None:
            await self._database.execute(tenant_id, SQL["record_hit"], {"tenant_id": tenant_id, "plan_id": known})

    async def get_plan(self, tenant_id: str, plan_id: str) -> StoredPlan | None:
        """One plan, retired ones too; an unambiguous prefix of its id is enough."""
        if not plan_id:
            return None
        plans = await self._list(tenant_id, id_prefix=plan_id.lower())
        return plans[0] if len(plans) == 1 else None

    async def list_plans(
        self, tenant_id: str, *, source: str | None = None, status: PlanStatus | None = None
    ) -> list[StoredPlan]:
        """All plans of the tenant, newest first."""
        return await self._list(tenant_id, source=source, status=status.value if status else None)

    async def set_status(self, tenant_id: str, plan_id: str, status: PlanStatus) -> bool:
        """Verify or retire a plan; False if there is none. A live plan of the same meaning makes room for it."""
        if status is PlanStatus.FALLBACK:
            raise PlanRejected("A fallback plan is never stored.")
        known = _uuid(plan_id)
        if known is None:
            return False
        values = {"tenant_id": tenant_id, "plan_id": known, "status": status.value}
        async with self._database.tenant_transaction(tenant_id) as connection:
            if status is not PlanStatus.RETIRED:
                await connection.execute(SQL["retire_rivals"], values)
            return (await connection.execute(SQL["set_status"], values)).rowcount > 0

    async def invalidate_plans_for_records(self, tenant_id: str, dependency_ids: Sequence[str]) -> int:
        """Retire the learned plans that depend on any of these ids; returns how many."""
        values = {"tenant_id": tenant_id, "dependency_ids": list(dependency_ids)}
        return await self._database.execute(tenant_id, SQL["invalidate_plans_for_records"], values)

    async def count_stale_plans(self, tenant_id: str, *, source: str, schema_fingerprint: str) -> int:
        """How many live plans were found for another schema of the source, and say which columns they need."""
        values = _schema_values(tenant_id, source, schema_fingerprint)
        rows = await self._database.fetch_all(tenant_id, SQL["count_stale_plans"], values)
        return int(rows[0]["plans"])

    async def follow_schema(
        self, tenant_id: str, *, source: str, schema_fingerprint: str, known_ids: Sequence[str]
    ) -> int:
        """Let the plans live on whose tables and columns are all among `known_ids`; returns how many were retired."""
        values = {**_schema_values(tenant_id, source, schema_fingerprint), "known_ids": list(known_ids)}
        async with self._database.tenant_transaction(tenant_id) as connection:
            followed = await (await connection.execute(SQL["follow_schema"], values)).fetchall()
        return sum(row["status"] == PlanStatus.RETIRED for row in followed)

    async def add_label(
        self,
        tenant_id: str,
        *,
        plan_id: str,
        masked: str,
        verdict: LabelVerdict,
        similarity: float,
        score: float,
        source_of_label: LabelOrigin,
        key_masked: str = "",
        embedder: str = "",
    ) -> bool:
        """Keep whether the plan means the masked question, in place of what was kept; False for an unknown plan."""
        known = _uuid(plan_id)
        if known is None:
            return False
        values = {
            "tenant_id": tenant_id, "plan_id": known, "masked": masked, "verdict": verdict, "similarity": similarity,
            "score": score, "origin": source_of_label, "key_masked": key_masked, "embedder": embedder,
        }  # fmt: skip
        return await self._database.execute(tenant_id, SQL["add_label"], values) > 0

    async def label_counts(self, tenant_id: str, *, source: str) -> LabelCounts:
        """How many labels the tenant's source has."""
        values = {"tenant_id": tenant_id, "source": source}
        return label_counts_from_rows(await self._database.fetch_all(tenant_id, SQL["label_counts"], values))

    async def _list(
        self,
        tenant_id: str,
        *,
        source: str | None = None,
        status: str | None = None,
        canonical: str | None = None,
        id_prefix: str | None = None,
        live: bool = False,
    ) -> list[StoredPlan]:
        values: dict[str, object] = {
            "tenant_id": tenant_id, "source": source, "status": status, "canonical": canonical,
            "id_prefix": id_prefix, "live": live,
        }  # fmt: skip
        rows = await self._database.fetch_all(tenant_id, SQL["list_plans"], values)
        return [stored_from_row(row) for row in rows]


def _schema_values(tenant_id: str, source: str, schema_fingerprint: str) -> dict[str, object]:
    return {
        "tenant_id": tenant_id,
        "source": source,
        "schema_fingerprint": schema_fingerprint,
        "columns_listed": COLUMNS_LISTED,
    }


async def _save_entry(connection: Connection, values: dict[str, object], param_names: list[str]) -> UUID:
    """Insert the entry, or replace or renew the one of the same meaning; savers of one meaning wait for each other."""
    for _ in range(3):  # again only if the equal plan is retired between two statements
        for name in ("insert_plan", "replace_plan", "renew_plan"):
            row = await (await connection.execute(SQL[name], values)).fetchone()
            if row is not None:
                plan_id: UUID = row["id"]
                if name == "replace_plan":
                    misfits = {**values, "plan_id": plan_id, "param_names": param_names}
                    await connection.execute(SQL["drop_misfit_keys"], misfits)
                return plan_id
    raise StoreUnavailable("The plan could not be stored: an equal one kept changing.")


async def _add_keys(
    connection: Connection, tenant_id: str, plan_id: UUID, keys: Sequence[NewKey], embedder: str
) -> int:
    rows: list[dict[str, Any]] = [
        {"tenant_id": tenant_id, "plan_id": plan_id, "embedder": embedder, **values_of_key(key)} for key in keys
    ]
    rows.sort(key=lambda row: row["masked_hash"])  # one order for all writers: no deadlock
    async with connection.cursor() as cursor:
        await cursor.executemany(SQL["add_keys"], rows)
        return cursor.rowcount


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
