"""Which queries may run at all: an allow-list over the syntax tree.

Every rule says which it is when it refuses, so that a person or a planner can mend the query. What runs later is the
text regenerated from the tree that was checked here, never the text that came in.
"""

import re
from typing import cast

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from qkva.connectors.sql.catalog import Catalog, real_tables, spelled
from qkva.connectors.sql.columns import check_columns
from qkva.connectors.sql.denied import check_denied
from qkva.connectors.sql.dialects import POSTGRES, Rules
from qkva.connectors.sql.functions import check_function
from qkva.connectors.sql.refusals import did_you_mean, refusal
from qkva.connectors.sql.scopes import Scopes

MAX_QUERY_CHARS = 20_000
MAX_NODES = 5_000

_STARTS = frozenset({TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN})
_FORBIDDEN: tuple[type[exp.Expr], ...] = (
    exp.DML, exp.DDL, exp.Drop, exp.Alter, exp.Command, exp.Set, exp.SetItem, exp.Into, exp.Lock, exp.Transaction,
    exp.Commit, exp.Rollback, exp.Use, exp.Kill, exp.Pragma, exp.Describe, exp.Show, exp.TruncateTable, exp.Analyze,
    exp.Execute, exp.Declare, exp.Grant, exp.Revoke, exp.Comment, exp.LoadData, exp.Attach, exp.Detach,
    exp.Operator, exp.UnicodeString, exp.HexString, exp.SessionParameter, exp.Pivot,
)  # fmt: skip
_READS = (exp.Select, exp.SetOperation, exp.Subquery)
_TYPES = frozenset(
    getattr(exp.DType, name)
    for name in (
        "TEXT VARCHAR CHAR BPCHAR NAME VARBINARY INT SMALLINT BIGINT DECIMAL FLOAT DOUBLE BOOLEAN DATE TIME TIMETZ "
        "TIMESTAMP TIMESTAMPTZ INTERVAL UUID JSON JSONB ARRAY MONEY INET INT4RANGE INT8RANGE NUMRANGE DATERANGE "
        "TSRANGE TSTZRANGE TINYINT MEDIUMINT UTINYINT USMALLINT UINT UBIGINT INT128 UINT128 DATETIME TIMESTAMPNTZ YEAR "
        "STRUCT MAP"
    ).split()
)
_NAMED_TYPES = frozenset({"citext", "tsvector", "tsquery", "cidr"})
_SESSION_WORDS = frozenset({"user", "current_role", "session_user", "current_user", "system_user", "current_catalog"})
_ESCAPES = re.compile(r"(?:[^\\']|\\[nrtbf\\])*")


def parse_query(text: str, rules: Rules = POSTGRES) -> exp.Query:
    """The one statement of `text`. Raises PlanRejected if it is none, several, or not of the database's language."""
    if len(text) > MAX_QUERY_CHARS:
        raise refusal("statement", f"it has more than {MAX_QUERY_CHARS} characters")
    try:
        tokens = sqlglot.tokenize(text, read=rules.name)
        _check_tokens(tokens)
        tree = sqlglot.parse_one(text, read=rules.parser)
    except (SqlglotError, RecursionError) as error:
        raise refusal("statement", f"it cannot be read as one {rules.title} SELECT") from error
    if not isinstance(tree, _READS):
        raise refusal("statement", "only SELECT is allowed", layer="allow-list")
    if rules.folds_quoted:
        for name in tree.find_all(exp.Identifier):
            name.meta["written"] = str(name.this)
            name.set("this", str(name.this).lower())
    return cast(exp.Query, tree)


def unfold(tree: exp.Expr) -> None:
    """Write each name as it was, for a database to which that is the same."""
    for name in tree.find_all(exp.Identifier):
        name.set("this", name.meta.get("written", name.this))


def check_query(tree: exp.Query, catalog: Catalog) -> None:
    """Refuse whatever could write, lock, leave the described tables or call what is not listed. Raises PlanRejected."""
    for number, node in enumerate(tree.walk()):
        if number > MAX_NODES:
            raise refusal("statement", "it is too long")
        _check_node(node)
        check_function(node, catalog)
        _check_type(node, catalog)
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, (exp.Identifier, exp.Func, type(None))):
            raise refusal("table", f"{table.sql(catalog.dialect)} is no name of a table")
    for table in real_tables(tree):
        _check_table(table, catalog)
    scopes = Scopes(catalog)
    check_denied(tree, catalog, scopes)
    check_columns(tree, catalog, scopes)


def _check_tokens(tokens: list[Token]) -> None:
    """One statement that starts like a SELECT; checked before parsing, which would log what it does not know."""
    if not tokens or tokens[0].token_type not in _STARTS:
        raise refusal("statement", "only SELECT is allowed", layer="allow-list")
    for token, following in zip(tokens, tokens[1:], strict=False):
        if token.token_type == TokenType.SEMICOLON:
            raise refusal("statement", "only one statement is allowed")
        adjacent = following.start == token.end + 1
        if token.token_type == TokenType.NUMBER and following.token_type == TokenType.VAR and adjacent:
            raise refusal("statement", f'"{token.text}{following.text}" is no number; write its digits only')
        if token.text.upper() == "U" and following.token_type == TokenType.AMP and adjacent:
            raise refusal("name", "names and texts spelled with U& are not allowed")


def _check_node(node: exp.Expr) -> None:
    if isinstance(node, _FORBIDDEN):
        raise refusal("statement", f"{_word(node)} is not allowed, only reading is", layer="allow-list")
    if isinstance(node, exp.CTE) and not isinstance(node.this, _READS + (exp.Values,)):
        raise refusal("statement", "a WITH part may only SELECT", layer="allow-list")
    if isinstance(node, exp.ByteString) and not _ESCAPES.fullmatch(node.this):
        raise refusal("name", "escapes other than \\n, \\t and the like are not allowed in E'' texts")
    if isinstance(node, exp.Column) and not node.table:
        name = node.this
        if isinstance(name, exp.Identifier) and not name.quoted and spelled(name) in _SESSION_WORDS:
            raise refusal("function", f"{spelled(name)} is not among the allowed functions")


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


def _names(catalog: Catalog) -> list[str]:
    return [table.name for table in catalog.tables]


def _word(node: exp.Expr) -> str:
    words = {"Into": "SELECT INTO", "Lock": "FOR UPDATE", "Operator": "OPERATOR()"}
    name = type(node).__name__
    return words.get(name, name.upper())
