"""Storing, counting, judging and forgetting plans."""

import asyncio

import psycopg
import pytest

from qkva.contracts.errors import PlanRejected, StoreUnavailable
from qkva.contracts.plan import Exemplar, Parameter, ParamType, PlanStatus

pytestmark = pytest.mark.db


async def test_stored_plan_reads_back(plan_store, new_plan, new_key):
    params = (
        Parameter(name="since", type=ParamType.TIME_RANGE, default="last month", required=False),
        Parameter(name="state", type=ParamType.ENUM, choices=("open", "paid"), column="orders.state"),
    )
    given = new_plan(params=params, dependency_ids=("table:orders",), model="gpt", prompt="p1")
    keys = [
        new_key("intent", 5, kind="intent"),
        new_key("orders that are ‹orders.state› by ‹customers.name›", roles=("state", None)),
    ]

    stored = await plan_store.save_plan("a", given, keys, embedder="toy/1536", ttl_hours=2)

    assert stored.plan == given.plan.model_copy(update={"id": stored.plan.id})
    assert (stored.canonical, stored.dependency_ids, stored.model, stored.prompt) == (
        "c1",
        ("table:orders",),
        "gpt",
        "p1",
    )
    assert stored.questions == (Exemplar(masked=keys[1].masked, roles=("state", None)),)
    assert (stored.expires_at - stored.created_at).total_seconds() == 7200
    assert await plan_store.get_plan("a", stored.plan.id) == stored


async def test_equal_plan_gets_keys(plan_store, new_plan, new_key, save):
    first = await save(masked="first")
    again = new_plan(query="select id from orders where customer = {customer} -- same")

    second = await plan_store.save_plan("a", again, [new_key("second")], embedder="toy/1536", ttl_hours=24)

    assert second.plan == first.plan
    assert [question.masked for question in second.questions] == ["first", "second"]
    assert len(await plan_store.list_plans("a")) == 1


async def test_verified_replaces_learned(plan_store, save):
    learned = await save(masked="first")

    verified = await save(status=PlanStatus.VERIFIED, query="select 1 where {customer} <> ''", masked="second")

    assert verified.plan.id == learned.plan.id
    assert verified.plan.status is PlanStatus.VERIFIED
    assert verified.plan.query == "select 1 where {customer} <> ''"
    assert verified.expires_at is None
    assert len(verified.questions) == 2


async def test_learned_never_replaces_verified(save):
    verified = await save(status=PlanStatus.VERIFIED)

    again = await save(query="select 2 where {customer} <> ''", masked="other words")

    assert again.plan == verified.plan
    assert again.expires_at is None


async def test_replacing_drops_misfit_keys(plan_store, new_plan, new_key):
    """A slot must never fill a parameter that its plan does not have."""
    old = [new_key("by customer", roles=("customer",)), new_key("plain")]
    await plan_store.save_plan("a", new_plan(), old, embedder="toy/1536", ttl_hours=24)
    renamed = new_plan(
        status=PlanStatus.VERIFIED,
        query="select id from orders where customer = {who}",
        params=(Parameter(name="who", type=ParamType.TEXT),),
    )
    new = [new_key("by who", roles=("who",)), new_key("misfit", roles=("customer",))]

    stored = await plan_store.save_plan("a", renamed, new, embedder="toy/1536", ttl_hours=None)

    assert [question.masked for question in stored.questions] == ["plain", "by who"]


async def test_expired_plan_is_replaced(save):
    expired = await save(ttl_hours=-1)

    fresh = await save(query="select 3 where {customer} <> ''", schema_fingerprint="schema-2")

    assert fresh.plan.id == expired.plan.id
    assert fresh.plan.query == "select 3 where {customer} <> ''"
    assert fresh.schema_fingerprint == "schema-2"
    assert fresh.expires_at > fresh.created_at


