"""Turn a query template into a statement with numbered binds.

Values are never written into the statement: each `{placeholder}` becomes `$n` with a cast, so the tree is the same for
every value. In order: parse, check (guard, columns), check where the placeholders stand, leave out the conditions of
what was not said, bind the rest, regenerate.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from qkva.connectors.sql.binds import MARK, Bind, bind_placeholders, number_of
from qkva.connectors.sql.catalog import Catalog, described_tables
from qkva.connectors.sql.columns import columns_read
from qkva.connectors.sql.dialects import POSTGRES, Rules
from qkva.connectors.sql.functions import check_own_functions
from qkva.connectors.sql.guard import check_query, parse_query
from qkva.connectors.sql.positions import check_positions, check_unquoted, quoted_spans
from qkva.connectors.sql.refusals import refusal, template_refusal
from qkva.contracts.plan import PLACEHOLDER, Parameter, ParamType
from qkva.contracts.source import COLUMNS_LISTED, column_id, table_id

Part = tuple[str, str | None]
"""A parameter's name and, for a time range, its side."""


@dataclass(frozen=True)
class Compiled:
    """A checked statement, ready for values."""

    sql: str
    binds: tuple[Bind, ...]
    """In the order of their numbers."""
    tables: tuple[str, ...]
    """Described names of the tables it reads, in order."""
    dependencies: tuple[str, ...]
    """The ids of the tables and columns that the template reads, whatever is left out of it."""
    left_out: tuple[str, ...]
    """The conditions whose parameter is missing, as SQL with the placeholders' names."""
    tree: exp.Query
    """As it was checked; for messages about it."""


def compile_template(
    query: str, params: Sequence[Parameter], catalog: Catalog, missing: frozenset[str] = frozenset()
) -> Compiled:
    """Check a template and give its statement; the conditions that use a `missing` parameter are left out.

    Raises PlanRejected, saying which rule or which parameter.
    """
    tree, parts = parse_template(query, params)
    check_parts(parts, params)
    check_query(tree, catalog)
    check_positions(tree, [name for name, _ in parts])
    checked = tree.copy()
    left_out = drop_conditions(tree, parts, missing)
    binds = bind_placeholders(tree, parts, params, catalog)
    tables = tuple(table.name for table in described_tables(tree, catalog))
    statement = tree.sql(catalog.dialect, comments=False)
    check_own_functions(statement, catalog)
    return Compiled(
        sql=statement,
        binds=tuple(binds),
        tables=tables,
        dependencies=dependencies_of(checked, catalog),
        left_out=left_out,
        tree=checked,
    )


def dependencies_of(tree: exp.Query, catalog: Catalog) -> tuple[str, ...]:
    """The ids of the described tables and columns that a checked tree reads."""
    read = set(columns_read(tree, catalog))
    tables = described_tables(tree, catalog)
    columns = [(table, field) for table in tables for field in table.fields if f"{table.name}.{field.name}" in read]
    return (*map(table_id, tables), COLUMNS_LISTED, *(column_id(table, field) for table, field in columns))


def check_parameters(query: str, params: Sequence[Parameter], rules: Rules = POSTGRES) -> None:
    """Refuse a declared parameter that the query does not use. Raises PlanRejected naming it."""
    tree, parts = parse_template(query, params, rules)
    used = {parts[number_of(node)][0] for node in tree.find_all(exp.Placeholder)}
    for param in params:
        if param.name not in used:
            raise template_refusal(f'The parameter "{param.name}" is declared, but the query does not use it.')


def parse_template(query: str, params: Sequence[Parameter], rules: Rules = POSTGRES) -> tuple[exp.Query, list[Part]]:
    """The tree with a numbered placeholder per part, and the parts by number.

    Inside quotes braces mean a placeholder only if they hold the name of one: '{a}' is an array too.
    """
    if MARK in query:
        raise refusal("name", f"names may not contain {MARK}")
    parts: list[Part] = []
    declared = {param.name for param in params}
    quoted = quoted_spans(query, rules)

    def number(found: re.Match[str]) -> str:
        part = (found[1], found[2])
        if part[0] not in declared and any(start <= found.start() <= end for start, end in quoted):
            return found[0]
        if part not in parts:
            parts.append(part)
        return f":{MARK}{parts.index(part)}"

    text = PLACEHOLDER.sub(number, query)
    tree = parse_query(text, rules)
    check_unquoted(text, rules)
    for interval in list(tree.find_all(exp.Interval)) if rules is POSTGRES else ():  # INTERVAL $1 is no SQL, a cast is
        if isinstance(interval.this, exp.Placeholder) and interval.args.get("unit") is None:
            interval.replace(exp.cast(interval.this, "interval"))
    return tree, parts


def check_parts(parts: list[Part], params: Sequence[Parameter]) -> None:
    """Refuse a placeholder that no parameter declares, or in the wrong form for its type. Raises PlanRejected."""
    declared = {param.name: param for param in params}
    for name, side in parts:
        if name not in declared:
            raise template_refusal(f'The query uses the parameter "{name}", which is not declared.')
        is_range = declared[name].type == ParamType.TIME_RANGE
        if is_range and side is None:
            raise template_refusal(f'"{name}" is a time range: write {{{name}.start}} and {{{name}.end}} in the query.')
        if side is not None and not is_range:
            raise template_refusal(f'"{name}" is no time range, so the query cannot use {{{name}.{side}}}.')


def drop_conditions(tree: exp.Query, parts: list[Part], missing: frozenset[str]) -> tuple[str, ...]:
    """Replace by TRUE each AND-ed condition that uses a missing parameter; elsewhere the parameter stays, as NULL."""
    dropped = []
    for node in list(tree.find_all(exp.Placeholder)):
        if parts[number_of(node)][0] in missing:
            condition = _condition_of(node)
            if condition is not None and condition.root() is tree:
                dropped.append(_named(condition, parts))
                condition.replace(exp.true())
    return tuple(dict.fromkeys(dropped))


def _named(condition: exp.Expr, parts: list[Part]) -> str:
    """A condition as it stands in the template."""
    text = condition.sql("postgres", comments=False)
    mark = rf"%\({MARK}(\d+)\)s"  # as the generator writes a placeholder
    return re.sub(mark, lambda found: "{" + ".".join(filter(None, parts[int(found[1])])) + "}", text)


def _condition_of(node: exp.Expr) -> exp.Expr | None:
    """The AND-ed part of the nearest WHERE, HAVING or ON around a placeholder; None in a SELECT list, a LIMIT …"""
    path = [node]
    while (parent := path[-1].parent) is not None:
        on_join = isinstance(parent, exp.Join) and path[-1].arg_key == "on"
        if on_join or isinstance(parent, (exp.Where, exp.Having)):
            condition = path.pop()
            while isinstance(condition, (exp.And, exp.Paren)) and _holds_and(condition):
                condition = path.pop()
            return condition
        path.append(parent)
    return None


def _holds_and(condition: exp.Expr) -> bool:
    return isinstance(condition.unnest(), exp.And)
