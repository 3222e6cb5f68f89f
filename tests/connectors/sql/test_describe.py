"""What introspection tells of a database."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from qkva.connectors.registry import open_connector
from qkva.contracts.source import SourceDescription
from qkva.stores.embedded import EmbeddedServer

pytestmark = pytest.mark.db


async def describe(url: str, **options: Any) -> SourceDescription:
    connector = open_connector("shop", "sql", {"url": url, **options})
    try:
        return await connector.describe()
    finally:
        await connector.close()


@pytest.fixture(scope="module")
async def shop_description(shop_url: str) -> SourceDescription:
    return await describe(shop_url, schemas=["public", "archive"])


@pytest.fixture
def small_url(postgres_server: EmbeddedServer) -> Iterator[str]:
    """A database that the test may change."""
    owner = postgres_server.url_for("postgres", "postgres")
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("create database connector_small")
        yield postgres_server.url_for("connector_small", "postgres")
        connection.execute("drop database connector_small with (force)")


def run(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


def values_of(description: SourceDescription, column: str) -> tuple[str, ...] | None:
    return next((held.values for held in description.values if held.column == column), None)


def test_readable_tables_are_described(shop_description: SourceDescription):
    assert [table.name for table in shop_description.tables] == [
        "Odd Names",
        "customers",
        "order_items",
        "orders",
        "paid_orders",
        "products",
        "refunds",
        "archive.orders_2020",
    ]


def test_keys_types_and_comments(shop_description: SourceDescription):
    customers = next(table for table in shop_description.tables if table.name == "customers")
    assert customers.comment == "People who have bought something"
    assert customers.row_estimate == 5
    country = shop_description.field("customers.country")
    assert country is not None
    assert (country.comment, country.type, country.kind, country.nullable) == ("Where they live", "text", "text", False)
    customer_id = shop_description.field("orders.customer_id")
    assert customer_id is not None
    assert (customer_id.references, customer_id.kind, customer_id.primary_key) == ("customers.id", "integer", False)
    line = shop_description.field("order_items.line")
    assert line is not None
    assert line.primary_key


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("orders.id", "integer"),
        ("orders.status", "text"),
        ("orders.total", "number"),
        ("orders.placed_at", "datetime"),
        ("orders.shipped_at", "datetime"),
        ("orders.reference", "text"),
        ("customers.vip", "boolean"),
        ("customers.joined_on", "date"),
        ("customers.email", "text"),
        ("customers.tags", "other"),
        ("customers.profile", "other"),
    ],
)
def test_kind_follows_type(shop_description: SourceDescription, column: str, kind: str):
    field = shop_description.field(column)
    assert field is not None
    assert field.kind == kind


def test_text_columns_give_their_values(shop_description: SourceDescription):
    assert values_of(shop_description, "customers.country") == ("France", "Germany", "Ireland", "United Kingdom")
    assert values_of(shop_description, "products.category") == ("Kitchen", "Tools")
    assert values_of(shop_description, "Odd Names.50%_off\\") == ("x",)


def test_enum_gives_its_labels(shop_description: SourceDescription):
    assert values_of(shop_description, "orders.status") == ("pending", "paid", "shipped", "cancelled")


def test_long_texts_give_no_values(shop_description: SourceDescription):
    assert values_of(shop_description, "products.description") is None
    description = shop_description.field("products.description")
    assert description is not None
    assert all(len(sample) <= 80 for sample in description.samples)


def test_samples_are_distinct_and_few(shop_description: SourceDescription):
    country = shop_description.field("customers.country")
    assert country is not None
    assert country.samples == ("France", "Germany", "Ireland")


async def test_value_list_says_when_it_was_cut(shop_url: str):
    description = await describe(shop_url, max_values_per_column=2)
    cut = next(held for held in description.values if held.column == "customers.country")
    assert (cut.values, cut.complete) == (("France", "Germany"), False)
    whole = next(held for held in description.values if held.column == "refunds.reason")
    assert (len(whole.values), whole.complete) == (2, True)


async def test_denied_part_is_not_described(shop_url: str):
    description = await describe(shop_url, deny={"tables": ["products"], "columns": ["customers.email"]})
    assert "products" not in [table.name for table in description.tables]
    assert description.field("customers.email") is None
    assert values_of(description, "customers.email") is None


async def test_only_allowed_tables_are_described(shop_url: str):
    description = await describe(shop_url, allow={"tables": ["orders"]})
    assert [table.name for table in description.tables] == ["orders"]


async def test_fingerprint_ignores_data(small_url: str):
    run(small_url, "create table a (id int primary key, note text)")
    before = (await describe(small_url)).fingerprint
    run(small_url, "insert into a values (1, 'x'); comment on table a is 'new'; analyze a")
    assert (await describe(small_url)).fingerprint == before


@pytest.mark.parametrize(
    "change",
    [
        "alter table a add more text",
        "alter table a rename note to remark",
        "alter table a alter id type bigint",
        "create table b (x int)",
    ],
)
async def test_fingerprint_follows_structure(small_url: str, change: str):
    run(small_url, "create table a (id int primary key, note text)")
    before = (await describe(small_url)).fingerprint
    run(small_url, change)
    assert (await describe(small_url)).fingerprint != before


async def test_unreadable_view_keeps_the_rest(small_url: str):
    run(small_url, "create table a (id int primary key, note text); insert into a values (1, 'x')")
    run(small_url, "create view broken as select id, (1 / (id - id))::text as wrong from a")
    description = await describe(small_url)
    assert [table.name for table in description.tables] == ["a", "broken"]
    assert values_of(description, "a.note") == ("x",)
    assert values_of(description, "broken.wrong") is None


async def test_empty_database_is_described(small_url: str):
    description = await describe(small_url)
    assert description.tables == ()
    assert description.values == ()
