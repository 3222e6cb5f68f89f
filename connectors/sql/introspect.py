"""Describe the database: tables, columns, keys, comments, samples and the distinct values of text columns.

One query reads the structure, then one query per table reads what its columns hold: six round trips for a shop of
five tables.
"""

import hashlib
import json
import logging
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from typing import Any, LiteralString, cast

from psycopg import AsyncConnection, AsyncRawCursor, sql
from psycopg.rows import dict_row

from qkva.connectors.sql.access import Access, Name, ViewRead
from qkva.connectors.sql.database import Database
from qkva.connectors.sql.options import Deny, SqlOptions
from qkva.contracts.errors import QueryFailed
from qkva.contracts.source import ColumnValues, Field, Table

STRUCTURE_SECONDS = 10.0
TABLE_SECONDS = 5.0
VALUES_SECONDS = 30.0
"""All tables together; those left after that are described without values."""
COUNT_CAP = 10_000
"""Tables below this are counted; above it the planner's estimate is good enough."""
SCAN_CAP = 500_000
"""How many rows are looked at for distinct values: about a quarter of a second."""
LONG_TEXT = 80
"""Columns whose texts are longer on average hold prose, and nobody names a value of it in a question."""

_TEXT_TYPES = frozenset({"text", "varchar", "bpchar", "citext", "name"})
_KINDS = {
    **dict.fromkeys(("int2", "int4", "int8"), "integer"),
    **dict.fromkeys(("numeric", "float4", "float8", "money"), "number"),
    **dict.fromkeys((*_TEXT_TYPES, "uuid"), "text"),
    **dict.fromkeys(("timestamp", "timestamptz"), "datetime"),
    "bool": "boolean",
    "date": "date",
}

log = logging.getLogger(__name__)

Row = dict[str, Any]


@dataclass(frozen=True)
class Structure:
    """The readable tables by their described names, each with its column rows; no data."""

    tables: tuple[tuple[str, list[Row]], ...]
    denied: tuple[str, ...] = ()
    """"table.column" of the columns that the options hide of these tables."""
    own_functions: tuple[str, ...] = ()
    """Names of functions that somebody has made in the schemas that are read."""

    def origins(self) -> dict[tuple[int, int], tuple[str, str]]:
        """The described (table, column) by (table oid, attribute number), as results name where a column comes from."""
        return {
            (column["table_oid"], column["number"]): (name, column["name"])
            for name, columns in self.tables
            for column in columns
        }

    def bare_tables(self) -> list[Table]:
        """The tables without anything that had to be read from them."""
        return [_table(name, columns, None) for name, columns in self.tables]


def load_blocks(file: str, *, keep_comments: bool = False) -> dict[str, LiteralString]:
    """The statements of an .sql file beside this one, by the name in `-- name --` above each."""
    text = resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
    comments = "" if keep_comments else r"(?:--.*\n)*"
    parts = re.split(rf"^-- (\w+) --\n{comments}", text, flags=re.MULTILINE)[1:]
    return {name: cast(LiteralString, block.strip()) for name, block in zip(parts[::2], parts[1::2], strict=True)}


SQL = load_blocks("introspect.sql")


async def read_structure(database: Database, options: SqlOptions) -> Structure:
    """All tables that may be read, in a few round trips. Raises SourceUnavailable or AuthError."""
    schemas = list(options.schemas)
    async with database.transaction(seconds=STRUCTURE_SECONDS, timezone="UTC") as connection:
        rows = await _fetch(connection, "read_columns", [schemas, schemas[0]])
        functions = await _fetch(connection, "read_functions", [schemas])
        access = await _read_access(connection, options)
    columns = [(Name(row["table_schema"], row["table_name"]), row) for row in rows]
    for pattern in access.unknown_denials((name, row["name"]) for name, row in columns):
        log.warning("Source %s denies %r, which it does not have.", database.source, pattern)
    tables: list[tuple[str, list[Row]]] = []
    denied: list[str] = []
    for name, group in groupby(columns, key=lambda column: column[0]):
        if access.may_read(name):
            described, table = access.described(name), [row for _, row in group]
            readable = [row for row in table if access.may_read_column(name, row["name"])]
            denied += [f"{described}.{row['name']}" for row in table if row not in readable]
            tables += [(described, readable)] if readable else []
    return Structure(tuple(tables), tuple(denied), tuple(row["name"] for row in functions))


