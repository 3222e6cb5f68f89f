"""A plan keeps so many exemplars, the diverse ones; and lets go one that is proven wrong."""

import asyncio
import math

import numpy as np
import psycopg
import pytest

from qkva.contracts.plan import PlanStatus
from qkva.stores.exemplars import redundant
from qkva.stores.plans import PostgresPlanStore


def fan(*degrees):
    return np.array([[math.cos(math.radians(d)), math.sin(math.radians(d))] for d in degrees], np.float32)


@pytest.mark.parametrize(
    ("degrees", "protected", "excess", "gone"),
    [
        ((0, 30, 31, 90), (), 1, [2]),  # the later of the nearest two
        ((0, 31, 90, 30), (), 1, [3]),
        ((0, 30, 31, 90), (2,), 1, [1]),  # the other one, where a file has written the later
        ((0, 30, 31, 90), (1, 2), 1, [0]),  # both: then the next nearest, 30 degrees away
        ((0, 30, 31, 90), (0, 1, 2, 3), 2, []),
        ((0, 30, 31, 90), (), 2, [2, 1]),
        ((0, 0, 0), (), 9, [2, 1]),  # never the last
        ((0,), (), 5, []),
        ((0, 90), (), 0, []),
    ],
)
def test_redundant_ones_go(degrees, protected, excess, gone):
    kept = np.isin(np.arange(len(degrees)), protected)

    assert redundant(fan(*degrees), kept, excess) == gone


def test_zero_vector_is_near_to_nothing():
    vectors = np.array([[1, 0], [0, 0], [0.9, 0.1]], np.float32)

    assert redundant(vectors, np.zeros(3, bool), 1) == [2]


@pytest.fixture
async def store(database):
    """At most four exemplars a plan."""
    return PostgresPlanStore(database, max_exemplars=4)


async def masks(store, tenant="a"):
    [stored] = await store.list_plans(tenant)
    return {question.masked for question in stored.questions}


@pytest.mark.db
async def test_new_exemplar_takes_the_place_of_a_redundant_one(store, new_plan, new_key):
    keys = [
        new_key("0", 0),
        new_key("40", 40),
        new_key("41", 41),
        new_key("90", 90),
        new_key("intent", 40, kind="intent"),
    ]
    stored = await store.save_plan("a", new_plan(), keys, embedder="toy/1536", ttl_hours=24)

    assert await store.add_keys("a", stored.plan.id, [new_key("150", 150)], embedder="toy/1536") == 1

    assert await masks(store) == {"0", "40", "90", "150"}


@pytest.mark.db
async def test_exemplar_that_was_confirmed_stays(store, new_plan, new_key):
    keys = [new_key(str(degrees), degrees) for degrees in (0, 40, 41, 90)]
    stored = await store.save_plan("a", new_plan(), keys, embedder="toy/1536", ttl_hours=24)
    await store.add_keys("a", stored.plan.id, [new_key("41", 41)], embedder="toy/1536")

    await store.add_keys("a", stored.plan.id, [new_key("150", 150)], embedder="toy/1536")

    assert await masks(store) == {"0", "41", "90", "150"}


@pytest.mark.db
async def test_redundant_exemplar_is_not_stored(store, new_plan, new_key):
    keys = [new_key(str(degrees), degrees) for degrees in (0, 40, 90, 150)]
    stored = await store.save_plan("a", new_plan(), keys, embedder="toy/1536", ttl_hours=24)

    assert await store.add_keys("a", stored.plan.id, [new_key("2", 2)], embedder="toy/1536") == 0

    assert await masks(store) == {"0", "40", "90", "150"}


