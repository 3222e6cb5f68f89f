"""What a look-up in the plan cache costs, by the number of other tenants and of the tenant's own plans.

Run: .venv/bin/python bench/lookup.py (half a minute; starts its own PostgreSQL in a temporary folder).
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

from qkva.stores.database import Database
from qkva.stores.embedded import start_embedded
from qkva.stores.migrate import migrate
from qkva.stores.plan_rows import masked_hash
from qkva.stores.plans import PostgresPlanStore

KEYS_PER_PLAN = 3
RUNS = 200
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


def unit_vectors(count: int, seed: int) -> np.ndarray:
    """Directions without any order: the scan reads them all, whatever they are."""
    vectors = np.random.default_rng(seed).standard_normal((count, 1536), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def fill(connection: psycopg.Connection, tenants: dict[str, int]) -> None:
    """Give each tenant so many plans."""
    plans = [(tenant, uuid.uuid4()) for tenant, count in tenants.items() for _ in range(count)]
    with connection.cursor() as cursor:
        with cursor.copy(ENTRIES) as copy:
            for tenant, plan in plans:
                what = ("shop", "sql", "postgres", "sql_only", "orders of a customer", QUERY, PARAMS, "learned")
                copy.write_row((tenant, plan, *what, str(plan), "schema", "{table:orders}", "2999-01-01"))
        with cursor.copy(KEYS) as copy:
            copy.set_types(KEY_TYPES)
            for row in key_rows(plans):
                copy.write_row(row)
    connection.commit()


def key_rows(plans: list[tuple[str, uuid.UUID]]) -> Iterator[tuple[object, ...]]:
    """Keys of these plans; the vectors repeat after ten thousand."""
    vectors = [HalfVector(vector) for vector in unit_vectors(10_000, seed=1)]
    for n, (tenant, plan) in enumerate(plans):
        for k in range(KEYS_PER_PLAN):
            masked = f"orders of ‹customers.name› since ‹time› {n} {k}"
            vector = vectors[(n * KEYS_PER_PLAN + k) % len(vectors)]
            yield tenant, plan, "shop", "toy", "exemplar", masked, masked_hash(masked), ["customer", "period"], vector


async def time_lookups(store: PostgresPlanStore, tenant: str, masked: str, runs: int = RUNS) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds, in process, with all that the store does."""
    questions = unit_vectors(runs, seed=2).tolist()
    times = []
    for question in questions:
        started = time.perf_counter()
        found = await store.find_candidates(
            tenant,
            source="shop",
            masked=masked,
            embedding=question,
            embedder="toy",
            schema_fingerprint="schema",
            top_k=5,
        )
        times.append((time.perf_counter() - started) * 1000)
        if not found:
            raise SystemExit(f"the look-up for {tenant} found nothing")
    return statistics.median(times), sorted(times)[int(len(times) * 0.95)]


async def measure(admin_url: str, app_url: str) -> None:
    """Fill, look up, fill more, look up again."""
    with psycopg.connect(admin_url) as connection:
        register_vector(connection)
        database = await Database.open(app_url)
        store = PostgresPlanStore(database)
        fill(connection, {"mine": 100, "other": 100})
        alone = await settled(connection, store, "mine", "with 1 other tenant")
        fill(connection, {f"tenant {n}": 10 for n in range(999)})
        crowded = await settled(connection, store, "mine", "with 1,000 other tenants")
        say(f"ratio of the medians: {crowded / alone:.2f}\n")
        fill(connection, {"big": 10_000})
        await settled(connection, store, "mine", "100 plans in the tenant")
        await settled(connection, store, "big", "10,000 plans in the tenant", runs=20)
        await settled(connection, store, "big", "10,000 plans, equal mask", masked=first_mask(connection), runs=RUNS)
        await database.close()


async def settled(
    connection: psycopg.Connection,
    store: PostgresPlanStore,
    tenant: str,
    title: str,
    masked: str = "",
    runs: int = RUNS,
) -> float:
    """Print and return the median, with warm caches and fresh statistics."""
    connection.execute("analyze qkva.plan_cache_entries, qkva.plan_cache_keys")
    connection.commit()
    await time_lookups(store, tenant, masked, runs=5)
    median, p95 = await time_lookups(store, tenant, masked, runs)
    say(f"{title:<28} median {median:7.2f} ms   p95 {p95:7.2f} ms\n")
    return median


def first_mask(connection: psycopg.Connection) -> str:
    """A mask that the big tenant has stored."""
    row = connection.execute("select masked from qkva.plan_cache_keys where tenant_id = 'big' limit 1").fetchone()
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
            say(f"{KEYS_PER_PLAN} keys a plan, 1536 dimensions, top 5 of exact scans, {RUNS} look-ups each\n")
            asyncio.run(measure(server.admin_url, server.app_url))
        finally:
            server.close()


if __name__ == "__main__":
    main()
