"""What nodes may ask of the plan cache; `qkva.stores` keeps it in PostgreSQL."""

from collections.abc import Sequence
from typing import Protocol

from qkva.contracts.cache import Candidate, NewKey
from qkva.contracts.plan import PlanStatus, StoredPlan


class PlanStore(Protocol):
    """The plan cache of all tenants; every method acts for one.

    All raise StoreUnavailable when the database does not answer.
    """

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
        """The `top_k` live plans with the nearest keys, best first; equal masks before all others.

        Live: of this tenant and source, not retired, not expired, same embedder and schema fingerprint.
        """
        ...

    async def find_equal(self, tenant_id: str, *, source: str, canonical: str) -> StoredPlan | None:
        """The live plan that means the same, if one is stored."""
        ...

    async def save_plan(
        self, tenant_id: str, stored: StoredPlan, keys: Sequence[NewKey], *, embedder: str, ttl_hours: float | None
    ) -> StoredPlan:
        """Store a plan with its keys in one transaction; the returned one has its id and times.

        Idempotent by `canonical`: an equal live plan gets the keys instead, and a verified one replaces a
        learned one. `ttl_hours=None` never expires.
        """
        ...

    async def add_keys(self, tenant_id: str, plan_id: str, keys: Sequence[NewKey], *, embedder: str) -> int:
        """Add keys that the plan does not have yet; returns how many were new."""
        ...

    async def record_hit(self, tenant_id: str, plan_id: str) -> None:
        """Count one use."""
        ...

    async def get_plan(self, tenant_id: str, plan_id: str) -> StoredPlan | None:
        """One plan, retired ones too; an unambiguous prefix of its id is enough."""
        ...

    async def list_plans(
        self, tenant_id: str, *, source: str | None = None, status: PlanStatus | None = None
    ) -> list[StoredPlan]:
        """All plans of the tenant, newest first."""
        ...

    async def set_status(self, tenant_id: str, plan_id: str, status: PlanStatus) -> bool:
        """Verify or retire a plan; False if there is none. A verified plan does not expire any more."""
        ...

    async def invalidate_plans_for_records(self, tenant_id: str, dependency_ids: Sequence[str]) -> int:
        """Retire the learned plans that depend on any of these ids; returns how many."""
        ...
