"""Values in templates on a real database: none changes the statement, and each means itself."""

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qkva.connectors.sql.connector import SqlConnector
from qkva.contracts.plan import Parameter
from qkva.contracts.source import Limits

pytestmark = pytest.mark.db

TEXTS = [
    "",
    "a%b",
    "a_b",
    "axb",
    "A%B",
    "50% off",
    "\\",
    "a\\b",
    "O'Brien",
    "x; drop table orders",
    "[a-c]",
    "a.b",
    "(",
    "é",
]
VALUES = ", ".join("('" + text.replace("'", "''") + "')" for text in TEXTS)
FROM = f"from (values {VALUES}) as v(t)"
PIECES = st.one_of(
    st.sampled_from(TEXTS),
    st.text(alphabet="aAbx%_\\'.[](é;", max_size=4),
    st.sampled_from(["' or 1=1 --", "%", "_", "{q}", "$1", "\\%", ".*", "::text", "'); select pg_sleep(9) --", "null"]),
)
ON_A_DATABASE = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def param(name: str, kind: str, **fields: Any) -> Parameter:
    return Parameter.model_validate({"name": name, "type": kind, **fields})


async def found(shop: SqlConnector, query: str, params: list[Parameter], **values: Any) -> list[Any]:
    """The first column of what came back."""
    result = await shop.execute(query, params, values, Limits())
    return [next(iter(record.fields.values())) for record in result.records]


@ON_A_DATABASE
@given(q=PIECES)
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("v.t = {q}", lambda text, q: text == q),
        ("v.t <> {q}", lambda text, q: text != q),
        ("v.t like {q}", lambda text, q: text == q),
        ("v.t like '%' || {q} || '%'", lambda text, q: q in text),
        ("v.t like {q} || '%'", lambda text, q: text.startswith(q)),
        ("v.t not like concat('%', {q}, '%')", lambda text, q: q not in text),
        ("v.t ilike '%' || {q} || '%'", lambda text, q: q.lower() in text.lower()),
        ("v.t ~ {q}", lambda text, q: q in text),
        ("v.t like any (array[{q}, 'none'])", lambda text, q: text == q),
        ("strpos(v.t, {q}) > 0", lambda text, q: q in text),
        ("v.t in ({q}, 'none')", lambda text, q: text == q),
        ("coalesce({q}, '') = v.t", lambda text, q: text == q),
        ("{q} like '%' || v.t || '%' and v.t = {q}", lambda text, q: text == q and "\\" not in text),
    ],
)
async def test_text_means_itself(shop: SqlConnector, condition: str, holds: Any, q: str):
    rows = await found(shop, f"select v.t {FROM} where {condition}", [param("q", "text")], q=q)
    expected = [text for text in TEXTS if holds(text, q)]
    if "{q} like '%' || v.t" in condition:  # here the column is the pattern
        assert set(rows) <= {q}
    else:
        assert sorted(rows) == sorted(expected)


@ON_A_DATABASE
@given(words=st.lists(PIECES, max_size=5))
async def test_list_means_its_items(shop: SqlConnector, words: list[str]):
    listed = [param("words", "list")]
    inside = await found(shop, f"select v.t {FROM} where v.t in ({{words}})", listed, words=words)
    outside = await found(shop, f"select v.t {FROM} where v.t not in ({{words}})", listed, words=words)
    anywhere = await found(shop, f"select v.t {FROM} where v.t = any({{words}})", listed, words=words)
    assert sorted(inside) == sorted(anywhere) == sorted(text for text in TEXTS if text in words)
    assert sorted(outside) == sorted(text for text in TEXTS if text not in words)


@ON_A_DATABASE
@given(n=st.integers(0, 70), m=st.integers(0, 70))
async def test_limit_and_offset_mean_numbers(shop: SqlConnector, n: int, m: int):
    numbers = [param("n", "integer"), param("m", "integer")]
    rows = await found(shop, "select id from orders order by id limit {n} offset {m}", numbers, n=n, m=m)
    assert rows == list(range(1, 61))[m : m + n]


@ON_A_DATABASE
@given(days=st.integers(0, 100))
@pytest.mark.parametrize(
    "span",
    [
        "{days} * interval '1 day'",
        "interval '1 day' * {days}",
        "make_interval(days => {days})",
        "({days} || ' days')::interval",
    ],
)
async def test_interval_means_days(shop: SqlConnector, span: str, days: int):
    rows = await found(shop, f"select (date '2026-06-15' - {span})::date", [param("days", "integer")], days=days)
    assert rows == [(date(2026, 6, 15) - timedelta(days=days)).isoformat()]


@ON_A_DATABASE
@given(amount=st.integers(1, 20), unit=st.sampled_from(["day", "week", "hours"]))
async def test_interval_in_words(shop: SqlConnector, amount: int, unit: str):
    query = "select extract(epoch from interval {span})"
    seconds = {"day": 86_400, "week": 604_800, "hours": 3_600}[unit] * amount
    assert await found(shop, query, [param("span", "text")], span=f"{amount} {unit}") == [seconds]
