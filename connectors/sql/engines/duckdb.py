"""DuckDB, opened by `read_only`, without access to files, extensions or Python's variables."""

import json
import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qkva.connectors.sql.dialects import DUCKDB
from qkva.connectors.sql.engines.engine import ColumnRow
from qkva.contracts.errors import ConfigError
from qkva.contracts.source import LoginRights

try:
    import duckdb
except ImportError:  # an extra
    duckdb = None  # type: ignore[assignment, unused-ignore]

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "lock_configuration": "true",
}
_COLUMNS = """
select c.table_name, c.column_name, lower(c.data_type), c.is_nullable,
    coalesce(list_contains(k.constraint_column_names, c.column_name), false),
    coalesce(c.comment, ''), coalesce(t.comment, '')
from duckdb_columns() c
left join duckdb_tables() t on t.table_oid = c.table_oid
left join duckdb_constraints() k on k.table_oid = c.table_oid and k.constraint_type = 'PRIMARY KEY'
where c.schema_name = 'main' and not c.internal
order by c.table_name, c.column_index
"""
_REFERENCES = """
select table_name, constraint_column_names[1], referenced_table, referenced_column_names[1]
from duckdb_constraints()
where constraint_type = 'FOREIGN KEY' and len(constraint_column_names) = 1
"""


class DuckdbEngine:
    """A file, opened once; each query has a cursor of its own."""

    rules = DUCKDB

    def __init__(self, path: str) -> None:
        if duckdb is None:
            raise ConfigError('DuckDB is not installed: add it with pip install "qkva[duckdb]".')
        self.errors = (duckdb.Error,)
        self._path = path
        self._lock = threading.Lock()
        self._connection: Any = None

    def read_columns(self) -> list[ColumnRow]:
        """The columns of all tables and views of the main schema."""
        cursor = self._cursor()
        references = {
            (table, column): f"{target}.{key}" for table, column, target, key in cursor.execute(_REFERENCES).fetchall()
        }
        return [
            ColumnRow(table, name, kind, nullable, key, references.get((table, name)), comment, table_comment)
            for table, name, kind, nullable, key, comment, table_comment in cursor.execute(_COLUMNS).fetchall()
        ]

    def read_views(self) -> dict[str, str]:
        """The definition of each view."""
        return dict(self._cursor().execute("select view_name, sql from duckdb_views() where not internal").fetchall())

    def fetch(
        self, statement: str, values: Sequence[Any], *, rows: int, seconds: float, zone: str
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Names and rows; interrupted after `seconds`."""
        cursor = self._cursor()
        timer = threading.Timer(seconds, cursor.interrupt)
        timer.start()
        try:
            cursor.execute(statement, list(values))
            return [column[0] for column in cursor.description], cursor.fetchmany(rows)
        except duckdb.InterruptException as error:
            raise TimeoutError from error
        finally:
            timer.cancel()
            timer.join()
            cursor.close()

    def expected_rows(self, statement: str, values: Sequence[Any]) -> float | None:
        """By EXPLAIN."""
        rows = self._cursor().execute(f"explain (format json) {statement}", list(values)).fetchall()
        return max((_busiest(step) for _, plan in rows for step in json.loads(plan)), default=None)

    def is_unavailable(self, error: Exception) -> bool:
        """The file is gone, locked or none of DuckDB's."""
        return isinstance(error, (duckdb.IOException, duckdb.ConnectionException))

    def rights(self) -> LoginRights:
        """Opened read-only, a file cannot be written."""
        return LoginRights(login=Path(self._path).name)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _cursor(self) -> Any:
        with self._lock:
            if self._connection is None:
                self._connection = duckdb.connect(self._path, read_only=True, config=_CONFIG)
            return self._connection.cursor()


def _busiest(step: dict[str, Any]) -> float:
    return max([_expected(step), *(_busiest(child) for child in step.get("children", []))])


def _expected(step: dict[str, Any]) -> float:
    """Its own estimate; a cross product tells none, and has the product of what it joins."""
    told = str(step.get("extra_info", {}).get("Estimated Cardinality", "")).strip("~")
    if told.isdigit():
        return float(told)
    parts = [_expected(child) for child in step.get("children", [])]
    return math.prod(parts) if step.get("name") == "CROSS_PRODUCT" else max(parts, default=0.0)
