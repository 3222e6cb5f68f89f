"""Mirrors see every write at once, hold no other tenant's row, and stay within their bound."""

import asyncio
import subprocess
import sys
from dataclasses import replace

import numpy as np
import psycopg
import pytest

from qkva.contracts.plan import PlanStatus
from qkva.stores.database import Database
from qkva.stores.mirrors import SQL, values_of
from qkva.stores.plans import PostgresPlanStore

pytestmark = pytest.mark.db

OTHER_PROCESS = """
import asyncio, sys
from qkva.contracts.cache import NewKey
from qkva.contracts.plan import Plan, PlanStatus, StoredPlan
from qkva.stores.database import Database
from qkva.stores.plans import PostgresPlanStore

async def main(url, old):
    database = await Database.open(url)
    store = PostgresPlanStore(database)
    await store.set_status("a", old, PlanStatus.RETIRED)
    plan = Plan(key_text="theirs", query="select 1", source="shop", source_type="sql", dialect="postgres")
    key = NewKey(kind="exemplar", masked="theirs", embedding=(1.0,) + (0.0,) * 1535)
    await store.save_plan("a", StoredPlan(plan=plan, canonical="theirs", schema_fingerprint="schema-1"), [key],
        embedder="toy/1536", ttl_hours=24)
    await database.close()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A look-up waits for its mirror, so that every answer here is a mirror's."""
    monkeypatch.setattr("qkva.stores.mirrors.PATIENCE_SEC", 30)


@pytest.fixture
async def other_store(app_database_url):
    """A store of another process, as far as the database can tell."""
    database = await Database.open(app_database_url)
    yield PostgresPlanStore(database)
    await database.close()


def held(store, tenant="a", source="shop", embedder="toy/1536"):
    found = store._search.mirrors._held.get((tenant, source, embedder))
    return found.mirror if found else None


def intents(candidates):
    return [found.plan.key_text for found in candidates]


def rows(url, statement, *values):
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement, values)
        return cursor.fetchall() if cursor.description else None


async def test_every_write_of_another_store_is_seen_at_once(other_store, plan_store, save, find_in, new_plan, new_key):
    assert await find_in(other_store) == []
    near = await save(canonical="near", degrees=10)
    assert intents(await find_in(other_store)) == ["intent of near"]

    await save(canonical="nearer", degrees=5)
    assert intents(await find_in(other_store)) == ["intent of nearer", "intent of near"]

    await plan_store.add_keys("a", near.plan.id, [new_key("nearest", 1)], embedder="toy/1536")
    [first, _] = await find_in(other_store)
    assert ([key.masked for key in first.keys], first.exemplars) == (["nearest", "mask of near"], 2)

    await plan_store.remove_key("a", near.plan.id, "nearest")
    assert intents(await find_in(other_store)) == ["intent of nearer", "intent of near"]

    await plan_store.set_status("a", near.plan.id, PlanStatus.RETIRED)
    assert intents(await find_in(other_store)) == ["intent of nearer"]

    await plan_store.set_status("a", near.plan.id, PlanStatus.VERIFIED)
    await plan_store.invalidate_plans_for_records("a", ["table:orders"])
    assert intents(await find_in(other_store)) == ["intent of nearer", "intent of near"]

    await save(canonical="nearer", schema_fingerprint="schema-2", degrees=5)
    assert intents(await find_in(other_store)) == ["intent of near"]
    assert intents(await find_in(other_store, schema_fingerprint="schema-2")) == ["intent of nearer"]


async def test_deletions_are_followed_without_reading_all_anew(plan_store, save, find, new_key, database_url):
    stored = await save(canonical="kept", degrees=10)
    await plan_store.add_keys("a", stored.plan.id, [new_key("wrong", 0)], embedder="toy/1536")
    await save(canonical="deleted", degrees=5)
    await find()
    mine = plan_store._search.mirrors._held["a", "shop", "toy/1536"]

    await plan_store.remove_key("a", stored.plan.id, "wrong")
    assert [key.masked for found in await find() for key in found.keys] == ["mask of deleted", "mask of kept"]
    rows(database_url, "delete from qkva.plan_cache_entries where canonical = 'deleted'")
    assert [key.masked for found in await find() for key in found.keys] == ["mask of kept"]

    assert plan_store._search.mirrors._held["a", "shop", "toy/1536"] is mine


async def test_another_process_is_seen_at_once(plan_store, save, find, app_database_url):
    mine = await save(canonical="mine")
    assert intents(await find()) == ["intent of mine"]

    child = [sys.executable, "-W", "error", "-c", OTHER_PROCESS, app_database_url, mine.plan.id]
    await asyncio.to_thread(subprocess.run, child, check=True, timeout=60)

    assert intents(await find()) == ["theirs"]
    assert intents(await find(masked="theirs")) == ["theirs"]


