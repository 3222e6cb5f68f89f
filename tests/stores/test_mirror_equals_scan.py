"""What the mirror in memory serves is what the scan in the database finds, whoever wrote last."""

import random
from datetime import timedelta

import psycopg
import pytest

from qkva.contracts.cache import NewKey
from qkva.contracts.plan import PlanStatus
from qkva.stores.database import Database
from qkva.stores.plans import PostgresPlanStore

pytestmark = pytest.mark.db

TENANTS, SOURCES, EMBEDDERS, SCHEMAS = (
    ("a", "b"),
    ("shop", "tickets"),
    ("toy/1536", "toy/768"),
    ("schema-1", "schema-2"),
)
MASKS = [f"mask {n}" for n in range(12)]
STEPS = 60


@pytest.fixture
async def stores(app_database_url, monkeypatch):
    """Two that mirror, as two processes would, and one that scans."""
    monkeypatch.setattr("qkva.stores.mirrors.PATIENCE_SEC", 30)
    databases = [await Database.open(app_database_url) for _ in range(3)]
    yield (
        *(PostgresPlanStore(database) for database in databases[:2]),
        PostgresPlanStore(databases[2], mirror_bytes=0),
    )
    for database in databases:
        await database.close()


class World:
    """Random writes, by either store or by hand, and random questions."""

    def __init__(self, seed, writers, admin, new_plan):
        self.random, self.writers, self.admin, self.new_plan = random.Random(seed), writers, admin, new_plan
        self.plans = []  # tenant, id

    def vector(self):
        """Zero, one of a few, of few columns, or of all."""
        kind = self.random.random()
        if kind < 0.1:
            return (0.0,) * 1536
        if kind < 0.3:
            return (*([0.0] * self.random.randrange(3)), 1.0, *([0.0] * 1536))[:1536]
        width = self.random.choice((4, 256, 1536))
        return (*(self.random.gauss(0, 1) for _ in range(width)), *([0.0] * (1536 - width)))

    def keys(self, count):
        return [
            NewKey(
                kind=self.random.choice(("intent", "exemplar", "exemplar")),
                masked=self.random.choice(MASKS),
                roles=self.random.choice(((), ("customer",))),
                embedding=self.vector(),
                from_file=self.random.random() < 0.2,
            )
            for _ in range(count)
        ]

    async def save(self, store):
        tenant = self.random.choice(TENANTS)
        status = self.random.choice((PlanStatus.LEARNED, PlanStatus.LEARNED, PlanStatus.VERIFIED))
        plan = self.new_plan(
            f"c{self.random.randrange(15)}",
            status=status,
            source=self.random.choice(SOURCES),
            schema_fingerprint=self.random.choice(SCHEMAS),
            dependency_ids=(self.random.choice(("table:orders", "table:refunds")),),
        )
        stored = await store.save_plan(
            tenant,
            plan,
            self.keys(self.random.randrange(1, 12)),
            embedder=self.random.choice(EMBEDDERS),
            ttl_hours=self.random.choice((-1, 24, 24, None)),
        )
        self.plans.append((tenant, stored.plan.id))

    async def write(self):
        store = self.random.choice(self.writers)
        if not self.plans or self.random.random() < 0.6:
            return await self.save(store)
        tenant, plan_id = self.random.choice(self.plans)
        deed = self.random.choice(("add", "status", "invalidate", "remove", "hit", "expire", "delete", "delete key"))
        if deed == "add":
            await store.add_keys(tenant, plan_id, self.keys(3), embedder=self.random.choice(EMBEDDERS))
        elif deed == "status":
            status = self.random.choice((PlanStatus.RETIRED, PlanStatus.VERIFIED, PlanStatus.LEARNED))
            await store.set_status(tenant, plan_id, status)
        elif deed == "invalidate" and self.random.random() < 0.2:
            await store.invalidate_plans_for_records(tenant, ["table:orders"])
        elif deed == "remove":
            await store.remove_key(tenant, plan_id, self.random.choice(MASKS))
        elif deed == "hit":
            await store.record_hit(tenant, plan_id)
        elif deed == "expire":
            self.by_hand("update qkva.plan_cache_entries set expires_at = now() where id = %s", plan_id)
        elif deed == "delete" and self.random.random() < 0.3:
            self.by_hand("delete from qkva.plan_cache_entries where id = %s", plan_id)
        elif deed == "delete key":
            self.by_hand("delete from qkva.plan_cache_keys where plan_id = %s and masked < 'mask 2'", plan_id)

    def by_hand(self, statement, plan_id):
        self.admin.execute(statement, (plan_id,))

    def question(self):
        return self.random.choice(TENANTS), {
            "source": self.random.choice(SOURCES),
            "masked": self.random.choice([*MASKS, "unseen", "unseen", "unseen"]),
            "embedding": self.vector(),
            "embedder": self.random.choice(EMBEDDERS),
            "schema_fingerprint": self.random.choice(SCHEMAS),
            "top_k": self.random.choice((1, 3, 50)),
        }


def facts(candidates):
    return [
        (found.plan, found.exemplars, [(key.id, key.kind, key.masked, key.roles, key.exact) for key in found.keys])
        for found in candidates
    ]


def similarities(candidates):
    return [key.similarity for found in candidates for key in found.keys]


@pytest.mark.parametrize("seed", range(6))
async def test_mirror_serves_what_the_scan_finds(stores, new_plan, database_url, seed):
    *mirrored, scanned = stores
    met = exact = 0
    with psycopg.connect(database_url, autocommit=True) as admin:
        world = World(seed, stores, admin, new_plan)
        for _ in range(STEPS):
            await world.write()
            for store in mirrored:
                tenant, question = world.question()
                found = await store.find_candidates(tenant, **question)
                expected = await scanned.find_candidates(tenant, **question)

                assert facts(found) == facts(expected), question | {"embedding": None}
                assert similarities(found) == pytest.approx(similarities(expected), abs=1e-5)
                met += len(expected)
                exact += bool(expected and expected[0].keys[0].exact)
    assert met > 50 and exact > 5
    assert all(len(store._search.mirrors._held) >= 6 for store in mirrored)  # it was the mirrors that found them


async def test_plan_expires_without_a_write(stores, new_plan, new_key, find_in, database_url):
    mirrored, _, scanned = stores
    soon = await mirrored.save_plan(
        "a", new_plan("soon"), [new_key("soon", 0)], embedder="toy/1536", ttl_hours=1 / 3600
    )
    await mirrored.save_plan("a", new_plan("later"), [new_key("later", 10)], embedder="toy/1536", ttl_hours=24)
    before = await find_in(mirrored)

    with psycopg.connect(database_url, autocommit=True) as admin:
        admin.execute("select pg_sleep_until(%s)", (soon.expires_at + timedelta(milliseconds=1),))

    assert [found.plan.key_text for found in before] == ["intent of soon", "intent of later"]
    for store in (mirrored, scanned):
        assert [found.plan.key_text for found in await find_in(store)] == ["intent of later"]
        assert [found.plan.key_text for found in await find_in(store, masked="soon")] == ["intent of later"]
