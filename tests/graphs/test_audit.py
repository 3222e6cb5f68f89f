"""What a question leaves in the audit log."""

import asyncio
import logging

import psycopg
import pytest

from qkva.agent import ReviewNeeded
from qkva.contracts.ask_log import AskEntry

pytestmark = pytest.mark.db

LE_GUIN = "Which books did Ursula Le Guin write?"
LEM = "Which books did Stanislaw Lem write?"


async def entries(agent, tenant="default"):
    """Oldest first."""
    await agent.services.ask_log.flush()
    return list(reversed(await agent.services.ask_log.entries(tenant)))


async def test_miss_and_hit_are_told_with_their_cost(agent):
    await agent.ask(LE_GUIN)
    await agent.ask(LEM)

    miss, hit = await entries(agent)
    assert (miss.status, miss.cache, miss.source, miss.strategy) == ("answered", "miss", "library", "sql_only")
    assert (miss.plan_status, miss.plan_is_new, miss.row_count, miss.truncated) == ("learned", True, 3, False)
    assert miss.model_calls == {"route": 1, "build_plan": 1, "answer": 1}
    # three calls of 100 tokens in, of which the provider had 30 cached, and 20 out
    assert miss.tokens == {"test-model:input": 210, "test-model:cached": 90, "test-model:output": 60}
    assert (hit.status, hit.cache, hit.row_count) == ("answered", "hit", 1)
    assert hit.model_calls == {"answer": 1}
    assert hit.tokens == {"test-model:input": 70, "test-model:cached": 30, "test-model:output": 20}
    assert hit.plan_id == miss.plan_id and miss.plan_id is not None
    assert hit.param_types == miss.param_types == {"authors_name": "text"}
    assert set(hit.doors.values()) <= {"open", "skipped"} and hit.doors["mask"] == "open"
    for entry in (miss, hit):
        assert 0 < entry.execute_ms < entry.total_ms


async def test_no_word_of_a_question_is_kept(agent, database_url, caplog):
    caplog.set_level(logging.DEBUG)
    await agent.ask(LE_GUIN)
    await agent.ask("Delete all books of Ursula Le Guin")
    await agent.ask("and by Zebulon Xylander?")
    await agent.services.ask_log.flush()

    with psycopg.connect(database_url) as connection:
        kept = str(connection.execute("select * from qkva.ask_log").fetchall())
    for word in ("Guin", "Ursula", "Dispossessed", "Xylander", "books did", "Delete"):
        assert word not in kept
    own = [record.getMessage() for record in caplog.records if record.name.startswith("qkva")]
    assert [message for message in own if "Guin" in message or "Xylander" in message] == []


async def test_text_and_values_are_kept_where_wished(agent_with, gateway):
    async with agent_with(litellm_provider_base_url=gateway.url, audit_text=True) as agent:
        await agent.ask(LE_GUIN)
        (entry,) = await entries(agent)
    assert entry.question == LE_GUIN
    assert "‹authors.name›" in entry.masked
    assert entry.param_values == {"authors_name": "Ursula Le Guin"}


async def test_every_end_is_told_once(agent, gateway):
    gateway.script(
        lambda request: request.purpose == "RouteForm" and "weather" in request.user,
        {"strategy": "no_retrieval", "source": None, "clarifying_question": None, "why": "small talk"},
    )
    await agent.ask("")
    await agent.ask("Delete all books")
    await agent.ask("How is the weather?")
    await agent.ask(LE_GUIN, timezone="Nowhere/Atlantis")
    await agent.ask(LE_GUIN, source="nowhere")
    gateway.fail("500", on="answer")
    await agent.ask(LE_GUIN)

    told = [(entry.status, entry.cache) for entry in await entries(agent)]
    assert told == [
        ("refused", None),
        ("refused", None),
        ("answered", "miss"),
        ("error", None),
        ("error", None),
        ("error", "miss"),
    ]


async def test_turns_of_a_thread_are_told_apart(agent):
    """What a thread holds of the turn before is not counted again."""
    await agent.ask(LE_GUIN, thread_id="talk")
    await agent.ask("Delete all books", thread_id="talk")
    await agent.ask("and by Stanislaw Lem?", thread_id="talk")

    first, refused, last = await entries(agent)
    assert [entry.thread_id for entry in (first, refused, last)] == ["talk"] * 3
    assert (refused.status, refused.plan_id, refused.doors, refused.model_calls) == ("refused", None, {}, {})
    assert sum(last.model_calls.values()) < sum(first.model_calls.values()) + 1
    assert last.row_count == 1


async def test_held_plan_is_told_when_it_is_decided(agent):
    with pytest.raises(ReviewNeeded) as held:
        await agent.ask(LE_GUIN, review_new_plans=True)
    assert await entries(agent) == []

    await agent.review(held.value.thread_id, "approve")
    (entry,) = await entries(agent)
    assert (entry.status, entry.plan_status) == ("answered", "verified")


async def test_cancelled_question_is_told(agent, gateway):
    gateway.fail("hang", on="PlanForm")
    asking = asyncio.create_task(agent.ask(LE_GUIN))
    while not gateway.asked("PlanForm"):
        await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    (entry,) = await entries(agent)
    assert (entry.status, entry.cache, entry.model_calls) == ("stopped", "miss", {"route": 1, "build_plan": 1})


async def test_log_can_be_switched_off(agent_with, gateway, database_url):
    async with agent_with(litellm_provider_base_url=gateway.url, audit_log=False) as agent:
        assert (await agent.ask(LE_GUIN)).status == "answered"
        assert agent.services.ask_log is None
    with psycopg.connect(database_url) as connection:
        assert connection.execute("select count(*) from qkva.ask_log").fetchone() == (0,)


async def test_no_answer_waits_for_the_log(agent_with, gateway, caplog):
    """The database is away."""
    url = "postgresql://nobody@127.0.0.1:1/none"
    async with agent_with(litellm_provider_base_url=gateway.url, database_url=url) as agent:
        result = await agent.ask(LE_GUIN)
        assert result.status == "answered" and result.cache == "unavailable"
    assert any("audit log" in record.getMessage() for record in caplog.records)


async def test_odd_characters_do_not_keep_a_question_out(agent):
    """NUL and half a surrogate pair, which PostgreSQL cannot hold; the entries after it are kept as well."""
    log = agent.services.ask_log
    for text in ("a\0b", "\ud800", "fine"):
        log.add("default", AskEntry(status="refused", question=text, param_values={"x\0": [text]}))
    assert [entry.question for entry in await entries(agent)] == ["a\ufffdb", "?", "fine"]


async def test_lines_of_a_tenant_are_its_own(agent):
    agent.services.ask_log.add("other", AskEntry(status="answered"))
    await agent.ask(LE_GUIN)
    assert len(await entries(agent)) == 1
    assert [entry.status for entry in await entries(agent, "other")] == ["answered"]
