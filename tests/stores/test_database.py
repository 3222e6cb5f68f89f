"""What happens when our own database is away, and when it is back."""

import asyncio
import os
import signal
import socket
import threading
import time

import psycopg
import pytest

from qkva.contracts.errors import ConfigError, StoreUnavailable
from qkva.stores.database import Database
from qkva.stores.embedded import start_embedded
from qkva.stores.migrate import migrate
from qkva.stores.plans import PostgresPlanStore

pytestmark = pytest.mark.db


async def seconds_to_fail(database):
    started = time.monotonic()
    with pytest.raises(StoreUnavailable) as caught:
        async with database.tenant_transaction("a") as connection:
            await connection.execute("select 1")
    assert "\n" not in caught.value.message
    return time.monotonic() - started


async def test_stopped_database_fails_fast_and_recovers(tmp_path):
    server = await asyncio.to_thread(start_embedded, tmp_path)
    await asyncio.to_thread(migrate, server.admin_url)
    database = await Database.open(server.app_url)
    store = PostgresPlanStore(database)
    assert await store.list_plans("a") == []

    await asyncio.to_thread(server.close)
    assert await seconds_to_fail(database) < 3
    assert await seconds_to_fail(database) < 0.1  # at once: the question has waited already

    server = await asyncio.to_thread(start_embedded, tmp_path)
    try:
        for _ in range(40):
            try:
                assert await store.list_plans("a") == []
                break
            except StoreUnavailable:
                await asyncio.sleep(0.25)
        assert await store.list_plans("a") == []
    finally:
        await database.close()
        await asyncio.to_thread(server.close)


async def test_absent_database_fails_fast(caplog):
    database = await Database.open("postgresql://nobody:s3cret@127.0.0.1:1/none")

    assert await seconds_to_fail(database) < 3

    await database.close()
    assert not caplog.records


async def test_silent_database_fails_fast():
    """A host that takes the connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        database = await Database.open(f"postgresql://x@127.0.0.1:{silent.getsockname()[1]}/x")

        assert await seconds_to_fail(database) < 3

        await database.close()


async def test_frozen_idle_connection_is_replaced(database):
    """Its server process says nothing more, as on a host that has vanished."""
    async with database.tenant_transaction("a") as connection:
        pid = connection.info.backend_pid
    os.kill(pid, signal.SIGSTOP)
    try:
        started = time.monotonic()
        async with database.tenant_transaction("a") as connection:
            assert connection.info.backend_pid != pid
        assert time.monotonic() - started < 4
    finally:
        os.kill(pid, signal.SIGCONT)


async def test_frozen_statement_is_given_up(database, monkeypatch):
    monkeypatch.setattr("qkva.stores.database.OPERATION_TIMEOUT_SEC", 0)
    started = time.monotonic()
    pid = None
    try:
        with pytest.raises(StoreUnavailable):
            async with database.tenant_transaction("a") as connection:
                pid = connection.info.backend_pid
                os.kill(pid, signal.SIGSTOP)
                await connection.execute("select 1")
        assert time.monotonic() - started < 3
    finally:
        os.kill(pid, signal.SIGCONT)


async def test_lost_connections_are_replaced(database, database_url):
    async with database.tenant_transaction("a") as connection:
        await connection.execute("select 1")
    with psycopg.connect(database_url, autocommit=True) as admin:
        admin.execute("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'qkva_app'")

    async with database.tenant_transaction("a") as connection:
        cursor = await connection.execute("select 1 as one")
        assert await cursor.fetchone() == {"one": 1}


async def test_refused_statement_is_mapped_and_rolled_back(database, save, plan_store):
    stored = await save()

    with pytest.raises(StoreUnavailable, match="not-null constraint"):
        async with database.tenant_transaction("a") as connection:
            await connection.execute("update qkva.plan_cache_entries set hits = 9")
            await connection.execute("update qkva.plan_cache_entries set key_text = null")

    assert await plan_store.get_plan("a", stored.plan.id) == stored


async def test_connections_run_with_role_and_custom_plans(database_url):
    database = await Database.open(database_url.replace("postgresql://", "postgresql+psycopg://"), "qkva_rw")

    async with database.tenant_transaction("a") as connection:
        cursor = await connection.execute(
            "select current_user as role, current_setting('plan_cache_mode') as mode, "
            "current_setting('app.tenant_id') as tenant"
        )
        assert await cursor.fetchone() == {"role": "qkva_rw", "mode": "force_custom_plan", "tenant": "a"}

    await database.close()


async def test_owner_with_role_sees_own_tenant_only(database_url, save):
    await save("a")
    database = await Database.open(database_url, "qkva_rw")
    store = PostgresPlanStore(database)

    assert len(await store.list_plans("a")) == 1
    assert await store.list_plans("b") == []

    await database.close()


async def test_url_options_are_kept(app_database_url):
    database = await Database.open(app_database_url + "&options=-c%20work_mem%3D7MB")

    async with database.tenant_transaction("a") as connection:
        cursor = await connection.execute("select current_setting('work_mem') as work_mem")
        assert await cursor.fetchone() == {"work_mem": "7MB"}

    await database.close()


async def test_no_url_is_refused_without_password():
    with pytest.raises(ConfigError, match="DATABASE_URL is no PostgreSQL URL") as caught:
        await Database.open("mysql://me:s3cret@host/db")
    assert "s3cret" not in str(caught.value)


async def test_many_more_callers_than_connections(database):
    async def slowly():
        async with database.tenant_transaction("a") as connection:
            await connection.execute("select pg_sleep(0.02)")

    await asyncio.gather(*(slowly() for _ in range(60)))


def test_each_event_loop_has_its_pool(app_database_url):
    failures = []
    database = asyncio.run(Database.open(app_database_url))

    async def use():
        async with database.tenant_transaction("a") as connection:
            await connection.execute("select pg_sleep(0.05)")
        await database.close()

    def run():
        try:
            asyncio.run(use())
        except BaseException as error:  # noqa: BLE001  a thread's edge
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
