"""The connector for SQL databases: describe, check, execute, broaden."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from psycopg import errors

from qkva.connectors.sql.broaden import broad_query
from qkva.connectors.sql.catalog import Catalog
from qkva.connectors.sql.columns import suggest_column
from qkva.connectors.sql.database import Database
from qkva.connectors.sql.executor import Estimate, estimate, fetch_rows
from qkva.connectors.sql.introspect import Structure, fingerprint, read_structure, read_tables
from qkva.connectors.sql.login import grant_statements, read_rights
from qkva.connectors.sql.options import SqlOptions
from qkva.connectors.sql.records import OutputColumn, make_records
from qkva.connectors.sql.refusals import did_you_mean, refusal, template_refusal
from qkva.connectors.sql.samples import sample_values
from qkva.connectors.sql.template import Compiled, check_parameters, compile_template
from qkva.connectors.sql.values import bind_values, missing_names
from qkva.contracts.errors import PlanRejected, QueryFailed, TooCostly
from qkva.contracts.plan import Parameter, Plan
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.source import BroadQuery, ChangePage, Limits, LoginRights, QueryResult, SourceDescription, Table

CHECK_SECONDS = 5.0
COMPILED_PLANS = 512
"""How many compiled templates are kept: compiling costs some milliseconds, finding one some microseconds."""


@dataclass(frozen=True)
class _Known:
    """What was last learnt of the database's structure."""

    fingerprint: str
    tables: Sequence[Table]
    catalog: Catalog
    origins: Mapping[tuple[int, int], tuple[str, str]]
    compile: Callable[[str, tuple[str, ...], frozenset[str]], Compiled]


