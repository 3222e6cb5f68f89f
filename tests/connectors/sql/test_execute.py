"""Running queries on a real PostgreSQL: values, limits, records."""

import asyncio
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qkva.connectors.sql.connector import SqlConnector
from qkva.contracts.errors import ParameterError, PlanRejected, QueryFailed
from qkva.contracts.plan import Parameter, ParamType
from qkva.contracts.source import Limits, QueryResult

pytestmark = pytest.mark.db
Q = Parameter(name="q", type=ParamType.TEXT)
ECHO = "select concat({q}) as echo from customers where id = 1"


async def ask(
    shop: SqlConnector, query: str, *params: Parameter, limits: Limits | None = None, **values: Any
) -> QueryResult:
    return await shop.execute(query, params, values, limits or Limits())


def column(result: QueryResult, name: str) -> list[Any]:
    return [record.fields[name] for record in result.records]


@pytest.mark.parametrize(
    "value",
    [
        "'; drop table orders; --",
        "' or '1'='1",
        "x' union select token from secrets --",
        "\\'; select 1",
        "$1",
        "{q}",
        "%s %(q)s",
        "/* */ -- ",
        "\u2019 \u202e é 日本 🫖",
        "line\nbreak\ttab\r\n",
        "",
    ],
)
async def test_hostile_value_comes_back_as_data(shop: SqlConnector, value: str):
    assert column(await ask(shop, ECHO, Q, q=value), "echo") == [value]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))
async def test_any_text_comes_back_as_data(shop: SqlConnector, value: str):
    assert column(await ask(shop, ECHO, Q, q=value), "echo") == [value]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.text(st.sampled_from("%_\\aA.*+?()[]{}|^$ "), min_size=1, max_size=8))
async def test_any_text_is_found_by_its_pattern(shop: SqlConnector, value: str):
    """With its wildcards escaped, a text matches itself: as LIKE, as a part of it, as a regular expression."""
    query = (
        "select 'x' || {q} like '%' || {q} as ends, {q} ilike {q} as same, 'x' || {q} ~ ('^x' || {q} || '$') as found "
        "from customers where id = 1"
    )
    assert (await ask(shop, query, Q, q=value)).records[0].fields == {"ends": True, "same": True, "found": True}


async def test_percent_sign_is_no_wildcard(shop: SqlConnector):
    query = "select name from customers where name ilike '%' || {q} || '%' order by name"
    assert column(await ask(shop, query, Q, q="%"), "name") == ["100% Cotton_Club"]
    assert column(await ask(shop, query, Q, q="_"), "name") == ["100% Cotton_Club"]
    assert column(await ask(shop, query, Q, q="ADA"), "name") == ["Ada Lovelace"]


async def test_every_type_binds(shop: SqlConnector):
    types = {
        "text": "Ada Lovelace",
        "integer": 3,
        "number": 10.25,
        "date": "2024-01-05",
        "datetime": "2026-06-14T12:00:00+00:00",
        "boolean": True,
        "list": ["Germany", "France"],
        "range": {"start": "2026-06-01T00:00:00+00:00", "end": None},
    }
    params = [
        Parameter(name=f"p_{name}", type=ParamType("time_range" if name == "range" else name), column=None)
        for name in types
    ]
    query = (
        "select o.id from orders o join customers c on c.id = o.customer_id "
        "where (c.name = {p_text} or c.vip <> {p_boolean}) and o.id > {p_integer} - 3 and o.total >= {p_number} "
        "and c.joined_on >= {p_date} and o.placed_at <= {p_datetime} "
        "and (c.country in ({p_list}) or c.name = {p_text}) and o.placed_at >= {p_range.start} "
        "and o.placed_at < {p_range.end} order by o.id"
    )
    result = await shop.execute(query, params, {f"p_{name}": value for name, value in types.items()}, Limits())
    # Orders 1 to 14 are from June; Ada has 5 and 10, France 1, 6 and 11, Germany 2, 7, 12, 3, 8 and 13.
    assert column(result, "id") == [1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13]


async def test_unsaid_optional_value_filters_nothing(shop: SqlConnector):
    query = "select count(*) as n from orders where status = {q} and customer_id > {n}"
    params = (Q.model_copy(update={"required": False}), Parameter(name="n", type=ParamType.INTEGER, required=False))
    assert column(await ask(shop, query, *params, q="paid", n=None), "n") == [15]
    assert column(await ask(shop, query, *params, q=None, n=None), "n") == [60]
    assert column(await ask(shop, query, *params, n=4), "n") == [12]


