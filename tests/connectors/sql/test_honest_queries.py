"""Honest queries pass the guard and give through the connector what PostgreSQL gives for the text as written."""

from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg import ClientCursor
from tests.connectors.sql.test_guard import lines

from qkva.connectors.registry import open_connector
from qkva.connectors.sql.connector import SqlConnector
from qkva.connectors.sql.loaders import register_loaders
from qkva.connectors.sql.records import to_json
from qkva.contracts.plan import Plan
from qkva.contracts.source import Limits

pytestmark = pytest.mark.db
HONEST = lines("honest.sql")


@pytest.fixture(scope="module")
async def shop_and_archive(shop_url: str):
    connector = open_connector("shop", "sql", {"url": shop_url, "schemas": ["public", "archive"]})
    yield connector
    await connector.close()


def test_corpus_is_large_enough():
    assert len(HONEST) >= 300


@pytest.mark.parametrize("query", HONEST)
async def test_honest_query_gives_the_same(query: str, shop_and_archive: SqlConnector, shop_url: str):
    await shop_and_archive.check(
        Plan(key_text="test", query=query, source="shop", source_type="sql", dialect="postgres")
    )
    result = await shop_and_archive.execute(query, (), {}, Limits())

    assert [list(record.fields.values()) for record in result.records] == directly(query, shop_url)


def directly(query: str, url: str) -> list[list[Any]]:
    with psycopg.connect(url) as connection:
        register_loaders(connection.adapters)
        connection.execute("set timezone = 'UTC'")
        rows = ClientCursor(connection).execute(query.encode()).fetchall()
    return [[to_json(value) for value in row] for row in rows]


def test_decimals_stay_numbers():
    assert [to_json(Decimal(text)) for text in ("12.50", "7", "1E+3", "0.1", "33.3333333333333333", "NaN")] == [
        12.5,
        7,
        1000,
        0.1,
        33.333333333333336,
        "NaN",
    ]
    assert to_json(Decimal("12345678901234567890.12")) == "12345678901234567890.12"
