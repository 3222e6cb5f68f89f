"""What a plan's query says: what it returns, counts, orders, compares, negates, and which constants are baked in.

The other half of the evidence: a question is compared with the questions that led to a plan, and with the plan itself.
"""

from functools import lru_cache

from qkva.contracts.plan import Plan
from qkva.planning.reading.jql_form import read_jql_form
from qkva.planning.reading.query_form import QueryForm
from qkva.planning.reading.sql_form import read_sql_form

SQL_DIALECTS = {
    "postgres",
    "postgresql",
    "mysql",
    "sqlite",
    "duckdb",
    "tsql",
    "mssql",
    "oracle",
    "snowflake",
    "bigquery",
}
_SQLGLOT_NAMES = {"postgresql": "postgres", "mssql": "tsql"}


def sqlglot_dialect(dialect: str) -> str | None:
    """sqlglot's name of a plan's dialect; None if it is not SQL."""
    name = dialect.lower()
    return _SQLGLOT_NAMES.get(name, name) if name in SQL_DIALECTS else None


def read_plan_form(plan: Plan) -> QueryForm:
    """Read a plan's query; `readable` is False where no reader understands it."""
    return _read(plan.query, plan.dialect)


@lru_cache(maxsize=5_000)
def _read(query: str, dialect: str) -> QueryForm:
    name = sqlglot_dialect(dialect)
    if name is not None:
        return read_sql_form(query, name)
    if dialect.lower() == "jql":
        return read_jql_form(query)
    return QueryForm(readable=False)


__all__ = ["QueryForm", "read_plan_form", "sqlglot_dialect"]
