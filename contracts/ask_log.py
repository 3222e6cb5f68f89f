"""What is kept of each question, and what is made of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

TokenCounts = dict[str, int]
"""Tokens by `MODEL:KIND`, where a kind is `input` (without what the provider had cached), `cached` or `output`."""


class FurtherPlan(BaseModel):
    """One more plan that answered a question, beside the first."""

    model_config = ConfigDict(frozen=True)

    source: str
    plan_id: str | None = None
    plan_status: str | None = None
    param_types: dict[str, str] = Field(default_factory=dict)
    row_count: int | None = None
    param_values: dict[str, Any] | None = None
    """Only where AUDIT_TEXT is on."""


class AskEntry(BaseModel):
    """One question, as the audit log keeps it."""

    model_config = ConfigDict(frozen=True)

    user: str | None = None
    """None where nobody is told apart: on the command line, inside another program."""
    thread_id: str | None = None
    status: str
    cache: str | None = None
    """A CacheOutcome; None if the question never reached the cache."""
    strategy: str | None = None
    source: str | None = None
    plan_id: str | None = None
    """None for a plan that is not stored."""
    plan_status: str | None = None
    plan_is_new: bool = False
    param_types: dict[str, str] = Field(default_factory=dict)
    """The type of each parameter of the plan."""
    doors: dict[str, str] = Field(default_factory=dict)
    """The verdict of each door of the hit decision."""
    also: tuple[FurtherPlan, ...] = ()
    """The plans of other sources that answered the same question."""
    model_calls: dict[str, int] = Field(default_factory=dict)
    """By purpose."""
    tokens: TokenCounts = Field(default_factory=dict)
    row_count: int | None = None
    """Of all sources together."""
    truncated: bool | None = None
    execute_ms: float | None = None
    """What the source took (of several side by side the slowest); None if it was not asked."""
    total_ms: float = 0.0
    """The sum over all nodes; what a person waits for is a little more."""

    question: str | None = None
    """This and what follows only where AUDIT_TEXT is on."""
    masked: str | None = None
    param_values: dict[str, Any] | None = None


class OutcomeFigures(BaseModel):
    """Questions of one source and one outcome of the cache."""

    model_config = ConfigDict(frozen=True)

    source: str | None
    cache: str | None
    questions: int
    model_calls: int
    tokens: TokenCounts


class SourceFigures(BaseModel):
    """What one source took to answer."""

    model_config = ConfigDict(frozen=True)

    source: str
    queries: int
    median_ms: float
    p95_ms: float
    unavailable: int


class LabelFigures(BaseModel):
    """Labels of one source by what showed them and what they say."""

    model_config = ConfigDict(frozen=True)

    source: str
    origin: str
    verdict: str
    labels: int


class LogFigures(BaseModel):
    """What the log says of a stretch of time."""

    model_config = ConfigDict(frozen=True)

    since: datetime
    statuses: dict[str, int]
    outcomes: tuple[OutcomeFigures, ...]
    sources: tuple[SourceFigures, ...]
    """Slowest first."""
    labels: tuple[LabelFigures, ...]


class AskLog(Protocol):
    """The audit log of all tenants; each method acts for one."""

    def add(self, tenant_id: str, entry: AskEntry) -> None:
        """Keep an entry soon; never waits and never raises."""
        ...

    async def flush(self) -> None:
        """Wait until what was added is kept; what cannot be kept now still waits then."""
        ...

    async def figures(self, tenant_id: str, *, days: float, source: str | None = None) -> LogFigures:
        """Figures of the last `days`. Raises StoreUnavailable."""
        ...

    async def entries(self, tenant_id: str, *, limit: int = 100) -> Sequence[AskEntry]:
        """The newest entries, newest first. Raises StoreUnavailable."""
        ...
