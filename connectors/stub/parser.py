"""Read the JQL that plans use.

    query      = [condition] ["ORDER BY" field ["ASC" | "DESC"] {"," …}]
    condition  = and {"OR" and};  and = not {"AND" not};  not = "NOT" not | "(" condition ")" | clause
    clause     = field operator operand | field "IN" "(" operand {"," operand} ")" | field "IS" ["NOT"] "EMPTY"
    operand    = "quoted text" | word | {placeholder} | now()

A value never meets this grammar: it replaces a placeholder in the tree, so it stays one operand whatever it holds.
"""

import re
from dataclasses import dataclass

from qkva.connectors.stub.jql import Clause, Condition, Group, Hole, Not, Now, Operand, Query, Text
from qkva.contracts.errors import PlanRejected

MAX_CHARS = 10_000
MAX_DEPTH = 50


def parse(text: str) -> Query:
    """The query in `text`. Raises PlanRejected saying where it stopped making sense."""
    if len(text) > MAX_CHARS:
        raise PlanRejected(f"The JQL was refused: it has more than {MAX_CHARS} characters.")
    return _Parser(_tokens(text)).query()


_TOKEN = re.compile(
    r"\s*(?:"
    r'"(?P<double>(?:[^"\\]|\\.)*)"'
    r"|'(?P<single>(?:[^'\\]|\\.)*)'"
    r"|\{(?P<hole>[a-z_][a-z0-9_]*)(?:\.(?P<part>start|end))?\}"
    r"|(?P<sign><=|>=|!=|!~|=|~|<|>|\(|\)|,)"
    r"|(?P<word>[^\s\"'{}()=!~<>,]+)"
    r")",
    re.DOTALL,
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    part: str | None = None
    at: int = 0


def _tokens(text: str) -> list[_Token]:
    tokens, at = [], 0
    end = len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            raise PlanRejected(f"The JQL was refused: {text[at : at + 20].strip()!r} at character {at + 1} is not JQL.")
        kind = str(found.lastgroup) if found.lastgroup != "part" else "hole"
        value = found[kind]
        if kind in ("double", "single"):
            kind, value = "text", re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL)
        tokens.append(_Token(kind, value, found["part"], at))
        at = found.end()
    return tokens


class _Parser:
    """Recursive descent, one method per line of the grammar."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def query(self) -> Query:
        condition = None if self._sees("order") or self._next() is None else self._any_of()
        order: list[tuple[str, bool]] = []
        if self._takes("order"):
            self._needs("by")
            order.append(self._sort_key())
            while self._takes(","):
                order.append(self._sort_key())
        if self._next() is not None:
            raise self._wrong("the end of the query")
        return Query(condition, tuple(order))

    def _any_of(self) -> Condition:
        parts = [self._all_of()]
        while self._takes("or"):
            parts.append(self._all_of())
        return parts[0] if len(parts) == 1 else Group("or", tuple(parts))

    def _all_of(self) -> Condition:
        parts = [self._one()]
        while self._takes("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else Group("and", tuple(parts))

    def _one(self) -> Condition:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise PlanRejected("The JQL was refused: it is nested too deeply.")
        if self._takes("not"):
            condition: Condition = Not(self._one())
        elif self._takes("("):
            condition = self._any_of()
            self._needs(")")
        else:
            condition = self._clause()
        self._depth -= 1
        return condition

    def _clause(self) -> Clause:
        field = self._name("a field")
        for operator in ("<=", ">=", "!=", "!~", "=", "~", "<", ">"):
            if self._takes(operator):
                return Clause(field, operator, (self._operand(),))
        if self._takes("is"):
            operator = "is not" if self._takes("not") else "is"
            if not (self._takes("empty") or self._takes("null")):
                raise self._wrong("EMPTY")
            return Clause(field, operator)
        negative = self._takes("not")
        self._needs("in")
        return Clause(field, "not in" if negative else "in", self._operands())

    def _operands(self) -> tuple[Operand, ...]:
        self._needs("(")
        operands = [self._operand()]
        while self._takes(","):
            operands.append(self._operand())
        self._needs(")")
        return tuple(operands)

    def _operand(self) -> Operand:
        token = self._next()
        if token is None or token.kind == "sign":
            raise self._wrong("a value")
        self._at += 1
        if token.kind == "hole":
            return Hole(token.text, token.part)
        if token.kind == "word" and token.text.lower() == "now" and self._takes("("):
            self._needs(")")
            return Now()
        return Text(token.text)

    def _sort_key(self) -> tuple[str, bool]:
        field = self._name("a field to order by")
        descending = self._takes("desc")
        if not descending:
            self._takes("asc")
        return field, descending

    def _name(self, expected: str) -> str:
        token = self._next()
        if token is None or token.kind not in ("word", "text"):
            raise self._wrong(expected)
        self._at += 1
        return token.text

    def _next(self) -> _Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _sees(self, word: str) -> bool:
        token = self._next()
        return token is not None and token.kind in ("word", "sign") and token.text.lower() == word

    def _takes(self, word: str) -> bool:
        seen = self._sees(word)
        self._at += seen
        return seen

    def _needs(self, word: str) -> None:
        if not self._takes(word):
            raise self._wrong(word.upper())

    def _wrong(self, expected: str) -> PlanRejected:
        token = self._next()
        found = "the query ends" if token is None else f"{token.text!r} stands at character {token.at + 1}"
        return PlanRejected(f"The JQL was refused: {expected} was expected, but {found}.")
