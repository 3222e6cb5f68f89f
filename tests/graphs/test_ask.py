"""One question, and the next of its kind, through the whole graph on real parts."""

import psycopg
import pytest
from tests.graphs.conftest import BOOKS_OF

from qkva.contracts.errors import KeyTooLong
from qkva.contracts.result import Status
from qkva.planning.drafting.keys import check_key_length
from qkva.settings import SourceConfig

pytestmark = pytest.mark.db

LE_GUIN = "Which books did Ursula Le Guin write?"
LEM = "Which books did Stanislaw Lem write?"
LE_GUIN_TITLES = ["The Dispossessed", "The Lathe of Heaven", "A Wizard of Earthsea"]


async def plans(agent):
    return await agent.services.plans.list_plans(agent.services.tenant_id)


async def test_plan_cache_miss_triggers_build_plan(agent, gateway):
    result = await agent.ask(LE_GUIN)
    assert result.status is Status.ANSWERED
    assert result.cache == "miss"
    assert len(gateway.asked("PlanForm")) == 1
    assert [row["title"] for row in result.records.rows] == LE_GUIN_TITLES
    assert result.model_calls == {"route": 1, "build_plan": 1, "answer": 1}


async def test_plan_cache_hit_skips_cache_agent(agent, gateway):
    await agent.ask(LE_GUIN)
    before = len(gateway.requests)
    result = await agent.ask(LEM)
    assert result.cache == "hit"
    assert [request.purpose for request in gateway.requests[before:]] == ["answer"]
    assert result.model_calls == {"answer": 1}


async def test_second_question_uses_cached_plan(agent):
    first = await agent.ask(LE_GUIN)
    second = await agent.ask(LEM)
    assert first.plan and second.plan and first.plan.id == second.plan.id
    assert [row["title"] for row in second.records.rows] == ["Solaris"]


async def test_query_executor_fills_params(agent):
    await agent.ask(LE_GUIN)
    result = await agent.ask(LEM)
    assert result.params == {"authors_name": "Stanislaw Lem"}
    assert "Stanislaw Lem" not in result.plan.query


async def test_stored_plan_holds_no_value(agent):
    await agent.ask(LE_GUIN)
    (stored,) = await plans(agent)
    assert "Guin" not in stored.model_dump_json()
    assert [question.roles for question in stored.questions] == [("authors_name",)]


async def test_planner_literals_become_parameters(agent, gateway):
    gateway.script(
        "PlanForm", {**BOOKS_OF, "query": BOOKS_OF["query"].replace("{authors_name}", "'Ursula Le Guin'"), "params": []}
    )
    first = await agent.ask(LE_GUIN)
    second = await agent.ask(LEM)
    assert len(first.records.rows) == 3
    assert second.cache == "hit"
    assert [row["title"] for row in second.records.rows] == ["Solaris"]


async def test_fenced_query_runs(agent, gateway):
    gateway.script("PlanForm", {**BOOKS_OF, "query": f"```sql\n{BOOKS_OF['query']};\n```"})
    result = await agent.ask(LE_GUIN)
    assert (result.status, result.cache) == (Status.ANSWERED, "miss")
    assert [row["title"] for row in result.records.rows] == LE_GUIN_TITLES


async def test_mixed_case_columns_are_planned(agent_with, gateway, postgres_server):
    postgres_server.create_database("mixed_case")
    with psycopg.connect(postgres_server.url_for("mixed_case", "postgres"), autocommit=True) as connection:
        connection.execute(
            'create table "Patients" ("patientId" integer primary key, "fullName" text); '
            """insert into "Patients" values (7, 'Zoë O''Hara')"""
        )
    query = 'SELECT "patientId", "fullName" FROM "Patients" WHERE "patientId" = 7'
    gateway.script("PlanForm", {**BOOKS_OF, "key_text": "a patient by number", "query": query, "params": []})
    clinic = SourceConfig(type="sql", options={"url": postgres_server.url_for("mixed_case", "postgres")})
    async with agent_with(litellm_provider_base_url=gateway.url, sources={"clinic": clinic}) as agent:
        result = await agent.ask("Which patient has the number 7?")
    assert (result.status, result.cache) == (Status.ANSWERED, "miss")
    assert result.records.rows == ({"patientId": 7, "fullName": "Zoë O'Hara"},)
    assert [param.column for param in result.plan.params] == ["Patients.patientId"]


async def test_answer_question_always_hits_connector(agent, library_database, postgres_server):
    await agent.ask(LE_GUIN)
    admin = postgres_server.url_for("library", "postgres")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("insert into books values (14, 'Tehanu', 1, 'fantasy', 9.50)")
        try:
            result = await agent.ask(LE_GUIN)
        finally:
            connection.execute("delete from books where id = 14")
    assert result.cache == "hit"
    assert [row["title"] for row in result.records.rows] == [*LE_GUIN_TITLES, "Tehanu"]


async def test_empty_source_results_no_plan_write(agent, gateway):
    gateway.script(
        "PlanForm", {**BOOKS_OF, "query": BOOKS_OF["query"].replace("ORDER BY", "AND b.price > 1000 ORDER BY")}
    )
    result = await agent.ask(LE_GUIN)
    assert result.status is Status.NO_RECORDS
    assert "No relevant records found" in result.text
    assert await plans(agent) == []


async def test_key_too_long_rejected(agent, gateway):
    with pytest.raises(KeyTooLong):
        check_key_length("books of an author " * 10)
    gateway.script("PlanForm", {**BOOKS_OF, "key_text": "books of an author " * 10})
    result = await agent.ask(LE_GUIN)
    assert result.cache == "fallback"
    assert any("token" in warning for warning in result.warnings)
    assert await plans(agent) == []


async def test_citations_point_to_records(agent):
    result = await agent.ask(LE_GUIN)
    (citation,) = result.citations
    assert (citation.index, citation.source, citation.record_id) == (1, "library", "11")


async def test_new_plan_of_stored_meaning_becomes_exemplar(agent, gateway):
    await agent.ask(LE_GUIN)
    renamed = BOOKS_OF["query"].replace("authors_name", "writer")
    gateway.script("PlanForm", {**BOOKS_OF, "query": renamed, "params": [{**BOOKS_OF["params"][0], "name": "writer"}]})
    other = await agent.ask("I am looking for everything on the shelves penned by Stanislaw Lem")
    assert other.cache == "miss"
    (stored,) = await plans(agent)
    assert [question.roles for question in stored.questions] == [("authors_name",), ("authors_name",)]


async def test_learned_plan_answers_other_tenant_never(agent_with, gateway):
    async with agent_with(litellm_provider_base_url=gateway.url, tenant_id="a") as agent:
        await agent.ask(LE_GUIN)
    async with agent_with(litellm_provider_base_url=gateway.url, tenant_id="b") as agent:
        result = await agent.ask(LE_GUIN)
    assert result.cache == "miss"
    assert len(gateway.asked("PlanForm")) == 2


async def test_explicit_invalidation_forces_new_plan(agent, gateway):
    await agent.ask(LE_GUIN)
    retired = await agent.services.plans.invalidate_plans_for_records(agent.services.tenant_id, ["table:books"])
    result = await agent.ask(LE_GUIN)
    assert retired == 1
    assert result.cache == "miss"
    assert len(gateway.asked("PlanForm")) == 2
