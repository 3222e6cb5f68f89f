"""Describe a database by its engine: tables, columns, and the values of text columns."""

import hashlib
import json
import re
from collections.abc import Sequence
from itertools import groupby

from qkva.connectors.sql.access import Access, Name
from qkva.connectors.sql.engines.engine import ColumnRow, Engine
from qkva.connectors.sql.engines.options import EngineOptions
from qkva.contracts.source import ColumnValues, Field, Table

VALUES_SECONDS = 5.0
LONG_TEXT = 80
SCHEMA = "main"

_KINDS = (
    (r"bool|tinyint\(1\)", "boolean"),
    (r"int|serial|year", "integer"),
    (r"dec|num|real|float|double", "number"),
    (r"datetime|timestamp", "datetime"),
    (r"date", "date"),
    (r"char|text|clob|enum|string|uuid", "text"),
)


def read_tables(engine: Engine, options: EngineOptions) -> tuple[list[Table], list[str]]:
    """The tables that the options show, and "table.column" of what they hide of these. Raises the driver's errors."""
    access = Access(options.allow, options.deny, SCHEMA)
    tables: list[Table] = []
    denied: list[str] = []
    for table, group in groupby(engine.read_columns(), key=lambda row: row.table):
        rows = list(group)
        if access.may_read(Name(SCHEMA, table)):
            shown = [row for row in rows if access.may_read_column(Name(SCHEMA, table), row.name)]
            denied += [f"{table}.{row.name}" for row in rows if row not in shown]
            tables += [_table(shown)] if shown else []
    hidden = _hidden_views(engine.read_views(), {table.name for table in tables}, denied, options)
    return [table for table in tables if table.name not in hidden], denied


def read_values(engine: Engine, tables: Sequence[Table], cap: int) -> list[ColumnValues]:
    """The distinct values of text columns, but for long texts; a column too slow to read has none."""
    found = []
    for table in tables:
        for field in table.fields:
            if field.kind == "text":
                values = _values(engine, table.name, field.name, cap)
                if values:
                    column = f"{table.name}.{field.name}".lower()
                    found.append(ColumnValues(column=column, values=tuple(values[:cap]), complete=len(values) <= cap))
    return found


def fingerprint(tables: Sequence[Table]) -> str:
    """Changes with tables, columns, types and keys."""
    shape = sorted(
        [table.name, [[f.name, f.type, f.primary_key, f.references] for f in table.fields]] for table in tables
    )
    return hashlib.sha256(json.dumps(shape).encode()).hexdigest()[:32]


def kind_of(type_name: str) -> str:
    """What a parameter on a column of this type would be."""
    return next((kind for pattern, kind in _KINDS if re.search(pattern, type_name.lower())), "other")


def _values(engine: Engine, table: str, column: str, cap: int) -> list[str]:
    quote = "`" if engine.rules.name == "mysql" else '"'
    name, owner = (quote + text.replace(quote, quote * 2) + quote for text in (column, table))
    statement = (
        f"select distinct {name} from {owner} where {name} is not null and length({name}) <= {LONG_TEXT} "
        f"order by 1 limit {cap + 1}"
    )
    try:
        _, rows = engine.fetch(statement, (), rows=cap + 1, seconds=VALUES_SECONDS, zone="UTC")
    except TimeoutError:
        return []
    except engine.errors:
        return []
    return [str(row[0]) for row in rows]


def _hidden_views(views: dict[str, str], shown: set[str], denied: Sequence[str], options: EngineOptions) -> set[str]:
    """Views whose definition names a table or a column that is not shown; one allowed by its full name is not hidden.

    These databases do not tell what a view reads, so its text is looked at, for every table that hides something.
    """
    if not (denied or options.deny.tables):
        return set()
    hiding = {column.rpartition(".")[0] for column in denied}
    hidden: set[str] = set()
    while True:
        more = {
            view
            for view, definition in views.items()
            if view not in hidden and view not in options.allow.tables
            and (not definition or _names(definition) & _forbidden(hiding | hidden, options))
        }  # fmt: skip
        if not more:
            return hidden
        hidden |= more


def _names(definition: str) -> set[str]:
    return set(re.findall(r"\w+", definition.lower()))


def _forbidden(tables: set[str], options: EngineOptions) -> set[str]:
    return {name.lower() for name in tables} | {name.lower().rpartition(".")[2] for name in options.deny.tables}


def _table(rows: Sequence[ColumnRow]) -> Table:
    fields = tuple(
        Field(
            name=row.name,
            type=row.type,
            kind=kind_of(row.type),
            comment=row.comment,
            nullable=row.nullable,
            primary_key=row.primary_key,
            references=row.references,
        )
        for row in rows
    )
    return Table(name=rows[0].table, comment=rows[0].table_comment, fields=fields)
