"""Read a JQL template with a small reader of its own: clauses, ORDER BY, and the values in them."""

import re
from collections import defaultdict
from dataclasses import dataclass

from qkva.contracts.plan import PLACEHOLDER
from qkva.planning.reading.query_form import Constant, QueryForm, Use
from qkva.planning.reading.question_tokens import words_of

_LEX = re.compile(
    r"""\s*(?:
        (?P<hole>\{[a-z_][a-z0-9_]*(?:\.(?:start|end))?\}) |
        "(?P<double>(?:[^"\\]|\\.)*)" | '(?P<single>(?:[^'\\]|\\.)*)' |
        (?P<op><=|>=|!=|!~|=|~|<|>) | (?P<punct>[(),]) |
        (?P<word>[^\s(),"'=!~<>{}]+)
    )""",
    re.VERBOSE,
)
_OPS = {"~": "like", "!~": "!="}
_WORD_OPS = {"in": "in", "is": "is", "was": "=", "changed": "changed", "not": "not"}


@dataclass(frozen=True)
class JqlToken:
    """One token of JQL."""

    kind: str
    """hole, text, op, punct or word."""
    text: str


def read_jql_tokens(query: str) -> tuple[JqlToken, ...] | None:
    """The tokens of a query; None where it cannot be read."""
    tokens: list[JqlToken] = []
    at = 0
    stripped = query.rstrip()
    while at < len(stripped):
        found = _LEX.match(stripped, at)
        if found is None:
            return None
        kind = found.lastgroup or ""
        text = found[kind]
        tokens.append(JqlToken("text" if kind in ("double", "single") else kind, re.sub(r"\\(.)", r"\1", text)))
        at = found.end()
    return tuple(tokens)


def read_jql_form(query: str) -> QueryForm:
    """What a JQL template says."""
    tokens = read_jql_tokens(query)
    if not tokens:
        return QueryForm(readable=False)
    words = [token.text.lower() if token.kind == "word" else "" for token in tokens]
    order_at = next((i for i in range(len(words) - 1) if words[i : i + 2] == ["order", "by"]), len(words))
    constants, uses, fields = _read_clauses(tokens[:order_at])
    ordering = _read_ordering(tokens[order_at + 2 :])
    negated = any(
        (token.kind == "op" and token.text in ("!=", "!~"))
        or word == "not"
        or (word in ("empty", "null") and i and words[i - 1] == "is")
        for i, (token, word) in enumerate(zip(tokens[:order_at], words[:order_at], strict=True))
    )
    said = {word for name in fields for word in words_of(name)}
    said |= {word for constant in constants for word in words_of(constant.value)}
    return QueryForm(
        output=("issue", "ticket"),
        output_columns=1,
        sorted_by=ordering,
        negated=negated,
        has_or="or" in words[:order_at],
        constants=constants,
        uses=uses,
        words=frozenset(said | {"issue", "ticket"}),
    )


def _read_clauses(
    tokens: tuple[JqlToken, ...],
) -> tuple[tuple[Constant, ...], dict[str, tuple[Use, ...]], list[str]]:
    constants: list[Constant] = []
    uses: dict[str, list[Use]] = defaultdict(list)
    fields: list[str] = []
    column, op = "", ""
    for at, token in enumerate(tokens):
        lowered = token.text.lower()
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        if token.kind == "op":
            op = _OPS.get(token.text, token.text)
        elif token.kind == "word" and lowered in _WORD_OPS and column:
            op = "!=" if (op, lowered) == ("not", "in") else _WORD_OPS[lowered]
        elif token.kind == "word" and lowered in ("and", "or", "not"):
            column, op = "", ""
        elif token.kind == "hole" and (hole := PLACEHOLDER.match(token.text)):
            uses[hole[1]].append(Use(hole[2], column or None, op))
        elif not op and token.kind in ("word", "text"):
            column = lowered
            fields.append(column)
        elif token.kind in ("word", "text") and not (following and following.text == "("):
            is_number = token.kind == "word" and token.text.isdigit()
            constants.append(Constant(token.text, column or None, op, is_number=is_number))
        elif token.kind == "word":
            constants.append(Constant(lowered + "()", column or None, op))
    return tuple(constants), {name: tuple(found) for name, found in uses.items()}, fields


def _read_ordering(tokens: tuple[JqlToken, ...]) -> tuple[str, ...]:
    """ "asc" or "desc" per field; JQL sorts ascending unless told."""
    directions: list[str] = []
    for token in tokens:
        lowered = token.text.lower()
        if lowered in ("asc", "desc") and directions:
            directions[-1] = lowered
        elif token.kind in ("word", "text"):
            directions.append("asc")
    return tuple(directions)


def read_jql_spans(query: str) -> list[tuple[int, int, str, str | None, str, bool]]:
    """`(start, end, value, field, operator, quoted)` of each value that stands in a clause."""
    found: list[tuple[int, int, str, str | None, str, bool]] = []
    at, column, op = 0, "", ""
    stripped = query.rstrip()
    while at < len(stripped) and (match := _LEX.match(stripped, at)) is not None:
        kind = match.lastgroup or ""
        text, lowered = match[kind], match[kind].lower()
        at = match.end()
        if kind == "op":
            op = _OPS.get(text, text)
        elif kind == "word" and lowered in ("and", "or", "not", "order"):
            column, op = ("", "") if not (lowered == "not" and column) else (column, op)
        elif kind == "word" and lowered in _WORD_OPS and column:
            op = _WORD_OPS[lowered]
        elif kind in ("word", "double", "single") and not op:
            column = lowered
        elif kind in ("word", "double", "single") and stripped[at : at + 1] != "(":
            quoted = kind != "word"
            start = match.start(kind) - quoted
            found.append((start, match.end(kind) + quoted, re.sub(r"\\(.)", r"\1", text), column or None, op, quoted))
    return found
