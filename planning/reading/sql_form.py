"""Read an SQL template: `{name}` stands for a value."""

import re
from collections import defaultdict
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from qkva.contracts.plan import PLACEHOLDER
from qkva.planning.reading.query_form import Constant, QueryForm, Use
from qkva.planning.reading.question_tokens import words_of

_OPS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.Like: "like",
    exp.ILike: "like",
    exp.SimilarTo: "like",
    exp.RegexpLike: "like",
    exp.RegexpILike: "like",
    exp.In: "in",
    exp.Between: "between",
    exp.Is: "is",
    exp.NullSafeEQ: "=",
    exp.NullSafeNEQ: "!=",
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
_PARAMETER = re.compile(r"^qkva_([a-z0-9_]*?)(?:__(start|end))?$")
_DULL_WORDS = frozenset("id key name code number no fk date".split())


def bindable(query: str) -> str:
    """The template with each placeholder as a named bind parameter that sqlglot can parse."""
    return PLACEHOLDER.sub(lambda found: f":qkva_{found[1]}" + (f"__{found[2]}" if found[2] else ""), query)


def parameter_of(node: exp.Expr) -> tuple[str, str | None] | None:
    """`(name, side)` of a placeholder node that `bindable` wrote, or None."""
    if not isinstance(node, exp.Placeholder | exp.Parameter):
        return None
    found = _PARAMETER.match(str(node.this.this if isinstance(node.this, exp.Expr) else node.this))
    return (found[1], found[2]) if found else None


def parse_template(query: str, dialect: str) -> exp.Expr | None:
    """The tree of a template; None if it cannot be parsed as one statement."""
    try:
        trees = [tree for tree in sqlglot.parse(bindable(query).rstrip().rstrip(";"), read=dialect) if tree is not None]
    except (SqlglotError, RecursionError):
        return None
    return trees[0] if len(trees) == 1 else None


def read_sql_form(query: str, dialect: str) -> QueryForm:
    """What an SQL template says."""
    tree = parse_template(query, dialect)
    if tree is None or not isinstance(tree, exp.Query):
        return QueryForm(readable=False)
    tables = {table.alias_or_name.lower(): table.name.lower() for table in tree.find_all(exp.Table)}
    outer = tree if isinstance(tree, exp.Select) else tree.find(exp.Select)
    shown = outer.expressions if outer is not None else []
    top = [
        _AGGREGATES[type(a)]
        for item in shown
        for a in item.find_all(*_AGGREGATES)
        if a.find_ancestor(exp.Select) is outer
    ]
    every = [_AGGREGATES[type(a)] for a in tree.find_all(*_AGGREGATES)]
    for name in top:
        every.remove(name)
    constants, uses = _values(tree, tables)
    orders = [order for order in tree.find_all(exp.Order)]
    return QueryForm(
        aggregates=tuple(top),
        output=tuple(word for item in shown for word in _output_words(item, tables)),
        output_columns=len(shown),
        orders=tuple(_direction(o) for order in orders if _is_limited(order) for o in order.expressions[:1]),
        sorted_by=tuple(_direction(o) for order in orders for o in order.expressions),
        limited=tree.find(exp.Limit, exp.Fetch) is not None,
        negated=_negates(tree),
        has_subquery=len(list(tree.find_all(exp.Select))) > 1,
        has_or=tree.find(exp.Or) is not None,
        distinct=outer is not None and outer.args.get("distinct") is not None,
        grouped=tree.find(exp.Group) is not None,
        inner_aggregates=tuple(every),
        constants=constants,
        uses=uses,
        words=_words(tree, tables, constants),
    )


def column_name(column: exp.Column, tables: dict[str, str]) -> str:
    """ "table.column" with the alias resolved; of an unqualified column the only table, if there is one."""
    table = column.table.lower()
    if not table and len(set(tables.values())) == 1:
        return f"{next(iter(tables.values()))}.{column.name.lower()}"
    return f"{tables.get(table, table)}.{column.name.lower()}" if table else column.name.lower()


