"""How queries are parsed: as their database reads them, with every function call kept as it is written.

sqlglot translates the functions that it knows, and not always to the same: in PostgreSQL to_hex(5) becomes HEX(5),
which there is none of, and regexp_like(a, b, 'i') loses its flag.
"""

from dataclasses import dataclass

from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.mysql import MySQL
from sqlglot.dialects.postgres import Postgres
from sqlglot.dialects.sqlite import SQLite
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.parsers.mysql import MySQLParser
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.parsers.sqlite import SQLiteParser

_UNDERSTOOD = frozenset({"COUNT", "COALESCE", "UNNEST", "GENERATE_SERIES"})
"""Functions that the checks look for by what they are."""


@dataclass(frozen=True)
class Rules:
    """What differs between the databases."""

    name: str
    """As sqlglot calls the dialect."""
    title: str
    parser: type[Dialect]
    functions: str
    """The file of the functions that a query may call."""
    folds_quoted: bool = False
    """Whether quoted names, too, are the same in upper and lower case."""


class VerbatimPostgres(Postgres):
    """PostgreSQL with its functions as they are written."""

    class Parser(PostgresParser):
        """Builds no node of its own for a function that only has arguments."""

        FUNCTIONS = {name: build for name, build in PostgresParser.FUNCTIONS.items() if name in _UNDERSTOOD}


class VerbatimSQLite(SQLite):
    """SQLite with its functions as they are written."""

    class Parser(SQLiteParser):
        """Builds no node of its own for a function that only has arguments."""

        FUNCTIONS = {name: build for name, build in SQLiteParser.FUNCTIONS.items() if name in _UNDERSTOOD}


class VerbatimDuckDB(DuckDB):
    """DuckDB with its functions as they are written."""

    class Parser(DuckDBParser):
        """Builds no node of its own for a function that only has arguments."""

        FUNCTIONS = {name: build for name, build in DuckDBParser.FUNCTIONS.items() if name in _UNDERSTOOD}


class VerbatimMySQL(MySQL):
    """MySQL with its functions as they are written."""

    class Parser(MySQLParser):
        """Builds no node of its own for a function that only has arguments."""

        FUNCTIONS = {name: build for name, build in MySQLParser.FUNCTIONS.items() if name in _UNDERSTOOD}


POSTGRES = Rules("postgres", "PostgreSQL", VerbatimPostgres, "functions.txt")
SQLITE = Rules("sqlite", "SQLite", VerbatimSQLite, "functions_sqlite.txt", folds_quoted=True)
DUCKDB = Rules("duckdb", "DuckDB", VerbatimDuckDB, "functions_duckdb.txt", folds_quoted=True)
MYSQL = Rules("mysql", "MySQL", VerbatimMySQL, "functions_mysql.txt", folds_quoted=True)
