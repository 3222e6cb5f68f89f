"""Replace the placeholders of a checked tree by `$n` with the right cast."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from qkva.connectors.sql.catalog import Catalog, find_field, is_user_type, spelled
from qkva.connectors.sql.columns import tables_by_alias
from qkva.connectors.sql.refusals import template_refusal
from qkva.contracts.plan import Parameter, ParamType
from qkva.contracts.source import Field, Table

MARK = "__qkva_p"
"""Prefix of the numbered placeholders while a template is a tree."""

Form = Literal["plain", "like", "regex"]

_TYPES = {
    ParamType.TEXT: "text",
    ParamType.ENUM: "text",
    ParamType.INTEGER: "bigint",
    ParamType.NUMBER: "numeric",
    ParamType.DATE: "date",
    ParamType.DATETIME: "timestamptz",
    ParamType.TIME_RANGE: "timestamptz",
    ParamType.BOOLEAN: "boolean",
}
_EQUALITIES = (exp.EQ, exp.NEQ, exp.In, exp.NullSafeEQ, exp.NullSafeNEQ)
_COMPARISONS = (*_EQUALITIES, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_PATTERNS: dict[type[exp.Expr], Form] = {
    exp.Like: "like",
    exp.ILike: "like",
    exp.RegexpLike: "regex",
    exp.RegexpILike: "regex",
}
_COMPARED_AS_ITSELF = ("uuid", "citext")
_WRAPPERS = (exp.Paren, exp.Any, exp.All, exp.Tuple, exp.Array)


@dataclass(frozen=True)
class Bind:
    """One `$n`."""

    name: str
    part: str | None
    """"start" or "end" of a time range."""
    type: str
    """The PostgreSQL type it is cast to; ends in [] for a list."""
    form: Form = "plain"
    """In a pattern, what would be a wildcard in the value is escaped."""


def number_of(node: exp.Placeholder) -> int:
    """Which part of the template a placeholder is."""
    return int(str(node.this).removeprefix(MARK))


def bind_placeholders(
    tree: exp.Query, parts: Sequence[tuple[str, str | None]], params: Sequence[Parameter], catalog: Catalog
) -> list[Bind]:
    """Change the tree in place; returns the binds in the order of their numbers. Raises PlanRejected."""
    declared = {param.name: param for param in params}
    aliases = tables_by_alias(tree, catalog)
    binds: list[Bind] = []
    for node in list(tree.find_all(exp.Placeholder)):
        name, side = parts[number_of(node)]
        compared = _compared_column(node, aliases)
        form = pattern_form(node, name)
        bind = Bind(name=name, part=side, type=_bind_type(node, declared[name], compared), form=form)
        if bind not in binds:
            binds.append(bind)
        if compared is not None:
            _compare_as_text(*compared)
        _replace(node, bind, binds.index(bind) + 1)
    return binds


def _replace(node: exp.Placeholder, bind: Bind, number: int) -> None:
    bind_type = exp.DataType.build(bind.type, "postgres", udt=True)
    typed = exp.cast(exp.Parameter(this=exp.Literal.number(number)), bind_type)
    parent = node.parent
    if isinstance(parent, exp.In) and bind.type.endswith("[]"):
        if len(parent.expressions) > 1:
            raise template_refusal(f'The list "{bind.name}" must be alone in its IN (…).')
        parent.replace(exp.EQ(this=parent.this.copy(), expression=exp.Any(this=exp.Paren(this=typed))))
    elif isinstance(parent, exp.Fetch):
        node.replace(exp.Paren(this=typed))
    else:
        node.replace(typed)


def _bind_type(node: exp.Placeholder, param: Parameter, compared: tuple[exp.Column, Field] | None) -> str:
    is_list = param.type == ParamType.LIST
    kind = param.item_type if is_list else param.type
    base = _TYPES[kind]
    if base == "text" and compared is not None and compared[1].type in _COMPARED_AS_ITSELF:
        base = compared[1].type
    elif base == "bigint" and not is_list and not _takes_bigint(node):
        base = "integer"  # date + bigint, left(text, bigint), make_interval(days => bigint) do not exist
    return f"{base}[]" if is_list else base


def _takes_bigint(node: exp.Placeholder) -> bool:
    return isinstance(_outer(node).parent, (*_COMPARISONS, exp.Limit, exp.Offset, exp.Fetch))


def _outer(node: exp.Expr) -> exp.Expr:
    while isinstance(node.parent, _WRAPPERS):
        node = node.parent
    return node


def pattern_form(node: exp.Placeholder, name: str) -> Form:
    """How its value is escaped: as part of a LIKE or regular expression pattern, or not at all."""
    inside: exp.Expr = node
    while (parent := inside.parent) is not None and not isinstance(parent, (exp.Query, exp.Where)):
        if isinstance(parent, exp.SimilarTo) and inside.arg_key == "expression":
            raise template_refusal(f'The parameter "{name}" may not be part of a SIMILAR TO pattern: use LIKE.')
        form = _PATTERNS.get(type(parent))
        if form is not None and inside.arg_key == "expression":
            if isinstance(parent.parent, exp.Escape) and parent.parent.expression.name != "\\":
                raise template_refusal(f'The parameter "{name}" may not be part of a pattern with its own ESCAPE.')
            return form
        inside = parent
    return "plain"


def _compared_column(node: exp.Placeholder, aliases: dict[str, list[Table]]) -> tuple[exp.Column, Field] | None:
    """The column that a placeholder is directly compared with, if it has a type of its own (enum, uuid …)."""
    operator = _outer(node).parent
    if not isinstance(operator, (*_EQUALITIES, exp.Like, exp.ILike)):
        return None
    for side in (operator.this, operator.args.get("expression")):
        if isinstance(side, exp.Column):
            field = _field_of(side, aliases)
            if field is not None and is_user_type(field):
                return side, field
    return None


def _field_of(column: exp.Column, aliases: dict[str, list[Table]]) -> Field | None:
    qualifier = spelled(column.args.get("table"))
    if qualifier:
        tables = aliases.get(qualifier, [])
    else:
        tables = [table for found in aliases.values() for table in found]
    fields = (find_field(table, spelled(column.this)) for table in tables)
    return next((field for field in fields if field is not None), None)


def _compare_as_text(column: exp.Column, field: Field) -> None:
    """An enum equals no text, and refuses a text that is none of its labels; as text it just differs."""
    if field.type not in _COMPARED_AS_ITSELF:
        column.replace(exp.cast(column.copy(), "text"))