async def test_late_commit_is_seen(save, find, app_database_url):
    """A transaction that began before the mirror, and ends after ones that the mirror has caught up with."""
    stored = await save(canonical="first", degrees=1)
    async with await psycopg.AsyncConnection.connect(app_database_url) as slow:
        await slow.execute("select set_config('app.tenant_id', 'a', true)")
        await slow.execute("update qkva.plan_cache_entries set status = 'retired' where id = %s", (stored.plan.id,))
        assert intents(await find()) == ["intent of first"]
        await save(canonical="second", degrees=5)
        assert intents(await find()) == ["intent of first", "intent of second"]

        await slow.commit()

    assert intents(await find()) == ["intent of second"]


async def test_rolled_back_write_is_never_seen(save, find, app_database_url):
    stored = await save()
    assert len(await find()) == 1
    async with await psycopg.AsyncConnection.connect(app_database_url) as undecided:
        await undecided.execute("select set_config('app.tenant_id', 'a', true)")
        await undecided.execute("delete from qkva.plan_cache_entries where id = %s", (stored.plan.id,))
        await undecided.rollback()

    assert len(await find()) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "delete from qkva.plan_cache_entries",
        "delete from qkva.plan_cache_keys",
        "truncate qkva.plan_cache_entries, qkva.plan_cache_keys",
        "update qkva.plan_cache_entries set status = 'retired'",
        "update qkva.plan_cache_entries set expires_at = now()",
    ],
)
async def test_what_is_typed_by_hand_is_seen(save, find, database_url, statement):
    await save(masked="asked before")
    assert len(await find()) == 1

    rows(database_url, statement)

    assert await find() == []
    assert await find(masked="asked before") == []
    await save(canonical="anew", masked="asked before")
    assert intents(await find()) == ["intent of anew"]


async def test_hit_leaves_no_note(save, plan_store, database_url):
    stored = await save()
    noted = "select count(*) from qkva.plan_cache_changes"
    before = rows(database_url, noted)

    await plan_store.record_hit("a", stored.plan.id)

    assert before == [(1,)]
    assert rows(database_url, noted) == before


async def test_mirror_holds_rows_of_its_tenant_only(plan_store, database, save, find, database_url):
    for tenant in ("a", "b"):
        for n in range(5):
            await save(tenant, canonical=f"c{n}", degrees=n)
    await find("a")
    await find("b")

    for tenant in ("a", "b"):
        own = rows(database_url, "select id, plan_id from qkva.plan_cache_keys where tenant_id = %s", tenant)
        mirror = held(plan_store, tenant)
        assert {bytes(key).ljust(16, b"\0") for key in mirror.key_ids} == {key.bytes for key, _ in own}
        assert {bytes(plan).ljust(16, b"\0") for plan in mirror.plan_ids} == {plan.bytes for _, plan in own}
    # It is not the statement's filter that keeps them apart: asked for another tenant's rows, the database gives none.
    asked = {**values_of(("a", "shop", "toy/1536")), "plan_ids": None, "after": None, "page": 100}
    assert len(await database.fetch_all("a", SQL["read_plans"], asked)) == 5
    assert await database.fetch_all("b", SQL["read_plans"], asked) == []
    [opened] = await database.fetch_all("b", SQL["open_mirror"], asked)
    assert opened["keys"] == 0


async def test_other_tenants_writes_change_nothing(plan_store, save, find):
    await save("a")
    await find("a")
    mirror = held(plan_store)

    await save("b")
    await save("a", source="tickets")
    await find("a")

    assert held(plan_store) is mirror


async def test_callers_share_one_reading(plan_store, save, find):
    for n in range(3):
        await save(canonical=f"c{n}", degrees=n)
    callers = [asyncio.create_task(find()) for _ in range(20)]
    await asyncio.sleep(0)
    loading = dict(plan_store._search.mirrors._loading)
    callers[0].cancel()

    found = await asyncio.gather(*callers, return_exceptions=True)

    assert len(loading) == 1
    assert isinstance(found[0], asyncio.CancelledError)
    assert {tuple(intents(candidates)) for candidates in found[1:]} == {
        ("intent of c0", "intent of c1", "intent of c2")
    }


async def test_cancelled_caller_leaves_no_half_of_a_change(plan_store, save, find):
    await save(canonical="first")
    await find()
    mine = plan_store._search.mirrors._held["a", "shop", "toy/1536"]
    for n in range(4):
        await save(canonical=f"c{n}", degrees=10 + n)
        caller = asyncio.create_task(find())
        while mine.catching_up is None and not caller.done():
            await asyncio.sleep(0)
        caller.cancel()
        assert (await find(degrees=10 + n))[0].plan.key_text == f"intent of c{n}"
        assert caller.cancelled()

    found = await find()
    assert intents(found) == ["intent of first", *(f"intent of c{n}" for n in range(4))]
    cosines = [np.cos(np.radians(degrees)) for degrees in (0, 10, 11, 12, 13)]
    assert [candidate.keys[0].similarity for candidate in found] == pytest.approx(cosines, abs=1e-3)


async def test_rows_of_replaced_keys_are_cleared(plan_store, save, find, new_key):
    stored = await save()
    for n in range(50):
        await plan_store.add_keys("a", stored.plan.id, [new_key(f"key {n}", n)], embedder="toy/1536")
        await find()

    mirror = held(plan_store)
    assert len(mirror) < 2 * 51
    assert len((await find(degrees=30))[0].keys) == 8


