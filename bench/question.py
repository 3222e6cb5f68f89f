"""What a question costs before its live query runs, with 10,000 plans in the cache: mask, embed, find, decide and fill.

The nodes of the ask graph with the local embedder, on plans of a made-up shop that differ by a word or two, so that
many come near to every question. No question is worded like what is stored, so that no equal mask is a short cut. A
process parses a plan's query when it first weighs the plan: hence the figures for questions whose plans are met for the
first time, and for those asked again with other values.
Run: .venv/bin/python -m bench question (half a minute; starts its own PostgreSQL in a temporary folder).
"""

import asyncio
import itertools
import random
import statistics
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
from bench.lookup import RUNS, copy_plans, say
from pgvector.psycopg import HalfVector

from qkva.contracts.source import ColumnValues, Field, SourceDescription, Table
from qkva.contracts.state import AskContext, AskState
from qkva.evals.bench_services import CLOCK, TENANT, DescribedSource
from qkva.evals.questions import SOURCE
from qkva.models.embeddings import LocalEmbedder
from qkva.nodes.ask.embed import embed
from qkva.nodes.ask.fill_params import fill_params
from qkva.nodes.ask.look_up import look_up
from qkva.nodes.runtime import AskRuntime, AskServices, AskSettings, CallMeter
from qkva.stores import mirrors
from qkva.stores.database import Database
from qkva.stores.embedded import start_embedded
from qkva.stores.migrate import migrate
from qkva.stores.plan_rows import masked_hash
from qkva.stores.plans import MIRROR_BYTES, PostgresPlanStore

KINDS = "open late partial pending refunded repeated returned shipped urgent voided".split()
THINGS = "orders invoices payments parcels tickets reviews contracts offers licences visits".split()
PLACES = "warehouse shop office factory branch depot counter kiosk station hub".split()
WAYS = "card cheque cash voucher transfer coupon credit barter giro wire".split()
NAMES = tuple(f"{first} {last}" for first in ("Ada", "Grace", "Alan") for last in ("Lovelace", "Hopper", "Turing"))
STORED = (
    "which {kind} {thing} of the {place} did ‹customers.name› pay by {way} ‹time›",
    "show the {kind} {thing} of ‹customers.name› in the {place} paid by {way} ‹time›",
)
ASKED = "Show me the {kind} {thing} of {name} in the {place} that were paid by {way} last month"
INTENT = "{kind} {thing} of a customer in the {place} paid by {way} in a time range"
QUERY = (
    "SELECT t.id FROM {thing} t JOIN customers c ON c.id = t.customer_id WHERE c.name = {{customer}} "
    "AND t.kind = '{kind}' AND t.place = '{place}' AND t.way = '{way}' "
    "AND t.made_at >= {{period.start}} AND t.made_at < {{period.end}}"
)
PARAMS = (
    """[{"name": "customer", "type": "text", "column": "customers.name"}, {"name": "period", "type": "time_range"}]"""
)


def wordings() -> list[dict[str, str]]:
    """What tells the plans apart."""
    names = ("kind", "thing", "place", "way")
    return [dict(zip(names, words, strict=True)) for words in itertools.product(KINDS, THINGS, PLACES, WAYS)]


def description() -> SourceDescription:
    """The shop."""
    key = Field(name="id", type="bigint", kind="integer", primary_key=True)
    columns = [Field(name=name, type="text", kind="text") for name in ("kind", "place", "way")]
    columns.append(Field(name="customer_id", type="bigint", kind="integer", references="customers.id"))
    columns.append(Field(name="made_at", type="timestamptz", kind="datetime"))
    tables = [Table(name=name, fields=(key, *columns)) for name in THINGS]
    tables.append(Table(name="customers", fields=(key, Field(name="name", type="text", kind="text"))))
    return SourceDescription(
        name=SOURCE,
        source_type="sql",
        dialect="postgres",
        tables=tuple(tables),
        values=(ColumnValues(column="customers.name", values=NAMES),),
        fingerprint=SOURCE,
    )


