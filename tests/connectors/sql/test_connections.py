"""What holds when connections break, and what the layers below the guard stop by themselves."""

import asyncio
import inspect
import socket
import threading

import psycopg
import pytest
from psycopg import errors

from qkva.connectors.registry import open_connector
from qkva.connectors.sql.connector import SqlConnector
from qkva.connectors.sql.database import Database
from qkva.connectors.sql.errors import map_error
from qkva.connectors.sql.executor import fetch_rows
from qkva.contracts.errors import AuthError, QueryFailed, SourceError, SourceUnavailable
from qkva.contracts.source import Limits
from qkva.stores.embedded import EmbeddedServer

pytestmark = pytest.mark.db
COUNT = "select count(*) as n from orders"
ENDLESS = "with recursive t(n) as (select 1 union all select n + 1 from t) select count(*) from t"
"""The database expects this to be little work."""


async def count(connector: SqlConnector) -> int:
    result = await connector.execute(COUNT, (), {}, Limits())
    return int(result.records[0].fields["n"])


def end_sessions(owner_url: str) -> None:
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'qkva'")


async def test_broken_pooled_connection_is_replaced(shop: SqlConnector, shop_owner_url: str):
    assert await asyncio.gather(*(count(shop) for _ in range(3))) == [60, 60, 60]
    end_sessions(shop_owner_url)
    assert await count(shop) == 60


async def test_session_lost_in_a_query_is_unavailable(shop: SqlConnector, shop_owner_url: str):
    running = asyncio.create_task(shop.execute(ENDLESS, (), {}, Limits(seconds=20)))
    await asyncio.sleep(0.5)
    await asyncio.to_thread(end_sessions, shop_owner_url)
    with pytest.raises(SourceUnavailable, match='"shop" is unavailable'):
        await running
    assert await count(shop) == 60


async def test_cancelled_query_leaves_nothing_behind(shop: SqlConnector, shop_owner_url: str):
    running = asyncio.create_task(shop.execute(ENDLESS, (), {}, Limits(seconds=20)))
    await asyncio.sleep(0.3)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await count(shop) == 60
    with psycopg.connect(shop_owner_url) as connection:
        row = connection.execute(
            "select count(*) from pg_stat_activity where application_name = 'qkva' and state = 'active'"
        ).fetchone()
    assert row == (0,)


async def test_source_that_is_down_is_named():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    connector = open_connector("orders", "sql", {"url": f"postgresql://ann:s3cret@127.0.0.1:{port}/shop"})
    for attempt in (connector.describe(), connector.execute(COUNT, (), {}, Limits())):
        with pytest.raises(SourceUnavailable) as failed:
            await attempt
        assert failed.value.message == 'The data source "orders" is unavailable: its database does not answer.'