async def test_wider_vectors_come_later(plan_store, save, find, new_key):
    stored = await save()
    await find()
    assert held(plan_store).vectors.shape[1] == 1
    wide = new_key("wide", embedding=(*([0.0] * 1000), 1.0, *([0.0] * 535)))

    await plan_store.add_keys("a", stored.plan.id, [wide], embedder="toy/1536")

    assert [key.similarity for key in (await find())[0].keys] == [1.0, 0.0]
    assert held(plan_store).vectors.shape[1] == 1001


@pytest.fixture
async def tight(database, save, new_key):
    """A store with room for one of two tenants with 40 wide keys each, and not for a third with twice as many."""
    store = PostgresPlanStore(database, mirror_bytes=400_000, max_exemplars=100)
    random = np.random.default_rng(1)
    for tenant, count in {"a": 40, "b": 40, "c": 80}.items():
        stored = await save(tenant)
        vectors = random.normal(size=(count, 1536))
        keys = [new_key(f"key {n}", embedding=tuple(vector)) for n, vector in enumerate(vectors)]
        await store.add_keys(tenant, stored.plan.id, keys, embedder="toy/1536")
    return store


async def test_least_recently_used_mirror_makes_room(tight, find_in):
    assert [found.exemplars for found in await find_in(tight, "a")] == [41]
    assert held(tight, "a")
    assert [found.exemplars for found in await find_in(tight, "b")] == [41]

    assert held(tight, "a") is None
    assert held(tight, "b").nbytes <= 400_000


async def test_store_that_does_not_fit_is_scanned(tight, find_in):
    await find_in(tight, "a")

    assert [found.exemplars for found in await find_in(tight, "c")] == [81]

    assert held(tight, "c") is None
    assert held(tight, "a")  # what does not fit anyway pushes nothing out


async def test_mirror_that_outgrows_the_bound_is_dropped(tight, find_in, save, new_key):
    stored = await save("a")
    await find_in(tight, "a")
    more = [new_key(f"more {n}", n) for n in range(40)]

    await tight.add_keys("a", stored.plan.id, more, embedder="toy/1536")

    assert [found.exemplars for found in await find_in(tight, "a")] == [81]
    assert held(tight, "a") is None
    assert [found.exemplars for found in await find_in(tight, "a")] == [81]


async def test_without_room_nothing_is_mirrored(database, save, find_in):
    store = PostgresPlanStore(database, mirror_bytes=0)
    await save()

    assert len(await find_in(store)) == 1
    assert list(store._search._mirrors) == []


async def test_mirror_of_another_server_is_read_anew(plan_store, save, find):
    """After a restore or a failover the notes since a snapshot mean nothing."""
    await save()
    await find()
    mine = plan_store._search.mirrors._held["a", "shop", "toy/1536"]
    mine.mirror = replace(mine.mirror, moment=replace(mine.mirror.moment, generation="another server"))

    assert len(await find()) == 1
    assert len(await find()) == 1
    assert held(plan_store).moment.generation != "another server"


async def test_old_notes_are_forgotten_and_old_mirrors_too(plan_store, save, find, database_url):
    await save(canonical="first", degrees=1)
    await find()
    mine = plan_store._search.mirrors._held["a", "shop", "toy/1536"]
    await save(canonical="second", degrees=2)
    rows(database_url, "update qkva.plan_cache_changes set changed_at = now() - interval '25 hours'")

    await save(canonical="third", degrees=3)

    assert rows(database_url, "select count(*) from qkva.plan_cache_changes") == [(1,)]
    # The clock cannot be turned, so the mirror is made older instead.
    mine.mirror = replace(
        mine.mirror, moment=replace(mine.mirror.moment, now=mine.mirror.moment.now - np.timedelta64(13, "h"))
    )
    assert intents(await find()) == ["intent of first", "intent of second", "intent of third"]


async def test_note_of_an_unreached_transaction_is_not_of_now(plan_store, save, find, database_url):
    """A restored note may bear a number that this server has yet to reach: it must not be read again for ever."""
    await save()
    await find()
    mirror = held(plan_store)
    rows(database_url, "update qkva.plan_cache_changes set xid = '4000000000000'")

    assert len(await find()) == 1
    assert held(plan_store) is mirror


async def test_snapshot_is_renewed(plan_store, save, find):
    await save()
    await find()
    mine = plan_store._search.mirrors._held["a", "shop", "toy/1536"]
    earlier = mine.mirror.moment.now - np.timedelta64(2, "m")
    mine.mirror = replace(mine.mirror, moment=replace(mine.mirror.moment, now=earlier))

    await find()

    assert held(plan_store).moment.now > earlier + np.timedelta64(1, "m")


async def test_impatient_caller_is_served_by_the_scan(plan_store, save, find, monkeypatch):
    monkeypatch.setattr("qkva.stores.mirrors.PATIENCE_SEC", 0)
    await save()

    first = await find()
    for _ in range(100):
        if held(plan_store):
            break
        await asyncio.sleep(0.05)

    assert held(plan_store)
    assert await find() == first
