"""SQL databases: PostgreSQL, SQLite, DuckDB, MySQL and MariaDB."""

from collections.abc import Callable, Mapping
from typing import Any

from qkva.connectors.options import read_options
from qkva.connectors.sql.connector import SqlConnector
from qkva.connectors.sql.engines.connector import EngineConnector
from qkva.connectors.sql.engines.duckdb import DuckdbEngine
from qkva.connectors.sql.engines.engine import Engine
from qkva.connectors.sql.engines.mysql import MysqlEngine
from qkva.connectors.sql.engines.options import EngineOptions
from qkva.connectors.sql.engines.sqlite import SqliteEngine
from qkva.connectors.sql.options import SqlOptions
from qkva.contracts.source import Connector

source_type = "sql"

_FILES: dict[str, Callable[[str], Engine]] = {"sqlite": SqliteEngine, "duckdb": DuckdbEngine}
_SERVERS: dict[str, Callable[[str], Engine]] = {"mysql": MysqlEngine, "mariadb": MysqlEngine}


def connect(name: str, options: Mapping[str, Any]) -> Connector:
    """A connector for the database in `options`, chosen by the scheme of its url. Raises ConfigError."""
    scheme, _, rest = str(options.get("url", "")).partition("://")
    kind = scheme.split("+")[0]
    if kind in _FILES:
        return EngineConnector(name, _FILES[kind](rest.removeprefix("/")), read_options(EngineOptions, name, options))
    if kind in _SERVERS:
        return EngineConnector(name, _SERVERS[kind](f"mysql://{rest}"), read_options(EngineOptions, name, options))
    return SqlConnector(name, read_options(SqlOptions, name, options))
