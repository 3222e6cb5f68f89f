"""The demo shop's rows: how many, how they hang together, and that they are the same everywhere."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import psycopg
import pytest

from qkva.cli.demo.shop import seed_shop
from qkva.cli.demo.shop_data import DEMO_NOW, Shop, build_shop
from qkva.stores.embedded import EmbeddedServer

pytestmark = pytest.mark.db


@pytest.fixture(scope="module")
def rows() -> Shop:
    return build_shop()


def test_counts_are_as_promised(rows):
    assert [len(rows.customers), len(rows.products), len(rows.orders), len(rows.refunds)] == [100, 50, 500, 35]
    assert 1280 <= len(rows.order_items) <= 1320


def test_rows_are_equal_everywhere(rows):
    # Random's sequences are the same in every Python that is supported; this value was taken on 3.11.
    assert rows.fingerprint() == build_shop().fingerprint() == "500756e3600aeafc"


def test_totals_are_sums_of_items(rows):
    sums: dict[int, Decimal] = defaultdict(Decimal)
    for _, order_id, _, quantity, unit_price in rows.order_items:
        sums[order_id] += quantity * unit_price
    assert {order[0]: order[4] for order in rows.orders} == sums


def test_names_and_emails_are_unique(rows):
    assert len({customer[1] for customer in rows.customers}) == 100
    assert len({customer[2] for customer in rows.customers}) == 100
    assert {"Ada Lovelace", "Grace Hopper", "Alan Turing"} <= {customer[1] for customer in rows.customers}
    assert all(customer[2].isascii() and customer[2].endswith("@example.com") for customer in rows.customers)


def test_orders_lie_in_eighteen_months(rows):
    times = [order[3] for order in rows.orders]
    assert times == sorted(times)
    assert datetime(2024, 12, 1, tzinfo=UTC) < times[0] and times[-1] < DEMO_NOW
    signed_up = {customer[0]: customer[5] for customer in rows.customers}
    assert all(order[3].date() >= signed_up[order[1]] for order in rows.orders)


@pytest.mark.parametrize(
    ("start", "end", "least"),
    [
        (datetime(2026, 6, 15, tzinfo=UTC), DEMO_NOW, 1),  # today
        (datetime(2026, 6, 14, tzinfo=UTC), datetime(2026, 6, 15, tzinfo=UTC), 3),  # yesterday
        (datetime(2026, 6, 8, tzinfo=UTC), datetime(2026, 6, 15, tzinfo=UTC), 8),  # last week
        (datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC), 25),  # last month
    ],
)
def test_recent_periods_have_orders(rows, start, end, least):
    assert sum(start <= order[3] < end for order in rows.orders) >= least


def test_refunds_follow_their_orders(rows):
    orders = {order[0]: order for order in rows.orders}
    for _, order_id, amount, _, refunded_at in rows.refunds:
        order = orders[order_id]
        assert order[2] == "delivered" and amount <= order[4]
        assert order[3] + timedelta(days=2) <= refunded_at < DEMO_NOW
    assert len({refund[3] for refund in rows.refunds}) == 5


async def test_seeding_twice_changes_nothing(postgres_server: EmbeddedServer):
    postgres_server.create_database("shop_twice")
    url = postgres_server.url_for("shop_twice", "postgres")
    assert await seed_shop(url) is True
    assert await seed_shop(url) is False
    async with await psycopg.AsyncConnection.connect(url) as connection:
        held = await (
            await connection.execute("select id, customer_id, status, placed_at, total from orders order by id")
        ).fetchall()
    assert held == build_shop().orders


async def test_changed_data_is_seeded_anew(postgres_server: EmbeddedServer):
    postgres_server.create_database("shop_changed")
    url = postgres_server.url_for("shop_changed", "postgres")
    shop = build_shop()
    await seed_shop(url, shop._replace(refunds=[]))
    assert await seed_shop(url, shop) is True
    async with await psycopg.AsyncConnection.connect(url) as connection:
        assert await (await connection.execute("select count(*) from refunds")).fetchone() == (35,)


@pytest.mark.parametrize(
    "statement",
    [
        "insert into refunds values (99, 1001, 1, 'damaged', now())",
        "create table mine (id integer)",
        "create temp table mine (id integer)",
        "delete from orders",
    ],
)
async def test_reader_cannot_write(reader_url, statement):
    async with await psycopg.AsyncConnection.connect(reader_url, autocommit=True) as connection:
        await connection.execute("set default_transaction_read_only = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await connection.execute(statement)


async def test_every_column_is_described(shop):
    cursor = await shop.execute(
        "select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 "
        "where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and col_description(c.oid, a.attnum) is null"
    )
    assert await cursor.fetchall() == []
