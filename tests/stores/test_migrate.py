"""Migrations on databases of many makes: empty, shared, poor, incomplete."""

import subprocess
import sys
import uuid
from pathlib import Path

import psycopg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

import qkva.migrations
from qkva.contracts.errors import ConfigError, StoreUnavailable
from qkva.stores.database import Database
from qkva.stores.embedded import start_embedded
from qkva.stores.migrate import head_revision, migrate
from qkva.stores.plans import PostgresPlanStore

pytestmark = pytest.mark.db
FAST = {"fsync": "off", "synchronous_commit": "off"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of its own, since roles belong to a server."""
    server = start_embedded(tmp_path_factory.mktemp("migrate"), options=FAST)
    yield server
    server.close()


@pytest.fixture
def empty(server):
    """The name of an empty database."""
    name = f"empty_{uuid.uuid4().hex[:8]}"
    server.create_database(name)
    return name


def run(url, *statements):
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else None


def owned_by(server, database, rights):
    """The URL of a login with these rights that owns the database."""
    login = f"owner_{uuid.uuid4().hex[:8]}"
    admin = server.url_for(database, "postgres")
    run(admin, f"create role {login} login {rights}", f'alter database "{database}" owner to {login}')
    return server.url_for(database, login)


def test_from_zero_and_again_with_little_memory(server, empty):
    admin = server.url_for(empty, "postgres")
    run(admin, f"alter database {empty} set maintenance_work_mem = '1MB'")

    assert migrate(admin) == head_revision()
    tables = run(admin, "select count(*) from pg_tables where schemaname = 'qkva'")
    assert migrate(admin) == head_revision()

    assert tables == [(9,)]
    assert run(admin, "select count(*) from pg_tables where schemaname = 'qkva'") == tables
    assert run(admin, "select count(*) from pg_tables where schemaname = 'public'") == [(0,)]


def test_three_processes_at_once(server, empty):
    admin = server.url_for(empty, "postgres")
    command = [
        sys.executable,
        "-W",
        "error",
        "-c",
        "import sys; from qkva.stores.migrate import migrate; print(migrate(sys.argv[1]))",
    ]
    processes = [subprocess.Popen([*command, admin], stdout=subprocess.PIPE, text=True) for _ in range(3)]

    assert [process.communicate(timeout=60)[0].strip() for process in processes] == [head_revision()] * 3
    assert run(admin, "select count(*) from qkva.alembic_version") == [(1,)]


def test_two_databases_of_a_server_at_once(server):
    """Their locks are two, but the role is one."""
    names = [f"twin_{uuid.uuid4().hex[:8]}" for _ in range(3)]
    for name in names:
        server.create_database(name)
    command = [sys.executable, "-c", "import sys; from qkva.stores.migrate import migrate; print(migrate(sys.argv[1]))"]
    processes = [
        subprocess.Popen([*command, server.url_for(name, "postgres")], stdout=subprocess.PIPE, text=True)
        for name in names
    ]

    assert [process.communicate(timeout=60)[0].strip() for process in processes] == [head_revision()] * 3


def test_head_is_alembics_head():
    config = Config()
    config.set_main_option("script_location", str(Path(qkva.migrations.__file__).parent))

    assert ScriptDirectory.from_config(config).get_heads() == [head_revision()]


def test_newer_database_is_left_alone(server, empty):
    admin = server.url_for(empty, "postgres")
    migrate(admin)
    run(admin, "update qkva.alembic_version set version_num = '9999'")

    assert migrate(admin) == "9999"


def test_every_spelling_of_the_url(server, empty):
    admin = server.url_for(empty, "postgres")

    for scheme in ("postgresql+psycopg://", "postgres://", "postgresql://"):
        assert migrate(admin.replace("postgresql://", scheme)) == head_revision()


async def test_owner_that_is_no_superuser(tmp_path):
    server = start_embedded(tmp_path, options=FAST)
    try:
        run(server.admin_url, "create extension vector")
        url = owned_by(server, "qkva", "createrole")
        assert migrate(url) == head_revision()

        database = await Database.open(url, "qkva_rw")
        assert await PostgresPlanStore(database).list_plans("a") == []
        await database.close()
    finally:
        server.close()


def test_login_without_createrole_is_told(tmp_path):
    server = start_embedded(tmp_path, options=FAST)
    try:
        run(server.admin_url, "create extension vector")
        url = owned_by(server, "qkva", "nocreaterole")
        login = url.split("://")[1].split("@")[0]
        with pytest.raises(ConfigError, match=f'run `create role qkva_rw nologin; grant qkva_rw to "{login}"`'):
            migrate(url)

        run(server.admin_url, "create role qkva_rw nologin", f"grant qkva_rw to {login}, qkva_app")
        assert migrate(url) == head_revision()
    finally:
        server.close()


def test_missing_pgvector_is_told(tmp_path):
    server = start_embedded(tmp_path, options={**FAST, "extension_control_path": "/nonexistent"})
    try:
        with pytest.raises(ConfigError, match="has no pgvector: install it on its server .*postgresql-18-pgvector"):
            migrate(server.admin_url)
    finally:
        server.close()


def test_login_that_may_not_enable_pgvector_is_told(server, empty):
    with pytest.raises(ConfigError, match="have a superuser run `create extension vector`"):
        migrate(owned_by(server, empty, "createrole"))


def test_foreign_login_is_told(server, empty):
    admin = server.url_for(empty, "postgres")
    run(admin, "create extension vector", "create role stranger login")

    with pytest.raises(ConfigError, match="use the database's owner"):
        migrate(server.url_for(empty, "stranger"))


def test_absent_database_is_told():
    with pytest.raises(StoreUnavailable, match="could not be migrated: connection .*failed"):
        migrate("postgresql://nobody@127.0.0.1:1/none")
