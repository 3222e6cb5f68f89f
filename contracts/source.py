"""What a source is, and what a connector must be able to do."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from qkva.contracts.plan import Parameter, Plan
from qkva.contracts.question import MaskedQuestion


class Field(BaseModel):
    """One column of a table, or one field of a document source."""

    model_config = ConfigDict(frozen=True)

    name: str
    type: str
    """As the source spells it: "text", "numeric", "timestamp with time zone" …"""
    kind: str
    """One of text, number, integer, boolean, date, datetime, other: what a parameter on it would be."""
    comment: str = ""
    nullable: bool = True
    primary_key: bool = False
    references: str | None = None
    """The "table.column" that a foreign key points to."""
    samples: tuple[str, ...] = ()
    """A few values, as text."""
    operators: tuple[str, ...] = ()
    """For dialects with an own operator list per field (JQL)."""


class Table(BaseModel):
    """A table or view of a database, or the one record type of a document source."""

    model_config = ConfigDict(frozen=True)

    name: str
    """Qualified by its schema unless that is the source's default one."""
    comment: str = ""
    fields: tuple[Field, ...]
    row_estimate: int | None = None


class ColumnValues(BaseModel):
    """The distinct values of one text column, as far as the cap went."""

    model_config = ConfigDict(frozen=True)

    column: str
    """"table.column"."""
    values: tuple[str, ...]
    complete: bool = True
    """False if the cap cut the list."""


class SourceDescription(BaseModel):
    """All that planning needs to know of a source."""

    model_config = ConfigDict(frozen=True)

    name: str
    source_type: str
    dialect: str
    tables: tuple[Table, ...]
    values: tuple[ColumnValues, ...] = ()
    indexable: bool = False
    """Whether `fetch_changes` yields documents to index."""
    fingerprint: str
    """Changes when tables, columns or types change; not when data does."""

    def dependency_ids(self) -> list[str]:
        """The ids of all tables and columns that a plan may depend on."""
        columns = [column_id(table, field) for table in self.tables for field in table.fields]
        return [*map(table_id, self.tables), *columns]

    def field(self, column: str) -> Field | None:
        """The field of "table.column", or None."""
        table_name, _, field_name = column.rpartition(".")
        for table in self.tables:
            if table.name == table_name:
                for field in table.fields:
                    if field.name == field_name:
                        return field
        return None


class LoginRights(BaseModel):
    """What the login of a source may do."""

    model_config = ConfigDict(frozen=True)

    login: str
    excess: tuple[str, ...] = ()
    """Whatever goes beyond reading, in words: "is a superuser", "may write or owns public.orders"."""
    functions: tuple[str, ...] = ()
    """Functions that it may call and no query needs, such as set_config."""


COLUMNS_LISTED = "columns:listed"
"""Among a plan's dependencies: every column that it reads is one of them."""


def table_id(table: Table) -> str:
    """What depends on a table, depends on this."""
    return f"table:{table.name}"


def column_id(table: Table, field: Field) -> str:
    """What depends on a column of this name and type, depends on this; it is gone once either has changed."""
    return f"column:{table.name}.{field.name} {field.type}"


class Limits(BaseModel):
    """Bounds of one execution."""

    model_config = ConfigDict(frozen=True)

    rows: int = 200
    seconds: float = 5.0
    timezone: str = "UTC"
    """The caller's zone: naive timestamps of the source are read in it."""
    any_cost: bool = False
    """Whether a person has agreed to a query that was refused as too costly."""


class Record(BaseModel):
    """One thing that a live query returned."""

    model_config = ConfigDict(frozen=True)

    id: str
    """Stable within the source where it can be: the primary key, the issue key; else "row-1"."""
    label: str
    """What a person calls it: "order 1042", "SHOP-17"."""
    fields: dict[str, Any]
    """JSON-ready values by output column, in order."""
    url: str | None = None
    snippet: str = ""


class QueryResult(BaseModel):
    """What one execution brought."""

    model_config = ConfigDict(frozen=True)

    records: tuple[Record, ...]
    truncated: bool = False
    """Whether a cap cut the result: its rows, its bytes, or a long value."""
    dependency_ids: tuple[str, ...] = ()
    """"table:orders" and, where the source knows them, "column:orders.total numeric": what the query read."""
    left_out: tuple[str, ...] = ()
    """The conditions that were left out because their parameter was not said."""


class SourceResult(BaseModel):
    """What one source brought for a question: a question may be answered by several, each with a plan of its own."""

    model_config = ConfigDict(frozen=True)

    source: str
    about: str
    """The plan's intent phrase."""
    params: dict[str, Any] = {}
    """The values that were bound."""
    result: QueryResult
    repeated: int = 0
    """Records that were left out because a source before this one brought them."""


class BroadQuery(BaseModel):
    """A query that shows something near the question when no plan could be had."""

    model_config = ConfigDict(frozen=True)

    query: str
    params: tuple[Parameter, ...] = ()
    values: dict[str, Any] = {}
    about: str
    """What it shows, in words: "the newest rows of orders for customer Ada Lovelace"."""


class ChangePage(BaseModel):
    """One page of changed documents, with the cursor to store beside it."""

    model_config = ConfigDict(frozen=True)

    documents: tuple[dict[str, Any], ...]
    deleted_ids: tuple[str, ...] = ()
    cursor: str


@runtime_checkable
class Connector(Protocol):
    """One source. Every method maps the outside's errors to contracts.errors at its edge."""

    name: str
    source_type: str
    dialect: str

    async def describe(self) -> SourceDescription:
        """Read tables, fields and value lists. Raises SourceUnavailable or AuthError."""
        ...

    async def check(self, plan: Plan) -> None:
        """Say whether the plan may run here, against the live schema, without running it.

        Raises PlanRejected (one sentence: which rule, which column, did you mean …) or SourceUnavailable.
        """
        ...

    async def execute(
        self, query: str, params: Sequence[Parameter], values: Mapping[str, Any], limits: Limits
    ) -> QueryResult:
        """Run a template with bound values, read-only, within the limits.

        `values` holds one JSON-ready value per parameter (a time range as {"start", "end"}; None for one not
        said). Raises PlanRejected, ParameterError, QueryFailed, SourceUnavailable or AuthError.
        """
        ...

    async def broaden(self, question: MaskedQuestion) -> BroadQuery | None:
        """A safe broad query near the question, or None if nothing in it belongs to this source."""
        ...

    def fetch_changes(self, cursor: str | None) -> AsyncIterator[ChangePage]:
        """Pages of changed documents since the cursor; a source with nothing to index yields none."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


@runtime_checkable
class KnowsDependencies(Protocol):
    """A connector that can say what a plan reads without running it."""

    async def dependencies(self, plan: Plan) -> tuple[str, ...]:
        """As QueryResult.dependency_ids. Raises PlanRejected or SourceUnavailable."""
        ...


@runtime_checkable
class ChecksLogin(Protocol):
    """A connector that can say what its login may do."""

    async def login_rights(self) -> LoginRights:
        """Raises SourceUnavailable or AuthError."""
        ...