async def test_enum_compares_with_any_text(shop: SqlConnector):
    query = "select count(*) as n from orders where status = {q}"
    assert column(await ask(shop, query, Q, q="paid"), "n") == [15]
    assert column(await ask(shop, query, Q, q="lost"), "n") == [0]
    several = "select count(*) as n from orders where status in ({q}) or status = any({q})"
    words = Parameter(name="q", type=ParamType.LIST)
    assert column(await ask(shop, several, words, q=["paid", "shipped", "lost"]), "n") == [30]
    assert column(await ask(shop, several, words, q=[]), "n") == [0]


async def test_uuid_compares_with_text(shop: SqlConnector):
    query = "select id from orders where reference = {q}"
    assert column(await ask(shop, query, Q, q="c4ca4238-a0b9-2382-0dcc-509a6f75849b"), "id") == [1]
    with pytest.raises(QueryFailed, match="invalid input syntax for type uuid"):
        await ask(shop, query, Q, q="no-uuid")


async def test_bound_limit_and_days(shop: SqlConnector):
    n = Parameter(name="n", type=ParamType.INTEGER)
    assert column(await ask(shop, "select id from orders order by id limit {n} offset {n}", n, n=2), "id") == [3, 4]
    since = (
        "select count(*) as n from orders where placed_at > timestamptz '2026-06-15 12:00+00' - {n} * interval '1 day'"
    )
    assert column(await ask(shop, since, n, n=3), "n") == [2]
    day = "select date '2026-06-15' - {n} as day from customers where id = 1"
    assert column(await ask(shop, day, n, n=3), "day") == ["2026-06-12"]
    with pytest.raises(QueryFailed, match="LIMIT must not be negative"):
        await ask(shop, "select id from orders limit {n}", n, n=-1)


@pytest.mark.parametrize(
    "query",
    [
        "select id from orders -- all rows",
        "select id from orders order by id",
        "with a as (select id from orders) select * from a",
        "(select id from orders) union (select id from customers)",
        "select a.id from (select id from orders limit 5) a cross join customers",
        "select id from orders limit 1000000",
    ],
)
async def test_rows_are_capped_and_said_so(shop: SqlConnector, query: str):
    result = await ask(shop, query, limits=Limits(rows=7))
    assert len(result.records) == 7
    assert result.truncated


async def test_exactly_the_cap_is_not_truncated(shop: SqlConnector):
    result = await ask(shop, "select id from customers", limits=Limits(rows=5))
    assert len(result.records) == 5
    assert not result.truncated


async def test_inner_limit_keeps_its_meaning(shop: SqlConnector):
    n = Parameter(name="n", type=ParamType.INTEGER)
    query = "select count(*) as n from (select id from orders limit {n}) a"
    assert column(await ask(shop, query, n, n=50, limits=Limits(rows=5)), "n") == [50]


async def test_slow_query_is_stopped(shop: SqlConnector):
    started = time.monotonic()
    with pytest.raises(QueryFailed, match=r'longer than 0.3 s on "shop"'):
        await ask(
            shop, "select count(*) from generate_series(1, 2000000000)", limits=Limits(seconds=0.3, any_cost=True)
        )
    assert time.monotonic() - started < 2
    assert len((await ask(shop, "select id from customers")).records) == 5


async def test_naive_time_is_read_in_the_callers_zone(shop: SqlConnector):
    query = "select id, placed_at, shipped_at from orders where shipped_at >= {p.start} and shipped_at < {p.end}"
    period = Parameter(name="p", type=ParamType.TIME_RANGE)
    tokyo = {"start": "2026-06-14T00:00:00+09:00", "end": "2026-06-15T00:00:00+09:00"}
    result = await ask(shop, query, period, p=tokyo, limits=Limits(timezone="Asia/Tokyo"))
    assert result.records[0].fields == {
        "id": 1,
        "placed_at": "2026-06-14T21:00:00+09:00",
        "shipped_at": "2026-06-14T12:00:00",
    }
    assert len(result.records) == 1


async def test_unknown_zone_is_said(shop: SqlConnector):
    with pytest.raises(QueryFailed, match="TimeZone"):
        await ask(shop, "select id from customers", limits=Limits(timezone="Mars/Olympus"))