async def test_concurrent_savers_share_plan(plan_store, new_plan, new_key):
    saved = await asyncio.gather(
        *(
            plan_store.save_plan(
                "a", new_plan(), [new_key("same"), new_key(f"key {n}")], embedder="toy/1536", ttl_hours=24
            )
            for n in range(12)
        )
    )

    assert len({stored.plan.id for stored in saved}) == 1
    [stored] = await plan_store.list_plans("a")
    assert {question.masked for question in stored.questions} == {"same", *(f"key {n}" for n in range(12))}


async def test_retired_meaning_is_learned_anew(plan_store, save, find):
    retired = await save()
    await plan_store.set_status("a", retired.plan.id, PlanStatus.RETIRED)

    fresh = await save()

    assert fresh.plan.id != retired.plan.id
    assert [candidate.plan.id for candidate in await find()] == [fresh.plan.id]


@pytest.mark.parametrize("status", [PlanStatus.FALLBACK, PlanStatus.RETIRED])
async def test_only_servable_plans_stored(save, plan_store, status):
    with pytest.raises(PlanRejected):
        await save(status=status)
    assert await plan_store.list_plans("a") == []


async def test_add_keys_counts_new_ones(plan_store, save, new_key):
    stored = await save(masked="known")

    keys = [new_key("known"), new_key("new"), new_key("known", kind="intent")]

    assert await plan_store.add_keys("a", stored.plan.id, keys, embedder="toy/1536") == 2
    assert await plan_store.add_keys("a", stored.plan.id, keys, embedder="toy/1536") == 0
    assert await plan_store.add_keys("a", "00000000-0000-0000-0000-000000000000", keys, embedder="toy/1536") == 0
    assert await plan_store.add_keys("a", "no id", keys, embedder="toy/1536") == 0


async def test_hits_are_counted(plan_store, save):
    stored = await save()

    await asyncio.gather(*(plan_store.record_hit("a", stored.plan.id) for _ in range(5)))

    counted = await plan_store.get_plan("a", stored.plan.id)
    assert counted.hits == 5
    assert counted.last_used_at >= counted.created_at


async def test_find_equal_sees_live_only(plan_store, save):
    live = await save(canonical="live")
    await save(canonical="expired", ttl_hours=-1)

    assert await plan_store.find_equal("a", source="shop", canonical="live") == live
    assert await plan_store.find_equal("a", source="shop", canonical="expired") is None
    assert await plan_store.find_equal("a", source="tickets", canonical="live") is None


async def test_get_plan_by_prefix(plan_store, save):
    stored = [await save(canonical=f"c{n}") for n in range(17)]  # two of 17 share the first of 16 hex digits
    first = stored[0].plan.id
    alone = next(n for n in range(1, 37) if sum(other.plan.id.startswith(first[:n]) for other in stored) == 1)
    digits = [other.plan.id[0] for other in stored]
    shared = next(digit for digit in digits if digits.count(digit) > 1)

    assert (await plan_store.get_plan("a", first[:alone].upper())).plan.id == first
    assert await plan_store.get_plan("a", shared) is None
    assert await plan_store.get_plan("a", "%") is None
    assert await plan_store.get_plan("a", "") is None


async def test_list_is_filtered_newest_first(plan_store, save):
    await save(canonical="old")
    await save(canonical="new", status=PlanStatus.VERIFIED)
    await save(canonical="elsewhere", source="tickets")

    async def listed(**filters):
        return [stored.canonical for stored in await plan_store.list_plans("a", **filters)]

    assert await listed() == ["elsewhere", "new", "old"]
    assert await listed(source="shop") == ["new", "old"]
    assert await listed(status=PlanStatus.LEARNED) == ["elsewhere", "old"]


async def test_verifying_ends_expiry(plan_store, save):
    stored = await save()

    assert await plan_store.set_status("a", stored.plan.id, PlanStatus.VERIFIED)
    verified = await plan_store.get_plan("a", stored.plan.id)

    assert (verified.plan.status, verified.expires_at) == (PlanStatus.VERIFIED, None)
    assert not await plan_store.set_status("a", "00000000-0000-0000-0000-000000000000", PlanStatus.VERIFIED)
    assert not await plan_store.set_status("a", "no id", PlanStatus.RETIRED)


