"""The login of a source: what is said of one that may do more than read, and one made by the printed statements."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import errors
from tests.connectors.sql.test_guard import lines

from qkva.connectors.registry import open_connector
from qkva.connectors.sql.connector import SqlConnector
from qkva.contracts.errors import QueryFailed
from qkva.contracts.source import Limits
from qkva.stores.embedded import EmbeddedServer

pytestmark = pytest.mark.db

OPTIONS = {"schemas": ["public", "archive"], "deny": {"tables": ["secrets"], "columns": ["customers.email"]}}
EXTRAS = """
create function canary() returns text language sql security definer as $$ select token from secrets $$;
create role shop_writer login;
grant insert on refunds to shop_writer;
"""


@pytest.fixture(scope="module")
def grants(postgres_server: EmbeddedServer) -> Iterator[EmbeddedServer]:
    postgres_server.create_database("connector_grants")
    with psycopg.connect(postgres_server.url_for("connector_grants", "postgres"), autocommit=True) as connection:
        connection.execute((Path(__file__).parent / "shop.sql").read_text())
        connection.execute(EXTRAS.encode())
    yield postgres_server
    with psycopg.connect(postgres_server.url_for("postgres", "postgres"), autocommit=True) as connection:
        connection.execute("drop database connector_grants with (force)")


def connector(server: EmbeddedServer, login: str, **options: object) -> SqlConnector:
    url = server.url_for("connector_grants", login)
    opened = open_connector("shop", "sql", {"url": url, **(options or OPTIONS)})
    assert isinstance(opened, SqlConnector)
    return opened


@pytest.fixture(scope="module")
async def reader(grants: EmbeddedServer) -> str:
    """A login made by the statements that are printed for the owner's connection, run twice."""
    source = connector(grants, "postgres")
    statements = await source.grant_statements()
    await source.close()
    with psycopg.connect(grants.url_for("connector_grants", "postgres"), autocommit=True) as connection:
        for _ in range(2):
            connection.execute(statements.encode())
    return "qkva_shop"


@pytest.fixture(scope="module")
async def read_only(grants: EmbeddedServer, reader: str):
    source = connector(grants, reader)
    yield source
    await source.close()


async def test_superuser_is_said(grants: EmbeddedServer):
    source = connector(grants, "postgres")
    rights = await source.login_rights()
    await source.close()
    assert (rights.login, rights.excess) == ("postgres", ("is a superuser",))
    assert "set_config" in rights.functions


async def test_writer_is_said(grants: EmbeddedServer):
    source = connector(grants, "shop_writer")
    rights = await source.login_rights()
    await source.close()
    assert rights.excess == ("may write or owns public.refunds",)


async def test_made_login_may_only_read(read_only: SqlConnector):
    rights = await read_only.login_rights()
    assert (rights.login, rights.excess, rights.functions) == ("qkva_shop", (), ())


async def test_statements_name_the_login_that_reads_only_already(read_only: SqlConnector):
    assert 'grant connect on database "connector_grants" to "qkva_shop";' in await read_only.grant_statements()
    assert 'to "analyst";' in await read_only.grant_statements("analyst")


async def test_made_login_reads_what_the_options_show(read_only: SqlConnector):
    description = await read_only.describe()
    assert [table.name for table in description.tables] == [
        "Odd Names",
        "customers",
        "order_items",
        "orders",
        "paid_orders",
        "products",
        "refunds",
        "archive.orders_2020",
    ]
    assert description.field("customers.email") is None
    assert description.field("customers.name") is not None


@pytest.mark.parametrize(
    "statement",
    [
        "select email from customers",
        "select * from customers",
        "select * from secrets",
        "select canary()",
        "select set_config('statement_timeout', '0', false)",
        "select pg_sleep(0.1)",
        "select query_to_xml('select 1', true, true, '')",
        "select current_setting('data_directory')",
        "select pg_read_file('/etc/hostname')",
        "select lo_create(0)",
        "select pg_advisory_lock(1)",
        "select pg_notify('a', 'b')",
        "select pg_terminate_backend(1)",
        "select f.pg_sleep from unnest(array[0.1::float8]) f",
        "select ('data_directory'::text).current_setting",
        "set session default_transaction_read_only = off; insert into refunds values (99, 1, 'x', 1, now())",
        "set session default_transaction_read_only = off; create temp table x (a int)",
        "set session default_transaction_read_only = off; create table public.x (a int)",
        "set role postgres",
    ],
)
def test_made_login_is_stopped_by_the_database_alone(grants: EmbeddedServer, reader: str, statement: str):
    with (
        psycopg.connect(grants.url_for("connector_grants", reader), autocommit=True) as connection,
        pytest.raises(errors.InsufficientPrivilege),
    ):
        for single in statement.split("; "):
            connection.execute(single.encode())


@pytest.mark.parametrize("query", [line for line in lines("honest.sql") if " customers" not in line.replace(",", "")])
async def test_honest_query_runs_by_the_made_login(read_only: SqlConnector, query: str):
    """Of customers a column is denied, which the guard refuses to star; all else runs as it does for the owner."""
    await read_only.execute(query, (), {}, Limits())


def test_other_logins_keep_their_functions(grants: EmbeddedServer, reader: str):
    with psycopg.connect(grants.url_for("connector_grants", "shop_writer"), autocommit=True) as connection:
        connection.execute("select pg_sleep(0), set_config('qkva.test', 'x', false), canary()")
        connection.execute("create temp table x (a int)")


async def test_what_the_login_may_not_is_said(grants: EmbeddedServer, reader: str):
    """The guard lets the star pass where no option denies a column; then the database says no."""
    source = connector(grants, reader, schemas=["public"])
    with pytest.raises(QueryFailed, match="may not read this: permission denied for table customers") as failed:
        await source.execute("select * from customers", (), {}, Limits())
    await source.close()
    assert failed.value.layer == "login"
