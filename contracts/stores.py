"""What nodes may ask of the plan cache; `qkva.stores` keeps it in PostgreSQL."""

from collections.abc import Sequence
from typing import Protocol

from qkva.contracts.cache import Candidate, LabelCounts, LabelOrigin, LabelVerdict, NewKey
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

    async def count_stale_plans(self, tenant_id: str, *, source: str, schema_fingerprint: str) -> int:
        """How many live plans were found for another schema of the source, and say which columns they need."""
        ...

    async def follow_schema(
        self, tenant_id: str, *, source: str, schema_fingerprint: str, known_ids: Sequence[str]
    ) -> int:
        """Let the plans live on whose tables and columns are all among `known_ids`; returns how many were retired."""
        ...

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
        """Keep whether the plan means the masked question; False for an unknown plan.

        `key_masked` is the plan's nearest key, `similarity` its cosine by `embedder`, `score` the hit decision's.
        The newest label of a plan, mask, embedder and origin replaces the one before, so that no pair counts twice.
        """
        ...

    async def label_counts(self, tenant_id: str, *, source: str) -> LabelCounts:
        """How many labels the tenant's source has."""
        ...


class Lead(Protocol):
    """The right to plan one key while all other processes wait."""

    async def release(self) -> None:
        """Let the next one lead. Never raises: a lead whose connection is lost is free already."""
        ...


class LeadStore(Protocol):
    """Among all processes one leads the planning of a key; one that dies leads no more."""

    async def try_lead(self, tenant_id: str, *, source: str, masked: str) -> Lead | None:
        """The lead, or None while another process has it. Never waits for it. Raises StoreUnavailable.

        Callers of one process have to agree among themselves: the database does not tell them apart.
        """
        ...

    async def close(self) -> None:
        """Give up every lead of this event loop."""
        ...