async def _read_access(connection: AsyncConnection, options: SqlOptions) -> Access:
    """The lists of the options, with what has to be known of views and heirs where something is denied."""
    if not (options.allow.columns or options.deny != Deny()):
        return Access(options.allow, options.deny, options.schemas[0])
    views = [
        ViewRead(
            Name(row["view_schema"], row["view_name"]), Name(row["read_schema"], row["read_table"]), row["read_column"]
        )
        for row in await _fetch(connection, "read_views", [])
    ]
    heirs = [
        (Name(row["parent_schema"], row["parent_name"]), Name(row["child_schema"], row["child_name"]))
        for row in await _fetch(connection, "read_heirs", [])
    ]
    return Access(options.allow, options.deny, options.schemas[0], views, heirs)


async def _fetch(connection: AsyncConnection, block: str, values: list[Any]) -> list[Row]:
    cursor = AsyncRawCursor(connection, row_factory=dict_row)
    await cursor.execute(SQL[block], values)
    return await cursor.fetchall()


async def read_tables(
    database: Database, options: SqlOptions, structure: Structure
) -> tuple[list[Table], list[ColumnValues]]:
    """Tables with samples, and the values of their text columns; a table too slow to read comes without both."""
    tables: list[Table] = []
    values: list[ColumnValues] = []
    until = time.monotonic() + VALUES_SECONDS
    for name, columns in structure.tables:
        held: tuple[Any, ...] | None = None
        if time.monotonic() < until:
            held = await _read_values(database, columns, options.max_values_per_column)
        tables.append(_table(name, columns, held))
        values.extend(_values(name, columns, held, options.max_values_per_column))
    return tables, values


def fingerprint(tables: Sequence[Table]) -> str:
    """Changes with tables, columns, types and keys; not with data, comments or the order of tables."""
    shape = sorted(
        [table.name, [[field.name, field.type, field.primary_key, field.references] for field in table.fields]]
        for table in tables
    )
    return hashlib.sha256(json.dumps(shape).encode()).hexdigest()[:32]


def kind_of(base_type: str, category: str) -> str:
    """What a parameter on a column of this type would be."""
    return _KINDS.get(base_type, "text" if category == "E" else "other")


async def _read_values(database: Database, columns: list[Row], value_cap: int) -> tuple[Any, ...] | None:
    """`(rows, samples, values, samples, values, …)` of one table, or None if it cannot be read in time."""
    try:
        async with database.transaction(seconds=TABLE_SECONDS, timezone="UTC") as connection:
            return await _fetch_values(connection, columns, value_cap)
    except QueryFailed:
        return None


async def _fetch_values(connection: AsyncConnection, columns: list[Row], value_cap: int) -> tuple[Any, ...] | None:
    table = sql.Identifier(columns[0]["table_schema"], columns[0]["table_name"])
    parts = [
        sql.SQL(SQL["text_column" if _has_values(column) else "other_column"]).format(
            column=sql.Identifier(column["name"]),
            table=table,
            long_text=sql.Literal(LONG_TEXT),
            scan_cap=sql.Literal(SCAN_CAP),
            value_cap=sql.Literal(value_cap + 1),
        )
        for column in columns
    ]
    statement = sql.SQL(SQL["read_values"]).format(
        table=table, count_cap=sql.Literal(COUNT_CAP + 1), columns=sql.SQL(", ").join(parts)
    )
    return await (await connection.execute(statement)).fetchone()


def _has_values(column: Row) -> bool:
    return column["base_type"] in _TEXT_TYPES


def _table(name: str, columns: list[Row], held: tuple[Any, ...] | None) -> Table:
    estimate = columns[0]["row_estimate"] if columns[0]["row_estimate"] >= 0 else None
    if held is not None and held[0] <= COUNT_CAP:
        estimate = held[0]
    samples = [tuple(found) for found in held[1::2]] if held is not None else [()] * len(columns)
    fields = tuple(_field(column, some) for column, some in zip(columns, samples, strict=True))
    return Table(name=name, comment=columns[0]["table_comment"], fields=fields, row_estimate=estimate)


def _field(column: Row, samples: tuple[str, ...]) -> Field:
    return Field(
        name=column["name"],
        type=column["type"],
        kind=kind_of(column["base_type"], column["category"]),
        comment=column["comment"],
        nullable=column["nullable"],
        primary_key=column["primary_key"],
        references=column["references"],
        samples=samples,
    )


def _values(name: str, columns: list[Row], held: tuple[Any, ...] | None, cap: int) -> list[ColumnValues]:
    """Distinct values per text column; those of an enum are its labels, whether a row has them or not."""
    found: list[ColumnValues] = []
    for number, column in enumerate(columns):
        values = column["labels"] if column["labels"] is not None else held[2 + 2 * number] if held else None
        if values:
            kept = tuple(values[:cap])
            complete = len(values) <= cap and column["row_estimate"] <= SCAN_CAP
            found.append(ColumnValues(column=f"{name}.{column['name']}", values=kept, complete=complete))
    return found
