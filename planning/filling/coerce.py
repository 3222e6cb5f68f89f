"""A raw value as the JSON-ready value of a parameter's type, or one sentence that says why it is none."""

import math
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from dateutil import parser as date_parser
from rapidfuzz import process

from qkva.contracts.errors import ParameterError
from qkva.contracts.plan import Parameter, ParamType
from qkva.contracts.question import TimeRange
from qkva.planning.masking.time_phrases import resolve_time_phrase

_TRUE = frozenset("true yes y on 1 t".split())
_FALSE = frozenset("false no n off 0 f".split())
_NUMBER_WORDS = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve".split(),
        range(13),
        strict=True,
    )
)
_SCALES = {"k": 1_000, "thousand": 1_000, "m": 1_000_000, "million": 1_000_000, "billion": 1_000_000_000}
_NUMBER = re.compile(r"^[^\d+\-.]{0,4}\s*([+-]?\d[\d,_ ]*(?:\.\d+)?|[+-]?\.\d+)\s*(%|[a-z$€£]{0,8})\.?$", re.IGNORECASE)
_GROUPED = re.compile(r"^[+-]?\d{1,3}(?:[,_ ]\d{3})*(?:\.\d+)?$|^[+-]?\d+(?:\.\d+)?$|^[+-]?\.\d+$")
_MAX_TEXT = 2_000


def coerce(param: Parameter, raw: Any, *, now: datetime) -> Any:
    """The value for a parameter, JSON-ready; None stays None where the parameter is not required.

    `now` is the caller's aware clock; phrases such as "last month" are resolved by it. Raises ParameterError.
    """
    if raw is None:
        if param.required and param.default is None:
            raise ParameterError(f"{param.name} has no value, and the query needs one.", parameter=param.name)
        return None
    return _COERCIONS[param.type](param, raw, now)


def _refuse(param: Parameter, raw: Any, expected: str) -> ParameterError:
    shown = repr(raw) if isinstance(raw, str) else str(raw)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}…"
    return ParameterError(f"{shown} is no value for {param.name}: expected {expected}.", parameter=param.name)


def _text(param: Parameter, raw: Any, now: datetime) -> str:
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise _refuse(param, raw, "a text")
    text = str(raw).strip()
    if not text:
        raise _refuse(param, raw, "a text that is not empty")
    if len(text) > _MAX_TEXT or "\x00" in text:
        raise _refuse(param, raw, f"a text of at most {_MAX_TEXT} characters")
    return text


def _enum(param: Parameter, raw: Any, now: datetime) -> str:
    text = str(raw).strip()
    folded = {_fold(choice): choice for choice in param.choices}
    if _fold(text) in folded:
        return folded[_fold(text)]
    near = process.extractOne(_fold(text), list(folded), score_cutoff=75)
    hint = f"; did you mean {folded[near[0]]}?" if near else ""
    raise ParameterError(
        f"{raw!r} is no value for {param.name}: expected one of {', '.join(param.choices)}{hint or '.'}",
        parameter=param.name,
    )


def _fold(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text.casefold()).strip()


def _integer(param: Parameter, raw: Any, now: datetime) -> int:
    number = _read_number(raw)
    if number is None or number != int(number):
        raise _refuse(param, raw, "a whole number")
    return int(number)


def _number(param: Parameter, raw: Any, now: datetime) -> float | int:
    number = _read_number(raw)
    if number is None:
        raise _refuse(param, raw, "a number")
    return int(number) if number == int(number) else number


def _read_number(raw: Any) -> float | int | None:
    """A finite number from 5, "1,200", "$3.50", "20%", "2k" or "seven"; None for anything else."""
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int | float):
        return raw if math.isfinite(raw) else None
    if not isinstance(raw, str):
        return None
    text = raw.strip().lower()
    if text in _NUMBER_WORDS:
        return _NUMBER_WORDS[text]
    found = _NUMBER.match(text)
    if found is None or not _GROUPED.match(found[1].strip()):
        return None
    digits = re.sub(r"[,_ ]", "", found[1])
    value: float | int = float(digits) if "." in digits else int(digits)
    return value * _SCALES.get(found[2].lower(), 1)


def _boolean(param: Parameter, raw: Any, now: datetime) -> bool:
    if isinstance(raw, bool):
        return raw
    folded = str(raw).strip().casefold()
    if folded in _TRUE:
        return True
    if folded in _FALSE:
        return False
    raise _refuse(param, raw, "yes or no")


