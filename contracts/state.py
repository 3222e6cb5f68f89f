"""The ask graph's input, context, state and output.

The state holds plain JSON values, because people read it in Studio and any checkpointer can keep it;
vectors and full records are untracked and never reach a checkpoint.
"""

import operator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.channels import UntrackedValue
from langgraph.graph.message import add_messages
from pydantic import BaseModel, ConfigDict, Field

from qkva.contracts.result import AskResult
from qkva.contracts.source import SourceResult

Messages = Annotated[list[AnyMessage], add_messages]


class AskInput(BaseModel):
    """A question: as `question`, or as the last human message of `messages`."""

    question: str = Field(default="", description="One question in plain words.")
    messages: Messages = Field(default_factory=list, description="A chat; its last human message is the question.")


class AskContext(BaseModel):
    """What a caller may choose for one run. The tenant is not among it: it comes from the authenticated caller."""

    model_config = ConfigDict(extra="forbid")

    source: str | None = Field(default=None, description="Ask only this source; default: all that are configured.")
    timezone: str | None = Field(
        default=None, description="IANA zone for dates in the question, such as Europe/Berlin."
    )
    now: datetime | None = Field(default=None, description="The caller's clock; default: the server's.")
    top_k: int | None = Field(default=None, ge=1, le=50, description="How many cached plans are looked at.")
    max_wrong_hits: float | None = Field(
        default=None, ge=0, le=1, description="Error budget of the cache. It can only tighten the configured one."
    )
    review_new_plans: bool = Field(
        default=False, description="Hold each new plan for a person to approve, edit or reject."
    )


class AskOutput(AskResult):
    """The result, with the conversation beside it."""

    messages: Messages = Field(default_factory=list)


def add_by_key(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Sum by key, so that a node that runs twice counts twice."""
    return {**old, **{key: old.get(key, 0) + value for key, value in new.items()}}


@dataclass(kw_only=True)
class AskState:
    """One question on its way through the graph; on a thread also what the next question may refer to."""

    messages: Messages = field(default_factory=list)
    """The conversation."""
    question: str = ""
    """As asked in this turn."""
    asked: str = ""
    """The question that was read last; tells a new `question` from the one that a thread still holds."""
    standalone: str = ""
    """The question with its reference to earlier turns resolved."""
    version: int = 0
    """Version of the result's shape."""

    masks: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The MaskedQuestion by source."""
    masked_question: str = ""
    """Masked for the source that was chosen."""
    slots: list[dict[str, Any]] = field(default_factory=list)
    """The values found in the question, for the source that was chosen."""

    candidates: list[dict[str, Any]] = field(default_factory=list)
    """Cached plans that were looked at: id, key_text, similarity, score, verdict, why."""
    doors: list[dict[str, Any]] = field(default_factory=list)
    """The hit decision, check by check."""
    excluded_plans: list[str] = field(default_factory=list)
    """Cached plans that turned out not to fit this question."""
    cache: str | None = None
    """A CacheOutcome."""
    grey: dict[str, Any] | None = None
    """A cached plan that only a judge can tell to mean the question: as a hit would be handed on, with its score, and
    once it is judged the probability and by whom. None where there is none, or nobody to judge it."""

    audited: dict[str, Any] | None = None
    """A hit that is planned all the same, to see whether it would have been right."""

    strategy: str | None = None
    source: str | None = None
    """The source that was chosen."""
    plan: dict[str, Any] | None = None
    """The Plan that runs."""
    plan_keys: list[dict[str, Any]] = field(default_factory=list)
    """The keys by which a cached plan was found; they say which slot fills which parameter."""
    planned_values: dict[str, Any] = field(default_factory=dict)
    """What the planner said the parameters are in this question; checked like any other value."""
    plan_is_new: bool = False
    """Whether the plan was made for this very question, in this turn."""
    review: bool = False
    """Whether a new plan waits for a person."""
    for_this_turn: bool = False
    """Whether the plan was passed by somebody who may not decide what others are served: it is not stored."""
    params: dict[str, Any] = field(default_factory=dict)
    """The values that are bound."""
    also: list[dict[str, Any]] = field(default_factory=list)
    """Hits of further sources, best first: source, plan, doors; plan_keys until they are filled, then params,
    then records. They run beside `plan`, and their records are merged with its records. Empty on a miss."""
    records: dict[str, Any] = field(default_factory=dict)
    """A RecordsView over all sources: count, truncated, first rows of each."""

    answer: str | None = None
    citations: list[dict[str, Any]] = field(default_factory=list)
    status: str | None = None
    """A Status, once the turn has ended."""
    error: str | None = None
    warnings: Annotated[list[str], operator.add] = field(default_factory=list)
    model_calls: Annotated[dict[str, int], add_by_key] = field(default_factory=dict)
    tokens: Annotated[dict[str, int], add_by_key] = field(default_factory=dict)
    """By `MODEL:KIND`, as far as the gateway tells."""
    timings_ms: Annotated[dict[str, float], add_by_key] = field(default_factory=dict)

    flight: Annotated[str | None, UntrackedValue] = None
    """The planning that this turn leads and others may wait for."""
    embeddings: Annotated[dict[str, list[float]] | None, UntrackedValue] = None
    """The vector of the masked question by source."""
    results: Annotated[list[SourceResult] | None, UntrackedValue] = None
    """All that the live queries returned, merged: by source, best first."""
