"""The connector for SQLite, DuckDB, MySQL and MariaDB: blocking drivers, each call in a thread."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from qkva.connectors.sql.broaden import broad_query
from qkva.connectors.sql.catalog import Catalog
from qkva.connectors.sql.columns import suggest_column
from qkva.connectors.sql.engines.describe import SCHEMA, fingerprint, read_tables, read_values
from qkva.connectors.sql.engines.engine import Engine
from qkva.connectors.sql.engines.options import EngineOptions
from qkva.connectors.sql.engines.template import EngineStatement, compile_for_engine
from qkva.connectors.sql.executor import MAX_VALUE_BYTES
from qkva.connectors.sql.records import OutputColumn, make_records
from qkva.connectors.sql.refusals import did_you_mean, refusal, template_refusal
from qkva.connectors.sql.template import check_parameters
from qkva.connectors.sql.values import missing_names
from qkva.contracts.errors import PlanRejected, QueryFailed, SourceUnavailable, TooCostly
from qkva.contracts.plan import Parameter, Plan
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.source import (
    BroadQuery,
    ChangePage,
    Limits,
    LoginRights,
    QueryResult,
    SourceDescription,
    Table,
)  # fmt: skip

GRACE_SECONDS = 4.0
"""How much longer than the engine's own limit we wait for it."""

Result = TypeVar("Result")


