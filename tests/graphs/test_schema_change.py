"""A source changes under its plans: those that use what is gone are retired, and only those; new values are known."""

import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from tests.graphs.conftest import OpenAgent

from qkva.contracts.plan import PlanStatus
from qkva.graphs import services as services_module
from qkva.graphs.plan_library import import_plans
from qkva.graphs.services import open_services
from qkva.nodes.runtime import AskServices
from qkva.settings import Settings, SourceConfig
from qkva.stores.embedded import EmbeddedServer

pytestmark = pytest.mark.db

PLANS = """
source: library
plans:
  - key: books of an author
    query: SELECT b.id, b.title FROM books b JOIN authors a ON a.id = b.author_id WHERE a.name = {name} ORDER BY b.id
    params:
      name: {type: text, column: authors.name}
    questions: [which books are by Stanislaw Lem]
  - key: average price by genre
    query: SELECT genre, avg(price) FROM books GROUP BY genre
    questions: [what is the average price by genre]
  - key: number of loans
    query: SELECT count(*) AS loans FROM loans
    questions: [how many loans are there]
  - key: everything of authors
    query: SELECT * FROM authors ORDER BY id
    questions: [show all authors]
"""


@pytest.fixture
def source_url(postgres_server: EmbeddedServer) -> Iterator[str]:
    name = f"library_{uuid.uuid4().hex[:8]}"
    postgres_server.create_database(name)
    url = postgres_server.url_for(name, "postgres")
    change(url, (Path(__file__).parent / "library.sql").read_text())
    yield url
    with psycopg.connect(postgres_server.url_for("postgres", "postgres"), autocommit=True) as connection:
        connection.execute(f'drop database "{name}" with (force)'.encode())


def change(url: str, statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statements.encode())


@pytest.fixture
async def services(database_url: str, source_url: str, tmp_path: Path) -> AsyncIterator[AskServices]:
    settings = Settings(
        _env_file=None,
        database_url=database_url,
        cache_dir=tmp_path,
        sources={"library": SourceConfig(type="sql", options={"url": source_url})},
    )
    async with open_services(settings) as opened:
        await import_plans(opened, "a", PLANS)
        yield opened


async def look_up(services: AskServices, tenant: str = "a") -> None:
    """As a question of the tenant does."""
    source = await services.sources.ready("library")
    await services.plans.find_candidates(
        tenant,
        source="library",
        masked="x",
        embedding=(await services.embedder.embed(["x"]))[0],
        embedder=services.embedder.fingerprint,
        schema_fingerprint=source.description.fingerprint,
        top_k=5,
    )


async def living(services: AskServices, tenant: str = "a") -> set[str]:
    """The keys of the plans that are found on the schema as it is."""
    fingerprint = (await services.sources.ready("library")).description.fingerprint
    plans = await services.plans.list_plans(tenant, source="library")
    return {
        stored.plan.key_text
        for stored in plans
        if stored.plan.status is not PlanStatus.RETIRED and stored.schema_fingerprint == fingerprint
    }


EVERY = {"books of an author", "average price by genre", "number of loans", "everything of authors"}


@pytest.mark.parametrize(
    ("statement", "retired"),
    [
        ("alter table books rename price to cost", {"average price by genre"}),
        ("alter table books drop column genre", {"average price by genre"}),
        ("alter table books alter price type text", {"average price by genre"}),
        ("alter table books rename title to name", {"books of an author"}),
        ("alter table authors rename country to land", {"everything of authors"}),
        ("alter table authors rename name to called", {"everything of authors", "books of an author"}),
        ("alter table loans rename member to reader", set()),
        ("alter table loans rename to lendings", {"number of loans"}),
        ("alter table books add pages integer", set()),
        ("create table shelves (id integer primary key)", set()),
        ("alter table loans drop constraint loans_pkey", set()),
    ],
)
async def test_only_the_plans_that_use_what_is_gone_are_retired(
    services: AskServices, source_url: str, statement: str, retired: set[str]
):
    assert await living(services) == EVERY
    change(source_url, statement)
    services.sources.forget("library")
    await look_up(services)
    assert await living(services) == EVERY - retired
    plans = await services.plans.list_plans("a", status=PlanStatus.RETIRED)
    assert {stored.plan.key_text for stored in plans} == retired


async def test_a_process_that_has_not_looked_retires_nothing(services: AskServices, source_url: str):
    """Here the plans are already those of the new schema, which this process has not read yet."""
    change(source_url, "alter table books add pages integer")
    old = (await services.sources.ready("library")).description.fingerprint
    services.sources.forget("library")
    await import_plans(services, "a", PLANS.replace("avg(price)", "avg(price), max(pages)"))
    await services.plans.find_candidates(
        "a", source="library", masked="x", embedding=(await services.embedder.embed(["x"]))[0],
        embedder=services.embedder.fingerprint, schema_fingerprint=old, top_k=5,
    )  # fmt: skip
    assert await living(services) == EVERY


async def test_another_tenant_is_looked_at_by_itself(services: AskServices, source_url: str):
    await import_plans(services, "b", PLANS)
    change(source_url, "alter table books rename price to cost")
    services.sources.forget("library")
    await look_up(services, "a")
    assert await living(services, "b") == set()
    await look_up(services, "b")
    assert await living(services, "b") == EVERY - {"average price by genre"}


async def test_misspelt_value_that_came_in_since_is_known(
    agent_with: OpenAgent, source_url: str, monkeypatch: pytest.MonkeyPatch
):
    """Lemm is no slip of Lem once there is a Lemm."""
    monkeypatch.setattr(services_module, "RENEW_SECONDS", 0.0)
    sources = {"library": SourceConfig(type="sql", options={"url": source_url})}
    async with agent_with(sources=sources) as agent:
        await import_plans(agent.services, agent.services.tenant_id, PLANS)
        change(source_url, "insert into authors values (4, 'Stanislav Lem', 'Utopia')")
        change(source_url, "insert into books values (41, 'Fiasco', 4, 'essays', 1)")
        result = await agent.ask("which books are by Stanislav Lem")
    assert [row["title"] for row in result.records.rows] == ["Fiasco"]


async def test_the_source_is_read_anew_once_a_minute_at_most(services: AskServices, source_url: str):
    first = await services.sources.renewed("library")
    change(source_url, "insert into authors values (5, 'Italo Calvino', 'Italy')")
    assert await services.sources.renewed("library") is first
