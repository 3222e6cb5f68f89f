"""What a node of the ask graph may use: services, the caller's wishes, and a meter of model calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from qkva.contracts.ask_log import AskLog
from qkva.contracts.errors import BudgetSpent
from qkva.contracts.keys import KeyStore
from qkva.contracts.models import ChatModels, Embedder
from qkva.contracts.source import Connector, SourceDescription
from qkva.contracts.state import AskContext
from qkva.contracts.stores import PlanStore
from qkva.nodes.confidences import Confidences
from qkva.nodes.single_flight import SingleFlight
from qkva.planning.masking.value_index import ValueIndex


@dataclass(frozen=True, kw_only=True)
class ReadySource:
    """A source that has been described."""

    name: str
    connector: Connector
    description: SourceDescription
    values: ValueIndex


class SourceBook(Protocol):
    """The configured sources; a source is described at its first use and again when that is old."""

    @property
    def connectors(self) -> Mapping[str, Connector]:
        """By name."""
        ...

    def forget(self, name: str) -> None:
        """Describe the source anew at its next use."""
        ...

    async def renewed(self, name: str) -> ReadySource:
        """As `ready`, read again if that is a minute old: for a value that is not known as it was said."""
        ...

    async def ready(self, name: str) -> ReadySource:
        """Raises UnknownSource (naming the known ones), SourceUnavailable or AuthError."""
        ...


@dataclass(frozen=True, kw_only=True)
class AskSettings:
    """The settings that nodes read."""

    plan_ttl_hours: float = 24
    similarity_threshold: float = 0.88
    top_k: int = 5
    max_wrong_hits: float = 0.01
    row_limit: int = 200
    query_timeout_sec: float = 5.0
    timezone: str = "UTC"
    max_model_calls: int = 8
    audit_share: float = 0.0
    """Of would-be hits, those that are planned all the same while the evidence is thin; 0 without a planner."""
    judge: bool = True
    """Whether a judge is asked, where there is a gateway."""
    review_new_plans: bool = False
    max_question_chars: int = 4000
    audit_text: bool = False
    """Whether the audit log keeps questions and values."""


@dataclass(frozen=True, kw_only=True)
class AskServices:
    """All that is open while questions are asked."""

    tenant_id: str
    """The tenant of callers that no server has authenticated."""
    settings: AskSettings
    plans: PlanStore
    sources: SourceBook
    embedder: Embedder
    chat: ChatModels | None
    """None without a gateway."""
    fixed_now: datetime | None = None
    """The demo's clock."""
    confidences: Confidences = field(default_factory=Confidences)
    """What the sources' own labels say of the hit decision."""
    flights: SingleFlight = field(default_factory=SingleFlight)
    """The plannings that are under way."""
    ask_log: AskLog | None = None
    """None where nothing is kept of questions."""
    keys: KeyStore | None = None
    """Who may call: for the server, before a question reaches the graph."""


@dataclass(kw_only=True)
class CallMeter:
    """Counts the model calls of one node, and stops at the question's budget."""

    budget: int
    before: int = 0
    """Calls that the question has cost before this node."""
    spent: dict[str, int] = field(default_factory=dict)
    """By purpose."""

    def spend(self, purpose: str) -> None:
        """Count one call. Raises BudgetSpent."""
        if self.before + sum(self.spent.values()) >= self.budget:
            raise BudgetSpent(
                f"This question has used up its {self.budget} model calls: raise MAX_MODEL_CALLS, or ask more simply."
            )
        self.spent[purpose] = self.spent.get(purpose, 0) + 1


@dataclass(frozen=True, kw_only=True)
class AskRuntime:
    """One node's run."""

    services: AskServices
    context: AskContext
    tenant_id: str
    now: datetime
    """The caller's clock, aware, in the caller's zone."""
    meter: CallMeter
    may_review: bool = True
    """Whether the caller may decide which plans the whole tenant is served."""
