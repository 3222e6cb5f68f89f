"""A question that plans of several sources answer: a library in PostgreSQL and an issue tracker in JQL."""

import asyncio
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from tests.graphs.conftest import NOW
from tests.wire import Wire

from qkva.cli.show import show_doors, show_result
from qkva.contracts.result import AlsoServed, Status
from qkva.contracts.state import AskContext, AskState
from qkva.graphs.plan_library import import_plans
from qkva.nodes.ask.embed import embed
from qkva.nodes.ask.fill_params import fill_params
from qkva.nodes.ask.look_up import look_up
from qkva.nodes.runtime import AskRuntime, CallMeter
from qkva.settings import SourceConfig
from qkva.stores.cluster import PORT

pytestmark = pytest.mark.db

LOANS = """
source: {source}
plans:
  - key: books that a member has not returned
    questions: ["What does {{member}} still have?"]
    query: |
      SELECT l.id, b.title FROM loans l JOIN books b ON b.id = l.book_id
      WHERE l.member = {{member}} AND l.returned_at IS NULL ORDER BY l.id
    params:
      member: {{type: text, column: loans.member}}
  - key: number of loans of a member
    questions: ["How much is there of {{member}}?"]
    query: SELECT count(*) AS loans FROM loans l WHERE l.member = {{member}}
    params:
      member: {{type: text, column: loans.member}}
  - key: loans of a member
    questions: ["Which loans does {{member}} have?"]
    query: SELECT l.id, l.book_id FROM loans l WHERE l.member = {{member}} ORDER BY l.id
    params:
      member: {{type: text, column: loans.member}}
"""
ISSUES = """
source: issues
plans:
  - key: open issues assigned to a person
    questions: ["What does {person} still have?"]
    query: assignee = {person} AND status != Done ORDER BY key
    params:
      person: {type: text, column: issues.assignee}
"""
STILL = "What does Jonas Weber still have?"
BOOKS = [{"id": 103, "title": "The Lathe of Heaven"}]
TASKS = ["SHOP-8", "SHOP-13", "SHOP-23"]
"""Read off issues.yaml: assigned to Jonas Weber and not done."""


@pytest.fixture
async def two(agent_with, library_database):
    """Both sources with their plans, and no model."""
    async with agent_with(sources=both(library_database)) as agent:
        await import_into(agent)
        yield agent


@pytest.fixture
async def wire(postgres_server):
    with psycopg.connect(postgres_server.admin_url) as connection:
        folder = connection.info.host
    async with Wire(Path(folder) / f".s.PGSQL.{PORT}") as wire:
        yield wire


def both(url):
    return {"library": SourceConfig(type="sql", options={"url": url}), "issues": SourceConfig(type="stub", options={})}


async def import_into(agent):
    for name in agent.services.sources.connectors:
        text = ISSUES if name == "issues" else LOANS.format(source=name)
        await import_plans(agent.services, agent.services.tenant_id, text)


async def uses(agent):
    """Hits by source and key of the plans that have any."""
    plans = await agent.services.plans.list_plans(agent.services.tenant_id)
    return {(stored.plan.source, stored.plan.key_text): stored.hits for stored in plans if stored.hits}


async def test_both_sources_answer(two):
    result = await two.ask(STILL)
    assert (result.status, result.cache, result.warnings) == (Status.ANSWERED, "hit", ())
    assert (result.source, result.params) == ("library", {"member": "Jonas Weber"})
    (also,) = result.also
    assert (also.source, also.params) == ("issues", {"person": "Jonas Weber"})
    assert also.plan.query.startswith("assignee = {person}")
    assert all(door.verdict != "shut" for door in (*result.doors, *also.doors)) and also.doors
    assert (result.records.count, also.records.count) == (4, 3)
    assert result.records.sources == ("library", "issues", "issues", "issues")
    assert [row.get("title") or row["key"] for row in result.records.rows] == ["The Lathe of Heaven", *TASKS]
    assert [(c.index, c.source, c.record_id) for c in result.citations] == [
        (1, "library", "103"),
        *((number, "issues", key) for number, key in enumerate(TASKS, 2)),
    ]


