"""Whether the columns of a query exist, with "did you mean".

A qualified name has to be a column for certain, because PostgreSQL calls a function where it is none. A bare one is
refused only if no table of a plain query has it: for the rest the database's own EXPLAIN decides, and `suggest_column`
adds what was probably meant.
"""

from collections.abc import Iterable

from sqlglot import exp

from qkva.connectors.sql.catalog import Catalog, cte_of, described_tables, find_field, spelled
from qkva.connectors.sql.functions import allowed_functions
from qkva.connectors.sql.refusals import did_you_mean, refusal
from qkva.connectors.sql.scopes import SYSTEM_COLUMNS, Scopes, Source
from qkva.contracts.source import Table

_PARTS = frozenset({"key", "value"})
"""Of a record that jsonb_each and its kin make."""


def check_columns(tree: exp.Query, catalog: Catalog, scopes: Scopes) -> None:
    """Raise PlanRejected for a column that does not exist, or for a function that is called like a column."""
    plain = not _has_inner_queries(tree)
    known = _bare_names(tree, catalog) if plain else set()
    for column in tree.find_all(exp.Column):
        if isinstance(column.this, exp.Star):
            continue
        name = spelled(column.this)
        if column.args.get("table") is not None:
            _check_qualified(column, name, catalog, scopes)
        elif plain and name not in known:
            raise refusal("column", _missing(name, described_tables(tree, catalog)))
    for dot in tree.find_all(exp.Dot):
        _check_part(dot, catalog, scopes)


def suggest_column(tree: exp.Query, catalog: Catalog) -> str | None:
    """For a query that the database refused for a column: a sentence part that names the likely one, or None."""
    known = _bare_names(tree, catalog)
    for column in tree.find_all(exp.Column):
        if not isinstance(column.this, exp.Star) and spelled(column.this) not in known:
            return _missing(spelled(column.this), described_tables(tree, catalog))
    return None


def columns_read(tree: exp.Query, catalog: Catalog) -> list[str]:
    """ "table.column" of every described column that the query may read, sorted; a star reads all."""
    scopes = Scopes(catalog)
    found: set[str] = set()
    for column in tree.find_all(exp.Column):
        name, qualifier = spelled(column.this), spelled(column.args.get("table"))
        owners = scopes.named(column, qualifier, spelled(column.args.get("db"))) if qualifier else []
        if not qualifier:
            owners = scopes.holding(column, name)
            found |= _fields(scopes.named(column, name), None)  # a whole row
        found |= _fields(owners, None if isinstance(column.this, exp.Star) else {name})
    for star in tree.find_all(exp.Star):
        if isinstance(star.parent, exp.Select):
            found |= _fields(scopes.sources(star.parent), None)
    for join in tree.find_all(exp.Join):
        select = join.find_ancestor(exp.Select)
        natural = join.args.get("method") == "NATURAL"
        names = None if natural else {spelled(name) for name in join.args.get("using") or ()}
        found |= _fields(scopes.sources(select) if select is not None else [], names)
    return sorted(found)


def _fields(sources: Iterable[Source], names: set[str] | None) -> set[str]:
    """ "table.column" of the described columns of that name, or of all."""
    tables = [source.table for source in sources if source.table is not None]
    return {
        f"{table.name}.{field.name}"
        for table in tables
        for field in table.fields
        if names is None or field.name in names
    }


def _has_inner_queries(tree: exp.Query) -> bool:
    inner = tree.find(exp.Subquery, exp.CTE, exp.Lateral, exp.Unnest, exp.Values)
    functions = any(not isinstance(table.this, exp.Identifier) for table in tree.find_all(exp.Table))
    renamed = any(alias.columns for alias in tree.find_all(exp.TableAlias))
    return inner is not None or functions or renamed or isinstance(tree, exp.SetOperation)


def _check_qualified(column: exp.Column, name: str, catalog: Catalog, scopes: Scopes) -> None:
    qualifier = spelled(column.args.get("table"))
    sources = scopes.named(column, qualifier, spelled(column.args.get("db")))
    if not sources or column.args.get("catalog"):
        known = sorted({source.name for level in scopes.levels(column) for source in level.sources if source.name})
        raise refusal("column", f'"{qualifier}.{name}" names no table of the query{did_you_mean(qualifier, known)}')
    for source in sources:
        if source.table is not None and name not in source.columns:
            _refuse_denied(source.table, name, catalog)
            raise refusal("column", _missing(name, [source.table]))
        if source.table is None and not _is_column(name, source, catalog):
            near = did_you_mean(name, sorted(source.columns))
            raise refusal("column", f'there is no column "{name}" in "{qualifier}"{near}')


def _refuse_denied(table: Table, name: str, catalog: Catalog) -> None:
    if name in catalog.denied_columns(table):
        raise refusal("column", f'"{name}" may not be read')


def _is_column(name: str, source: Source, catalog: Catalog) -> bool:
    """Whether `source.name` is a column of no table, or at worst the call of an allowed function on what is there."""
    if name in catalog.own_functions:
        return False
    return name in source.columns or name in allowed_functions(catalog.rules.functions)


def _check_part(dot: exp.Dot, catalog: Catalog, scopes: Scopes) -> None:
    """`(record).part`: a part, or else it would be a function's call."""
    if isinstance(dot.expression, exp.Star):
        return
    name, owner = spelled(dot.expression), dot.this.unnest()
    if isinstance(owner, exp.Column) and not owner.args.get("table"):
        tables = [source.table for source in scopes.named(owner, spelled(owner.this)) if source.table is not None]
        if tables and all(find_field(table, name) is not None for table in tables):
            return
    if name in catalog.own_functions or not (name in _PARTS or name in allowed_functions(catalog.rules.functions)):
        raise refusal("column", f'"{name}" is no known part of {dot.this.sql(catalog.dialect)}')


def _bare_names(tree: exp.Query, catalog: Catalog) -> set[str]:
    """Every name that a column without a qualifier may have somewhere in the query."""
    names = {field.name for table in described_tables(tree, catalog) for field in table.fields}
    names |= {spelled(alias.args.get("alias")) for alias in tree.find_all(exp.Alias)}
    for table in tree.find_all(exp.Table):
        alias = table.args.get("alias")
        names.add(spelled(alias.this) if alias is not None and alias.this is not None else spelled(table.this))
    return names | SYSTEM_COLUMNS


def tables_by_alias(tree: exp.Query, catalog: Catalog) -> dict[str, list[Table]]:
    """The described tables that each alias or table name of the query stands for, over all its parts."""
    aliases: dict[str, list[Table]] = {}
    for node in tree.find_all(exp.Table):
        alias = node.args.get("alias")
        name = spelled(alias.this) if alias is not None and alias.this is not None else spelled(node.this)
        table = catalog.find(node) if isinstance(node.this, exp.Identifier) and cte_of(node) is None else None
        if table is not None and not (alias is not None and alias.columns):
            aliases.setdefault(name, []).append(table)
    return aliases


def _missing(name: str, tables: list[Table]) -> str:
    owners = " or ".join(f'"{table.name}"' for table in tables)
    near = did_you_mean(name, [field.name for table in tables for field in table.fields])
    place = f"in {owners}" if owners else "in the query"
    return f'there is no column "{name}" {place}{near}'
