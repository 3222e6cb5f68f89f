"""Which queries may run at all: an allow-list over the syntax tree.

Every rule says which it is when it refuses, so that a person or a planner can mend the query. What runs later is the
text regenerated from the tree that was checked here, never the text that came in.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import cast

import sqlglot
from rapidfuzz import fuzz, process
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from qkva.connectors.sql.catalog import Catalog, real_tables, spelled
from qkva.contracts.errors import PlanRejected

MAX_QUERY_CHARS = 20_000
MAX_NODES = 5_000

_STARTS = frozenset({TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN})
_FORBIDDEN: tuple[type[exp.Expr], ...] = (
    exp.DML, exp.DDL, exp.Drop, exp.Alter, exp.Command, exp.Set, exp.SetItem, exp.Into, exp.Lock, exp.Transaction,
    exp.Commit, exp.Rollback, exp.Use, exp.Kill, exp.Pragma, exp.Describe, exp.Show, exp.TruncateTable, exp.Analyze,
    exp.Execute, exp.Declare, exp.Grant, exp.Revoke, exp.Comment, exp.LoadData, exp.Attach, exp.Detach,
    exp.Operator, exp.UnicodeString, exp.HexString, exp.SessionParameter,
)  # fmt: skip
_READS = (exp.Select, exp.SetOperation, exp.Subquery)
_TYPES = frozenset(
    getattr(exp.DType, name)
    for name in (
        "TEXT VARCHAR CHAR BPCHAR NAME INT SMALLINT BIGINT DECIMAL FLOAT DOUBLE BOOLEAN DATE TIME TIMETZ TIMESTAMP "
        "TIMESTAMPTZ INTERVAL UUID JSON JSONB ARRAY MONEY INET INT4RANGE INT8RANGE NUMRANGE DATERANGE TSRANGE TSTZRANGE"
    ).split()
)
_NAMED_TYPES = frozenset({"citext", "tsvector", "tsquery", "cidr"})
_SESSION_WORDS = frozenset({"user", "current_role", "session_user", "current_user", "system_user", "current_catalog"})
_ESCAPES = re.compile(r"(?:[^\\']|\\[nrtbf\\])*")


@cache
def allowed_functions() -> frozenset[str]:
    """The names of functions.txt."""
    text = resources.files(__package__).joinpath("functions.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def parse_query(text: str) -> exp.Query:
    """The one statement of `text`. Raises PlanRejected if it is none, several, or not PostgreSQL."""
    if len(text) > MAX_QUERY_CHARS:
        raise refusal("statement", f"it has more than {MAX_QUERY_CHARS} characters")
    try:
        tokens = sqlglot.tokenize(text, read="postgres")
        _check_tokens(tokens)
        tree = sqlglot.parse_one(text, read="postgres")
    except (SqlglotError, RecursionError) as error:
        raise refusal("statement", "it cannot be read as one PostgreSQL SELECT") from error
    if not isinstance(tree, _READS):
        raise refusal("statement", "only SELECT is allowed")
    return cast(exp.Query, tree)


def check_query(tree: exp.Query, catalog: Catalog) -> None:
    """Refuse whatever could write, lock, leave the described tables or call what is not listed. Raises PlanRejected."""
    for number, node in enumerate(tree.walk()):
        if number > MAX_NODES:
            raise refusal("statement", "it is too long")
        _check_node(node)
        _check_function(node)
        _check_type(node, catalog)
    for table in real_tables(tree):
        _check_table(table, catalog)
    _check_denied(tree, catalog)


def refusal(rule: str, what: str) -> PlanRejected:
    """The error of one rule."""
    return PlanRejected(f"The query was refused by the {rule} rule: {what}{'' if what.endswith('?') else '.'}")


def _check_tokens(tokens: list[Token]) -> None:
    """One statement that starts like a SELECT; checked before parsing, which would log what it does not know."""
    if not tokens or tokens[0].token_type not in _STARTS:
        raise refusal("statement", "only SELECT is allowed")
    for token, following in zip(tokens, tokens[1:], strict=False):
        if token.token_type == TokenType.SEMICOLON:
            raise refusal("statement", "only one statement is allowed")
        if token.text.upper() == "U" and following.token_type == TokenType.AMP and following.start == token.end + 1:
            raise refusal("name", "names and texts spelled with U& are not allowed")


def _check_node(node: exp.Expr) -> None:
    if isinstance(node, _FORBIDDEN):
        raise refusal("statement", f"{_word(node)} is not allowed, only reading is")
    if isinstance(node, exp.CTE) and not isinstance(node.this, _READS + (exp.Values,)):
        raise refusal("statement", "a WITH part may only SELECT")
    if isinstance(node, exp.ByteString) and not _ESCAPES.fullmatch(node.this):
        raise refusal("name", "escapes other than \\n, \\t and the like are not allowed in E'' texts")
    if isinstance(node, exp.Column) and not node.table:
        name = node.this
        if isinstance(name, exp.Identifier) and not name.quoted and spelled(name) in _SESSION_WORDS:
            raise refusal("function", f"{spelled(name)} is not among the allowed functions")


def _check_function(node: exp.Expr) -> None:
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
        raise refusal("function", f"{node.sql('postgres')} names a schema; call functions without one")
    if not isinstance(node, exp.Func):
        return
    name = node.name if isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc)) else node.sql_name()
    if name.lower() not in allowed_functions():
        raise refusal("function", f"{name.lower()} is not among the allowed functions")


def _check_type(node: exp.Expr, catalog: Catalog) -> None:
    if isinstance(node, (exp.ObjectIdentifier, exp.PseudoType)):
        raise refusal("type", f"{node.sql('postgres').lower()} is not among the allowed types")
    if not isinstance(node, exp.DataType):
        return
    kind = str(node.args.get("kind") or "").lower()
    known = kind in _NAMED_TYPES or kind.replace('"', "") in catalog.user_types
    if node.this not in _TYPES and not (node.this == exp.DType.USERDEFINED and known):
        raise refusal("type", f"{node.sql('postgres').lower()} is not among the allowed types")


def _check_table(table: exp.Table, catalog: Catalog) -> None:
    if table.args.get("catalog"):
        raise refusal("table", f"{table.sql('postgres')} names a database; name tables without one")
    if catalog.find(table) is None:
        name = ".".join(part for part in (spelled(table.args.get("db")), spelled(table.this)) if part)
        raise refusal("table", f'"{name}" is not among the readable tables{did_you_mean(name, _names(catalog))}')


def _check_denied(tree: exp.Query, catalog: Catalog) -> None:
    """A table with denied columns is read column by column: no star, no whole row, no renaming, no denied name."""
    for reference in real_tables(tree):
        table = catalog.find(reference)
        denied = catalog.denied_columns(table) if table is not None else set()
        if not denied:
            continue
        alias = reference.args.get("alias")
        if (alias is not None and alias.columns) or next(tree.find_all(exp.Dot), None):
            raise refusal("column", f'"{spelled(reference.this)}" has columns that may not be read; do not rename them')
        own_name = spelled(reference.this)
        whole = {own_name, spelled(alias.this) if alias is not None else ""}
        for name in _mentioned(tree, whole):
            if name in denied:
                raise refusal("column", f'"{name}" may not be read')
            if name == "*" or name in whole:
                raise refusal("column", f'"{own_name}" has columns that may not be read; name the others')


def _mentioned(tree: exp.Query, whole: set[str]) -> Iterator[str]:
    """Every column name, and "*" for a star that takes in one of the tables called `whole`."""
    for star in tree.find_all(exp.Star):
        owner = spelled(star.parent.args.get("table")) if isinstance(star.parent, exp.Column) else ""
        if not isinstance(star.parent, exp.Count) and (not owner or owner in whole):
            yield "*"
    for column in tree.find_all(exp.Column):
        if not isinstance(column.this, exp.Star):
            yield spelled(column.this)
    for join in tree.find_all(exp.Join):
        yield from (spelled(name) for name in join.args.get("using") or ())


def _names(catalog: Catalog) -> list[str]:
    return [table.name for table in catalog.tables]


def _word(node: exp.Expr) -> str:
    words = {"Into": "SELECT INTO", "Lock": "FOR UPDATE", "Operator": "OPERATOR()"}
    name = type(node).__name__
    return words.get(name, name.upper())


def did_you_mean(name: str, known: list[str]) -> str:
    """`; did you mean "…"?`, which ends the sentence, or nothing if none is near."""
    near = nearest(name, known)
    return f'; did you mean "{near}"?' if near else ""


def nearest(name: str, known: list[str]) -> str | None:
    """The known name most like `name`, if it is like enough to be what was meant."""
    found = process.extractOne(name, known, scorer=fuzz.ratio, score_cutoff=60)
    return found[0] if found else None