async def test_table_stands_under_each_source(two):
    text = (await two.ask(STILL)).text
    library, issues = text.split("\n\nissues: ")
    assert library.startswith("library: books that a member has not returned (member = Jonas Weber):")
    assert "| [1] | 103 | The Lathe of Heaven |" in library
    assert issues.startswith("open issues assigned to a person (person = Jonas Weber):")
    assert [line.split("|")[1].strip() for line in issues.splitlines() if line.startswith("| [")] == [
        "[2]",
        "[3]",
        "[4]",
    ]


async def test_audit_log_holds_both_plans(two):
    """By id and types, without the values that both were asked with."""
    result = await two.ask(STILL)
    await two.services.ask_log.flush()
    (entry,) = await two.services.ask_log.entries(two.services.tenant_id)
    assert (entry.source, entry.plan_id, entry.param_types) == ("library", result.plan.id, {"member": "text"})
    (also,) = entry.also
    assert (also.source, also.plan_id) == ("issues", result.also[0].plan.id)
    assert (also.param_types, also.row_count, also.param_values) == ({"person": "text"}, 3, None)
    assert (entry.row_count, "Weber" in entry.model_dump_json()) == (4, False)


async def test_each_plan_counts_a_hit(two):
    await two.ask(STILL)
    assert await uses(two) == {
        ("library", "books that a member has not returned"): 1,
        ("issues", "open issues assigned to a person"): 1,
    }


async def test_named_source_alone_is_asked(two):
    result = await two.ask(STILL, source="issues")
    assert (result.source, result.also) == ("issues", ())
    assert {citation.source for citation in result.citations} == {"issues"}


async def test_miss_of_one_source_leaves_the_hit_of_the_other(two):
    result = await two.ask("Which loans does Jonas Weber have?")
    assert (result.source, result.also, result.cache) == ("library", (), "hit")
    assert result.records.rows == ({"id": 103, "book_id": 12}, {"id": 104, "book_id": 13})


async def test_sources_are_asked_at_the_same_time(two, monkeypatch):
    together = asyncio.Barrier(2)
    for connector in two.services.sources.connectors.values():
        monkeypatch.setattr(connector, "execute", meeting_at(together, connector.execute))
    result = await two.ask(STILL)
    assert result.records.count == 4


def meeting_at(barrier, execute):
    async def run(*arguments):
        await asyncio.wait_for(barrier.wait(), 20)  # one after the other would never meet
        return await execute(*arguments)

    return run


async def test_failing_source_becomes_a_warning(agent_with, wire):
    async with agent_with(sources=both(wire.url("library", "library_reader"))) as agent:
        await import_into(agent)
        await wire.cut()
        result = await agent.ask(STILL)
        counted = await uses(agent)
    assert (result.status, result.cache, result.source, result.also) == (Status.ANSWERED, "hit", "issues", ())
    assert result.params == {"person": "Jonas Weber"}
    assert result.plan.key_text == "open issues assigned to a person"
    assert [citation.record_id for citation in result.citations] == TASKS
    assert len(result.warnings) == 1 and result.warnings[0].startswith("library was left out: ")
    assert counted == {("issues", "open issues assigned to a person"): 1}


async def test_all_failing_is_unavailable(agent_with, wire):
    url = wire.url("library", "library_reader")
    two_ways = {name: SourceConfig(type="sql", options={"url": url}) for name in ("east", "west")}
    async with agent_with(sources=two_ways) as agent:
        await import_into(agent)
        await wire.cut()
        result = await agent.ask(STILL)
        assert await uses(agent) == {}
    assert (result.status, result.also, result.citations) == (Status.SOURCE_UNAVAILABLE, (), ())
    assert result.text.startswith("Data source unavailable: ")
    assert "east" in result.text and "west" in result.text


async def test_stale_plan_of_one_source_leaves_the_other(two, postgres_server):
    with psycopg.connect(postgres_server.url_for("library", "postgres"), autocommit=True) as connection:
        connection.execute("alter table loans rename member to reader")
        try:
            result = await two.ask(STILL)
        finally:
            connection.execute("alter table loans rename reader to member")
    assert (result.status, result.source, result.also) == (Status.ANSWERED, "issues", ())
    assert any("library was left out" in warning for warning in result.warnings)


