"""What a query may name: the described tables, looked up as SQL spells them."""

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from qkva.connectors.sql.dialects import POSTGRES, Rules
from qkva.contracts.source import Field, Table

_PLAIN_TEXT = ("text", "character varying", "character", "name", '"char"')


def spelled(identifier: exp.Expr | str | None) -> str:
    """The name an identifier means: folded to lower case unless quoted."""
    if isinstance(identifier, exp.Identifier):
        return str(identifier.this) if identifier.quoted else str(identifier.this).lower()
    return str(identifier or "").lower()


class Catalog:
    """The tables of one description, and what else a query may and may not name."""

    def __init__(
        self,
        tables: Sequence[Table],
        *,
        schemas: Sequence[str],
        denied: Iterable[str] = (),
        own_functions: Iterable[str] = (),
        allowed_functions: Iterable[str] = (),
        rules: Rules = POSTGRES,
    ) -> None:
        self.tables = tables
        self.rules = rules
        self.dialect = rules.name
        self.allowed_functions = frozenset(name.lower() for name in allowed_functions)
        """Of the database's own, those that its options allow."""
        self.own_functions = frozenset(own_functions) - self.allowed_functions
        """Functions that somebody has made within reach: whatever they do, a query does not call them."""
        self._schemas = schemas
        self._stored_names = {table.name.lower(): table.name for table in tables}
        if rules.folds_quoted:
            self.tables = tables = [_folded(table) for table in tables]
            denied = [column.lower() for column in denied]
        self._by_name = {table.name: table for table in tables}
        self._denied: dict[str, frozenset[str]] = {}
        for column in denied:
            table, _, name = column.rpartition(".")
            self._denied[table] = self._denied.get(table, frozenset()) | {name}
        self.user_types = {field.type for table in tables for field in table.fields if is_user_type(field)}

    def find(self, node: exp.Table) -> Table | None:
        """The described table that a reference names, or None."""
        name, schema = spelled(node.this), spelled(node.args.get("db"))
        if schema:
            return self._by_name.get(name if schema == self._schemas[0] else f"{schema}.{name}")
        candidates = [name, *(f"{other}.{name}" for other in self._schemas[1:])]
        return next((self._by_name[known] for known in candidates if known in self._by_name), None)

    def stored_name(self, name: str) -> str:
        """How the database spells the table that is described as `name`."""
        return self._stored_names.get(name.lower(), name)

    def denied_columns(self, table: Table) -> frozenset[str]:
        """The columns of it that may not be read."""
        return self._denied.get(table.name, frozenset())

    def field(self, column: str) -> Field | None:
        """The field of "table.column", or None."""
        name, _, field_name = column.rpartition(".")
        table = self._by_name.get(name)
        return find_field(table, field_name) if table else None


def _folded(table: Table) -> Table:
    """The table with its names in lower case, as the queries of a database that folds them are read."""
    fields = tuple(field.model_copy(update={"name": field.name.lower()}) for field in table.fields)
    return table.model_copy(update={"name": table.name.lower(), "fields": fields})


def find_field(table: Table, name: str) -> Field | None:
    """The field of that name, or None."""
    return next((field for field in table.fields if field.name == name), None)


def is_user_type(field: Field) -> bool:
    """Whether it is text to a person but of its own type to the database: an enum, a uuid, a domain, citext."""
    return field.kind == "text" and not field.type.startswith(_PLAIN_TEXT)


def cte_of(table: exp.Table) -> exp.CTE | None:
    """The common table expression that a reference means where it stands, or None if it means a real table.

    Without RECURSIVE an expression sees only those before it, never itself: `with t as (select * from t) …` reads the
    real t inside.
    """
    if table.args.get("db"):
        return None
    name = spelled(table.this)
    inside: exp.Expr = table
    while (holder := inside.parent) is not None:
        for cte in _visible_from(holder, inside):
            if spelled(cte.args["alias"].this) == name:
                return cte
        inside = holder
    return None


def _visible_from(holder: exp.Expr, inside: exp.Expr) -> list[exp.CTE]:
    """The expressions that `holder` adds to what its part `inside` can see."""
    if isinstance(holder, exp.With):
        return list(holder.expressions if holder.recursive else holder.expressions[: inside.index])
    block = holder.args.get("with_")
    return list(block.expressions) if block is not None and block is not inside else []


def real_tables(tree: exp.Expr) -> Iterator[exp.Table]:
    """Every reference to a table that is neither a common table expression nor a function."""
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and cte_of(table) is None:
            yield table


def described_tables(tree: exp.Expr, catalog: Catalog) -> list[Table]:
    """The described tables that a checked tree reads, once each, in order."""
    found: Iterable[Table | None] = (catalog.find(table) for table in real_tables(tree))
    return list({table.name: table for table in found if table is not None}.values())
