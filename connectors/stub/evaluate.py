"""Bind values to a query's placeholders, and find the issues that it matches."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from qkva.connectors.stub.fixtures import FIELDS, PRIORITIES, Issue
from qkva.connectors.stub.jql import Clause, Condition, Group, Hole, Not, Now, Operand, Query, Text
from qkva.contracts.errors import ParameterError, PlanRejected
from qkva.contracts.plan import Parameter, ParamType

_COMPARE = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_OPEN_SIDES = {"start": "1000-01-01", "end": "9000-01-01"}
_OFFSET = re.compile(r"([+-]?\d{1,5})([mhdw])")


@dataclass(frozen=True)
class Clock:
    """What relative and local dates are read by."""

    now: datetime
    zone: tzinfo


def bind(query: Query, params: Sequence[Parameter], values: Mapping[str, Any]) -> Query:
    """The query with each placeholder replaced by its value as text; the tree keeps its shape.

    Raises ParameterError naming the parameter.
    """
    declared = {param.name: param for param in params}
    condition = None if query.condition is None else _bind(query.condition, declared, values)
    return replace(query, condition=condition)


def find(query: Query, issues: Sequence[Issue], clock: Clock) -> list[Issue]:
    """The matching issues, ordered as asked, the newest first otherwise."""
    found = [issue for issue in issues if query.condition is None or _matches(query.condition, issue, clock)]
    for name, descending in reversed(query.order or (("created", True),)):
        filled = [issue for issue in found if FIELDS[name].read(issue) is not None]
        filled.sort(key=lambda issue: _sort_key(name, issue), reverse=descending)
        found = filled + [issue for issue in found if FIELDS[name].read(issue) is None]
    return found


def is_date(text: str) -> bool:
    """Whether a date can be read from a text of a query: a day, a moment, or an offset such as -7d."""
    return _OFFSET.fullmatch(text) is not None or _moment(text) is not None


def _bind(condition: Condition, declared: Mapping[str, Parameter], values: Mapping[str, Any]) -> Condition:
    if isinstance(condition, Group):
        return replace(condition, parts=tuple(_bind(part, declared, values) for part in condition.parts))
    if isinstance(condition, Not):
        return Not(_bind(condition.part, declared, values))
    operands: list[Operand] = []
    for operand in condition.operands:
        if isinstance(operand, Hole):
            operands += [Text(text) for text in _texts(declared[operand.name], operand, values[operand.name])]
        else:
            operands.append(operand)
    return replace(condition, operands=tuple(operands))


def _texts(param: Parameter, hole: Hole, value: Any) -> list[str]:
    if param.type == ParamType.LIST:
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            raise ParameterError(f'The value of "{param.name}" must be a list of texts.', parameter=param.name)
        return list(value)
    if param.type == ParamType.TIME_RANGE:
        if not isinstance(value, Mapping):
            raise ParameterError(f'The value of "{param.name}" must have a start and an end.', parameter=param.name)
        side = hole.part or "start"
        value = value.get(side) or _OPEN_SIDES[side]
    if not isinstance(value, str):
        raise ParameterError(f'The value of "{param.name}" must be a text.', parameter=param.name)
    if param.type == ParamType.ENUM and param.choices and value not in param.choices:
        allowed = ", ".join(param.choices)
        raise ParameterError(f'The value of "{param.name}" must be one of {allowed}.', parameter=param.name)
    if param.type in (ParamType.DATE, ParamType.DATETIME, ParamType.TIME_RANGE) and _moment(value) is None:
        raise ParameterError(f'The value of "{param.name}" must be a date.', parameter=param.name)
    return [value]


def _matches(condition: Condition, issue: Issue, clock: Clock) -> bool:
    if isinstance(condition, Not):
        return not _matches(condition.part, issue, clock)
    if isinstance(condition, Group):
        every: Callable[..., bool] = all if condition.word == "and" else any
        return every(_matches(part, issue, clock) for part in condition.parts)
    return _clause_matches(condition, FIELDS[condition.field].read(issue), clock)


def _clause_matches(clause: Clause, value: Any, clock: Clock) -> bool:
    """As in Jira, only "is" finds an empty field: neither != nor `not in` does."""
    empty = value is None or value == ()
    if clause.operator in ("is", "is not"):
        return empty == (clause.operator == "is")
    if empty:
        return False
    if FIELDS[clause.field].kind in ("date", "datetime"):
        return _date_matches(clause, value, clock)
    held = [item.lower() for item in (value if isinstance(value, tuple) else (value,))]
    wanted = [operand.value for operand in clause.operands if isinstance(operand, Text)]
    if clause.operator in ("~", "!~"):
        return all(_contains(held[0], text) for text in wanted) == (clause.operator == "~")
    if clause.operator in ("=", "in", "!=", "not in"):
        return any(text.lower() in held for text in wanted) == (clause.operator in ("=", "in"))
    return _compare(clause.operator, _rank(held[0]), _rank(wanted[0].lower() if wanted else ""))


def _date_matches(clause: Clause, value: date | datetime, clock: Clock) -> bool:
    left = value if isinstance(value, datetime) else datetime.combine(value, time(), clock.zone)
    return _compare(clause.operator, left, _instant(clause.operands[0], clock))


def _instant(operand: Operand, clock: Clock) -> datetime:
    """A moment: now(), a date or time in the caller's zone, or an offset such as -7d."""
    if isinstance(operand, Now):
        return clock.now
    text = operand.value if isinstance(operand, Text) else ""
    offset = _OFFSET.fullmatch(text)
    if offset:
        unit = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}[offset[2]]
        return clock.now + timedelta(**{unit: int(offset[1])})
    moment = _moment(text)
    if moment is None:
        raise PlanRejected(f"The JQL was refused: {text!r} is no date.")
    return moment if moment.tzinfo else moment.replace(tzinfo=clock.zone)


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return None


def _contains(text: str, wanted: str) -> bool:
    """Every word of `wanted` is a word of the text, in the singular or the plural."""
    words = {_stem(word) for word in re.findall(r"\w+", text)}
    asked = [_stem(word) for word in re.findall(r"\w+", wanted.lower())]
    return bool(asked) and all(word in words for word in asked)


def _stem(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def _rank(priority: str) -> int:
    names = [name.lower() for name in PRIORITIES]
    return names.index(priority) if priority in names else -1


def _sort_key(name: str, issue: Issue) -> Any:
    value = FIELDS[name].read(issue)
    if name == "priority":
        return _rank(value.lower())
    if name == "key":
        return issue.project, int(issue.key.partition("-")[2])
    return value


def _compare(operator: str, left: Any, right: Any) -> bool:
    return bool(_COMPARE[operator](left, right))
