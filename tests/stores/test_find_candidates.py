"""Which plans a question meets, and in what order."""

import math

import numpy as np
import pytest

from qkva.contracts.plan import PlanStatus
from qkva.stores.plans import MIRROR_BYTES, PostgresPlanStore

pytestmark = pytest.mark.db


@pytest.fixture(params=[MIRROR_BYTES, 0], ids=["mirror", "scan"])
async def plan_store(database, request, monkeypatch):
    """Both ways of looking up have to give the same."""
    monkeypatch.setattr("qkva.stores.mirrors.PATIENCE_SEC", 30)
    return PostgresPlanStore(database, mirror_bytes=request.param)


def intents(candidates):
    return [candidate.plan.key_text for candidate in candidates]


async def test_plan_cache_lookup_returns_similar_plan(save, find):
    await save(canonical="near", degrees=20)
    await save(canonical="nearest", degrees=10)
    await save(canonical="opposite", degrees=180)

    found = await find(degrees=0)

    assert intents(found) == ["intent of nearest", "intent of near", "intent of opposite"]
    assert [candidate.keys[0].similarity for candidate in found] == pytest.approx(
        [math.cos(math.radians(10)), math.cos(math.radians(20)), -1], abs=1e-3
    )
    assert found[0].plan.params[0].name == "customer"
    assert not found[0].keys[0].exact


async def test_top_k_counts_plans(save, find, plan_store, new_key):
    crowded = await save(canonical="crowded", degrees=25)
    keys = [new_key(f"crowd {n}", n + 2) for n in range(20)]
    await plan_store.add_keys("a", crowded.plan.id, keys, embedder="toy/1536")
    await save(canonical="second", degrees=1)
    await save(canonical="third", degrees=60)

    found = await find(top_k=2)

    assert intents(found) == ["intent of second", "intent of crowded"]
    assert [key.masked for key in found[1].keys] == [f"crowd {n}" for n in range(8)]
    assert [candidate.exemplars for candidate in found] == [1, 21]


async def test_exact_mask_beats_nearer_vectors(save, find):
    await save(canonical="nearer", degrees=0)
    await save(canonical="equal", degrees=40, masked="orders of ‹customers.name›")

    found = await find(masked="orders of ‹customers.name›", degrees=0)

    assert intents(found)[0] == "intent of equal"
    assert (found[0].keys[0].exact, found[0].keys[0].similarity) == (True, 1.0)


async def test_every_plan_of_equal_mask(save, find):
    await save(canonical="one", degrees=10, masked="same words")
    await save(canonical="two", degrees=50, masked="same words")

    assert sorted(intents(await find(masked="same words"))) == ["intent of one", "intent of two"]


async def test_expired_plan_rejected(save, find):
    await save(canonical="old", masked="asked before", ttl_hours=-1)

    assert await find(masked="asked before") == []
    assert await find(masked="unseen") == []


async def test_verified_plan_never_expires(save, find):
    stored = await save(status=PlanStatus.VERIFIED, ttl_hours=-1)

    assert stored.expires_at is None
    assert len(await find()) == 1


async def test_retired_plan_never_served(save, find, plan_store):
    stored = await save(masked="asked before")
    await plan_store.set_status("a", stored.plan.id, PlanStatus.RETIRED)

    assert await find(masked="asked before") == []
    assert await find() == []


@pytest.mark.parametrize("other", [{"embedder": "toy/768"}, {"schema_fingerprint": "schema-2"}, {"source": "tickets"}])
async def test_other_fingerprint_misses(save, find, other):
    await save(masked="asked before")

    assert await find(masked="asked before", **other) == []
    assert await find(**other) == []


async def test_zero_vector_is_unrelated(save, find, plan_store):
    await save()

    found = await plan_store.find_candidates(
        "a", source="shop", masked="unseen", embedding=[0.0] * 1536, embedder="toy/1536",
        schema_fingerprint="schema-1", top_k=5,
    )  # fmt: skip

    assert [candidate.keys[0].similarity for candidate in found] == [0.0]


async def test_recall_is_exact_beside_big_tenant(plan_store, new_plan, new_key):
    """2,000 keys of another tenant in the same region of space take no row away, and the order is the true one."""
    random = np.random.default_rng(7)
    vectors = random.normal(size=1536) + random.normal(size=(2_060, 1536))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors.astype(np.float16).astype(np.float64)  # as they are stored
    cosines = vectors @ vectors.T / np.outer(*[np.linalg.norm(vectors, axis=1)] * 2)
    big = await plan_store.save_plan("a", new_plan("big"), [], embedder="toy/1536", ttl_hours=24)
    crowd = [new_key(f"crowd {n}", embedding=tuple(vector)) for n, vector in enumerate(vectors[60:])]
    await plan_store.add_keys("a", big.plan.id, crowd, embedder="toy/1536")
    for n, vector in enumerate(vectors[10:60]):
        keys = [new_key(f"mine {n}", embedding=tuple(vector))]
        await plan_store.save_plan("b", new_plan(f"{n:02}"), keys, embedder="toy/1536", ttl_hours=24)

    for question, similarities in zip(vectors[:10], cosines[:10, 10:60], strict=True):
        found = await plan_store.find_candidates(
            "b", source="shop", masked="unseen", embedding=question.tolist(), embedder="toy/1536",
            schema_fingerprint="schema-1", top_k=50,
        )  # fmt: skip
        assert intents(found) == [f"intent of {n:02}" for n in np.argsort(-similarities)]