async def fill(connection: psycopg.Connection, embedder: LocalEmbedder) -> None:
    """Ten thousand plans with three keys each."""
    plans = [(uuid.uuid4(), words) for words in wordings()]
    texts = [text.format(**words) for _, words in plans for text in (INTENT, *STORED)]
    vectors = await embedder.embed(texts)
    entries = (
        (
            TENANT, plan, SOURCE, "sql", "postgres", "sql_only", INTENT.format(**words), QUERY.format(**words), PARAMS,
            "verified", str(plan), SOURCE, "{}", None,
        )
        for plan, words in plans
    )  # fmt: skip
    copy_plans(connection, entries, key_rows([plan for plan, _ in plans], texts, vectors, embedder.fingerprint))


def key_rows(
    plans: list[uuid.UUID], texts: list[str], vectors: list[list[float]], embedder: str
) -> Iterator[tuple[object, ...]]:
    """The rows of their keys, in the order of the texts."""
    kinds = itertools.cycle(["intent", "exemplar", "exemplar"])
    each = (plan for plan in plans for _ in range(3))
    for plan, kind, text, vector in zip(each, kinds, texts, vectors, strict=False):
        roles = ["customer", "period"] if kind == "exemplar" else []
        yield TENANT, plan, SOURCE, embedder, kind, text, masked_hash(text), roles, HalfVector(vector)


async def time_questions(runtime: AskRuntime, title: str, words: list[dict[str, str]], shift: int = 0) -> float:
    """Print the median of each step, and return that of the whole."""
    steps = (("mask, embed", embed), ("find, decide", look_up), ("fill", fill_params))
    times: list[tuple[float, ...]] = []
    for number, each in enumerate(words, start=shift):
        text = ASKED.format(name=NAMES[number % len(NAMES)], **each)
        state, took = AskState(question=text, standalone=text), []
        for _, node in steps:
            started = time.perf_counter()
            state = replace(state, **await node(state, runtime))
            took.append((time.perf_counter() - started) * 1000)
            if state.cache == "miss":
                raise SystemExit(f"“{text}” found no plan")
        times.append((*took, sum(took)))
    medians = [statistics.median(column) for column in zip(*times, strict=True)]
    figures = [f"{name} {median:.2f}" for (name, _), median in zip(steps, medians, strict=False)]
    say(f"{title:<28} {'   '.join(figures)}   together {medians[-1]:.2f} ms\n")
    return medians[-1]


async def measure(admin_url: str, app_url: str) -> None:
    """By the mirror, and for comparison by the scan."""
    mirrors.PATIENCE_SEC = 60  # every look-up waits for its mirror, so that none is a scan
    embedder, sources = LocalEmbedder(), DescribedSource(description())
    with psycopg.connect(admin_url) as connection:
        await fill(connection, embedder)
    database = await Database.open(app_url)
    mirrored, scanned = (
        AskRuntime(
            services=AskServices(
                tenant_id=TENANT,
                settings=AskSettings(),
                plans=PostgresPlanStore(database, mirror_bytes=mirror_bytes),
                sources=sources,
                embedder=embedder,
                chat=None,
            ),
            context=AskContext(),
            tenant_id=TENANT,
            now=CLOCK,
            meter=CallMeter(budget=0),
        )
        for mirror_bytes in (MIRROR_BYTES, 0)
    )
    words = random.Random(1).sample(wordings(), k=RUNS + 5)
    say(f"10,000 plans with 3 keys each, medians of {RUNS} questions\n")
    await time_questions(mirrored, "warming up", words[:5])
    await time_questions(mirrored, "by the mirror, plans unmet", words[5:])
    quick = await time_questions(mirrored, "by the mirror, plans met", words[5:], shift=1)
    slow = await time_questions(scanned, "by the scan, plans met", words[5:25], shift=2)
    say(f"ratio of the scan to the mirror: {slow / quick:.0f}\n")
    await database.close()


def main() -> None:
    """Start a server, measure, and leave nothing behind."""
    with tempfile.TemporaryDirectory(prefix="qkva-bench-") as folder:
        server = start_embedded(Path(folder), options={"fsync": "off", "synchronous_commit": "off"})
        try:
            migrate(server.admin_url)
            asyncio.run(measure(server.admin_url, server.app_url))
        finally:
            server.close()


if __name__ == "__main__":
    main()