UNSAID = {"name": "since", "type": "date", "description": "the first day"}
"""A required parameter that the question has no value for."""


async def looked_up(agent):
    """The state after a look-up that hit in both sources, and what the next node may use."""
    runtime = AskRuntime(
        services=agent.services,
        context=AskContext(),
        tenant_id=agent.services.tenant_id,
        now=NOW,
        meter=CallMeter(budget=8),
    )
    state = AskState(question=STILL, standalone=STILL)
    for node in (embed, look_up):
        state = replace(state, **await node(state, runtime))
    assert (state.source, [hit["source"] for hit in state.also]) == ("library", ["issues"])
    return state, runtime


def wanting(plan):
    return {**plan, "params": [*plan["params"], UNSAID]}


async def test_further_plan_without_a_value_is_left_out(two):
    state, runtime = await looked_up(two)
    (issues,) = state.also
    state = replace(state, also=[{**issues, "plan": wanting(issues["plan"])}])
    update = await fill_params(state, runtime)
    assert set(update) == {"params", "also", "warnings"}
    assert (update["params"], update["also"]) == ({"member": "Jonas Weber"}, [])
    assert len(update["warnings"]) == 1
    assert update["warnings"][0].startswith("issues was left out: ") and "the first day" in update["warnings"][0]


async def test_first_plan_without_a_value_leaves_its_place(two):
    state, runtime = await looked_up(two)
    update = await fill_params(replace(state, plan=wanting(state.plan)), runtime)
    assert (update["source"], update["plan"], update["params"]) == (
        "issues",
        state.also[0]["plan"],
        {"person": "Jonas Weber"},
    )
    assert update["masked_question"] == state.masks["issues"]["masked"] and update["also"] == []
    assert len(update["warnings"]) == 1 and update["warnings"][0].startswith("library was left out: ")


async def test_values_that_no_plan_gets_are_asked_for_once(two):
    state, runtime = await looked_up(two)
    (issues,) = state.also
    state = replace(state, plan=wanting(state.plan), also=[{**issues, "plan": wanting(issues["plan"])}])
    update = await fill_params(state, runtime)
    assert (update["status"], update["also"]) == ("needs_clarification", [])
    assert "books that a member has not returned" in update["answer"]


async def test_plans_that_no_question_fits_are_not_asked_again(two):
    state, runtime = await looked_up(two)
    (issues,) = state.also
    fitting_nothing = {**state.plan, "params": []}, {**issues["plan"], "params": []}
    state = replace(state, plan=fitting_nothing[0], also=[{**issues, "plan": fitting_nothing[1]}])
    update = await fill_params(state, runtime)
    assert (update["plan"], update["cache"], update["also"]) == (None, "miss", [])
    assert update["excluded_plans"] == [state.plan["id"], issues["plan"]["id"]]


@pytest.fixture
async def two_ways(agent_with, library_database):
    """Two sources that are two logins to one database."""
    sources = {name: SourceConfig(type="sql", options={"url": library_database}) for name in ("east", "west")}
    async with agent_with(sources=sources) as agent:
        await import_into(agent)
        yield agent


async def test_same_record_is_shown_once(two_ways):
    result = await two_ways.ask(STILL)
    assert (result.source, [also.source for also in result.also]) == ("east", ["west"])
    assert (result.records.count, result.records.rows, result.records.sources) == (1, tuple(BOOKS), ("east",))
    assert [(c.index, c.source) for c in result.citations] == [(1, "east")]
    assert "1 row is the same as above" in result.text.split("west: ")[1]


async def test_equal_counts_are_facts_of_their_sources(two_ways):
    result = await two_ways.ask("How much is there of Jonas Weber?")
    assert [
        (source, row["loans"]) for source, row in zip(result.records.sources, result.records.rows, strict=True)
    ] == [
        ("east", 2),
        ("west", 2),
    ]
    assert "loans = 2 [1]" in result.text and "loans = 2 [2]" in result.text


