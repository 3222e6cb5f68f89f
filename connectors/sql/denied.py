"""Columns that may not be read are not reached at all: by no name, star, whole row, join by name or renaming."""

from collections.abc import Iterator

from sqlglot import exp

from qkva.connectors.sql.catalog import Catalog, real_tables, spelled
from qkva.connectors.sql.refusals import refusal
from qkva.connectors.sql.scopes import Level, Scopes, Source, is_join_in_parentheses
from qkva.contracts.errors import PlanRejected


def check_denied(tree: exp.Query, catalog: Catalog, scopes: Scopes) -> None:
    """Raise PlanRejected for a query that could read a denied column. Qualified names are check_columns' part."""
    _check_aliases(tree, catalog)
    if not any(catalog.denied_columns(table) for node in real_tables(tree) if (table := catalog.find(node))):
        return
    for star in tree.find_all(exp.Star):
        _check_star(star, catalog, scopes)
    for column in tree.find_all(exp.Column):
        if not isinstance(column.this, exp.Star) and column.args.get("table") is None:
            _check_bare(column, spelled(column.this), catalog, scopes)
    for join in tree.find_all(exp.Join):
        _check_join(join, catalog, scopes)


def _check_aliases(tree: exp.Query, catalog: Catalog) -> None:
    """A renamed table, or a join renamed as a whole, would show its columns under other names."""
    for item in tree.find_all(exp.Subquery):
        if is_join_in_parentheses(item) and item.args.get("alias") is not None:
            raise refusal("table", "a join in parentheses may not have an alias")
    for reference in real_tables(tree):
        table, alias = catalog.find(reference), reference.args.get("alias")
        if table is not None and catalog.denied_columns(table) and alias is not None and alias.columns:
            raise refusal("column", f'"{table.name}" has columns that may not be read; do not rename them')


def _check_star(star: exp.Star, catalog: Catalog, scopes: Scopes) -> None:
    parent = star.parent
    if isinstance(parent, exp.Column):
        owners = scopes.named(parent, spelled(parent.args.get("table")), spelled(parent.args.get("db")))
    elif isinstance(parent, exp.Select) and not isinstance(parent.parent, exp.Exists):
        owners = scopes.sources(parent)
    else:
        return  # count(*), exists (select * …): no column of it is read
    for table in _guarded(owners, catalog):
        raise _whole(table)


def _check_bare(column: exp.Column, name: str, catalog: Catalog, scopes: Scopes) -> None:
    for level in scopes.levels(column):
        _check_level(level, name, catalog)
        if level.certain and any(name in source.columns for source in level.sources):
            return


def _check_level(level: Level, name: str, catalog: Catalog) -> None:
    for source in level.sources:
        denied = catalog.denied_columns(source.table) if source.table is not None else frozenset()
        if name in denied:
            raise refusal("column", f'"{name}" may not be read')
        if denied and source.table is not None and name == source.name:
            raise _whole(source.table.name)


def _check_join(join: exp.Join, catalog: Catalog, scopes: Scopes) -> None:
    """USING and NATURAL compare columns that are written nowhere, or only by name."""
    select = join.find_ancestor(exp.Select)
    sources = scopes.sources(select) if select is not None else []
    if join.args.get("method") == "NATURAL":
        for table in _guarded(sources, catalog):
            raise refusal("column", f'"{table}" has columns that may not be read; write the join with ON')
    names = {spelled(name) for name in join.args.get("using") or ()}
    for source in sources:
        for name in names & catalog.denied_columns(source.table) if source.table is not None else ():
            raise refusal("column", f'"{name}" may not be read')


def _guarded(sources: list[Source], catalog: Catalog) -> Iterator[str]:
    """The names of those that have denied columns."""
    for source in sources:
        if source.table is not None and catalog.denied_columns(source.table):
            yield source.table.name


def _whole(table: str) -> PlanRejected:
    return refusal("column", f'"{table}" has columns that may not be read; name the others')
