"""What each source's own labels say of the hit decision, kept at hand: a look-up must not wait for them.

Read from the store at the first question of a tenant and source, and again after a while, for other processes learn
too; what this process learns counts at once.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from qkva.contracts.cache import LabelledScore
from qkva.contracts.stores import PlanStore
from qkva.planning.decision.audits import audit_share
from qkva.planning.decision.confidence import Confidence, confidence_of
from qkva.planning.decision.verifier import Verifier, shipped_verifier

FRESH_SECONDS = 60.0
MOST_TENANTS = 1_000
"""Tenants and sources that are kept at hand."""


@dataclass
class _Known:
    labels: list[LabelledScore]
    read_at: float
    confidence: Confidence | None = None


@dataclass
class Confidences:
    """By tenant and source."""

    verifier: Verifier = field(default_factory=shipped_verifier)
    chance: Callable[[], float] = random.random
    """0 to 1: decides which hits are audited."""
    _known: dict[tuple[str, str], _Known] = field(default_factory=dict)

    def scorer(self, embedder: str) -> str:
        """The fingerprint that labels are kept under: scores of another verifier or embedder do not compare."""
        return f"{embedder}/verifier-{self.verifier.version}"

    async def of(self, tenant_id: str, source: str, *, plans: PlanStore, embedder: str) -> Confidence:
        """The confidence of the decision for one source. Raises StoreUnavailable."""
        known = self._known.get((tenant_id, source))
        if known is None or time.monotonic() - known.read_at > FRESH_SECONDS:
            labels = await plans.label_scores(tenant_id, source, self.scorer(embedder))
            known = self._keep((tenant_id, source), _Known(list(labels), time.monotonic()))
        if known.confidence is None:
            known.confidence = confidence_of(known.labels, self.verifier)
        return known.confidence

    def learn(self, tenant_id: str, source: str, label: LabelledScore) -> None:
        """Count a label that was just stored."""
        known = self._known.get((tenant_id, source))
        if known is not None:
            known.labels.append(label)
            known.confidence = None

    def wants_audit(self, tenant_id: str, source: str, share: float) -> bool:
        """Whether the next hit is planned all the same, to see whether it would have been right."""
        known = self._known.get((tenant_id, source))
        audits = sum(label.origin == "audit" for label in known.labels) if known else 0
        return share > 0 and self.chance() < audit_share(share, audits)

    def _keep(self, which: tuple[str, str], known: _Known) -> _Known:
        self._known[which] = known
        while len(self._known) > MOST_TENANTS:
            del self._known[next(iter(self._known))]
        return known