def comparison_of(node: exp.Expr, tables: dict[str, str]) -> tuple[str | None, str]:
    """`(column, operator)` of the comparison that a literal or placeholder stands in, as "column operator value"."""
    child: exp.Expr = node
    parent = node.parent
    while parent is not None and not isinstance(parent, exp.Select | exp.Where | exp.And | exp.Or | exp.Subquery):
        if isinstance(parent, exp.Limit | exp.Fetch):
            return None, "limit"
        if isinstance(parent, exp.Interval):
            return None, "interval"
        op = _OPS.get(type(parent))
        if op is not None:
            if op == "between":
                op = ">=" if parent.args.get("low") is child else "<=" if parent.args.get("high") is child else op
            elif parent.this is child:
                op = _MIRRORED.get(op, op)
            others = [e for e in parent.iter_expressions() if e is not child]
            column = next((c for e in others for c in e.find_all(exp.Column)), None)
            return (column_name(column, tables) if column is not None else None), op
        child, parent = parent, parent.parent
    return None, ""


def _values(tree: exp.Expr, tables: dict[str, str]) -> tuple[tuple[Constant, ...], dict[str, tuple[Use, ...]]]:
    constants: list[Constant] = []
    uses: dict[str, list[Use]] = defaultdict(list)
    for node in tree.find_all(exp.Literal, exp.Placeholder, exp.Parameter, exp.Boolean):
        column, op = comparison_of(node, tables)
        parameter = parameter_of(node)
        if parameter is not None:
            uses[parameter[0]].append(Use(parameter[1], column, op))
        elif isinstance(node, exp.Boolean):
            if column is not None:
                constants.append(Constant(str(node.this).lower(), column, op))
        elif isinstance(node, exp.Literal):
            value = str(node.this).strip("%") if node.is_string else str(node.this)
            if value and not isinstance(node.parent, exp.Placeholder):
                constants.append(Constant(value, column, op, is_number=not node.is_string))
    return tuple(constants), {name: tuple(found) for name, found in uses.items()}


def _direction(ordered: exp.Expr) -> str:
    return "desc" if ordered.args.get("desc") else "asc"


def _is_limited(order: exp.Order) -> bool:
    return isinstance(order.parent, exp.Query) and (
        order.parent.args.get("limit") is not None or order.parent.args.get("fetch") is not None
    )


def _negates(tree: exp.Expr) -> bool:
    if tree.find(exp.NEQ, exp.Except, exp.NullSafeNEQ) is not None:
        return True
    for found in tree.find_all(exp.Not, exp.Is):
        if isinstance(found, exp.Not) and not isinstance(found.this, exp.Is):
            return True
        if (
            isinstance(found, exp.Is)
            and isinstance(found.expression, exp.Null)
            and not isinstance(found.parent, exp.Not)
        ):
            # "{period.start} IS NULL OR …" makes a parameter optional: no negation.
            if found.this.find(exp.Column) is not None:
                return True
    return False


def _output_words(item: exp.Expr, tables: dict[str, str]) -> list[str]:
    words: list[str] = []
    if item.alias:
        words += words_of(item.alias)
    for column in item.find_all(exp.Column):
        words += words_of(column.name)
        if set(words_of(column.name)) <= _DULL_WORDS and column.table:
            words += words_of(tables.get(column.table.lower(), column.table))
    if item.find(exp.Star) is not None:
        words += [word for table in tables.values() for word in words_of(table)]
    return words


def _words(tree: exp.Expr, tables: dict[str, str], constants: tuple[Constant, ...]) -> frozenset[str]:
    words = {word for table in tables.values() for word in words_of(table)}
    for column in tree.find_all(exp.Column):
        words.update(words_of(column.name))
    for constant in constants:
        if not constant.is_number:
            words.update(words_of(constant.value))
    return frozenset(words)


@lru_cache(maxsize=5_000)
def table_names(query: str, dialect: str) -> dict[str, str]:
    """Alias to table, lower-cased, of a template; empty if it cannot be parsed."""
    tree = parse_template(query, dialect)
    return {} if tree is None else {t.alias_or_name.lower(): t.name.lower() for t in tree.find_all(exp.Table)}
