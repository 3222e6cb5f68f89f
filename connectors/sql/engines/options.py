"""What a `type = "sql"` table of qkva.toml may hold for SQLite, DuckDB, MySQL and MariaDB."""

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from qkva.connectors.sql.options import Allow, Deny


class EngineOptions(BaseModel):
    """Which database, and which part of it may be read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: SecretStr
    """sqlite:///folder/file.db, duckdb:///folder/file.duckdb, mysql://user:password@host:port/database."""
    allow: Allow = Allow()
    deny: Deny = Deny()
    max_values_per_column: int = Field(default=10_000, ge=0)
    """How many distinct values of a text column are read for recognising them in questions."""
    max_plan_rows: float = Field(default=100_000_000, gt=0)
    """A query is refused if a step of its plan is expected to pass on more rows; SQLite does not say."""
    max_result_bytes: int = Field(default=5_000_000, ge=1_000)
    """A result is cut where it exceeds this."""
    max_connections: int = Field(default=4, ge=1)
