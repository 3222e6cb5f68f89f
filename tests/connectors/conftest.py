"""A shop as the foreign database, read by a login that owns nothing."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from tests.connectors.engine_shops import duckdb_shop, mariadb_shop, sqlite_shop

from qkva.connectors.registry import open_connector
from qkva.connectors.sql.connector import SqlConnector
from qkva.stores.embedded import EmbeddedServer


@pytest.fixture(scope="session")
def shop_url(postgres_server: EmbeddedServer) -> str:
    postgres_server.create_database("connector_shop")
    with psycopg.connect(postgres_server.url_for("connector_shop", "postgres"), autocommit=True) as connection:
        connection.execute((Path(__file__).parent / "sql" / "shop.sql").read_text())
        connection.execute(
            "create role shop_reader login; grant usage on schema archive to shop_reader; "
            "grant select on all tables in schema public, archive to shop_reader; "
            "revoke select on secrets from shop_reader"
        )
    return postgres_server.url_for("connector_shop", "shop_reader")


@pytest.fixture(scope="session")
def shop_owner_url(postgres_server: EmbeddedServer, shop_url: str) -> str:
    return postgres_server.url_for("connector_shop", "postgres")


@pytest.fixture
async def shop(shop_url: str) -> AsyncIterator[SqlConnector]:
    connector = open_connector("shop", "sql", {"url": shop_url})
    assert isinstance(connector, SqlConnector)
    yield connector
    await connector.close()


@pytest.fixture(scope="session")
def engine_urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """The url of the shop on "sqlite", "duckdb" or "mariadb"; skips the last where its server is not installed."""
    with ExitStack() as stack:
        made: dict[str, str] = {}

        def url_of(engine: str) -> str:
            if engine not in made:
                folder = tmp_path_factory.mktemp(engine)
                folder.chmod(0o755)
                if engine == "mariadb":
                    made[engine] = stack.enter_context(mariadb_shop(folder))
                else:
                    made[engine] = {"sqlite": sqlite_shop, "duckdb": duckdb_shop}[engine](folder)
            return made[engine]

        yield url_of
