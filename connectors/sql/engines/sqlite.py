"""SQLite, opened by `mode=ro` and kept from writing by `query_only`; an authoriser allows nothing but reading."""

import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from qkva.connectors.sql.dialects import SQLITE
from qkva.connectors.sql.engines.engine import ColumnRow
from qkva.contracts.source import LoginRights

_READS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})
_LONGEST_VALUE = 10_000_000


class SqliteEngine:
    """A file; a connection of its own for each query, which costs less than a millisecond."""

    rules = SQLITE
    errors = (sqlite3.Error,)

    def __init__(self, path: str) -> None:
        self._path = path

    def read_columns(self) -> list[ColumnRow]:
        """The columns of all tables and views."""
        with closing(self._open(only_reads=False)) as connection:
            names = connection.execute(
                "select name from sqlite_master "
                "where type in ('table', 'view') and name not like 'sqlite!_%' escape '!' order by name"
            ).fetchall()
            return [row for (name,) in names for row in self._columns_of(connection, name)]

    def _columns_of(self, connection: sqlite3.Connection, table: str) -> list[ColumnRow]:
        keys = connection.execute('select "from", "table", "to" from pragma_foreign_key_list(?)', (table,)).fetchall()
        references = {column: f"{target}.{key}" for column, target, key in keys if key}
        rows = connection.execute('select name, type, "notnull", pk from pragma_table_info(?)', (table,)).fetchall()
        return [
            ColumnRow(table, name, kind.lower() or "any", not required, pk > 0, references.get(name))
            for name, kind, required, pk in rows
        ]

    def read_views(self) -> dict[str, str]:
        """The definition of each view."""
        with closing(self._open(only_reads=False)) as connection:
            return dict(connection.execute("select name, sql from sqlite_master where type = 'view'").fetchall())

    def fetch(
        self, statement: str, values: Sequence[Any], *, rows: int, seconds: float, zone: str
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Names and rows; interrupted after `seconds`."""
        with closing(self._open()) as connection:
            late = threading.Event()

            def stop() -> None:
                late.set()
                connection.interrupt()

            timer = threading.Timer(seconds, stop)
            timer.start()
            try:
                cursor = connection.execute(statement, tuple(values))
                found = cursor.fetchmany(rows)
                return [column[0] for column in cursor.description], found
            except sqlite3.OperationalError as error:
                raise TimeoutError if late.is_set() else error from error
            finally:
                timer.cancel()
                timer.join()

    def expected_rows(self, statement: str, values: Sequence[Any]) -> float | None:
        """SQLite has no estimates in rows; it says here whether the statement is right."""
        with closing(self._open()) as connection:
            connection.set_authorizer(None)
            connection.execute(f"explain {statement}", tuple(values)).fetchone()
        return None

    def is_unavailable(self, error: Exception) -> bool:
        """The file is gone, locked or none of SQLite's."""
        text = str(error)
        return isinstance(error, sqlite3.DatabaseError) and any(
            sign in text for sign in ("unable to open", "is locked", "not a database", "disk I/O", "malformed")
        )

    def rights(self) -> LoginRights:
        """Opened read-only, a file cannot be written."""
        return LoginRights(login=Path(self._path).name)

    def close(self) -> None:
        """Nothing stays open."""

    def _open(self, *, only_reads: bool = True) -> sqlite3.Connection:
        uri = f"file:{quote(str(Path(self._path).absolute()))}?mode=ro"
        connection = sqlite3.connect(uri, uri=True, timeout=2, check_same_thread=False)
        connection.execute("pragma query_only = on")
        connection.execute("pragma trusted_schema = off")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        if only_reads:
            connection.set_authorizer(_authorise)
        return connection


def _authorise(action: int, *details: object) -> int:
    return sqlite3.SQLITE_OK if action in _READS else sqlite3.SQLITE_DENY
