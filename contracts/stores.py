"""What nodes may ask of the plan cache; `qkva.stores` keeps it in PostgreSQL."""

from collections.abc import Sequence
from typing import Protocol

from qkva.contracts.cache import Candidate, HitCounts, LabelCounts, LabelledScore, LabelOrigin, LabelVerdict, NewKey
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
        learned one. `ttl_hours=None` never expires. Where keys are from a file, they take the place of those that
        the plan had from a file.
        """
        ...

    async def add_keys(self, tenant_id: str, plan_id: str, keys: Sequence[NewKey], *, embedder: str) -> int:
        """Add keys that the plan does not have yet; returns how many were new and stayed.

        The exemplars of a plan are bounded: of too many the one goes that is nearest to another one.
        """
        ...

    async def remove_key(self, tenant_id: str, plan_id: str, masked: str) -> bool:
        """Delete an exemplar that does not mean the plan; False if the plan has none of this mask."""
        ...

    async def record_hit(self, tenant_id: str, plan_id: str, *, judged: bool = False) -> None:
        """Count one use; `judged` if it took the judge to serve it."""
        ...

    async def hit_counts(self, tenant_id: str, *, source: str) -> HitCounts:
        """How many hits the source's stored plans have had."""
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
        score: float | None,
        source_of_label: LabelOrigin,
        key_masked: str = "",
        embedder: str = "",
        judge: float | None = None,
        judged_by: str = "",
    ) -> bool:
        """Keep whether the plan means the masked question; False for an unknown plan.

        `key_masked` is the plan's nearest key, `similarity` its cosine by `embedder`, `score` the hit decision's,
        `judge` the probability that the judge `judged_by` gave it. Without one, what a judge said before is kept.
        The newest label of a plan, mask, embedder and origin replaces the one before, so that no pair counts twice.
        """
        ...

    async def label_counts(self, tenant_id: str, *, source: str) -> LabelCounts:
        """How many labels the tenant's source has."""
        ...

    async def audit_counts(self, tenant_id: str, *, plan_id: str, key_masked: str | None = None) -> tuple[int, int]:
        """Audits that found the plan right and wrong, of all its keys or of one."""
        ...

    async def label_scores(self, tenant_id: str, source: str, embedder: str) -> list[LabelledScore]:
        """The newest labels of the tenant's source by this embedder, newest first, at most 4,000."""
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
