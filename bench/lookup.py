"""What a look-up in the plan cache costs, by the number of other tenants and of the tenant's own plans.

A look-up here is what the store does: choose by the mirror in memory, and have the database confirm. For comparison the
same by a scan in the database, and while another process keeps saving plans of the same tenant.
Run: .venv/bin/python bench/lookup.py (a minute; starts its own PostgreSQL in a temporary folder).
"""

import asyncio
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psycopg
from pgvector.psycopg import HalfVector, register_vector

from qkva.contracts.cache import NewKey
from qkva.contracts.plan import Plan, StoredPlan
from qkva.stores import mirrors
from qkva.stores.database import Database
from qkva.stores.embedded import start_embedded
from qkva.stores.migrate import migrate
from qkva.stores.plan_rows import masked_hash
from qkva.stores.plans import PostgresPlanStore

KEYS_PER_PLAN = 3
RUNS = 200
LOCAL, WIDTH = 256, 1536
"""Columns that the local embedder fills, and that there are."""
ENTRIES = """
copy qkva.plan_cache_entries (tenant_id, id, source, source_type, dialect, strategy, key_text, query, params, status,
    canonical, schema_fingerprint, dependency_ids, expires_at) from stdin
"""
KEYS = """
copy qkva.plan_cache_keys (tenant_id, plan_id, source, embedder, kind, masked, masked_hash, roles, embedding)
from stdin with (format binary)
"""
KEY_TYPES = ["text", "uuid", "text", "text", "text", "text", "bytea", "text[]", "halfvec"]
QUERY = "select id, total from orders where customer = {customer} and created_at >= {period.start}"
PARAMS = '[{"name": "customer", "type": "text"}, {"name": "period", "type": "time_range"}]'