@pytest.mark.db
async def test_exemplars_of_a_file_stay(store, new_plan, new_key):
    learned = [new_key(f"learned {degrees}", degrees) for degrees in (0, 60)]
    await store.save_plan("a", new_plan(), learned, embedder="toy/1536", ttl_hours=24)
    written = [new_key(f"written {n}", 100 + n, from_file=True) for n in range(3)]
    verified = new_plan(status=PlanStatus.VERIFIED)

    stored = await store.save_plan("a", verified, written, embedder="toy/1536", ttl_hours=None)
    assert await masks(store) == {"learned 0", *(key.masked for key in written)}

    more = [new_key(f"written {n}", 100 + n, from_file=True) for n in range(6)]
    await store.save_plan("a", verified, more, embedder="toy/1536", ttl_hours=None)
    assert await masks(store) == {key.masked for key in more}  # more than the bound, all from the file

    assert await store.add_keys("a", stored.plan.id, [new_key("learned anew", 0)], embedder="toy/1536") == 0
    assert await masks(store) == {key.masked for key in more}


@pytest.mark.db
async def test_bound_is_of_each_plan_and_embedder(store, new_plan, new_key):
    for canonical in ("one", "two"):
        for embedder in ("toy/1536", "toy/768"):
            keys = [new_key(f"{embedder} {n}", n) for n in range(9)]
            await store.save_plan("a", new_plan(canonical), keys, embedder=embedder, ttl_hours=24)

    assert [len(stored.questions) for stored in await store.list_plans("a")] == [8, 8]


@pytest.mark.db
async def test_file_takes_over_what_was_learned(store, new_plan, new_key, database_url):
    """Its roles count, and it stays when others are crowded out; the file can also let it go."""
    both = [new_key("asked", 0), new_key("by ‹customers.name›", 50)]
    await store.save_plan("a", new_plan(), both, embedder="toy/1536", ttl_hours=24)
    written = new_key("by ‹customers.name›", 50, roles=("customer",), from_file=True)
    verified = new_plan(status=PlanStatus.VERIFIED)

    stored = await store.save_plan("a", verified, [written], embedder="toy/1536", ttl_hours=None)
    assert {question.masked: question.roles for question in stored.questions} == {
        "asked": (),
        "by ‹customers.name›": ("customer",),
    }
    noted = "select count(*) from qkva.plan_cache_changes"
    with psycopg.connect(database_url, autocommit=True) as admin:
        before = admin.execute(noted).fetchone()
        assert await store.save_plan("a", verified, [written], embedder="toy/1536", ttl_hours=None) == stored
        assert admin.execute(noted).fetchone() == before  # the same file again changes nothing

    other = new_key("of ‹customers.name›", 70, roles=("customer",), from_file=True)
    await store.save_plan("a", verified, [other], embedder="toy/1536", ttl_hours=None)
    assert await masks(store) == {"asked", "of ‹customers.name›"}


@pytest.mark.db
async def test_wrong_exemplar_is_removed(store, new_plan, new_key, find_in):
    keys = [new_key("right", 10), new_key("wrong", 0), new_key("wrong", 0, kind="intent")]
    stored = await store.save_plan("a", new_plan(), keys, embedder="toy/1536", ttl_hours=24)
    await store.add_keys("a", stored.plan.id, [new_key("wrong", 0)], embedder="toy/768")
    assert [(key.masked, key.kind) for key in (await find_in(store))[0].keys].count(("wrong", "exemplar")) == 1

    assert not await store.remove_key("b", stored.plan.id, "wrong")
    assert await store.remove_key("a", stored.plan.id, "wrong")

    [found] = await find_in(store)
    assert [(key.masked, key.kind) for key in found.keys] == [("wrong", "intent"), ("right", "exemplar")]
    assert found.exemplars == 1
    assert await masks(store) == {"right"}
    assert not await store.remove_key("a", stored.plan.id, "wrong")
    assert not await store.remove_key("a", "no id", "right")


@pytest.mark.db
async def test_concurrent_savers_keep_the_bound(store, new_plan, new_key):
    stored = await store.save_plan("a", new_plan(), [new_key("first")], embedder="toy/1536", ttl_hours=24)
    await asyncio.gather(
        *(
            store.add_keys(
                "a", stored.plan.id, [new_key(f"{n} {k}", 10 * n + k) for k in range(2)], embedder="toy/1536"
            )
            for n in range(8)
        )
    )

    assert len(await masks(store)) == 4
