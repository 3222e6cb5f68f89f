"""A plan: the value of the cache. It never holds an answer, and never a value of the question that made it."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

MAX_KEY_TOKENS = 30
PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*)(?:\.(start|end))?\}")
"""`{name}`, or `{name.start}` and `{name.end}` for the two sides of a time range."""


class Strategy(StrEnum):
    """How a question is answered."""

    NO_RETRIEVAL = "no_retrieval"
    CLARIFY = "clarify"
    VECTOR_ONLY = "vector_only"
    SQL_ONLY = "sql_only"  # a live query, whatever its dialect
    HYBRID = "hybrid"


class PlanStatus(StrEnum):
    """Where a plan comes from, and whether it may be served."""

    LEARNED = "learned"
    VERIFIED = "verified"
    RETIRED = "retired"
    FALLBACK = "fallback"  # a broad query of the moment; never stored


class ParamType(StrEnum):
    """The types a parameter can have."""

    TEXT = "text"
    ENUM = "enum"
    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    DATETIME = "datetime"
    TIME_RANGE = "time_range"
    BOOLEAN = "boolean"
    LIST = "list"


class Parameter(BaseModel):
    """One typed hole in a plan's query."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z_][a-z0-9_]*$")
    type: ParamType
    column: str | None = None
    """The "table.column" its values live in, if they live in one."""
    required: bool = True
    """False lets the default (or, without one, NULL) stand in for a value that was not said."""
    default: Any = None
    """JSON-ready. For a time_range a phrase such as "last month", resolved by the caller's clock at each run."""
    choices: tuple[str, ...] = ()
    """The allowed values of an enum."""
    item_type: ParamType = ParamType.TEXT
    """For a list: the type of its items."""
    description: str = ""


class Plan(BaseModel):
    """Strategy, source, parameterised query and typed parameters."""

    model_config = ConfigDict(frozen=True)

    id: str | None = None
    """UUID text once stored."""
    key_text: str
    """The intent phrase, at most MAX_KEY_TOKENS tokens: "orders of a customer in a time range"."""
    query: str
    params: tuple[Parameter, ...] = ()
    status: PlanStatus = PlanStatus.LEARNED
    strategy: Strategy = Strategy.SQL_ONLY
    source: str
    source_type: str
    dialect: str
    """"postgres", "jql" …: what `query` is written in."""

    @field_validator("params")
    @classmethod
    def names_are_unique(cls, params: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
        """Refuse two parameters of one name."""
        names = [param.name for param in params]
        if len(set(names)) != len(names):
            raise ValueError("two parameters have the same name")
        return params

    def param(self, name: str) -> Parameter:
        """The parameter of that name; KeyError if the plan has none."""
        for param in self.params:
            if param.name == name:
                return param
        raise KeyError(name)

    def placeholders(self) -> list[tuple[str, str | None]]:
        """`(name, "start" | "end" | None)` of each placeholder in the query, in order, repeats included."""
        return [(found[1], found[2]) for found in PLACEHOLDER.finditer(self.query)]


class Exemplar(BaseModel):
    """A way in which a plan was asked for, masked."""

    model_config = ConfigDict(frozen=True)

    masked: str
    roles: tuple[str | None, ...] = ()
    """As `contracts.cache.Key` has them."""


class StoredPlan(BaseModel):
    """A plan with what the cache knows about it."""

    model_config = ConfigDict(frozen=True)

    plan: Plan
    canonical: str
    """Hash of the plan's canonical form: equal for plans that mean the same."""
    schema_fingerprint: str
    dependency_ids: tuple[str, ...] = ()
    """What the plan depends on ("table:orders", "record:17"): invalidated by overlap."""
    model: str | None = None
    """The model that made it; None for a verified plan."""
    prompt: str | None = None
    """Fingerprint of the prompt that made it."""
    questions: tuple[Exemplar, ...] = ()
    """The exemplars among its keys."""
    hits: int = 0
    created_at: datetime | None = None
    last_used_at: datetime | None = None
    expires_at: datetime | None = None
    """None for a verified plan, which does not expire."""
