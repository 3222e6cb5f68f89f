"""What a `type = "sql"` table of qkva.toml may hold."""

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator


class Allow(BaseModel):
    """`[sources.NAME.allow]`: what may be read; an empty list sets no bound."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tables: tuple[str, ...] = ()
    """Only these tables and views."""
    columns: tuple[str, ...] = ()
    """"table.column": of a table that is named here, only the columns that are named here."""
    functions: tuple[str, ...] = ()
    """Functions of the database's own that only read; they are called without a schema."""

    @field_validator("columns")
    @classmethod
    def columns_name_a_table(cls, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse a column without its table."""
        return with_table(columns)


class Deny(BaseModel):
    """`[sources.NAME.deny]`: what may not be read, whatever else allows it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schemas: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    """Nor the views that read them, unless `allow.tables` names such a view in full."""
    columns: tuple[str, ...] = ()
    """"table.column", "*.email": neither described nor readable, nor any view that reads them."""

    @field_validator("columns")
    @classmethod
    def columns_name_a_table(cls, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse a column without its table, which would deny nothing."""
        return with_table(columns)


class SqlOptions(BaseModel):
    """Which database, and which part of it may be read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: SecretStr
    """postgresql://user:password@host:port/database; SQLAlchemy's postgresql+psycopg:// is read as the same."""
    schemas: tuple[str, ...] = Field(default=("public",), min_length=1)
    """The first one is the default: its tables are named without it."""
    allow: Allow = Allow()
    deny: Deny = Deny()
    """Names as the source describes them, or with their schema; * stands for any characters."""
    max_values_per_column: int = Field(default=10_000, ge=0)
    """How many distinct values of a text column are read for recognising them in questions."""
    max_plan_cost: float = Field(default=5_000_000, gt=0)
    """A query that the database estimates above this is refused. Estimates mislead, so this only catches what no
    timeout should have to: a sequential read of ten million rows costs about 200,000, the cross join of two tables of
    50,000 rows each about 30,000,000."""
    max_plan_rows: float = Field(default=100_000_000, gt=0)
    """Nor may any step of its plan be expected to pass on more rows than this."""
    max_result_bytes: int = Field(default=5_000_000, ge=1_000)
    """A result is cut where it exceeds this."""
    max_connections: int = Field(default=4, ge=1)

    @field_validator("url", mode="after")
    @classmethod
    def url_is_postgres(cls, url: SecretStr) -> SecretStr:
        """Refuse what is no PostgreSQL address, without repeating it: it may hold a password."""
        scheme, _, rest = url.get_secret_value().partition("://")
        if scheme.split("+")[0] not in ("postgresql", "postgres") or not rest:
            raise ValueError("must be an address such as postgresql://user@host/database")
        plain = f"postgresql://{rest}"
        try:
            conninfo_to_dict(plain)
        except ProgrammingError:
            raise ValueError("is not a valid PostgreSQL address (special characters need %-encoding)") from None
        return SecretStr(plain)


def with_table(columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns, if each has its table before it. Raises ValueError."""
    for column in columns:
        if "." not in column:
            raise ValueError('must hold "table.column" names')
    return columns
