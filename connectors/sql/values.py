"""Check a parameter's value and give it the shape in which it is bound."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from qkva.connectors.sql.binds import Bind
from qkva.contracts.errors import MissingParameter, ParameterError
from qkva.contracts.plan import Parameter, ParamType

MAX_BIGINT = 2**63 - 1
_OPEN_SIDES = {"start": "-infinity", "end": "infinity"}


def bind_values(binds: Sequence[Bind], params: Sequence[Parameter], values: Mapping[str, Any]) -> list[Any]:
    """One value per bind, in order. Raises ParameterError naming the parameter."""
    declared = {param.name: param for param in params}
    return [_bind_value(bind, declared[bind.name], values.get(bind.name)) for bind in binds]


def missing_names(params: Sequence[Parameter], values: Mapping[str, Any]) -> frozenset[str]:
    """The optional parameters that were not said. Raises MissingParameter, or ParameterError for an unknown name."""
    names = {param.name for param in params}
    for name in values:
        if name not in names:
            raise ParameterError(f'The plan has no parameter "{name}".', parameter=name)
    missing = [param for param in params if values.get(param.name) is None]
    for param in missing:
        if param.required:
            raise MissingParameter(f'The value of "{param.name}" was not said.', parameter=param.name)
    return frozenset(param.name for param in missing)


def _bind_value(bind: Bind, param: Parameter, value: Any) -> Any:
    if value is None:
        return None
    if param.type == ParamType.TIME_RANGE:
        return _range_side(param, value, bind.part or "start")
    if param.type == ParamType.LIST:
        if not isinstance(value, (list, tuple)):
            raise _wrong(param, "a list")
        return [_scalar(bind, param, param.item_type, item) for item in value]
    return _scalar(bind, param, param.type, value)


def _scalar(bind: Bind, param: Parameter, kind: ParamType, value: Any) -> Any:
    checked = _READERS[kind](param, value)
    if bind.type.startswith("integer") and abs(checked) > 2**31 - 1:
        raise _wrong(param, "a whole number below two thousand million")
    if bind.form == "like":
        return re.sub(r"([\\%_])", r"\\\1", checked)
    if bind.form == "regex":
        return re.escape(checked)
    return checked


def _text(param: Parameter, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(param, "a text")
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise _wrong(param, "a text without broken characters")
    return value


def _enum(param: Parameter, value: Any) -> str:
    if value not in param.choices and param.choices:
        raise _wrong(param, f"one of {', '.join(param.choices)}")
    return _text(param, value)


def _integer(param: Parameter, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value // 1:
        raise _wrong(param, "a whole number")
    if abs(value) > MAX_BIGINT:
        raise _wrong(param, "a whole number that fits 64 bits")
    return int(value)


def _number(param: Parameter, value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _wrong(param, "a number")
    return Decimal(str(value))


def _date(param: Parameter, value: Any) -> str:
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise _wrong(param, "a date such as 2026-06-15") from None


def _datetime(param: Parameter, value: Any) -> str:
    try:
        return datetime.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise _wrong(param, "a time such as 2026-06-15T09:30:00+02:00") from None


def _boolean(param: Parameter, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong(param, "true or false")
    return value


def _range_side(param: Parameter, value: Any, side: str) -> str:
    if not isinstance(value, Mapping) or not set(value) <= {"start", "end"}:
        raise _wrong(param, "a time range with start and end")
    said = value.get(side)
    return _OPEN_SIDES[side] if said is None else _datetime(param, said)


def _wrong(param: Parameter, expected: str) -> ParameterError:
    return ParameterError(f'The value of "{param.name}" must be {expected}.', parameter=param.name)


_READERS: dict[ParamType, Callable[[Parameter, Any], Any]] = {
    ParamType.TEXT: _text,
    ParamType.ENUM: _enum,
    ParamType.INTEGER: _integer,
    ParamType.NUMBER: _number,
    ParamType.DATE: _date,
    ParamType.DATETIME: _datetime,
    ParamType.BOOLEAN: _boolean,
}
