"""Whether a query's columns exist, with "did you mean".

Only what is certain is refused here: a column qualified by a real table, or a bare one in a query that reads real
tables only. For the rest the database's own EXPLAIN decides, and `suggest_column` adds what was probably meant.
"""

from sqlglot import exp

from qkva.connectors.sql.catalog import Catalog, cte_of, described_tables, find_field, spelled
from qkva.connectors.sql.guard import did_you_mean, refusal
from qkva.contracts.source import Table

_SYSTEM = frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"})


def check_columns(tree: exp.Query, catalog: Catalog) -> None:
    """Raise PlanRejected for a column that certainly does not exist."""
    aliases, unknown = _sources(tree, catalog)
    plain = not unknown and not _has_inner_queries(tree)
    for column in tree.find_all(exp.Column):
        if isinstance(column.this, exp.Star):
            continue
        name, qualifier = spelled(column.this), spelled(column.args.get("table"))
        if qualifier and qualifier not in unknown:
            _check_qualified(name, qualifier, aliases)
        elif not qualifier and plain and name not in _bare_names(tree, aliases):
            raise refusal("column", _missing(name, described_tables(tree, catalog)))


def suggest_column(tree: exp.Query, catalog: Catalog) -> str | None:
    """For a query that the database refused for a column: a sentence part that names the likely one, or None."""
    aliases, _ = _sources(tree, catalog)
    known = _bare_names(tree, aliases)
    for column in tree.find_all(exp.Column):
        if not isinstance(column.this, exp.Star) and spelled(column.this) not in known:
            return _missing(spelled(column.this), described_tables(tree, catalog))
    return None


def tables_by_alias(tree: exp.Query, catalog: Catalog) -> dict[str, list[Table]]:
    """The described tables that each alias or table name of the query stands for, over all its parts."""
    return _sources(tree, catalog)[0]


def _sources(tree: exp.Query, catalog: Catalog) -> tuple[dict[str, list[Table]], set[str]]:
    """Aliases of real tables, and the names of everything else that columns can come from."""
    aliases: dict[str, list[Table]] = {}
    inner = (alias for alias in tree.find_all(exp.TableAlias) if not isinstance(alias.parent, exp.Table))
    unknown = {spelled(alias.this) for alias in inner}
    for node in tree.find_all(exp.Table):
        alias = node.args.get("alias")
        name = spelled(alias.this) if alias is not None and alias.this is not None else spelled(node.this)
        table = catalog.find(node) if isinstance(node.this, exp.Identifier) and cte_of(node) is None else None
        if table is None or (alias is not None and alias.columns):
            unknown.add(name)
        else:
            aliases.setdefault(name, []).append(table)
    return aliases, unknown


def _has_inner_queries(tree: exp.Query) -> bool:
    inner = tree.find(exp.Subquery, exp.CTE, exp.Lateral, exp.Unnest, exp.Values)
    return inner is not None or isinstance(tree, exp.SetOperation)


def _check_qualified(name: str, qualifier: str, aliases: dict[str, list[Table]]) -> None:
    tables = aliases.get(qualifier)
    if tables is None:
        near = did_you_mean(qualifier, sorted(aliases))
        raise refusal("column", f'"{qualifier}.{name}" names no table of the query{near}')
    if name not in _SYSTEM and all(find_field(table, name) is None for table in tables):
        raise refusal("column", _missing(name, tables))


def _bare_names(tree: exp.Query, aliases: dict[str, list[Table]]) -> set[str]:
    names = {field.name for tables in aliases.values() for table in tables for field in table.fields}
    given = {spelled(alias.args.get("alias")) for alias in tree.find_all(exp.Alias)}
    return names | given | set(aliases) | _SYSTEM


def _missing(name: str, tables: list[Table]) -> str:
    owners = " or ".join(f'"{table.name}"' for table in tables)
    near = did_you_mean(name, [field.name for table in tables for field in table.fields])
    return f'there is no column "{name}" in {owners}{near}'
