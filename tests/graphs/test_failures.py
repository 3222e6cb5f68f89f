"""The failure table: each row provoked for real."""

import asyncio
from pathlib import Path

import psycopg
import pytest
from tests.graphs.conftest import BOOKS_OF
from tests.graphs.test_ask import LE_GUIN, LE_GUIN_TITLES, LEM, plans
from tests.wire import Wire

from qkva.contracts.result import Status
from qkva.settings import SourceConfig
from qkva.stores.cluster import PORT
from qkva.stores.database import PAUSE_SEC

pytestmark = pytest.mark.db


@pytest.fixture
async def wire(postgres_server):
    with psycopg.connect(postgres_server.admin_url) as connection:
        folder = connection.info.host
    async with Wire(Path(folder) / f".s.PGSQL.{PORT}") as wire:
        yield wire


def name_of(url: str) -> str:
    return psycopg.conninfo.conninfo_to_dict(url)["dbname"]


async def test_cache_down_plans_freshly(agent_with, gateway, wire, database_url):
    url = wire.url(name_of(database_url))
    async with agent_with(litellm_provider_base_url=gateway.url, database_url=url) as agent:
        await agent.ask(LE_GUIN)
        await wire.cut()
        down = await agent.ask(LEM)
        await wire.mend()
        await asyncio.sleep(PAUSE_SEC)
        up = await agent.ask(LEM)
    assert (down.status, down.cache) == (Status.ANSWERED, "unavailable")
    assert [row["title"] for row in down.records.rows] == ["Solaris"]
    assert any("plan cache" in warning for warning in down.warnings)
    assert up.cache == "hit"


async def test_cache_down_at_the_start_is_migrated_later(agent_with, gateway, wire, postgres_server):
    postgres_server.create_database("late")
    await wire.cut()
    async with agent_with(litellm_provider_base_url=gateway.url, database_url=wire.url("late")) as agent:
        down = await agent.ask(LE_GUIN)
        await wire.mend()
        await asyncio.sleep(PAUSE_SEC)
        await agent.ask(LE_GUIN)
        up = await agent.ask(LEM)
    assert (down.status, down.cache) == (Status.ANSWERED, "unavailable")
    assert up.cache == "hit"


async def test_source_down_says_so(agent_with, gateway, wire):
    library = SourceConfig(type="sql", options={"url": wire.url("library", "library_reader")})
    async with agent_with(litellm_provider_base_url=gateway.url, sources={"library": library}) as agent:
        await agent.ask(LE_GUIN)
        await wire.cut()
        down = await agent.ask(LEM)
        await wire.mend()
        up = await agent.ask(LEM)
    assert down.status is Status.SOURCE_UNAVAILABLE
    assert "unavailable" in down.text.lower() and "library" in down.text
    assert up.status is Status.ANSWERED


async def test_source_down_from_the_start(agent_with, gateway, wire):
    await wire.cut()
    library = SourceConfig(type="sql", options={"url": wire.url("library", "library_reader")})
    async with agent_with(litellm_provider_base_url=gateway.url, sources={"library": library}) as agent:
        result = await agent.ask(LE_GUIN)
    assert result.status is Status.SOURCE_UNAVAILABLE
    assert gateway.requests == []


@pytest.mark.parametrize("fault", ["500", "429", "hang", "truncated", "wrong_json", "wrong_form", "cut", "no_choices"])
async def test_planner_failure_falls_back(agent_with, gateway, fault, caplog):
    gateway.fail(fault, on="PlanForm")
    async with agent_with(litellm_provider_base_url=gateway.url, llm_timeout_sec=0.5) as agent:
        result = await agent.ask(LE_GUIN)
        assert await plans(agent) == []
    assert (result.status, result.cache) == (Status.ANSWERED, "fallback")
    assert any("No plan" in warning for warning in result.warnings)
    assert any(record.levelname == "ERROR" for record in caplog.records)
    titles = {row.get("title") for row in result.records.rows}
    assert titles & set(LE_GUIN_TITLES)


@pytest.mark.parametrize("fault", ["500", "429", "hang", "truncated", "wrong_json", "null_content", "cut"])
async def test_answer_failure_is_one_clear_error(agent_with, gateway, fault):
    gateway.fail(fault, on="answer")
    async with agent_with(litellm_provider_base_url=gateway.url, llm_timeout_sec=0.5) as agent:
        result = await agent.ask(LE_GUIN)
        assert await plans(agent) == []
    assert result.status is Status.ERROR
    assert result.answer is None
    assert "no answer could be written" in result.text


async def test_uncited_answer_is_an_error(agent, gateway):
    gateway.script("answer", "She wrote three books.")
    result = await agent.ask(LE_GUIN)
    assert (result.status, result.answer) == (Status.ERROR, None)
    assert "cites nothing" in result.text
    assert await plans(agent) == []


async def test_citation_of_nothing_is_an_error(agent, gateway):
    gateway.script("answer", "She wrote three books [9].")
    result = await agent.ask(LE_GUIN)
    assert result.status is Status.ERROR


async def test_router_failure_tries_live_query(agent, gateway):
    gateway.fail("500", on="RouteForm")
    result = await agent.ask(LE_GUIN)
    assert (result.status, result.cache) == (Status.ANSWERED, "miss")
    assert any("router" in warning for warning in result.warnings)


async def test_rejected_plan_is_asked_once_more(agent, gateway):
    wrong = {**BOOKS_OF, "query": BOOKS_OF["query"].replace("b.title", "b.titel")}
    gateway.script("PlanForm", wrong, BOOKS_OF)
    result = await agent.ask(LE_GUIN)
    assert (result.status, result.cache) == (Status.ANSWERED, "miss")
    assert "titel" in gateway.asked("PlanForm")[1].user


async def test_writing_plan_is_refused(agent, gateway):
    gateway.script("PlanForm", {**BOOKS_OF, "query": "DELETE FROM books", "params": []})
    result = await agent.ask(LE_GUIN)
    assert result.cache == "fallback"
    assert await plans(agent) == []


async def test_budget_of_calls_is_kept(agent_with, gateway):
    wrong = {**BOOKS_OF, "query": BOOKS_OF["query"].replace("b.title", "b.titel")}
    gateway.script("PlanForm", wrong)
    async with agent_with(litellm_provider_base_url=gateway.url, max_model_calls=2) as agent:
        result = await agent.ask(LE_GUIN)
    assert len(gateway.requests) == 2
    assert result.status is Status.ERROR
    assert "2 model calls" in result.text


async def test_renamed_column_makes_a_new_plan(agent, gateway, postgres_server):
    await agent.ask(LE_GUIN)
    admin = postgres_server.url_for("library", "postgres")
    gateway.script("PlanForm", {**BOOKS_OF, "query": BOOKS_OF["query"].replace("b.title", "b.name")})
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("alter table books rename title to name")
        try:
            result = await agent.ask(LEM)
        finally:
            connection.execute("alter table books rename name to title")
    assert (result.status, result.cache) == (Status.ANSWERED, "miss")
    assert [row["name"] for row in result.records.rows] == ["Solaris"]
