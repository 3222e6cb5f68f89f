"""One process leads a key; nothing that happens to it keeps the key taken."""

import asyncio
import os
import signal
import time

import psycopg
import pytest

from qkva.contracts.errors import StoreUnavailable
from qkva.stores.database import Database
from qkva.stores.leads import PostgresLeads

pytestmark = pytest.mark.db

KEY = {"source": "shop", "masked": "orders of ‹customers.name›"}


@pytest.fixture
async def two(app_database_url):
    """The leads of two processes."""
    databases = [await Database.open(app_database_url) for _ in range(2)]
    leads = [PostgresLeads(database) for database in databases]
    yield leads
    for each in (*leads, *databases):
        await each.close()


async def test_one_leads_until_it_releases(two):
    one, other = two
    lead = await one.try_lead("a", **KEY)

    assert lead is not None
    assert await other.try_lead("a", **KEY) is None
    await lead.release()
    assert await other.try_lead("a", **KEY) is not None
    assert await one.try_lead("a", **KEY) is None


async def test_keys_are_apart(two):
    one, other = two
    await one.try_lead("a", **KEY)

    assert await other.try_lead("b", **KEY)
    assert await other.try_lead("a", source="mail", masked=KEY["masked"])
    assert await other.try_lead("a", source="shop", masked="orders")


async def test_no_two_keys_make_one(two):
    one, other = two
    await one.try_lead("a", source="b c", masked="d")

    assert await other.try_lead("a b", source="c", masked="d")
    assert await other.try_lead("a", source="b", masked="c d")
    assert await other.try_lead('a","b c', source="d", masked="")


async def test_closing_gives_every_lead_up(two):
    one, other = two
    await one.try_lead("a", **KEY)
    await one.close()

    assert await lead_within(other, 2)


async def test_lost_connection_frees_the_key(two, database_url):
    """As when a process is killed; the one that lived on releases what it no longer has, and may lead again."""
    one, other = two
    lead = await one.try_lead("a", **KEY)
    with psycopg.connect(database_url, autocommit=True) as admin:
        admin.execute(
            "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = "
            "(select oid from pg_database where datname = current_database())"
        )
    theirs = await lead_within(other, 2)
    assert theirs is not None

    await lead.release()
    assert await one_after_reconnect(one) is None
    await theirs.release()
    assert await one.try_lead("a", **KEY) is not None


async def one_after_reconnect(leads):
    try:
        return await leads.try_lead("a", **KEY)
    except StoreUnavailable:
        return await leads.try_lead("a", **KEY)


async def test_cancelled_try_keeps_no_lock(two, database_url):
    one, other = two
    lead = await one.try_lead("a", source="shop", masked="first")  # opens the connection
    await lead.release()
    with psycopg.connect(database_url) as admin:
        (pid,) = admin.execute(
            "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() "
            "and query like '%pg_advisory_unlock%'"
        ).fetchone()
    os.kill(pid, signal.SIGSTOP)
    trying = asyncio.create_task(one.try_lead("a", **KEY))
    await asyncio.sleep(0.1)
    trying.cancel()
    os.kill(pid, signal.SIGCONT)
    with pytest.raises(asyncio.CancelledError):
        await trying

    assert await lead_within(other, 2)


async def test_frozen_server_is_given_up(two, monkeypatch, database_url):
    monkeypatch.setattr("qkva.stores.leads.OPERATION_TIMEOUT_SEC", 0)
    one, _ = two
    await one.try_lead("a", **KEY)
    with psycopg.connect(database_url) as admin:
        (pid,) = admin.execute(
            "select pid from pg_locks where locktype = 'advisory' and database = "
            "(select oid from pg_database where datname = current_database())"
        ).fetchone()
    os.kill(pid, signal.SIGSTOP)
    try:
        started = time.monotonic()
        with pytest.raises(StoreUnavailable):
            await one.try_lead("a", source="shop", masked="other")
        assert time.monotonic() - started < 3
    finally:
        os.kill(pid, signal.SIGCONT)


async def test_absent_database_is_told():
    leads = PostgresLeads(await Database.open("postgresql://nobody@127.0.0.1:1/none"))

    with pytest.raises(StoreUnavailable):
        await leads.try_lead("a", **KEY)


async def test_many_leads_take_one_connection(two, database_url):
    one, _ = two
    taken = await asyncio.gather(*(one.try_lead("a", source="shop", masked=str(n)) for n in range(50)))

    assert all(taken)
    with psycopg.connect(database_url) as admin:
        held = admin.execute(
            "select count(*), count(distinct pid) from pg_locks where locktype = 'advisory' and database = "
            "(select oid from pg_database where datname = current_database())"
        ).fetchone()
    assert held == (50, 1)


async def lead_within(leads, seconds):
    deadline = time.monotonic() + seconds
    while (lead := await leads.try_lead("a", **KEY)) is None:
        assert time.monotonic() < deadline, "the key stayed taken"
        await asyncio.sleep(0.02)
    return lead