def _date(param: Parameter, raw: Any, now: datetime) -> str:
    moment = _read_moment(raw, now)
    if moment is not None:
        return moment.date().isoformat()
    span = _read_range(raw, now)
    day = _only_day(span, now)
    if day is None:
        raise _refuse(param, raw, "one day, such as 2026-03-31")
    return day.isoformat()


def _datetime(param: Parameter, raw: Any, now: datetime) -> str:
    moment = _read_moment(raw, now)
    if moment is None:
        span = _read_range(raw, now)
        moment = (span.start or span.end) if span is not None else None
    if moment is None:
        raise _refuse(param, raw, "a date with a time, such as 2026-03-31T09:30")
    return moment.isoformat()


def _time_range(param: Parameter, raw: Any, now: datetime) -> dict[str, str | None]:
    span = _read_range(raw, now)
    if span is None or (span.start is None and span.end is None):
        raise _refuse(param, raw, "a time range, such as “last month” or 2026-03-01 to 2026-03-31")
    if span.start is not None and span.end is not None and span.start >= span.end:
        raise _refuse(param, raw, "a time range that starts before it ends")
    return {
        "start": span.start.isoformat() if span.start else None,
        "end": span.end.isoformat() if span.end else None,
    }


def _list(param: Parameter, raw: Any, now: datetime) -> list[Any]:
    items = raw if isinstance(raw, list | tuple) else [raw]
    if isinstance(raw, str):
        items = [part for part in re.split(r"\s*(?:,|;|\bor\b|\band\b)\s*", raw) if part] if "," in raw else [raw]
    if not items:
        raise _refuse(param, raw, "at least one value")
    item = param.model_copy(update={"type": param.item_type, "required": True, "default": None})
    values = [coerce(item, value, now=now) for value in items]
    return list(dict.fromkeys(values)) if all(isinstance(value, str | int | float) for value in values) else values


def _read_moment(raw: Any, now: datetime) -> datetime | None:
    """An aware moment from a date, a datetime or its ISO text; naive ones are read in the caller's zone."""
    moment: datetime | None = None
    if isinstance(raw, datetime):
        moment = raw
    elif isinstance(raw, date):
        moment = datetime(raw.year, raw.month, raw.day)
    elif isinstance(raw, str) and re.match(r"^\d{4}-\d{2}-\d{2}([T ]|$)", raw.strip()):
        try:
            moment = date_parser.isoparse(raw.strip())
        except ValueError:
            return None
    if moment is None:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=now.tzinfo)


def _read_range(raw: Any, now: datetime) -> TimeRange | None:
    if isinstance(raw, TimeRange):
        return raw
    if isinstance(raw, dict) and set(raw) <= {"start", "end"}:
        sides = {side: _read_moment(raw.get(side), now) for side in ("start", "end")}
        if any(raw.get(side) is not None and sides[side] is None for side in sides):
            return None
        return TimeRange(start=sides["start"], end=sides["end"])
    moment = _read_moment(raw, now)
    if moment is not None and (not isinstance(raw, str) or len(raw.strip()) == 10):
        start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        return TimeRange(start=start, end=start + timedelta(days=1))
    return _resolve(raw, now) if isinstance(raw, str) else None


def _resolve(phrase: str, now: datetime) -> TimeRange | None:
    try:
        return resolve_time_phrase(phrase, now)
    except ParameterError:
        return None


def _only_day(span: TimeRange | None, now: datetime) -> date | None:
    """The day of a range that covers one day or is open at one side."""
    if span is None:
        return None
    if span.start is None or span.end is None:
        moment = span.start or span.end
        return moment.astimezone(now.tzinfo).date() if moment else None
    first = span.start.astimezone(now.tzinfo)
    last = (span.end - timedelta(microseconds=1)).astimezone(now.tzinfo)
    return first.date() if first.date() == last.date() else None


_COERCIONS: dict[ParamType, Callable[[Parameter, Any, datetime], Any]] = {
    ParamType.TEXT: _text,
    ParamType.ENUM: _enum,
    ParamType.INTEGER: _integer,
    ParamType.NUMBER: _number,
    ParamType.BOOLEAN: _boolean,
    ParamType.DATE: _date,
    ParamType.DATETIME: _datetime,
    ParamType.TIME_RANGE: _time_range,
    ParamType.LIST: _list,
}
