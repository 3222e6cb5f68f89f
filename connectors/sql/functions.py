"""The functions that a query may call: by the list of functions.txt, and by the source's own options."""

from functools import cache
from importlib import resources

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType
from sqlglot.tokens import Tokenizer

from qkva.connectors.sql.catalog import Catalog
from qkva.connectors.sql.refusals import refusal

_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER})


@cache
def allowed_functions(file: str = "functions.txt") -> frozenset[str]:
    """The names of a list of functions."""
    text = resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


@cache
def written_functions() -> frozenset[str]:
    """Those of functions.txt under the names that people and the database use."""
    text = resources.files(__package__).joinpath("functions.txt").read_text(encoding="utf-8")
    lines = text.partition("# --- as the parser names them ---")[0].splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def check_function(node: exp.Expr, catalog: Catalog) -> None:
    """Refuse a call of what is not listed. Raises PlanRejected."""
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
        raise refusal("function", f"{node.sql(catalog.dialect)} names a schema; call functions without one")
    if not isinstance(node, exp.Func):
        return
    name = node.name if isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc)) else node.sql_name()
    if name.lower() not in allowed_functions(catalog.rules.functions) and name.lower() not in catalog.allowed_functions:
        raise refusal("function", f"{name.lower()} is not among the allowed functions")


def check_own_functions(statement: str, catalog: Catalog) -> None:
    """Refuse a call that could reach a function of the database's own that bears the name of an allowed one.

    `lower(5)` is no call of PostgreSQL's lower(text) where somebody has made a lower(integer). Raises PlanRejected.
    """
    if not catalog.own_functions:
        return
    tokens = Tokenizer(dialect=catalog.dialect).tokenize(statement)
    for token, following in zip(tokens, tokens[1:], strict=False):
        name = token.text if token.token_type == TokenType.IDENTIFIER else token.text.lower()
        if following.token_type == TokenType.L_PAREN and name in catalog.own_functions:
            raise refusal("function", f'"{name}" is also a function of this database\'s own, which nobody has allowed')
