"""Nothing crosses a tenant: the database itself holds the border."""

import psycopg
import pytest
from psycopg import errors

from qkva.contracts.plan import PlanStatus

pytestmark = pytest.mark.db

TABLES = """
select oid::regclass::text as name from pg_class where relnamespace = 'qkva'::regnamespace and relkind in ('r', 'p')
"""


def rows(url, statement, tenant=None):
    with psycopg.connect(url) as connection:
        if tenant is not None:
            connection.execute("select set_config('app.tenant_id', %s, true)", (tenant,))
        return connection.execute(statement).fetchall()


async def test_other_tenant_finds_nothing(save, find):
    await save("a", masked="orders of ‹customers.name›")

    assert await find("b", masked="orders of ‹customers.name›") == []
    assert len(await find("a", masked="orders of ‹customers.name›")) == 1


async def test_other_tenant_changes_nothing(save, plan_store, new_key):
    stored = await save("a", dependency_ids=("table:orders",))
    plan_id = stored.plan.id

    assert await plan_store.get_plan("b", plan_id) is None
    assert await plan_store.list_plans("b") == []
    assert await plan_store.find_equal("b", source="shop", canonical="c1") is None
    assert await plan_store.add_keys("b", plan_id, [new_key("theirs")], embedder="toy/1536") == 0
    assert not await plan_store.set_status("b", plan_id, PlanStatus.RETIRED)
    assert await plan_store.invalidate_plans_for_records("b", ["table:orders"]) == 0
    await plan_store.record_hit("b", plan_id)
    assert await plan_store.get_plan("a", plan_id) == stored


async def test_no_tenant_sees_no_row(save, app_database_url, database_url):
    await save("a")

    assert rows(app_database_url, "select id from qkva.plan_cache_keys") == []
    assert rows(app_database_url, "select id from qkva.plan_cache_keys", tenant="") == []
    assert rows(app_database_url, "select id from qkva.plan_cache_keys", tenant="b") == []
    assert len(rows(app_database_url, "select id from qkva.plan_cache_keys", tenant="a")) == 1
    assert len(rows(database_url, "select id from qkva.plan_cache_keys")) == 1  # the superuser does


async def test_tenant_ends_with_its_transaction(save, database):
    await save("a")
    async with database.tenant_transaction("a") as connection:
        cursor = await connection.execute("select count(*) as seen from qkva.plan_cache_entries")
        assert await cursor.fetchone() == {"seen": 1}

    # The connection is the pool's again, and another tenant may be the next.
    cursor = await connection.execute("select count(*) as seen from qkva.plan_cache_entries")
    assert await cursor.fetchone() == {"seen": 0}


async def test_cross_tenant_insert_refused(save, app_database_url):
    await save("a")
    copy = (
        "insert into qkva.plan_cache_labels "
        "(tenant_id, source, plan_id, embedder, masked, key_masked, similarity, verdict, origin) "
        "values ('b', 's', gen_random_uuid(), 'e', 'm', 'k', 1, 'same', 'person') returning 1"
    )

    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        rows(app_database_url, copy, tenant="a")
    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        rows(app_database_url, "update qkva.plan_cache_entries set tenant_id = 'b' returning 1", tenant="a")
    assert rows(app_database_url, copy, tenant="b") == [(1,)]


@pytest.mark.parametrize(
    "statement",
    [
        "alter table qkva.plan_cache_keys disable row level security",
        "drop policy tenant_border on qkva.plan_cache_keys",
        "set role postgres",
        "truncate qkva.plan_cache_keys",
        "create table qkva.mine (x int)",
        "select * from qkva.alembic_version",
    ],
)
def test_app_login_cannot_open_border(app_database_url, statement):
    with pytest.raises(errors.InsufficientPrivilege):
        rows(app_database_url, statement)


def test_row_security_cannot_be_switched_off(app_database_url):
    with psycopg.connect(app_database_url) as connection:
        connection.execute("set row_security = off")
        with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("select * from qkva.plan_cache_keys")


def test_every_table_has_border(database_url):
    """Read from the catalogue, so that it holds for tables that are still to come."""
    tables = {name for (name,) in rows(database_url, TABLES)} - {"qkva.alembic_version"}
    forced = rows(
        database_url,
        f"""
        select t.name from ({TABLES}) t
        join pg_class c on c.oid = t.name::regclass and c.relrowsecurity and c.relforcerowsecurity
        join pg_policy p on p.polrelid = c.oid and p.polcmd = '*' and p.polwithcheck is not null
            and pg_get_expr(p.polqual, p.polrelid) like '%tenant_id%app.tenant_id%'
        """,
    )
    led_by_tenant = rows(
        database_url,
        f"""
        select t.name from ({TABLES}) t
        join pg_index i on i.indrelid = t.name::regclass and i.indisprimary
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0] and a.attname = 'tenant_id'
            and a.atttypid = 'text'::regtype
        """,
    )

    assert {"qkva.plan_cache_entries", "qkva.plan_cache_keys", "qkva.plan_cache_labels"} <= tables
    assert {name for (name,) in forced} == tables
    assert {name for (name,) in led_by_tenant} == tables


def test_every_index_is_led_by_tenant(database_url):
    found = rows(
        database_url,
        """
        select i.indexrelid::regclass::text, m.amname, a.attname
        from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
        join pg_class t on t.oid = i.indrelid and t.relname <> 'alembic_version'
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
        where c.relnamespace = 'qkva'::regnamespace
        """,
    )

    assert len(found) >= 6
    assert {(method, column) for _, method, column in found} == {("btree", "tenant_id")}  # no ivfflat, no hnsw


def test_app_login_owns_nothing(app_database_url):
    assert rows(
        app_database_url,
        "select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb from pg_roles where rolname = current_user",
    ) == [(False, False, False, False)]
    assert rows(app_database_url, "select 1 from pg_class where pg_has_role('qkva_app', relowner, 'member')") == []
