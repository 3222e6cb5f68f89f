"""The demo shop on the session's server, and services over it with an empty plan cache."""

from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from qkva.cli.demo.shop import READER, seed_shop
from qkva.cli.demo.shop_data import DEMO_NOW
from qkva.graphs.services import open_services
from qkva.nodes.runtime import AskServices
from qkva.settings import Settings, SourceConfig
from qkva.stores.embedded import EmbeddedServer


@pytest.fixture(scope="session")
async def shop_url(postgres_server: EmbeddedServer) -> str:
    """The superuser's URL of the seeded shop."""
    postgres_server.create_database("demo_shop")
    url = postgres_server.url_for("demo_shop", "postgres")
    await seed_shop(url)
    return url


@pytest.fixture
async def shop(shop_url: str) -> AsyncIterator[psycopg.AsyncConnection]:
    """A plain connection to the shop, for what a test knows independently of the plans."""
    async with await psycopg.AsyncConnection.connect(shop_url) as connection:
        yield connection


@pytest.fixture
def reader_url(postgres_server: EmbeddedServer, shop_url: str) -> str:
    """The URL of the login that answers come by."""
    return postgres_server.url_for("demo_shop", READER)


@pytest.fixture
async def services(database_url: str, reader_url: str, tmp_path: Path) -> AsyncIterator[AskServices]:
    """Both sources of the demo, no gateway, an empty cache."""
    settings = Settings(
        _env_file=None,
        database_url=database_url,
        cache_dir=tmp_path,
        fixed_now=DEMO_NOW,
        sources={
            "shop": SourceConfig(type="sql", options={"url": reader_url}),
            "issues": SourceConfig(type="stub", options={}),
        },
    )
    async with open_services(settings) as services:
        yield services