async def test_verifying_retired_plan_retires_rival(plan_store, save):
    chosen = await save()
    await plan_store.set_status("a", chosen.plan.id, PlanStatus.RETIRED)
    rival = await save()

    assert await plan_store.set_status("a", chosen.plan.id, PlanStatus.VERIFIED)

    assert (await plan_store.get_plan("a", rival.plan.id)).plan.status is PlanStatus.RETIRED
    assert (await plan_store.get_plan("a", chosen.plan.id)).plan.status is PlanStatus.VERIFIED


async def test_plan_invalidated_explicitly(plan_store, save, find):
    await save(canonical="orders", dependency_ids=("table:orders", "table:customers"))
    await save(canonical="refunds", dependency_ids=("table:refunds",))
    await save(canonical="kept", dependency_ids=("table:orders",), status=PlanStatus.VERIFIED)
    await save("b", canonical="orders", dependency_ids=("table:orders",))

    retired = await plan_store.invalidate_plans_for_records("a", ["record:17", "table:orders"])

    assert retired == 1
    assert {candidate.plan.key_text for candidate in await find()} == {"intent of refunds", "intent of kept"}
    assert len(await find("b")) == 1
    assert await plan_store.invalidate_plans_for_records("a", []) == 0


async def test_long_expired_plans_are_forgotten(plan_store, save):
    await save(canonical="last week", ttl_hours=-24 * 8)
    await save(canonical="yesterday", ttl_hours=-24)

    await save(canonical="today")

    assert [stored.canonical for stored in await plan_store.list_plans("a")] == ["today", "yesterday"]


async def test_least_used_plans_make_room(plan_store, save, monkeypatch):
    monkeypatch.setattr("qkva.stores.plans.MAX_LEARNED_PLANS", 3)
    await save(canonical="kept by hand", status=PlanStatus.VERIFIED)
    await save(canonical="elsewhere", source="tickets")
    used = await save(canonical="used")
    await save(canonical="idle")
    await save(canonical="newer")
    await plan_store.record_hit("a", used.plan.id)

    await save(canonical="newest")

    kept = {stored.canonical for stored in await plan_store.list_plans("a")}
    assert kept == {"kept by hand", "elsewhere", "used", "newer", "newest"}


async def test_hits_weigh_against_idle_days(plan_store, save, monkeypatch, database_url):
    """Each doubling of the hits makes up for a day without use; expired plans go before all others."""
    monkeypatch.setattr("qkva.stores.plans.MAX_LEARNED_PLANS", 3)
    seven = await save(canonical="7 hits, 4 days idle")  # 3 doublings
    fifteen = await save(canonical="15 hits, 3 days idle")  # 4 doublings
    expired = await save(canonical="1000 hits, expired")
    with psycopg.connect(database_url, autocommit=True) as admin:
        use = "update qkva.plan_cache_entries set hits = %s, last_used_at = now() - %s * interval '1 day' where id = %s"
        admin.execute(use, (7, 4, seven.plan.id))
        admin.execute(use, (15, 3, fifteen.plan.id))
        admin.execute(use, (1000, 0, expired.plan.id))
        admin.execute("update qkva.plan_cache_entries set expires_at = now() where id = %s", (expired.plan.id,))

    async def after_saving(canonical):
        await save(canonical=canonical)
        return {stored.canonical for stored in await plan_store.list_plans("a")}

    assert await after_saving("new") == {"7 hits, 4 days idle", "15 hits, 3 days idle", "new"}
    assert await after_saving("newer") == {"15 hits, 3 days idle", "new", "newer"}
    assert await after_saving("newer") == {"15 hits, 3 days idle", "new", "newer"}  # renewed, so nothing has to go
    assert await after_saving("newest") == {"15 hits, 3 days idle", "newer", "newest"}


@pytest.mark.parametrize("text", ["nul \x00 byte", "half a pair \ud800"])
async def test_text_that_no_database_holds(plan_store, save, find, text):
    with pytest.raises(StoreUnavailable):
        await save(masked=text)

    assert await find(masked=text) == []
    assert await plan_store.list_plans("a") == []
