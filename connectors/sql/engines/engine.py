"""What is asked of a database's driver."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from qkva.connectors.sql.dialects import Rules
from qkva.contracts.source import LoginRights


@dataclass(frozen=True)
class ColumnRow:
    """One column of the database, as its catalog tells it."""

    table: str
    name: str
    type: str
    nullable: bool = True
    primary_key: bool = False
    references: str | None = None
    comment: str = ""
    table_comment: str = ""


class Engine(Protocol):
    """One database; every method blocks, runs in a thread, and raises the driver's errors."""

    @property
    def rules(self) -> Rules:
        """Of its language."""
        ...

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What the driver raises."""
        ...

    def read_columns(self) -> list[ColumnRow]:
        """The columns of all tables and views, in order."""
        ...

    def read_views(self) -> dict[str, str]:
        """The definition of each view."""
        ...

    def fetch(
        self, statement: str, values: Sequence[Any], *, rows: int, seconds: float, zone: str
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Names of the output columns, and at most `rows` rows, within `seconds`. Raises TimeoutError beyond that."""
        ...

    def expected_rows(self, statement: str, values: Sequence[Any]) -> float | None:
        """How many rows the busiest step is expected to pass on, without running it; None if the database has no
        estimates. A wrong statement raises."""
        ...

    def is_unavailable(self, error: Exception) -> bool:
        """Whether the error says that the database cannot be reached, rather than that the query is wrong."""
        ...

    def rights(self) -> LoginRights:
        """What could be done besides reading, if nothing else held it back."""
        ...

    def close(self) -> None:
        """Give back what is open."""
        ...
