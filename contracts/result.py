"""The answer as callers get it: the same fields from Python, `--json` and the graph's output."""

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from qkva.contracts.cache import Door
from qkva.contracts.plan import Parameter

RESULT_VERSION = 1


class Status(StrEnum):
    """How a question ended."""

    ANSWERED = "answered"
    NO_RECORDS = "no_records"
    NEEDS_CLARIFICATION = "needs_clarification"
    SOURCE_UNAVAILABLE = "source_unavailable"
    REFUSED = "refused"
    ERROR = "error"


class CacheOutcome(StrEnum):
    """What the plan cache had to do with it."""

    HIT = "hit"
    MISS = "miss"
    COALESCED = "coalesced"  # waited for another caller's plan
    ANSWER_HIT = "answer_hit"
    FALLBACK = "fallback"
    UNAVAILABLE = "unavailable"


class Citation(BaseModel):
    """What a mark such as [1] in the answer points to."""

    model_config = ConfigDict(frozen=True)

    index: int
    label: str
    source: str
    record_id: str
    url: str | None = None
    snippet: str = ""


class PlanView(BaseModel):
    """The plan that ran."""

    model_config = ConfigDict(frozen=True)

    id: str | None
    key_text: str
    query: str
    params: tuple[Parameter, ...]
    status: str


class RecordsView(BaseModel):
    """How much came back, and the first rows."""

    model_config = ConfigDict(frozen=True)

    count: int = 0
    truncated: bool = False
    rows: tuple[dict[str, Any], ...] = ()
    sources: tuple[str, ...] = ()
    """The source of each of `rows`."""


class AlsoServed(BaseModel):
    """The plan of a further source that answered the same question."""

    model_config = ConfigDict(frozen=True)

    source: str
    plan: PlanView
    params: dict[str, Any] = Field(default_factory=dict)
    records: RecordsView = RecordsView()
    """Of this source alone, without those that a source before it brought."""
    doors: tuple[Door, ...] = ()
    """Its own hit decision."""


class AskResult(BaseModel):
    """One answered (or refused, or failed) question."""

    model_config = ConfigDict(frozen=True)

    version: int = RESULT_VERSION
    """Version of this object's shape."""
    question: str
    status: Status
    answer: str | None = None
    citations: tuple[Citation, ...] = ()
    cache: CacheOutcome | None = None
    """None if the question never reached the cache."""
    strategy: str | None = None
    source: str | None = None
    plan: PlanView | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    """The values that were bound, by parameter."""
    records: RecordsView = RecordsView()
    """Of all sources that answered."""
    also: tuple[AlsoServed, ...] = ()
    """Further sources that answered beside `source`, the best first; `plan`, `params` and `doors` are of `source`."""
    doors: tuple[Door, ...] = ()
    model_calls: dict[str, int] = Field(default_factory=dict)
    """Number of calls by purpose."""
    timings_ms: dict[str, float] = Field(default_factory=dict)
    """Milliseconds by node."""
    warnings: tuple[str, ...] = ()
    error: str | None = None

    @property
    def text(self) -> str:
        """What to show a person: the answer, or the sentence that says why there is none."""
        return self.answer or self.error or ""
