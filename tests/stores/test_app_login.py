"""The login of questions cannot see past row-level security, whatever SQL it runs."""

import psycopg
import pytest
from psycopg import errors, sql

from qkva.contracts.errors import ConfigError, StoreUnavailable
from qkva.stores.app_login import login_name, migrate_and_log_in
from qkva.stores.database import Database
from qkva.stores.embedded import start_embedded
from qkva.stores.plans import PostgresPlanStore

pytestmark = pytest.mark.db
FAST = {"fsync": "off", "synchronous_commit": "off"}

ESCAPES = [
    "reset role",
    "set role none",
    "set role postgres",
    "set session authorization default",
    "set session authorization postgres",
    "reset session authorization",
    "discard all",
    "reset all",
    "set row_security = off",
    "set local role qkva_rw",
    "reset role; set role none; set session authorization default",
    "alter table qkva.plan_cache_entries no force row level security",
    "alter role current_user bypassrls",
    "grant postgres to current_user",
    "create policy all_of_it on qkva.plan_cache_entries using (true)",
]


def run(url, *statements):
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else None


async def seen_after(database, escape):
    """How many plans of all tenants the login sees once it has tried to escape; None where that is refused."""
    connection = await database.connect()
    try:
        try:
            await connection.execute(escape)
        except psycopg.Error:
            await connection.rollback()
        try:
            cursor = await connection.execute("select count(*) as seen from qkva.plan_cache_entries")
            return (await cursor.fetchone())["seen"]
        except (errors.InsufficientPrivilege, errors.UndefinedTable):
            return None
    finally:
        await connection.close()


@pytest.mark.parametrize("escape", ESCAPES)
async def test_no_statement_leads_past_border(database_url, save, escape):
    """The URL is a superuser's."""
    await save("a")
    await save("b")
    assert run(database_url, "select count(*) from qkva.plan_cache_entries") == [(2,)]
    database = await Database.open(database_url, prepare=lambda: migrate_and_log_in(database_url))

    assert not await seen_after(database, escape)

    assert len(await PostgresPlanStore(database).list_plans("a")) == 1
    await database.close()


async def test_login_is_member_of_one_role_and_owns_nothing(database_url):
    login = migrate_and_log_in(database_url)

    who = run(
        login.url,
        "select session_user, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb from pg_roles "
        "where rolname = session_user",
    )
    name = login_name(psycopg.conninfo.conninfo_to_dict(database_url)["dbname"])
    assert who == [(name, False, False, False, False)]
    member_of = "select rolname from pg_roles where pg_has_role(session_user, oid, 'member') order by 1"
    # Another test's `grant-sql` on this server gives every login of it back what all had: no right of ours.
    found = [row for row in run(login.url, member_of) if not row[0].endswith("_excepted")]
    assert found == [(name,), ("qkva_rw",)]
    run(database_url, "drop role " + name)


async def test_owner_with_password_gives_login_its_own(tmp_path):
    """A server that asks for passwords, an owner that is no superuser, and two processes that find the same login."""
    server = start_embedded(tmp_path, options=FAST)
    try:
        run(
            server.admin_url,
            "create extension vector",
            "create role keeper login createrole password 'owners-secret'",
            "alter database qkva owner to keeper",
        )
        file = run(server.admin_url, "show hba_file")[0][0]
        with open(file, "w") as rules:
            rules.write("local all postgres trust\nlocal all all scram-sha-256\n")
        run(server.admin_url, "select pg_reload_conf()")
        owner = server.url_for("qkva", "keeper").replace("keeper@", "keeper:owners-secret@")

        first, second = migrate_and_log_in(owner), migrate_and_log_in(owner)

        assert first == second and first.warning is None
        assert run(first.url, "select session_user") == [("qkva_app_qkva",)]
        assert "owners-secret" not in first.url
        with pytest.raises(psycopg.OperationalError, match="password"):
            run(server.url_for("qkva", "qkva_app_qkva"), "select 1")

        run(server.admin_url, "alter role keeper password 'new-secret'")
        turned = migrate_and_log_in(owner.replace("owners-secret", "new-secret"))
        assert run(turned.url, "select 1") == [(1,)]
        with pytest.raises(psycopg.OperationalError, match="password"):
            run(first.url, "select 1")
    finally:
        server.close()


async def test_owner_that_may_make_no_login_is_warned(tmp_path):
    server = start_embedded(tmp_path, options=FAST)
    try:
        run(
            server.admin_url,
            "create extension vector",
            "create role keeper login",
            "alter database qkva owner to keeper",
            "create role qkva_rw nologin",
            "grant qkva_rw to keeper, qkva_app",
        )
        login = migrate_and_log_in(server.url_for("qkva", "keeper"))

        assert "DATABASE_APP_URL" in login.warning
        database = await Database.open(server.admin_url, prepare=lambda: login)
        await PostgresPlanStore(database).list_plans("a")
        assert await seen_after(database, "reset role") == 0  # forced, so it holds for the owner too
        await database.close()
    finally:
        server.close()


async def test_given_login_is_used(database_url, app_database_url):
    database = await Database.open(database_url, prepare=lambda: migrate_and_log_in(database_url, app_database_url))

    async with database.tenant_transaction("a") as connection:
        row = await (await connection.execute("select session_user as login, current_user as role")).fetchone()

    assert row == {"login": "qkva_app", "role": "qkva_rw"}
    await database.close()


@pytest.mark.parametrize(
    ("rights", "said"),
    [
        ("superuser", "superuser or passes row-level security by"),
        ("bypassrls", "superuser or passes row-level security by"),
        ("in role postgres", "superuser or passes row-level security by"),
    ],
)
def test_given_login_that_sees_past_border_is_refused(database_url, postgres_server, database_name, rights, said):
    run(database_url, sql.SQL("create role too_strong login " + rights))
    try:
        with pytest.raises(ConfigError, match=said):
            migrate_and_log_in(database_url, postgres_server.url_for(database_name, "too_strong"))
    finally:
        run(database_url, "drop role too_strong")


def test_given_owner_is_refused(tmp_path):
    server = start_embedded(tmp_path, options=FAST)
    try:
        run(
            server.admin_url,
            "create extension vector",
            "create role keeper login createrole",
            "alter database qkva owner to keeper",
        )
        owner = server.url_for("qkva", "keeper")
        with pytest.raises(ConfigError, match="owns the tables"):
            migrate_and_log_in(owner, owner)
    finally:
        server.close()


def test_given_login_that_cannot_connect_is_told(database_url):
    with pytest.raises(StoreUnavailable, match="DATABASE_APP_URL cannot connect"):
        migrate_and_log_in(database_url, "postgresql://nobody@127.0.0.1:1/none")