class SqlConnector:
    """One PostgreSQL database, read only."""

    source_type = "sql"
    dialect = "postgres"

    def __init__(self, name: str, options: SqlOptions) -> None:
        self.name = name
        self._options = options
        self._database = Database(
            name,
            options.url.get_secret_value(),
            schemas=options.schemas,
            max_connections=options.max_connections,
        )
        self._known: _Known | None = None

    async def describe(self) -> SourceDescription:
        """Read tables, columns and the values of text columns. Raises SourceUnavailable or AuthError."""
        structure = await read_structure(self._database, self._options)
        tables, values = await read_tables(self._database, self._options, structure)
        known = self._learn(structure, tables)
        return SourceDescription(
            name=self.name,
            source_type=self.source_type,
            dialect=self.dialect,
            tables=tuple(tables),
            values=tuple(values),
            fingerprint=known.fingerprint,
        )

    async def check(self, plan: Plan) -> None:
        """Say whether the plan may run here. Raises PlanRejected or SourceUnavailable."""
        known = await self._structure()
        optional = frozenset(param.name for param in plan.params if not param.required)
        try:
            variants = self._compile_plan(plan, known, optional)
        except PlanRejected:
            changed = await self._relearn(known)
            if changed is None:
                raise
            known, variants = changed, self._compile_plan(plan, changed, optional)
        for missing, compiled in variants:
            await self._plan_query(plan, compiled, sample_values(compiled.binds, plan.params, missing, known.catalog))

    async def execute(
        self, query: str, params: Sequence[Parameter], values: Mapping[str, Any], limits: Limits
    ) -> QueryResult:
        """Run a template with bound values.

        Raises PlanRejected, ParameterError, QueryFailed, SourceUnavailable or AuthError.
        """
        missing = missing_names(params, values)
        known = await self._structure()
        compiled = known.compile(query, _frozen(params), missing)
        bound = bind_values(compiled.binds, params, values)
        async with self._database.transaction(seconds=limits.seconds, timezone=limits.timezone) as connection:
            self._check_cost(await estimate(connection, compiled.sql, bound), limits)
            fetched = await fetch_rows(
                connection, compiled.sql, bound, max_rows=limits.rows, max_bytes=self._options.max_result_bytes
            )
        columns = [
            OutputColumn(name=column.name, origin=known.origins.get(column.origin)) for column in fetched.columns
        ]
        read = [table for name in compiled.tables for table in known.tables if table.name == name]
        return QueryResult(
            records=tuple(make_records(columns, fetched.rows, read)),
            truncated=fetched.truncated,
            dependency_ids=compiled.dependencies,
            left_out=compiled.left_out,
        )

    async def dependencies(self, plan: Plan) -> tuple[str, ...]:
        """The ids of the tables and columns that the plan reads. Raises PlanRejected or SourceUnavailable."""
        known = await self._structure()
        return known.compile(plan.query, _frozen(plan.params), frozenset()).dependencies

    async def login_rights(self) -> LoginRights:
        """What the login may do besides reading. Raises SourceUnavailable or AuthError."""
        return await read_rights(self._database)

    async def grant_statements(self, role: str | None = None) -> str:
        """SQL that makes a login which may only read what the options show, for the database's administrator.

        Without `role` it is the login of the url, or a new one if that may do more. Raises SourceUnavailable or
        AuthError.
        """
        if role is None:
            rights = await self.login_rights()
            role = rights.login if not rights.excess else f"qkva_{self.name}"
        structure = await read_structure(self._database, self._options)
        return grant_statements(self.name, role, self._options, structure)

    async def broaden(self, question: MaskedQuestion) -> BroadQuery | None:
        """The newest rows of the table that the question is about, or None if it is about none."""
        return broad_query(question, (await self._structure()).tables)

    async def fetch_changes(self, cursor: str | None) -> AsyncIterator[ChangePage]:
        """Nothing: a database is asked live and never indexed."""
        nothing: tuple[ChangePage, ...] = ()
        for page in nothing:
            yield page

    async def close(self) -> None:
        """Close all connections; the next use opens new ones."""
        await self._database.close()

    async def _structure(self) -> _Known:
        if self._known is None:
            structure = await read_structure(self._database, self._options)
            return self._learn(structure, structure.bare_tables())
        return self._known

    async def _relearn(self, old: _Known) -> _Known | None:
        """The structure as it is now, or None if it is still as it was known."""
        structure = await read_structure(self._database, self._options)
        tables = structure.bare_tables()
        return None if fingerprint(tables) == old.fingerprint else self._learn(structure, tables)

    def _learn(self, structure: Structure, tables: Sequence[Table]) -> _Known:
        catalog = Catalog(
            tables,
            schemas=self._options.schemas,
            denied=structure.denied,
            own_functions=structure.own_functions,
            allowed_functions=self._options.allow.functions,
        )

        @lru_cache(COMPILED_PLANS)
        def compile_cached(query: str, params: tuple[str, ...], missing: frozenset[str]) -> Compiled:
            return compile_template(query, [Parameter.model_validate_json(text) for text in params], catalog, missing)

        self._known = _Known(fingerprint(tables), tables, catalog, structure.origins(), compile_cached)
        return self._known

    def _compile_plan(
        self, plan: Plan, known: _Known, optional: frozenset[str]
    ) -> list[tuple[frozenset[str], Compiled]]:
        """The plan with everything said, and with nothing said that may be left out."""
        params = _frozen(plan.params)
        variants = [frozenset[str](), optional] if optional else [optional]
        compiled = [(missing, known.compile(plan.query, params, missing)) for missing in variants]
        check_parameters(plan.query, plan.params)
        columns = [f"{table.name}.{field.name}" for table in known.tables for field in table.fields]
        for param in plan.params:
            if param.column is not None and param.column not in columns:
                near = did_you_mean(param.column, columns) or "."
                raise template_refusal(f'The parameter "{param.name}" names the unknown column "{param.column}"{near}')
        return compiled

    async def _plan_query(self, plan: Plan, compiled: Compiled, values: Sequence[Any]) -> None:
        """Let the database plan it, without running it."""
        try:
            async with self._database.transaction(seconds=CHECK_SECONDS, timezone="UTC") as connection:
                expected = await estimate(connection, compiled.sql, values)
        except QueryFailed as error:
            known = await self._structure()
            unknown = isinstance(error.__cause__, errors.UndefinedColumn)
            meant = suggest_column(compiled.tree, known.catalog) if unknown else None
            rejected = refusal("column", meant) if meant else PlanRejected(error.message, layer=error.layer)
            raise rejected from error
        self._check_cost(expected, Limits())

    def _check_cost(self, expected: Estimate, limits: Limits) -> None:
        """Refuse what the database expects to be too much work. Raises TooCostly."""
        for what, found, allowed in (
            ("units of work", expected.cost, self._options.max_plan_cost),
            ("rows in one step", expected.rows, self._options.max_plan_rows),
        ):
            if found > allowed and not limits.any_cost:
                sentence = f"the database expects {found:,.0f} {what}, {allowed:,.0f} are allowed; ask for less"
                refused = refusal("cost", sentence)
                raise TooCostly(refused.message, cost=expected.cost, rows=expected.rows)


def _frozen(params: Sequence[Parameter]) -> tuple[str, ...]:
    return tuple(param.model_dump_json() for param in params)
