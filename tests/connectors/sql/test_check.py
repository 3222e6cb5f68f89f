"""Whether a plan may run, asked of the live database."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from qkva.connectors.registry import open_connector
from qkva.connectors.sql.connector import SqlConnector
from qkva.contracts.errors import PlanRejected
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.contracts.source import Limits
from qkva.stores.embedded import EmbeddedServer

pytestmark = pytest.mark.db


def plan(query: str, *params: Parameter) -> Plan:
    return Plan(key_text="a test", query=query, params=params, source="shop", source_type="sql", dialect="postgres")


def param(name: str, type_: str = "text", **fields: Any) -> Parameter:
    return Parameter(name=name, type=ParamType(type_), **fields)


@pytest.mark.parametrize(
    ("query", "params"),
    [
        ("select id from customers where name = {name}", [param("name", column="customers.name")]),
        ("select id from orders where status = {status}", [param("status", column="orders.status")]),
        ("select id from orders where reference = {ref}", [param("ref")]),
        ("select id from orders where placed_at::date = {day}::date", [param("day")]),
        ("select id from orders where placed_at::date = {day}", [param("day", "date")]),
        ("select id from orders where total > {least} limit {n}", [param("least", "number"), param("n", "integer")]),
        ("select date_trunc({unit}, placed_at), count(*) from orders group by 1", [param("unit")]),
        ("select id from orders where placed_at > now() - {n} * interval '1 day'", [param("n", "integer")]),
        ("select id from orders where placed_at > now() - interval {span}", [param("span")]),
        ("select id from orders where status = any({all})", [param("all", "list", column="orders.status")]),
        ("select id from orders where id in ({all})", [param("all", "list", item_type=ParamType.INTEGER)]),
        ("select id from orders where total > coalesce({least}, 0)", [param("least", "number", required=False)]),
    ],
)
async def test_sound_plan_passes(shop: SqlConnector, query: str, params: list[Parameter]):
    await shop.check(plan(query, *params))


NAME = param("name")


@pytest.mark.parametrize(
    ("query", "params", "what"),
    [
        ("select id from customers where nam = {name}", [NAME], 'did you mean "name"?'),
        ("select id from custmers where name = {name}", [NAME], 'did you mean "customers"?'),
        ("with a as (select nam from customers where name = {name}) select * from a", [NAME], 'did you mean "name"?'),
        ("select id from customers where id = {name}", [NAME], "operator does not exist"),
        ("select id from customers where name = {name}", [NAME, param("country")], '"country" is declared'),
        ("select id from customers where name = {nme}", [NAME], '"nme", which is not declared'),
        ("select id from customers where name = {name}", [param("name", column="customers.nam")], '"customers.name"?'),
        ("select id from customers group by country having max(name) = {name}", [NAME], "must appear in the GROUP BY"),
        ("select abs(name) from customers where name = {name}", [NAME], "abs(text) does not exist"),
        ("delete from customers where name = {name}", [NAME], "only SELECT"),
    ],
)
async def test_unsound_plan_is_refused(shop: SqlConnector, query: str, params: list[Parameter], what: str):
    with pytest.raises(PlanRejected) as refused:
        await shop.check(plan(query, *params))
    assert what in refused.value.message


async def test_costly_plan_is_refused(shop: SqlConnector):
    product = "select count(*) from orders a, orders b, orders c, orders d, orders e, order_items f"
    with pytest.raises(PlanRejected, match="cost rule"):
        await shop.check(plan(product))


@pytest.fixture
def small_url(postgres_server: EmbeddedServer) -> Iterator[str]:
    with psycopg.connect(postgres_server.url_for("postgres", "postgres"), autocommit=True) as connection:
        connection.execute("create database connector_check")
        yield postgres_server.url_for("connector_check", "postgres")
        connection.execute("drop database connector_check with (force)")


def change(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


async def test_changed_schema_is_seen(small_url: str):
    """A table made after the description is known; a column renamed since is refused."""
    change(small_url, "create table a (id int primary key, note text)")
    connector = open_connector("small", "sql", {"url": small_url})
    await connector.describe()
    change(small_url, "create table b (id int primary key); insert into b values (7)")
    await connector.check(plan("select id from b"))
    assert (await connector.execute("select id from b", (), {}, Limits())).records[0].label == "b 7"

    change(small_url, "alter table a rename note to remark")
    with pytest.raises(PlanRejected, match='no column "note"|"note" does not exist'):
        await connector.check(plan("select note from a"))
    await connector.close()
