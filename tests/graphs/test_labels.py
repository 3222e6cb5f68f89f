"""A miss tells the cache which of the plans that it looked at would have been right."""

import psycopg
import pytest
from tests.graphs.conftest import BOOKS_OF
from tests.graphs.test_ask import LE_GUIN

pytestmark = pytest.mark.db

OTHER_WORDS = "I am looking for everything on the shelves penned by Stanislaw Lem"
GENRES = {
    "key_text": "genres of an author",
    "query": "SELECT DISTINCT b.genre FROM books b JOIN authors a ON a.id = b.author_id WHERE a.name = {authors_name}",
    "params": BOOKS_OF["params"],
    "answerable": True,
    "why": "",
}


def labels(url):
    with psycopg.connect(url) as connection:
        return connection.execute(
            "select tenant_id, source, verdict, origin, masked, key_masked, embedder <> '' from qkva.plan_cache_labels"
        ).fetchall()


async def counts(agent):
    return await agent.services.plans.label_counts(agent.services.tenant_id, source="library")


async def test_equal_plan_is_a_positive_label(agent, gateway, database_url):
    await agent.ask(LE_GUIN)
    assert labels(database_url) == []  # there was nothing to look at
    renamed = BOOKS_OF["query"].replace("authors_name", "writer")
    gateway.script("PlanForm", {**BOOKS_OF, "query": renamed, "params": [{**BOOKS_OF["params"][0], "name": "writer"}]})
    assert (await agent.ask(OTHER_WORDS)).cache == "miss"

    (label,) = labels(database_url)
    tenant = agent.services.tenant_id
    masked = "i am looking for everything on the shelves penned by ‹authors.name›"
    assert label[:5] == (tenant, "library", "same", "miss", masked)
    assert label[6]
    assert (await counts(agent)).miss.same == 1


async def test_different_plan_is_a_negative_label(agent, gateway, database_url):
    await agent.ask(LE_GUIN)
    gateway.script("PlanForm", GENRES)
    assert (await agent.ask("Which genres did Stanislaw Lem write in?")).cache == "miss"

    (label,) = labels(database_url)
    assert label[2:4] == ("different", "miss")
    assert label[5] in ("which books did ‹authors.name› write", "books of an author")
    assert (await counts(agent)).miss.different == 1


async def test_labels_hold_no_value(agent, gateway, database_url):
    await agent.ask(LE_GUIN)
    await agent.ask(OTHER_WORDS)
    (label,) = labels(database_url)
    assert "lem" not in str(label).lower().split() and "guin" not in str(label).lower()


async def test_plan_that_is_not_admitted_labels_nothing(agent, gateway, database_url):
    await agent.ask(LE_GUIN)
    gateway.script("answer", "It cites nothing.")
    await agent.ask(OTHER_WORDS)
    assert labels(database_url) == []


async def test_hit_labels_nothing(agent, database_url):
    await agent.ask(LE_GUIN)
    assert (await agent.ask(LE_GUIN)).cache == "hit"
    assert labels(database_url) == []
