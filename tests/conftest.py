"""The database of the tests: one embedded server for the session, a fresh migrated copy for each test that asks."""

import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from qkva.stores.database import Database
from qkva.stores.embedded import EmbeddedServer, start_embedded
from qkva.stores.migrate import migrate
from qkva.stores.plans import PostgresPlanStore

FAST_AND_LOOSE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """An embedded PostgreSQL of its own."""
    server = start_embedded(tmp_path_factory.mktemp("postgres"), options=FAST_AND_LOOSE)
    yield server
    server.close()


@pytest.fixture(scope="session")
def library_database(postgres_server: EmbeddedServer) -> str:
    """The source: read by its own login, which owns nothing."""
    postgres_server.create_database("library")
    with psycopg.connect(postgres_server.url_for("library", "postgres"), autocommit=True) as connection:
        connection.execute((Path(__file__).parent / "graphs" / "library.sql").read_text())
        connection.execute("create role library_reader login")
        connection.execute("grant select on all tables in schema public to library_reader")
    return postgres_server.url_for("library", "library_reader")


@pytest.fixture(scope="session")
def template_database(postgres_server: EmbeddedServer) -> str:
    """The name of a migrated, empty database; no connection may stay open on it."""
    postgres_server.create_database("template_qkva")
    migrate(postgres_server.url_for("template_qkva", "postgres"))
    return "template_qkva"


@pytest.fixture
def database_name(postgres_server: EmbeddedServer, template_database: str) -> Iterator[str]:
    """A copy of the migrated database for this test alone (0.1 s)."""
    name = f"test_{uuid.uuid4().hex[:10]}"
    with psycopg.connect(postgres_server.url_for("postgres", "postgres"), autocommit=True) as connection:
        connection.execute(
            sql.SQL("create database {} template {} strategy file_copy").format(
                sql.Identifier(name), sql.Identifier(template_database)
            )
        )
        yield name
        connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.fixture
def database_url(postgres_server: EmbeddedServer, database_name: str) -> str:
    """The owner's URL of this test's database."""
    return postgres_server.url_for(database_name, "postgres")


@pytest.fixture
def app_database_url(postgres_server: EmbeddedServer, database_name: str) -> str:
    """The URL of the login that row-level security holds for."""
    return postgres_server.url_for(database_name, "qkva_app")


@pytest.fixture
async def database(app_database_url: str) -> AsyncIterator[Database]:
    """This test's database, as the application opens it."""
    database = await Database.open(app_database_url)
    yield database
    await database.close()


@pytest.fixture
async def plan_store(database: Database) -> PostgresPlanStore:
    """A plan store on this test's database."""
    return PostgresPlanStore(database)
