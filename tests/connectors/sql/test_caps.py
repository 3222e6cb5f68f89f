"""The layers around a checked query: what it may cost, how much it may bring, and how it is sent."""

from pathlib import Path

import psycopg
import pytest

from qkva.connectors.registry import open_connector
from qkva.connectors.sql.connector import SqlConnector
from qkva.connectors.sql.executor import MAX_VALUE_BYTES, estimate, fetch_rows
from qkva.contracts.errors import PlanRejected, TooCostly
from qkva.contracts.source import Limits

pytestmark = pytest.mark.db

LONG = MAX_VALUE_BYTES + 1


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (f"select lpad('x', {LONG}, 'y') as v", "y" * MAX_VALUE_BYTES),
        (f"select array_agg(n) as v from generate_series(1, {LONG}) n", None),
        (f"select jsonb_build_array(lpad('x', {LONG})) as v", None),
        ("select lpad('x', 50000000) as v", " " * MAX_VALUE_BYTES),
    ],
)
async def test_long_value_is_cut(shop: SqlConnector, query: str, found: str | None):
    result = await shop.execute(query, (), {}, Limits())
    assert ([record.fields["v"] for record in result.records], result.truncated) == ([found], True)


async def test_value_at_the_cap_is_whole(shop: SqlConnector):
    result = await shop.execute(f"select lpad('x', {MAX_VALUE_BYTES}, 'y') as v, null::text as n", (), {}, Limits())
    assert (len(result.records[0].fields["v"]), result.truncated) == (MAX_VALUE_BYTES, False)


async def test_bytes_are_capped(shop_url: str):
    connector = open_connector("shop", "sql", {"url": shop_url, "max_result_bytes": 10_000})
    result = await connector.execute("select id, lpad('x', 3000) as v from orders order by id", (), {}, Limits())
    await connector.close()
    assert ([record.fields["id"] for record in result.records], result.truncated) == ([1, 2, 3], True)


@pytest.mark.parametrize(
    "query",
    [
        "select id from orders -- all rows",
        "with a as (select id from orders) select * from a",
        "(select id from orders) union (select id from refunds)",
        "select a.id from (select id from orders limit 5) a cross join refunds",
    ],
)
async def test_rows_are_capped_whatever_the_shape(shop: SqlConnector, query: str):
    result = await shop.execute(query, (), {}, Limits(rows=7))
    assert (len(result.records), result.truncated) == (7, True)


async def test_limit_inside_changes_no_count(shop: SqlConnector):
    query = "with a as (select id from orders order by id) select count(*) as n from a"
    assert (await shop.execute(query, (), {}, Limits(rows=1))).records[0].fields == {"n": 60}


async def test_cost_is_looked_at_each_time(shop: SqlConnector):
    product = "select count(*) from orders a, orders b, orders c, orders d, orders e, order_items f"
    with pytest.raises(TooCostly, match="cost rule: the database expects [0-9,]+ units of work") as refused:
        await shop.execute(product, (), {}, Limits())
    assert refused.value.layer == "cost"
    assert refused.value.cost > 5_000_000


async def test_rows_of_a_step_are_looked_at(shop_url: str):
    connector = open_connector("shop", "sql", {"url": shop_url, "max_plan_rows": 1_000})
    with pytest.raises(TooCostly, match="expects 3,600 rows in one step, 1,000 are allowed"):
        await connector.execute("select count(*) from orders a, orders b", (), {}, Limits())
    assert (await connector.execute("select count(*) as n from orders", (), {}, Limits())).records[0].fields == {
        "n": 60
    }
    agreed = Limits(any_cost=True)
    result = await connector.execute("select count(*) as n from orders a, orders b", (), {}, agreed)
    await connector.close()
    assert result.records[0].fields == {"n": 3_600}


async def test_query_goes_by_the_extended_protocol(shop: SqlConnector, tmp_path: Path):
    """By which a second statement is an error, and a value is never part of the text."""
    with (tmp_path / "trace").open("w+") as trace:
        async with shop._database.transaction(seconds=5, timezone="UTC") as connection:
            connection.pgconn.trace(trace.fileno())
            for statement, values in (("select id from orders where id = $1::int", [7]), ("select id from orders", [])):
                await estimate(connection, statement, values)
                await fetch_rows(connection, statement, values, max_rows=1, max_bytes=1_000)
            connection.pgconn.untrace()
        trace.seek(0)
        sent = [line.split("\t", 4)[1:] for line in trace.read().splitlines() if "\tF\t" in line]
    parsed = [parts[-1] for parts in sent if parts[2] == "Parse"]
    assert any("explain (format json) select id from orders" in text for text in parsed)
    assert any('DECLARE "qkva"' in text for text in parsed)
    simple = [parts[-1] for parts in sent if parts[2] == "Query"]
    assert not any("orders" in text for text in simple)


@pytest.mark.parametrize(
    ("statement", "hidden", "shown"),
    [
        ("create view v as select id, email from customers", True, ()),
        ("create view v as select to_jsonb(c) as j from customers c", True, ()),
        ("create view v as select id, name from customers where email like 'a%'", True, ()),
        ("create view v as select token from secrets", True, ()),
        ("create view w as select email from customers; create view v as select * from w", True, ()),
        ("create view v as select id, name from customers", False, ("id", "name")),
        ("create view v as select c.* from (select id, name from customers) c", False, ("id", "name")),
        ("create table v (note text) inherits (customers)", False, ("country", "id", "joined_on", "name", "note")),
    ],
)
async def test_view_of_what_is_denied_is_hidden(
    shop_owner_url: str, statement: str, hidden: bool, shown: tuple[str, ...]
):
    deny = {"tables": ["secrets"], "columns": ["customers.email", "*.vip", "customers.tags", "customers.profile"]}
    with psycopg.connect(shop_owner_url, autocommit=True) as owner:
        owner.execute(statement.encode())
        try:
            connector = open_connector("shop", "sql", {"url": shop_owner_url, "deny": deny})
            tables = {table.name: table for table in (await connector.describe()).tables}
            await connector.close()
        finally:
            owner.execute("drop view if exists v" if "view v" in statement else "drop table v")
            owner.execute("drop view if exists w")
    assert ("v" not in tables) == hidden
    assert not hidden or "secrets" not in tables
    if not hidden:
        assert tuple(sorted(field.name for field in tables["v"].fields)) == shown


async def test_view_that_is_allowed_by_name_is_shown(shop_owner_url: str):
    options = {"allow": {"tables": ["v", "orders"]}, "deny": {"tables": ["customers"]}}
    with psycopg.connect(shop_owner_url, autocommit=True) as owner:
        owner.execute("create view v as select id, name from customers")
        try:
            connector = open_connector("shop", "sql", {"url": shop_owner_url, **options})
            assert {table.name for table in (await connector.describe()).tables} == {"orders", "v"}
            with pytest.raises(PlanRejected):
                await connector.execute("select id from customers", (), {}, Limits())
            await connector.close()
        finally:
            owner.execute("drop view v")


async def test_only_allowed_columns_are_read(shop_url: str):
    connector = open_connector("shop", "sql", {"url": shop_url, "allow": {"columns": ["customers.id", "customers.c*"]}})
    description = await connector.describe()
    assert description.field("customers.country") and description.field("orders.total")
    assert description.field("customers.name") is None
    with pytest.raises(PlanRejected, match='"name" may not be read'):
        await connector.execute("select name from customers", (), {}, Limits())
    await connector.close()