async def test_odd_values_become_json(shop: SqlConnector):
    query = (
        "select 'infinity'::timestamptz as forever, '-infinity'::date as ever, '20000-01-01'::timestamp as late, "
        "interval '1 month 3 days' as span, '[1,5)'::int4range as range, reference, array[1.5, null] as list, "
        "'NaN'::numeric as nan, 'Infinity'::float8 as big, 12.50::numeric as price, 3::numeric as whole, "
        "jsonb_build_object('a', array[1, 2]) as doc, time '09:30' as clock, null as nothing from orders where id = 1"
    )
    assert (await ask(shop, query)).records[0].fields == {
        "forever": "infinity",
        "ever": "-infinity",
        "late": "20000-01-01 00:00:00",
        "span": "1 mon 3 days",
        "range": "[1, 5)",
        "reference": "c4ca4238-a0b9-2382-0dcc-509a6f75849b",
        "list": [1.5, None],
        "nan": "NaN",
        "big": "inf",
        "price": 12.5,
        "whole": 3,
        "doc": {"a": [1, 2]},
        "clock": "09:30:00",
        "nothing": None,
    }


@pytest.mark.parametrize(
    ("query", "ids", "label"),
    [
        ("select id, total from orders where id in (7, 8) order by id", ["7", "8"], "orders 7"),
        ("select total, id as number from orders where id = 7", ["7"], "orders 7"),
        ("select name from customers where id = 1", ["row-1"], "Ada Lovelace"),
        ("select o.id, c.id from orders o join customers c on c.id = o.customer_id where o.id = 5", ["5"], "orders 5"),
        ("select c.id, count(*) from customers c join orders o on true where c.id = 1 group by 1", ["1"], "customers 1"),
        ("select order_id, line from order_items where order_id = 1 order by line", ["1-1", "1-2"], "order_items 1-1"),
        ("select o.id, line from orders o join order_items on order_id = o.id where o.id = 1", ["row-1", "row-2"], "row 1"),
        ("with o as (select id, total from orders where id = 9) select * from o", ["9"], "orders 9"),
        ("select count(*) from orders", ["row-1"], "row 1"),
        ("select c.id, r.id from customers c left join refunds r on false where c.id = 1", ["1"], "customers 1"),
    ],
)  # fmt: skip
async def test_record_id_is_the_primary_key(shop: SqlConnector, query: str, ids: list[str], label: str):
    result = await ask(shop, query)
    assert [record.id for record in result.records] == ids
    assert result.records[0].label == label


async def test_equal_column_names_are_told_apart(shop: SqlConnector):
    query = "select o.id, c.id, c.name, 1, 2 from orders o join customers c on c.id = o.customer_id where o.id = 5"
    fields = (await ask(shop, query)).records[0].fields
    assert fields == {"id": 5, "customers.id": 1, "name": "Ada Lovelace", "value": 1, "value_2": 2}


async def test_snippet_and_dependencies(shop: SqlConnector):
    query = "select o.id, o.total from orders o where o.id = 7 and o.customer_id in (select id from customers)"
    result = await ask(shop, query)
    assert result.records[0].snippet == "id: 7, total: 71.75"
    columns = ("orders.id integer", "orders.total numeric(10,2)", "orders.customer_id integer", "customers.id integer")
    listed = {f"column:{column}" for column in columns}
    assert set(result.dependency_ids) == {"table:orders", "table:customers", "columns:listed", *listed}


async def test_refused_query_is_not_run(shop: SqlConnector):
    with pytest.raises(PlanRejected, match="pg_sleep"):
        await ask(shop, "select pg_sleep(10)")
    with pytest.raises(PlanRejected, match="only SELECT"):
        await ask(shop, "The given tables do not answer this question.")


async def test_revoked_table_is_not_readable(shop: SqlConnector):
    with pytest.raises(PlanRejected, match='"secrets" is not among'):
        await ask(shop, "select token from secrets")


async def test_wrong_value_is_refused_before_running(shop: SqlConnector):
    with pytest.raises(ParameterError, match='"q" must be a text'):
        await ask(shop, ECHO, Q, q=5)


async def test_database_says_what_is_wrong(shop: SqlConnector):
    with pytest.raises(QueryFailed, match="division by zero"):
        await ask(shop, "select total / (id - id) from orders")


async def test_many_at_once_share_few_connections(shop: SqlConnector):
    query = "select {q}::text || '' as echo from customers where id = 1"
    results = await asyncio.gather(*(ask(shop, query, Q, q=str(number)) for number in range(40)))
    assert [column(result, "echo") for result in results] == [[str(number)] for number in range(40)]