async def test_nothing_anywhere_names_every_source(two_ways, postgres_server):
    with psycopg.connect(postgres_server.url_for("library", "postgres"), autocommit=True) as connection:
        connection.execute("update loans set returned_at = now() where id = 103")
        try:
            result = await two_ways.ask(STILL)
        finally:
            connection.execute("update loans set returned_at = null where id = 103")
    assert (result.status, result.records.count, result.citations) == (Status.NO_RECORDS, 0, ())
    assert result.text == (
        "No relevant records found in east for member = Jonas Weber or in west for member = Jonas Weber."
    )


async def test_empty_source_stands_beside_the_other(two, postgres_server):
    with psycopg.connect(postgres_server.url_for("library", "postgres"), autocommit=True) as connection:
        connection.execute("update loans set returned_at = now() where id = 103")
        try:
            result = await two.ask(STILL)
        finally:
            connection.execute("update loans set returned_at = null where id = 103")
    assert (result.status, result.records.count) == (Status.ANSWERED, 3)
    assert result.text.startswith(
        "library: books that a member has not returned (member = Jonas Weber): no relevant records found."
    )
    assert [citation.index for citation in result.citations] == [1, 2, 3]


async def test_model_sees_each_source(agent_with, gateway, library_database):
    gateway.script("answer", "He has The Lathe of Heaven [1], SHOP-8 [2] and SHOP-23 [4].")
    async with agent_with(litellm_provider_base_url=gateway.url, sources=both(library_database)) as agent:
        await import_into(agent)
        result = await agent.ask(STILL)
    (request,) = gateway.asked("answer")
    before, records = request.user.split("<records>")
    assert "- from library, books that a member has not returned (member = Jonas Weber): [1]" in before
    assert "- from issues, open issues assigned to a person (person = Jonas Weber): [2] to [4]" in before
    assert "[1] loans 103: id: 103; title: The Lathe of Heaven" in records and "[4] SHOP-23: " in records
    assert [(c.index, c.source, c.record_id) for c in result.citations] == [
        (1, "library", "103"),
        (2, "issues", "SHOP-8"),
        (4, "issues", "SHOP-23"),
    ]
    assert (result.model_calls, result.warnings) == ({"answer": 1}, ())


async def test_answer_that_forgets_a_source_is_flagged(agent_with, gateway, library_database):
    gateway.script("answer", "He has The Lathe of Heaven [1].")
    async with agent_with(litellm_provider_base_url=gateway.url, sources=both(library_database)) as agent:
        await import_into(agent)
        result = await agent.ask(STILL)
    assert result.status is Status.ANSWERED
    assert result.warnings == ("The answer cites nothing of issues, which was asked too.",)


async def test_next_question_of_a_thread_starts_alone(two):
    await two.ask(STILL, thread_id="t")
    result = await two.ask("Which loans does Mira Okafor have?", thread_id="t")
    assert (result.source, result.also) == ("library", ())


async def test_graph_output_has_the_documented_fields(two):
    output = await two.graph.ainvoke({"question": STILL}, {"configurable": {"thread_id": "raw"}})
    (also,) = output["also"]
    assert set(also) == set(AlsoServed.model_fields)
    state = (await two.graph.aget_state({"configurable": {"thread_id": "raw"}})).values
    assert "results" not in state and [hit["source"] for hit in state["also"]] == ["issues"]


async def test_command_line_shows_every_plan(two, capsys):
    result = await two.ask(STILL)
    show_result(result)
    show_doors(result)
    printed = capsys.readouterr().out
    assert "library: books that a member has not returned (verified) · member: Jonas Weber" in printed
    assert "issues: open issues assigned to a person (verified) · person: Jonas Weber" in printed
    assert "Doors of the hit decision for library" in printed and "Doors of the hit decision for issues" in printed
    assert "{member} = Jonas Weber" in printed and "{person} = Jonas Weber" in printed
    assert "  [1] loans 103 · library" in printed and "  [2] SHOP-8 · issues · https://" in printed
