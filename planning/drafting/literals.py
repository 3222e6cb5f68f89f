"""The literals of a query with their places in its text, and what each is compared with."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from qkva.contracts.plan import PLACEHOLDER
from qkva.contracts.question import MaskedQuestion, SlotType
from qkva.planning.reading.jql_form import read_jql_spans
from qkva.planning.reading.plan_form import sqlglot_dialect
from qkva.planning.reading.sql_form import comparison_of, parse_template

_MARK = 7_300_000
_ISO_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Literal:
    """One literal of a query."""

    start: int
    """First character in the query, quotes included."""
    end: int
    value: str
    """Without quotes, and without the % signs around it."""
    is_string: bool
    column: str | None
    op: str
    before: str = ""
    """A % in front of the value, if there is one."""
    after: str = ""
    lowered: bool = False
    """Whether it is compared with LOWER(…)."""
    list_id: int | None = None
    """Equal for the items of one IN (…) list."""
    list_length: int = 0
    op_span: tuple[int, int] | None = None
    """Where the operator in front of it stands, if it directly does."""


def find_literals(query: str, dialect: str) -> list[Literal]:
    """Literals in the order of the text; none for a query that cannot be read."""
    name = sqlglot_dialect(dialect)
    if name is None:
        return _jql_literals(query) if dialect.lower() == "jql" else []
    return _sql_literals(query, name)


def _sql_literals(query: str, dialect: str) -> list[Literal]:
    """Each literal is swapped for a mark of its own, so that the tree tells what stands beside it."""
    padded = PLACEHOLDER.sub(lambda found: "q" * len(found[0]), query)  # same length: the spans stay right
    try:
        tokens = sqlglot.tokenize(padded, read=dialect)
    except SqlglotError:
        return []
    spots = [(at, t) for at, t in enumerate(tokens) if t.token_type in (TokenType.STRING, TokenType.NUMBER)]
    marked = query
    for number, (_, token) in reversed(list(enumerate(spots))):
        mark = f"'{_MARK + number}'" if token.token_type is TokenType.STRING else str(_MARK + number)
        marked = marked[: token.start] + mark + marked[token.end + 1 :]
    tree = parse_template(marked, dialect)
    if tree is None:
        return []
    nodes = {str(node.this): node for node in tree.find_all(exp.Literal)}
    tables = {table.alias_or_name.lower(): table.name.lower() for table in tree.find_all(exp.Table)}
    found = []
    for number, (at, token) in enumerate(spots):
        node = nodes.get(str(_MARK + number))
        if node is not None:
            found.append(_literal(token, tokens, at, node, tables))
    return found


def _literal(token: Token, tokens: Sequence[Token], at: int, node: exp.Literal, tables: dict[str, str]) -> Literal:
    column, op = comparison_of(node, tables)
    is_string = token.token_type is TokenType.STRING
    text = token.text
    value = text.strip("%") if is_string and op == "like" else text
    before = text[: len(text) - len(text.lstrip("%"))] if value != text else ""
    after = text[len(text.rstrip("%")) :] if value != text else ""
    siblings = node.parent.expressions if isinstance(node.parent, exp.In) else []
    comparison = node.find_ancestor(exp.Binary, exp.In)
    operator = next((t for t in (tokens[at - 1 : at]) if t.text in ("<=", "<", ">=", ">", "=")), None)
    if operator is None and at > 1 and tokens[at - 1].token_type in (TokenType.DATE, TokenType.TIMESTAMP):
        operator = tokens[at - 2]
    return Literal(
        start=token.start,
        end=token.end + 1,
        value=value,
        is_string=is_string,
        column=column,
        op=op,
        before=before,
        after=after,
        lowered=comparison is not None and comparison.find(exp.Lower) is not None,
        list_id=id(node.parent) if siblings else None,
        list_length=len(siblings),
        op_span=(operator.start, operator.end + 1) if operator is not None and operator.text == "<=" else None,
    )


def _jql_literals(query: str) -> list[Literal]:
    return [
        Literal(start, end, value, quoted or not value.isdigit(), column, op)
        for start, end, value, column, op, quoted in read_jql_spans(query)
    ]


def spell_between_out(query: str, dialect: str, question: MaskedQuestion) -> str:
    """`x BETWEEN '2026-03-01' AND '2026-03-31'` as two comparisons, where a question's time range is meant.

    The query is written anew only then; otherwise its text stays as it is.
    """
    if not any(slot.type is SlotType.TIME_RANGE for slot in question.slots):
        return query
    tree = parse_template(query, dialect)
    if tree is None:
        return query
    changed = False
    for between in list(tree.find_all(exp.Between)):
        low, high = _date_in(between.args["low"]), _date_in(between.args["high"])
        if low is None or high is None:
            continue
        last = datetime.fromisoformat(high)
        after = last + timedelta(days=1) if len(high) == 10 else last
        upper = exp.LT if len(high) == 10 else exp.LTE
        bound = exp.Literal.string(after.date().isoformat() if len(high) == 10 else high)
        both = exp.and_(
            exp.GTE(this=between.this.copy(), expression=exp.Literal.string(low)),
            upper(this=between.this.copy(), expression=bound),
        )
        between.replace(exp.paren(both) if isinstance(between.parent, exp.Or | exp.Not) else both)
        changed = True
    return unbind(tree.sql(dialect=dialect)) if changed else query


def _date_in(node: exp.Expr) -> str | None:
    literal = node if isinstance(node, exp.Literal) else node.find(exp.Literal)
    if literal is None or not literal.is_string or not _ISO_DATE.match(str(literal.this)):
        return None
    return str(literal.this)


def unbind(sql: str) -> str:
    """Back from `bindable`: `:qkva_period__start` → `{period.start}`."""
    return re.sub(
        r"[:@%]\(?qkva_([a-z_][a-z0-9_]*?)(?:__(start|end))?\b\)?(?:s\b)?",
        lambda found: f"{{{found[1]}{'.' + found[2] if found[2] else ''}}}",
        sql,
    )
