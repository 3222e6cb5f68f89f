"""What the cache has found out of its own plans."""

import psycopg
import pytest
from psycopg import errors

from qkva.contracts.cache import HitCounts, LabelCounts, LabelledScore, VerdictCounts

pytestmark = pytest.mark.db

FOUND = {"masked": "orders of ‹customers.name›", "similarity": 0.91, "score": 0.62, "source_of_label": "miss"}


def counts(miss=(0, 0), audit=(0, 0)):
    return LabelCounts(
        miss=VerdictCounts(same=miss[0], different=miss[1]), audit=VerdictCounts(same=audit[0], different=audit[1])
    )


async def test_labels_are_counted_by_kind(plan_store, save):
    one, other = await save(canonical="c1"), await save(canonical="c2")
    await plan_store.add_label("a", plan_id=one.plan.id, verdict="same", **FOUND)
    await plan_store.add_label("a", plan_id=other.plan.id, verdict="different", **FOUND)
    await plan_store.add_label("a", plan_id=one.plan.id, verdict="different", **{**FOUND, "source_of_label": "audit"})
    await plan_store.add_label("a", plan_id=one.plan.id, verdict="different", **{**FOUND, "masked": "all orders"})

    assert await plan_store.label_counts("a", source="shop") == counts(miss=(1, 2), audit=(0, 1))
    assert await plan_store.label_counts("a", source="mail") == counts()


async def test_newest_label_of_a_pair_counts(plan_store, save, database_url):
    plan_id = (await save()).plan.id
    assert await plan_store.add_label("a", plan_id=plan_id, verdict="same", **FOUND)
    newer = {**FOUND, "similarity": 0.5, "score": 0.25, "key_masked": "a key", "embedder": ""}
    assert await plan_store.add_label("a", plan_id=plan_id, verdict="different", **newer)

    assert await plan_store.label_counts("a", source="shop") == counts(miss=(0, 1))
    with psycopg.connect(database_url) as admin:
        kept = admin.execute(
            "select similarity, score, verdict, origin, key_masked, source from qkva.plan_cache_labels"
        )
        assert kept.fetchall() == [(0.5, 0.25, "different", "miss", "a key", "shop")]


async def test_mask_longer_than_an_index_takes(plan_store, save):
    plan_id = (await save()).plan.id
    long = "".join(chr(0x4E00 + number) for number in range(4000))

    assert await plan_store.add_label("a", plan_id=plan_id, verdict="same", **{**FOUND, "masked": long})
    assert await plan_store.add_label("a", plan_id=plan_id, verdict="same", **{**FOUND, "masked": long[:-1]})
    assert await plan_store.label_counts("a", source="shop") == counts(miss=(2, 0))


async def test_other_tenant_neither_adds_nor_counts(plan_store, save):
    plan_id = (await save("a")).plan.id
    await plan_store.add_label("a", plan_id=plan_id, verdict="same", **FOUND)

    assert not await plan_store.add_label("b", plan_id=plan_id, verdict="different", **FOUND)
    assert await plan_store.label_counts("b", source="shop") == counts()
    assert await plan_store.label_counts("a", source="shop") == counts(miss=(1, 0))


async def test_unknown_plan_has_no_label(plan_store):
    assert not await plan_store.add_label("a", plan_id="no uuid", verdict="same", **FOUND)
    unknown = "00000000-0000-0000-0000-000000000000"
    assert not await plan_store.add_label("a", plan_id=unknown, verdict="same", **FOUND)


async def test_database_knows_the_origins(save, database_url):
    await save()
    label = (
        "insert into qkva.plan_cache_labels "
        "(tenant_id, source, plan_id, embedder, masked, key_masked, similarity, verdict, origin) "
        "values ('a', 'shop', gen_random_uuid(), 'e', 'm', 'k', 1, 'same', %s)"
    )
    with psycopg.connect(database_url, autocommit=True) as admin:
        for origin in ("miss", "audit", "planner", "judge", "person"):
            admin.execute(label, (origin,))
        with pytest.raises(errors.CheckViolation):
            admin.execute(label, ("guess",))


async def test_scores_come_newest_first_with_what_the_judge_had_thought(plan_store, save):
    plan_id = (await save()).plan.id
    found = {**FOUND, "embedder": "e"}
    await plan_store.add_label("a", plan_id=plan_id, verdict="same", judge=0.875, judged_by="m", **found)
    await plan_store.add_label("a", plan_id=plan_id, verdict="different", **{**found, "masked": "b"})
    await plan_store.add_label("a", plan_id=plan_id, verdict="same", **{**found, "embedder": "another"})

    judged = LabelledScore(score=0.62, judge=0.875, same=True, origin="miss", judged_by="m")
    plain = LabelledScore(score=0.62, judge=None, same=False, origin="miss")
    assert await plan_store.label_scores("a", "shop", "e") == [plain, judged]
    assert await plan_store.label_scores("a", "mail", "e") == []
    assert await plan_store.label_scores("b", "shop", "e") == []


async def test_label_without_a_judge_keeps_what_one_said_before(plan_store, save):
    plan_id = (await save()).plan.id
    await plan_store.add_label("a", plan_id=plan_id, verdict="same", judge=0.75, judged_by="m", **FOUND)
    await plan_store.add_label("a", plan_id=plan_id, verdict="different", **FOUND)

    (label,) = await plan_store.label_scores("a", "shop", "")
    assert (label.judge, label.judged_by, label.same) == (0.75, "m", False)


async def test_newest_judge_of_a_pair_counts(plan_store, save):
    plan_id = (await save()).plan.id
    await plan_store.add_label("a", plan_id=plan_id, verdict="same", judge=0.75, judged_by="m", **FOUND)
    await plan_store.add_label("a", plan_id=plan_id, verdict="same", judge=0.5, judged_by="n", **FOUND)

    (label,) = await plan_store.label_scores("a", "shop", "")
    assert (label.judge, label.judged_by) == (0.5, "n")


async def test_scores_are_bounded(plan_store, save, database_url):
    plan_id = (await save()).plan.id
    await plan_store.add_label("a", plan_id=plan_id, verdict="same", **FOUND)
    with psycopg.connect(database_url, autocommit=True) as admin:
        admin.execute(
            "insert into qkva.plan_cache_labels (tenant_id, source, plan_id, embedder, masked, key_masked, similarity, "
            "score, verdict, origin) select tenant_id, source, plan_id, embedder, n::text, '', 1, 1, verdict, origin "
            "from qkva.plan_cache_labels, generate_series(1, 4000) n"
        )
    assert len(await plan_store.label_scores("a", "shop", "")) == 4000


async def test_judged_hits_are_counted_apart(plan_store, save):
    one, other = (await save(canonical="c1")).plan.id, (await save(canonical="c2")).plan.id
    assert await plan_store.hit_counts("a", source="shop") == HitCounts()
    await plan_store.record_hit("a", one)
    await plan_store.record_hit("a", one, judged=True)
    await plan_store.record_hit("a", other, judged=True)

    assert await plan_store.hit_counts("a", source="shop") == HitCounts(judged=2, other=1)
    assert await plan_store.hit_counts("b", source="shop") == HitCounts()
    stored = await plan_store.get_plan("a", one)
    assert stored and stored.hits == 2