class EngineConnector:
    """One database, read only."""

    source_type = "sql"

    def __init__(self, name: str, engine: Engine, options: EngineOptions) -> None:
        self.name = name
        self.dialect = engine.rules.name
        self._engine = engine
        self._options = options
        self._catalog: Catalog | None = None
        self._tables: list[Table] = []
        self._slots = asyncio.Semaphore(options.max_connections)

    async def describe(self) -> SourceDescription:
        """Read tables, columns and the values of text columns. Raises SourceUnavailable."""
        catalog = await self._learn()
        values = await self._call(
            read_values, self._engine, self._tables, self._options.max_values_per_column, seconds=60
        )
        return SourceDescription(
            name=self.name,
            source_type=self.source_type,
            dialect=self.dialect,
            tables=tuple(catalog.tables),
            values=tuple(values),
            fingerprint=fingerprint(catalog.tables),
        )

    async def check(self, plan: Plan) -> None:
        """Say whether the plan may run here. Raises PlanRejected or SourceUnavailable."""
        catalog = self._catalog or await self._learn()
        try:
            self._check_plan(plan, catalog)
        except PlanRejected:
            catalog = await self._learn()  # the schema may have moved on
            self._check_plan(plan, catalog)
        statement = compile_for_engine(plan.query, plan.params, catalog)
        sql, values = statement.filled(
            plan.params, {param.name: [] if param.type == "list" else None for param in plan.params}
        )
        try:
            expected = await self._call(self._engine.expected_rows, sql, values, seconds=10)
        except QueryFailed as error:
            meant = suggest_column(statement.tree, catalog)
            raise (refusal("column", meant) if meant else PlanRejected(error.message, layer=error.layer)) from error
        self._check_cost(expected, Limits())

    async def execute(
        self, query: str, params: Sequence[Parameter], values: Mapping[str, Any], limits: Limits
    ) -> QueryResult:
        """Run a template with bound values. Raises PlanRejected, ParameterError, QueryFailed or SourceUnavailable."""
        missing = missing_names(params, values)
        catalog = self._catalog or await self._learn()
        statement = compile_for_engine(query, params, catalog, missing)
        sql, bound = statement.filled(params, values, limits.timezone)
        self._check_cost(await self._call(self._engine.expected_rows, sql, bound, seconds=limits.seconds), limits)

        def fetch() -> tuple[list[str], list[tuple[Any, ...]]]:
            return self._engine.fetch(sql, bound, rows=limits.rows + 1, seconds=limits.seconds, zone=limits.timezone)

        names, rows = await self._call(fetch, seconds=limits.seconds)
        return self._result(statement, catalog, names, rows, limits)

    async def broaden(self, question: MaskedQuestion) -> BroadQuery | None:
        """The newest rows of the table that the question is about, or None if it is about none."""
        return broad_query(question, (self._catalog or await self._learn()).tables, self.dialect)

    async def dependencies(self, plan: Plan) -> tuple[str, ...]:
        """The ids of the tables and columns that the plan reads. Raises PlanRejected or SourceUnavailable."""
        return compile_for_engine(plan.query, plan.params, self._catalog or await self._learn()).dependencies

    async def login_rights(self) -> LoginRights:
        """What could be done besides reading. Raises SourceUnavailable."""
        return await self._call(self._engine.rights, seconds=10)

    async def fetch_changes(self, cursor: str | None) -> AsyncIterator[ChangePage]:
        """Nothing: a database is asked live and never indexed."""
        nothing: tuple[ChangePage, ...] = ()
        for page in nothing:
            yield page

    async def close(self) -> None:
        """Give back what is open."""
        await asyncio.to_thread(self._engine.close)

    async def _learn(self) -> Catalog:
        self._tables, denied = await self._call(read_tables, self._engine, self._options, seconds=20)
        self._catalog = Catalog(self._tables, schemas=[SCHEMA], denied=denied, rules=self._engine.rules)
        return self._catalog

    def _check_plan(self, plan: Plan, catalog: Catalog) -> None:
        optional = frozenset(param.name for param in plan.params if not param.required)
        for missing in {frozenset[str](), optional}:
            compile_for_engine(plan.query, plan.params, catalog, missing)
        check_parameters(plan.query, plan.params, catalog.rules)
        columns = [f"{table.name}.{field.name}" for table in catalog.tables for field in table.fields]
        for param in plan.params:
            if param.column is not None and param.column not in columns:
                near = did_you_mean(param.column, columns) or "."
                raise template_refusal(f'The parameter "{param.name}" names the unknown column "{param.column}"{near}')

    def _check_cost(self, expected: float | None, limits: Limits) -> None:
        allowed = self._options.max_plan_rows
        if expected is not None and expected > allowed and not limits.any_cost:
            sentence = (
                f"the database expects {expected:,.0f} rows in one step, {allowed:,.0f} are allowed; ask for less"
            )
            raise TooCostly(refusal("cost", sentence).message, rows=expected)

    def _result(
        self,
        statement: EngineStatement,
        catalog: Catalog,
        names: Sequence[str],
        rows: Sequence[Sequence[Any]],
        limits: Limits,
    ) -> QueryResult:
        read = [table for name in statement.tables for table in catalog.tables if table.name == name]
        kept, cut = _within(rows[: limits.rows], self._options.max_result_bytes)
        columns = [OutputColumn(name=name, origin=_origin(name, read)) for name in names]
        return QueryResult(
            records=tuple(make_records(columns, kept, read)),
            truncated=cut or len(rows) > limits.rows,
            dependency_ids=statement.dependencies,
            left_out=statement.left_out,
        )

    async def _call(self, work: Callable[..., Result], *arguments: Any, seconds: float) -> Result:
        """Run blocking work in a thread. Raises QueryFailed or SourceUnavailable."""
        with self._mapped_errors(seconds):
            async with self._slots, asyncio.timeout(seconds + GRACE_SECONDS):
                return await asyncio.to_thread(work, *arguments)

    @contextmanager
    def _mapped_errors(self, seconds: float) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            sentence = f'The query took longer than {seconds:g} s on "{self.name}" and was stopped: ask for less.'
            raise QueryFailed(sentence, layer="transaction") from error
        except self._engine.errors as error:
            if self._engine.is_unavailable(error):
                sentence = f'The data source "{self.name}" is unavailable: its database does not answer.'
                raise SourceUnavailable(sentence) from error
            told = str(error.args[-1] if error.args else error).partition("\n")[0].strip().rstrip(".")
            raise QueryFailed(f'The data source "{self.name}" did not accept the query: {told}.') from error


def _origin(name: str, tables: Sequence[Table]) -> tuple[str, str] | None:
    """The column behind an output, if the query reads one table and it has a column of that name."""
    if len(tables) != 1:
        return None
    field = next((field for field in tables[0].fields if field.name.lower() == name.lower()), None)
    return (tables[0].name, field.name) if field else None


def _within(rows: Sequence[Sequence[Any]], max_bytes: int) -> tuple[list[list[Any]], bool]:
    """The rows until they exceed the bytes, each long text cut; and whether anything is missing."""
    kept: list[list[Any]] = []
    size, cut = 0, False
    for row in rows:
        short = [value[:MAX_VALUE_BYTES] if isinstance(value, (str, bytes)) else value for value in row]
        size += sum(len(str(value)) for value in short)
        if kept and size > max_bytes:
            return kept, True
        cut = cut or any(len(value) > MAX_VALUE_BYTES for value in row if isinstance(value, (str, bytes)))
        kept.append(short)
    return kept, cut
