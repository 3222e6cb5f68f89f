"""The tree of a JQL query: what its parts are, and how it is written out again."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True)
class Text:
    """A value that is written in the query."""

    value: str


@dataclass(frozen=True)
class Hole:
    """A placeholder."""

    name: str
    part: str | None = None


@dataclass(frozen=True)
class Now:
    """now()"""


Operand = Text | Hole | Now


@dataclass(frozen=True)
class Clause:
    """`field operator operands`; "is" and "is not" have none and mean EMPTY."""

    field: str
    operator: str
    operands: tuple[Operand, ...] = ()


@dataclass(frozen=True)
class Group:
    """Conditions joined by one word."""

    word: Literal["and", "or"]
    parts: tuple["Condition", ...]


@dataclass(frozen=True)
class Not:
    """A condition turned round."""

    part: "Condition"


Condition = Clause | Group | Not


@dataclass(frozen=True)
class Query:
    """A whole query."""

    condition: Condition | None
    order: tuple[tuple[str, bool], ...] = ()
    """(field, descending) in order."""


def clauses(condition: Condition | None) -> Iterator[Clause]:
    """Every clause, in order."""
    if isinstance(condition, Clause):
        yield condition
    elif isinstance(condition, Not):
        yield from clauses(condition.part)
    elif condition is not None:
        for part in condition.parts:
            yield from clauses(part)


def render(query: Query) -> str:
    """JQL text with every value quoted; placeholders stay as they are."""
    order = ", ".join(f"{field} {'DESC' if descending else 'ASC'}" for field, descending in query.order)
    condition = _render(query.condition) if query.condition is not None else ""
    return " ".join(part for part in (condition, f"ORDER BY {order}" if order else "") if part)


def drop_missing(query: Query, missing: frozenset[str]) -> Query:
    """Without the AND-ed conditions that use a parameter which was not said."""
    return replace(query, condition=_drop(query.condition, missing)) if query.condition is not None else query


def _drop(condition: Condition, missing: frozenset[str]) -> Condition | None:
    if isinstance(condition, Group) and condition.word == "and":
        kept = tuple(part for part in (_drop(part, missing) for part in condition.parts) if part is not None)
        return Group("and", kept) if len(kept) > 1 else kept[0] if kept else None
    holes = {operand.name for clause in clauses(condition) for operand in clause.operands if isinstance(operand, Hole)}
    return None if holes & missing else condition


def _render(condition: Condition) -> str:
    if isinstance(condition, Not):
        return f"NOT ({_render(condition.part)})"
    if isinstance(condition, Group):
        return f" {condition.word.upper()} ".join(_wrapped(part) for part in condition.parts)
    if condition.operator in ("is", "is not"):
        return f"{condition.field} {condition.operator.upper()} EMPTY"
    operands = ", ".join(_render_operand(operand) for operand in condition.operands)
    if condition.operator in ("in", "not in"):
        return f"{condition.field} {condition.operator.upper()} ({operands})"
    return f"{condition.field} {condition.operator} {operands}"


def _wrapped(part: Condition) -> str:
    return f"({_render(part)})" if isinstance(part, Group) else _render(part)


def _render_operand(operand: Operand) -> str:
    if isinstance(operand, Now):
        return "now()"
    if isinstance(operand, Hole):
        return f"{{{operand.name}.{operand.part}}}" if operand.part else f"{{{operand.name}}}"
    escaped = operand.value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
