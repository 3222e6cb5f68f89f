"""How queries are parsed: as their database reads them, with every function call kept as it is written.

sqlglot translates the functions that it knows, and not always to the same: in PostgreSQL to_hex(5) becomes HEX(5),
which there is none of, and regexp_like(a, b, 'i') loses its flag.
"""

from sqlglot.dialects.postgres import Postgres
from sqlglot.parsers.postgres import PostgresParser

_UNDERSTOOD = frozenset({"COUNT", "COALESCE", "UNNEST", "GENERATE_SERIES"})
"""Functions that the checks look for by what they are."""


class VerbatimPostgres(Postgres):
    """PostgreSQL with its functions as they are written."""

    class Parser(PostgresParser):
        """Builds no node of its own for a function that only has arguments."""

        FUNCTIONS = {name: build for name, build in PostgresParser.FUNCTIONS.items() if name in _UNDERSTOOD}