def unit_vectors(count: int, seed: int, columns: int = LOCAL) -> np.ndarray:
    """Directions without any order, zero behind these columns."""
    vectors = np.zeros((count, WIDTH), np.float32)
    vectors[:, :columns] = np.random.default_rng(seed).standard_normal((count, columns), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def fill(connection: psycopg.Connection, tenants: dict[str, int], columns: int = LOCAL) -> None:
    """Give each tenant so many plans."""
    plans = [(tenant, uuid.uuid4()) for tenant, count in tenants.items() for _ in range(count)]
    with connection.cursor() as cursor:
        with cursor.copy(ENTRIES) as copy:
            for tenant, plan in plans:
                what = ("shop", "sql", "postgres", "sql_only", "orders of a customer", QUERY, PARAMS, "verified")
                copy.write_row((tenant, plan, *what, str(plan), "schema", "{table:orders}", "2999-01-01"))
        with cursor.copy(KEYS) as copy:
            copy.set_types(KEY_TYPES)
            for row in key_rows(plans, columns):
                copy.write_row(row)
    connection.commit()
    connection.execute("analyze qkva.plan_cache_entries, qkva.plan_cache_keys")
    connection.commit()


def key_rows(plans: list[tuple[str, uuid.UUID]], columns: int) -> Iterator[tuple[object, ...]]:
    """Keys of these plans; the vectors repeat after ten thousand."""
    vectors = [HalfVector(vector) for vector in unit_vectors(10_000, seed=1, columns=columns)]
    for n, (tenant, plan) in enumerate(plans):
        for k in range(KEYS_PER_PLAN):
            masked = f"orders of ‹customers.name› since ‹time› {n} {k}"
            vector = vectors[(n * KEYS_PER_PLAN + k) % len(vectors)]
            yield tenant, plan, "shop", "toy", "exemplar", masked, masked_hash(masked), ["customer", "period"], vector


async def look_up(store: PostgresPlanStore, tenant: str, question: list[float], masked: str = "") -> float:
    """Milliseconds of one look-up, in process, with all that the store does."""
    started = time.perf_counter()
    found = await store.find_candidates(
        tenant, source="shop", masked=masked, embedding=question, embedder="toy", schema_fingerprint="schema", top_k=5
    )
    if not found:
        raise SystemExit(f"the look-up for {tenant} found nothing")
    return (time.perf_counter() - started) * 1000


async def time_lookups(
    store: PostgresPlanStore, tenant: str, title: str, *, masked: str = "", runs: int = RUNS, columns: int = LOCAL
) -> float:
    """Print and return the median, with warm caches."""
    questions = unit_vectors(runs, seed=2, columns=columns).tolist()
    for question in questions[:5]:
        await look_up(store, tenant, question, masked)
    times = [await look_up(store, tenant, question, masked) for question in questions]
    median = statistics.median(times)
    say(f"{title:<44} median {median:7.2f} ms   p95 {sorted(times)[int(runs * 0.95)]:7.2f} ms\n")
    return median


async def measure(admin_url: str, app_url: str) -> None:
    """Fill, look up, fill more, look up again."""
    mirrors.PATIENCE_SEC = 60  # every look-up waits for its mirror, so that none is a scan
    database, elsewhere = await Database.open(app_url), await Database.open(app_url)
    mirrored, scanned = PostgresPlanStore(database), PostgresPlanStore(database, mirror_bytes=0)
    with psycopg.connect(admin_url) as connection:
        register_vector(connection)
        fill(connection, {"mine": 100, "other": 100})
        alone = await time_lookups(mirrored, "mine", "100 plans, beside 1 other tenant")
        fill(connection, {f"tenant {n}": 10 for n in range(999)})
        crowded = await time_lookups(mirrored, "mine", "100 plans, beside 1,000 other tenants")
        say(f"ratio of the medians: {crowded / alone:.2f}\n")
        scan = await time_lookups(scanned, "mine", "100 plans, by the scan")
        say(f"ratio of the scan to the mirror: {scan / crowded:.1f}\n")
        for tenant, columns in {"local": LOCAL, "wide": WIDTH}.items():
            fill(connection, {tenant: 10_000}, columns)
            await measure_big(mirrored, scanned, PostgresPlanStore(elsewhere), tenant, columns, first_mask(connection))
    for each in (database, elsewhere):
        await each.close()


async def measure_big(
    mirrored: PostgresPlanStore,
    scanned: PostgresPlanStore,
    other: PostgresPlanStore,
    tenant: str,
    columns: int,
    mask: str,
) -> None:
    """Ten thousand plans of one tenant."""
    say(f"10,000 plans, {columns} columns filled\n")
    [question] = unit_vectors(1, seed=3, columns=columns).tolist()
    say(f"{'  first look-up, which reads the mirror':<44} once   {await look_up(mirrored, tenant, question):7.2f} ms\n")
    quick = await time_lookups(mirrored, tenant, "  by the mirror", columns=columns)
    slow = await time_lookups(scanned, tenant, "  by the scan", columns=columns, runs=20)
    say(f"  ratio of the scan to the mirror: {slow / quick:.0f}\n")
    await time_lookups(mirrored, tenant, "  by the mirror, equal mask", columns=columns, masked=mask)
    saving = asyncio.create_task(keep_saving(other, tenant, columns))
    await time_lookups(mirrored, tenant, "  by the mirror, another process saving", columns=columns)
    saving.cancel()
    await asyncio.wait([saving])


async def keep_saving(store: PostgresPlanStore, tenant: str, columns: int) -> None:
    """A plan every 20 ms."""
    for n, vector in enumerate(unit_vectors(10_000, seed=4, columns=columns).tolist()):
        plan = Plan(key_text="more", query=QUERY, source="shop", source_type="sql", dialect="postgres")
        stored = StoredPlan(plan=plan, canonical=f"more {n}", schema_fingerprint="schema")
        key = NewKey(kind="exemplar", masked=f"more {n}", embedding=tuple(vector))
        await store.save_plan(tenant, stored, [key], embedder="toy", ttl_hours=24)
        await asyncio.sleep(0.02)


def first_mask(connection: psycopg.Connection) -> str:
    """A mask that a big tenant has stored."""
    row = connection.execute("select masked from qkva.plan_cache_keys where tenant_id = 'local' limit 1").fetchone()
    return str(row[0]) if row else ""


def say(text: str) -> None:
    """Write at once, so that a reader sees it coming."""
    sys.stdout.write(text)
    sys.stdout.flush()


def main() -> None:
    """Start a server, measure, and leave nothing behind."""
    with tempfile.TemporaryDirectory(prefix="qkva-bench-") as folder:
        server = start_embedded(Path(folder), options={"fsync": "off", "synchronous_commit": "off"})
        try:
            migrate(server.admin_url)
            say(f"{KEYS_PER_PLAN} keys a plan, top 5, {RUNS} look-ups each\n")
            asyncio.run(measure(server.admin_url, server.app_url))
        finally:
            server.close()


if __name__ == "__main__":
    main()
