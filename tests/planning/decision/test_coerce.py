from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from qkva.contracts.errors import ParameterError
from qkva.contracts.plan import Parameter, ParamType
from qkva.planning.filling.coerce import coerce

MARCH = {"start": "2026-03-01T00:00:00+00:00", "end": "2026-04-01T00:00:00+00:00"}


def param(kind, **more):
    return Parameter(name="it", type=ParamType(kind), **more)


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [
        ("text", " Ada ", "Ada"),
        ("text", 17, "17"),
        ("integer", "1,200", 1200),
        ("integer", 5.0, 5),
        ("integer", "seven", 7),
        ("integer", "-3", -3),
        ("integer", "2k", 2000),
        ("number", "$3.50", 3.5),
        ("number", "1,234.5", 1234.5),
        ("number", "20%", 20),
        ("number", 7, 7),
        ("boolean", "yes", True),
        ("boolean", "False", False),
        ("boolean", True, True),
        ("date", "2026-03-05", "2026-03-05"),
        ("date", date(2026, 3, 5), "2026-03-05"),
        ("date", "yesterday", "2026-04-09"),
        ("date", {"start": "2026-03-05T00:00:00+00:00", "end": "2026-03-06T00:00:00+00:00"}, "2026-03-05"),
        ("datetime", "2026-03-05T09:30", "2026-03-05T09:30:00+00:00"),
        ("datetime", "2026-03-05T09:30:00+02:00", "2026-03-05T09:30:00+02:00"),
        ("time_range", "last month", MARCH),
        ("time_range", MARCH, MARCH),
        ("time_range", {"start": "2026-03-01", "end": "2026-04-01"}, MARCH),
        ("time_range", {"start": "2026-03-01"}, {**MARCH, "end": None}),
        ("time_range", "2026-03-05", {"start": "2026-03-05T00:00:00+00:00", "end": "2026-03-06T00:00:00+00:00"}),
        ("list", ["a", "b", "a"], ["a", "b"]),
        ("list", "a", ["a"]),
        ("list", "a, b or c", ["a", "b", "c"]),
    ],
)
def test_raw_values_take_their_type(kind, raw, value, now):
    assert coerce(param(kind), raw, now=now) == value


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        ("text", ""),
        ("text", ["a"]),
        ("text", True),
        ("text", "a\x00b"),
        ("text", "x" * 5000),
        ("integer", "1.5"),
        ("integer", "12,34"),
        ("integer", "many"),
        ("integer", True),
        ("integer", float("nan")),
        ("integer", "5 or 6"),
        ("number", "1.2.3"),
        ("number", float("inf")),
        ("number", {}),
        ("boolean", "perhaps"),
        ("date", "last month"),
        ("date", "2026-02-30"),
        ("datetime", "soon"),
        ("time_range", "blue"),
        ("time_range", {"start": "2026-04-01", "end": "2026-03-01"}),
        ("time_range", {}),
        ("time_range", {"start": "x"}),
        ("list", []),
        ("list", [""]),
    ],
)
def test_wrong_values_are_refused_by_name(kind, raw, now):
    with pytest.raises(ParameterError, match="it.*expected") as refused:
        coerce(param(kind), raw, now=now)
    assert refused.value.parameter == "it"


def test_enum_folds_case_and_suggests(now):
    status = param("enum", choices=("Pending", "In Transit", "Paid"))
    assert coerce(status, "in_transit", now=now) == "In Transit"
    with pytest.raises(ParameterError, match=r"expected one of Pending, In Transit, Paid; did you mean Pending\?"):
        coerce(status, "pendin", now=now)


def test_list_items_have_their_type(now):
    assert coerce(param("list", item_type=ParamType.INTEGER), ["1", 2], now=now) == [1, 2]
    with pytest.raises(ParameterError, match="whole number"):
        coerce(param("list", item_type=ParamType.INTEGER), ["one hundred"], now=now)


def test_missing_value_is_none_only_when_optional(now):
    assert coerce(param("text", required=False), None, now=now) is None
    with pytest.raises(ParameterError, match="it has no value"):
        coerce(param("text"), None, now=now)


def test_naive_times_are_read_in_the_callers_zone():
    berlin = datetime(2026, 4, 10, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    day = coerce(param("time_range"), "2026-03-29", now=berlin)
    assert day == {"start": "2026-03-29T00:00:00+01:00", "end": "2026-03-30T00:00:00+02:00"}
