"""SQL databases; PostgreSQL so far."""

from collections.abc import Mapping
from typing import Any

from qkva.connectors.options import read_options
from qkva.connectors.sql.connector import SqlConnector
from qkva.connectors.sql.options import SqlOptions

source_type = "sql"


def connect(name: str, options: Mapping[str, Any]) -> SqlConnector:
    """A connector for the database in `options`. Raises ConfigError."""
    return SqlConnector(name, read_options(SqlOptions, name, options))
