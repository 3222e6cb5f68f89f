"""Where a placeholder may stand: for a value, never for a name, a keyword or an order."""

from collections.abc import Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from qkva.connectors.sql.binds import MARK, number_of
from qkva.connectors.sql.dialects import Rules
from qkva.connectors.sql.refusals import template_refusal

_NAMES = (exp.Table, exp.From, exp.Dot, exp.Column, exp.Join, exp.TableAlias, exp.Collate, exp.DataType)
_ORDERS = (exp.Ordered, exp.Order, exp.Group, exp.Distinct, exp.Rollup, exp.Cube, exp.GroupingSets, exp.Window)
_KEYWORDS = (exp.Extract, exp.Interval, exp.TableSample)


def check_positions(tree: exp.Query, names: Sequence[str]) -> None:
    """Refuse a placeholder in the place of anything but a value; `names` by number. Raises PlanRejected."""
    for node in tree.walk():
        if isinstance(node, exp.Placeholder):
            if not str(node.this).startswith(MARK):
                raise template_refusal("The query has a bind of another spelling: write every parameter as {name}.")
            _check_position(node, names[number_of(node)])
        elif isinstance(node, exp.Parameter):
            raise template_refusal("The query has a bind of another spelling: write every parameter as {name}.")


def check_unquoted(text: str, rules: Rules) -> None:
    """Refuse a placeholder inside quotes or a name. Raises PlanRejected.

    Told by the tokens, not by the tree: the parser reads `interval ':p0 days'` as an interval of 0 days.
    """
    for token in sqlglot.tokenize(text, read=rules.name):
        if MARK in token.text and token.token_type != TokenType.VAR:
            raise template_refusal(
                "A parameter may not stand inside quotes or a name: write '%' || {name} || '%' for a part of a text, "
                "{name} * interval '1 day' for a number of days."
            )


def quoted_spans(text: str, rules: Rules) -> list[tuple[int, int]]:
    """Where the quoted texts and names with braces in them begin and end; nothing for what cannot be read."""
    try:
        tokens = sqlglot.tokenize(text, read=rules.name)
    except SqlglotError:
        return []
    return [(token.start, token.end) for token in tokens if "{" in token.text and token.token_type != TokenType.L_BRACE]


def _check_position(node: exp.Placeholder, name: str) -> None:
    child: exp.Expr = node
    parent = node.parent
    while isinstance(parent, (exp.Paren, exp.Cast, exp.Tuple)):
        child, parent = parent, parent.parent
    if isinstance(parent, exp.Alias):
        parent = parent.parent
    if isinstance(parent, _NAMES):
        raise template_refusal(f'The parameter "{name}" stands for a table or a column; only values can be parameters.')
    if isinstance(parent, exp.Aliases):
        raise template_refusal(f'The parameter "{name}" stands for a function; only values can be parameters.')
    if isinstance(parent, _ORDERS):
        raise template_refusal(f'The parameter "{name}" stands for an order or a group; only values can be parameters.')
    if isinstance(parent, _KEYWORDS) and not (isinstance(parent, exp.Extract) and child.arg_key == "expression"):
        raise template_refusal(f'The parameter "{name}" stands for a keyword; only values can be parameters.')
    if isinstance(parent, exp.Select):
        raise template_refusal(f'The parameter "{name}" alone is a column of the result; select what the source holds.')
