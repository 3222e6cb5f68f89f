"""The plan cache in PostgreSQL. Each method has a statement of its name in plans.sql."""

from collections.abc import Sequence
from uuid import UUID

from qkva.contracts.cache import Candidate, HitCounts, LabelCounts, LabelledScore, LabelOrigin, LabelVerdict, NewKey
from qkva.contracts.errors import PlanRejected, StoreUnavailable
from qkva.contracts.plan import PlanStatus, StoredPlan
from qkva.contracts.source import COLUMNS_LISTED
from qkva.stores.database import Connection, Database
from qkva.stores.plan_keys import KeyWriter
from qkva.stores.plan_rows import (
    candidate_from_row,
    label_counts_from_rows,
    masked_hash,
    stored_from_row,
    values_of_plan,
)
from qkva.stores.plan_search import PlanSearch
from qkva.stores.sql_blocks import load_blocks

SQL = load_blocks("plans.sql")
MAX_LEARNED_PLANS = 2_000
"""Of a tenant and source; those that are used least make room."""
MAX_EXEMPLARS = 64
"""Of a plan and embedder; those that say again what another one says make room."""
MIRROR_BYTES = 256 * 2**20
"""Of keys in memory: room for 240,000 of them with the local embedder, for 40,000 of 1536 columns."""


MAX_LABELS = 4_000
"""That a decision is calibrated with: the newest."""


class PostgresPlanStore:
    """A `contracts.stores.PlanStore`; all its methods raise StoreUnavailable when the database does not answer.

    `mirror_bytes` bounds what is kept of keys in memory; with 0 every look-up scans them in the database.
    """

    def __init__(
        self, database: Database, *, mirror_bytes: int = MIRROR_BYTES, max_exemplars: int = MAX_EXEMPLARS
    ) -> None:
        self._database = database
        self._search = PlanSearch(database, mirror_bytes)
        self._max_exemplars = max_exemplars

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
        rows = await self._search.find(
            tenant_id,
            source=source,
            masked=masked,
            embedding=embedding,
            embedder=embedder,
            schema_fingerprint=schema_fingerprint,
            top_k=top_k,
        )
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
            await connection.execute(SQL["forget_old_changes"], values)
            plan_id = await _save_entry(connection, values, [param.name for param in stored.plan.params])
            of_plan = KeyWriter(connection, tenant_id, plan_id, embedder)
            await of_plan.drop_unwritten(keys)
            await of_plan.add(keys, self._max_exemplars)
        saved = await self._list(tenant_id, id_prefix=str(plan_id))
        if not saved:
            raise StoreUnavailable("The plan was deleted while it was stored.")
        return saved[0]

    async def add_keys(self, tenant_id: str, plan_id: str, keys: Sequence[NewKey], *, embedder: str) -> int:
        """Add keys that the plan does not have yet; returns how many were new and stayed (0 for an unknown plan).

        Of too many exemplars the one goes that is nearest to another one, which may be a new one; a file's never goes.
        """
        known = _uuid(plan_id)
        if known is None or not keys:
            return 0
        async with self._database.tenant_transaction(tenant_id) as connection:
            await connection.execute(SQL["lock_plan"], {"tenant_id": tenant_id, "plan_id": known})
            return await KeyWriter(connection, tenant_id, known, embedder).add(keys, self._max_exemplars)

    async def remove_key(self, tenant_id: str, plan_id: str, masked: str) -> bool:
        """Delete an exemplar that does not mean the plan; False if the plan has none of this mask."""
        known = _uuid(plan_id)
        if known is None:
            return False
        values = {"tenant_id": tenant_id, "plan_id": known, "masked_hash": masked_hash(masked)}
        return await self._database.execute(tenant_id, SQL["remove_key"], values) > 0

    async def record_hit(self, tenant_id: str, plan_id: str, *, judged: bool = False) -> None:
        """Count one use."""
        known = _uuid(plan_id)
        if known is not None:
            values = {"tenant_id": tenant_id, "plan_id": known, "judged": judged}
            await self._database.execute(tenant_id, SQL["record_hit"], values)

    async def hit_counts(self, tenant_id: str, *, source: str) -> HitCounts:
        """How many hits the source's stored plans have had."""
        values = {"tenant_id": tenant_id, "source": source}
        (row,) = await self._database.fetch_all(tenant_id, SQL["hit_counts"], values)
        return HitCounts.model_validate(row)

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
        score: float | None,
        source_of_label: LabelOrigin,
        key_masked: str = "",
        embedder: str = "",
        judge: float | None = None,
        judged_by: str = "",
    ) -> bool:
        """Keep whether the plan means the masked question, in place of what was kept; False for an unknown plan."""
        known = _uuid(plan_id)
        if known is None:
            return False
        values = {
            "tenant_id": tenant_id, "plan_id": known, "masked": masked, "verdict": verdict, "similarity": similarity,
            "score": score, "origin": source_of_label, "key_masked": key_masked, "embedder": embedder,
            "judge": judge, "judged_by": judged_by,
        }  # fmt: skip
        return await self._database.execute(tenant_id, SQL["add_label"], values) > 0

    async def label_counts(self, tenant_id: str, *, source: str) -> LabelCounts:
        """How many labels the tenant's source has."""
        values = {"tenant_id": tenant_id, "source": source}
        return label_counts_from_rows(await self._database.fetch_all(tenant_id, SQL["label_counts"], values))

    async def audit_counts(self, tenant_id: str, *, plan_id: str, key_masked: str | None = None) -> tuple[int, int]:
        """Audits that found the plan right and wrong, of all its keys or of one."""
        known = _uuid(plan_id)
        if known is None:
            return 0, 0
        values = {"tenant_id": tenant_id, "plan_id": known, "key_masked": key_masked}
        (row,) = await self._database.fetch_all(tenant_id, SQL["audit_counts"], values)
        return row["same"], row["different"]

    async def label_scores(self, tenant_id: str, source: str, embedder: str) -> list[LabelledScore]:
        """The newest labels of the tenant's source by this embedder, newest first."""
        values = {"tenant_id": tenant_id, "source": source, "embedder": embedder, "limit": MAX_LABELS}
        rows = await self._database.fetch_all(tenant_id, SQL["label_scores"], values)
        return [LabelledScore.model_validate(row) for row in rows]

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


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