async def test_silent_server_is_given_up():
    """A server that takes the connection and never answers."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        connector = open_connector(
            "orders", "sql", {"url": f"postgresql://ann@127.0.0.1:{silent.getsockname()[1]}/shop"}
        )
        with pytest.raises(SourceUnavailable, match='"orders" is unavailable'):
            await connector.execute(COUNT, (), {}, Limits())


async def test_refused_login_is_an_auth_error(postgres_server: EmbeddedServer, shop_url: str):
    url = postgres_server.url_for("connector_shop", "nobody_here")
    with pytest.raises(AuthError, match='"orders" refused the login'):
        await open_connector("orders", "sql", {"url": url}).describe()


async def test_missing_database_is_said(postgres_server: EmbeddedServer):
    url = postgres_server.url_for("no_such_database", "postgres")
    with pytest.raises(SourceUnavailable, match="its server has no such database"):
        await open_connector("orders", "sql", {"url": url}).describe()


async def test_closed_connector_opens_again(shop: SqlConnector):
    assert await count(shop) == 60
    await shop.close()
    assert await count(shop) == 60


async def test_every_loop_has_its_own_connections(shop: SqlConnector):
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(asyncio.run(count(shop)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert found == [60, 60, 60]
    assert await count(shop) == 60


async def test_full_pool_waits(shop_url: str):
    connector = open_connector("shop", "sql", {"url": shop_url, "max_connections": 1})
    assert isinstance(connector, SqlConnector)
    assert await asyncio.gather(*(count(connector) for _ in range(8))) == [60] * 8
    await connector.close()


@pytest.fixture
async def owned(shop_owner_url: str):
    """The database as a superuser, past the guard: what the layers below it still stop."""
    database = Database("shop", shop_owner_url, schemas=["public"], max_connections=1)
    yield database
    await database.close()


@pytest.mark.parametrize(
    "statement",
    [
        "with d as (delete from orders returning *) select * from d",
        "select * into copied from orders",
        "select * from orders for update",
        "delete from orders",
        "drop table orders",
        "set transaction read write",
        "commit; delete from orders; select 1",
        "select 1; select 2",
        "explain analyze delete from orders",
        "copy (select 1) to program 'touch /tmp/qkva_was_here'",
        "create temp table x (a int)",
    ],
)
async def test_writing_fails_below_the_guard(owned: Database, statement: str):
    with pytest.raises(QueryFailed):
        async with owned.transaction(seconds=5, timezone="UTC") as connection:
            await fetch_rows(connection, statement, [], max_rows=10, max_bytes=1_000)
    async with owned.transaction(seconds=5, timezone="UTC") as connection:
        assert (await fetch_rows(connection, COUNT, [], max_rows=10, max_bytes=1_000)).rows == [(60,)]


async def test_changed_settings_do_not_survive(owned: Database):
    async with owned.transaction(seconds=5, timezone="Asia/Tokyo") as connection:
        for setting in ("'statement_timeout', '0'", "'app.tenant_id', 'x'"):
            statement = f"select set_config({setting}, false)"
            await fetch_rows(connection, statement, [], max_rows=1, max_bytes=1_000)
    async with owned.transaction(seconds=3, timezone="UTC") as connection:
        shown = (
            "select current_setting('statement_timeout'), current_setting('app.tenant_id', true), "
            "current_setting('timezone')"
        )
        fetched = await fetch_rows(connection, shown, [], max_rows=1, max_bytes=1_000)
    assert [(timeout, tenant or "", zone) for timeout, tenant, zone in fetched.rows] == [("3s", "", "UTC")]


def test_every_driver_error_is_mapped():
    """Whatever the driver may raise becomes an error of ours, with the source's name."""
    classes = [
        found
        for module in (psycopg, errors)
        for found in vars(module).values()
        if inspect.isclass(found) and issubclass(found, psycopg.Error)
    ]
    assert len(classes) > 200
    for found in classes:
        mapped = map_error(found("some text\nDETAIL: more"), "orders", 5)
        assert isinstance(mapped, SourceError)
        assert "orders" in mapped.message
        assert "\n" not in mapped.message


@pytest.mark.parametrize(
    ("error", "mapped"),
    [
        (errors.AdminShutdown, SourceUnavailable),
        (errors.TooManyConnections, SourceUnavailable),
        (errors.CannotConnectNow, SourceUnavailable),
        (errors.ConnectionFailure, SourceUnavailable),
        (errors.IoError, SourceUnavailable),
        (errors.InvalidPassword, AuthError),
        (errors.UndefinedColumn, QueryFailed),
        (errors.InsufficientPrivilege, QueryFailed),
        (errors.QueryCanceled, QueryFailed),
        (errors.DivisionByZero, QueryFailed),
        (psycopg.OperationalError, SourceUnavailable),
    ],
)
def test_transient_and_final_errors_are_told_apart(error: type[psycopg.Error], mapped: type[SourceError]):
    assert type(map_error(error("text"), "orders", 5)) is mapped
