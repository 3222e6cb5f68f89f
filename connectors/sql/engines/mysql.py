"""MySQL and MariaDB: a READ ONLY transaction, rolled back, by the server's own limit of time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo

from qkva.connectors.sql.dialects import MYSQL
from qkva.connectors.sql.engines.engine import ColumnRow
from qkva.contracts.errors import ConfigError
from qkva.contracts.source import LoginRights

try:
    import pymysql
    from pymysql.cursors import SSCursor
except ImportError:  # an extra
    pymysql = None  # type: ignore[assignment, unused-ignore]

CONNECT_SECONDS = 2
_LATE = (1969, 3024)
"""Of MariaDB and of MySQL: the statement took too long."""
_UNAVAILABLE = (1040, 1044, 1045, 1049, 1203, 2002, 2003, 2006, 2013)
_READING = frozenset({"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "PROCESS"})
_COLUMNS = """
select c.table_name, c.column_name, c.column_type, c.is_nullable = 'YES', c.column_key = 'PRI', k.target,
    c.column_comment, if(t.table_type = 'VIEW', '', t.table_comment)
from information_schema.columns c
join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
left join (
    select table_name, column_name, min(concat(referenced_table_name, '.', referenced_column_name)) as target
    from information_schema.key_column_usage
    where table_schema = database() and referenced_table_schema = database()
    group by table_name, column_name
) k on k.table_name = c.table_name and k.column_name = c.column_name
where c.table_schema = database()
order by c.table_name, c.ordinal_position
"""
_VIEWS = "select table_name, view_definition from information_schema.views where table_schema = database()"
_RIGHTS = """
select privilege_type, 'the server' from information_schema.user_privileges where grantee = {login}
union select privilege_type, table_schema from information_schema.schema_privileges where grantee = {login}
union select privilege_type, concat(table_schema, '.', table_name) from information_schema.table_privileges
where grantee = {login}
"""


class MysqlEngine:
    """One database of a server; a connection for each query."""

    rules = MYSQL

    def __init__(self, url: str) -> None:
        if pymysql is None:
            raise ConfigError('The driver of MySQL is not installed: add it with pip install "qkva[mysql]".')
        self.errors = (pymysql.MySQLError, OSError)
        parts = urlsplit(url)
        socket = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair).get("unix_socket")
        self._address: dict[str, Any] = {
            "host": parts.hostname or "localhost",
            "port": parts.port or 3306,
            "user": unquote(parts.username or ""),
            "password": unquote(parts.password or ""),
            "database": unquote(parts.path.strip("/")),
            **({"unix_socket": unquote(socket)} if socket else {}),
        }

    def read_columns(self) -> list[ColumnRow]:
        """The columns of all tables and views of the database."""
        with self._reading(10, "UTC") as connection, connection.cursor() as cursor:
            cursor.execute(_COLUMNS)
            return [
                ColumnRow(table, name, kind, bool(nullable), bool(key), target, comment, table_comment)
                for table, name, kind, nullable, key, target, comment, table_comment in cursor.fetchall()
            ]

    def read_views(self) -> dict[str, str]:
        """The definition of each view, empty where the login may not see it."""
        with self._reading(10, "UTC") as connection, connection.cursor() as cursor:
            cursor.execute(_VIEWS)
            return {name: definition or "" for name, definition in cursor.fetchall()}

    def fetch(
        self, statement: str, values: Sequence[Any], *, rows: int, seconds: float, zone: str
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Names and rows, read from the server no faster than they are asked for."""
        try:
            with self._reading(seconds, zone) as connection:
                cursor = connection.cursor(SSCursor)
                cursor.execute(statement, tuple(values))
                found = list(cursor.fetchmany(rows))
                names = [column[0] for column in cursor.description or ()]
                if connection._result is not None:  # what was not read stays on the server
                    connection._result.unbuffered_active = False
                    connection._result = None
                return names, found
        except pymysql.MySQLError as error:
            raise TimeoutError if error.args and error.args[0] in _LATE else error from error

    def expected_rows(self, statement: str, values: Sequence[Any]) -> float | None:
        """The product of what EXPLAIN expects of each table of one SELECT."""
        with self._reading(10, "UTC") as connection, connection.cursor() as cursor:
            cursor.execute(f"explain {statement}", tuple(values))
            names = [column[0] for column in cursor.description]
            products: dict[Any, float] = {}
            for row in cursor.fetchall():
                step = dict(zip(names, row, strict=True))
                products[step["id"]] = products.get(step["id"], 1.0) * max(1.0, float(step["rows"] or 1))
        return max(products.values(), default=None)

    def is_unavailable(self, error: Exception) -> bool:
        """The server does not answer, or refuses the login."""
        return isinstance(error, OSError) or (bool(error.args) and error.args[0] in _UNAVAILABLE)

    def rights(self) -> LoginRights:
        """By the privileges of the login."""
        with self._reading(10, "UTC") as connection, connection.cursor() as cursor:
            cursor.execute("select current_user()")
            login = str(cursor.fetchone()[0])
            name, _, host = login.rpartition("@")
            grantee = connection.escape(f"'{name}'@'{host}'")
            cursor.execute(_RIGHTS.format(login=grantee))
            held = [(right, where) for right, where in cursor.fetchall() if right not in _READING]
        places = sorted({where for _, where in held})
        excess = tuple(
            f"may {', '.join(sorted({r.lower() for r, w in held if w == where})[:6])} on {where}" for where in places
        )
        return LoginRights(login=login, excess=excess)

    def close(self) -> None:
        """Nothing stays open."""

    @contextmanager
    def _reading(self, seconds: float, zone: str) -> Iterator[Any]:
        """A connection in a READ ONLY transaction, closed at the end."""
        connection = pymysql.connect(
            **self._address,
            charset="utf8mb4",
            connect_timeout=CONNECT_SECONDS,
            read_timeout=seconds + CONNECT_SECONDS,
            client_flag=0,
            local_infile=False,
        )
        try:
            with connection.cursor() as cursor:
                offset = datetime.now(ZoneInfo(zone)).strftime("%z")
                cursor.execute(
                    "set session time_zone = %s, sql_mode = 'STRICT_ALL_TABLES'", (f"{offset[:3]}:{offset[3:]}",)
                )
                if "mariadb" in connection.get_server_info().lower():
                    cursor.execute("set session max_statement_time = %s", (seconds,))
                else:
                    cursor.execute("set session max_execution_time = %s", (max(1, round(seconds * 1000)),))
                cursor.execute("set session lock_wait_timeout = %s", (max(1, round(seconds)),))
                cursor.execute("set session transaction read only")  # DDL commits, and then stands by itself
                cursor.execute("start transaction read only")
            yield connection
        finally:
            connection._force_close()
