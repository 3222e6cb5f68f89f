"""Which tables and columns the options let a source show."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qkva.connectors.sql.options import Allow, Deny


@dataclass(frozen=True)
class Name:
    """A table by its schema."""

    schema: str
    table: str


@dataclass(frozen=True)
class ViewRead:
    """A column, or without one a whole table, that a view reads."""

    view: Name
    read: Name
    column: str | None


class Access:
    """The allow and deny lists of one source."""

    def __init__(
        self,
        allow: Allow,
        deny: Deny,
        default_schema: str,
        views: Sequence[ViewRead] = (),
        heirs: Sequence[tuple[Name, Name]] = (),
    ) -> None:
        self._allow, self._deny = allow, deny
        self._default_schema = default_schema
        self._heirs = heirs
        self._hidden_views = self._find_hidden_views(views)

    def described(self, name: Name) -> str:
        """What the table is called in a description: without its schema if that is the default one."""
        return name.table if name.schema == self._default_schema else f"{name.schema}.{name.table}"

    def may_read(self, name: Name) -> bool:
        """Whether the table or view may be read at all."""
        if self._is_denied(name) or name in self._hidden_views:
            return False
        allowed = self._allow.tables
        return not allowed or any(_fits(pattern, self._spellings(name)) for pattern in allowed)

    def may_read_column(self, name: Name, column: str) -> bool:
        """Whether the column of a readable table may be read."""
        owners = [name, *(parent for parent, child in self._heirs if child == name)]
        return not any(self._hides_column(owner, column) for owner in owners)

    def unknown_denials(self, columns: Iterable[tuple[Name, str]]) -> list[str]:
        """The denied tables and columns that are none of the database's, as a misspelt one would be."""
        known = list(columns)
        deny = self._deny
        spelt = {spelling for name, _ in known for spelling in self._spellings(name)}
        missing = [pattern for pattern in deny.tables if not _fits(pattern, spelt)]
        full = {f"{spelling}.{column}" for name, column in known for spelling in self._spellings(name)}
        return missing + [pattern for pattern in deny.columns if not _fits(pattern, full)]

    def _hides_column(self, name: Name, column: str) -> bool:
        spellings = {f"{spelling}.{column}" for spelling in self._spellings(name)}
        if any(_fits(pattern, spellings) for pattern in self._deny.columns):
            return True
        listed = [
            pattern for pattern in self._allow.columns if _fits(pattern.rpartition(".")[0], self._spellings(name))
        ]
        return bool(listed) and not any(_fits(pattern, spellings) for pattern in listed)

    def _is_denied(self, name: Name) -> bool:
        if any(_fits(pattern, {name.schema}) for pattern in self._deny.schemas):
            return True
        return any(_fits(pattern, self._spellings(name)) for pattern in self._deny.tables)

    def _find_hidden_views(self, reads: Sequence[ViewRead]) -> frozenset[Name]:
        """Views that show what is denied, directly or through other views; not one that is allowed by its full name."""
        named = set(self._allow.tables)
        open_reads = [read for read in reads if not named & self._spellings(read.view)]
        hidden: set[Name] = set()
        while True:
            more = {read.view for read in open_reads if read.view not in hidden and self._shows_denied(read, hidden)}
            if not more:
                return frozenset(hidden)
            hidden |= more

    def _shows_denied(self, read: ViewRead, hidden: set[Name]) -> bool:
        if read.read in hidden or self._is_denied(read.read):
            return True
        return read.column is not None and not self.may_read_column(read.read, read.column)

    def _spellings(self, name: Name) -> set[str]:
        return {self.described(name), f"{name.schema}.{name.table}"}


def _fits(pattern: str, spellings: Iterable[str]) -> bool:
    expression = re.compile(".*".join(re.escape(part) for part in pattern.split("*")), re.DOTALL)
    return any(expression.fullmatch(spelling) for spelling in spellings)
