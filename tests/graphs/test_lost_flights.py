"""Whatever becomes of the caller that plans, nobody who waits for it hangs."""

import asyncio
import time

import pytest
from tests.graphs.callers import ask_all, locks, locks_are_gone, outcomes, slowly, titles, until
from tests.graphs.conftest import BOOKS_OF
from tests.graphs.test_ask import LE_GUIN, LE_GUIN_TITLES, LEM, plans
from tests.graphs.test_failures import name_of, wire  # noqa: F401

from qkva.agent import ReviewNeeded
from qkva.contracts.result import Status

pytestmark = pytest.mark.db


async def test_cancelled_leader_frees_the_waiters(agent, gateway, database_url):
    gateway.fail("hang", times=1, on="PlanForm")
    leader = asyncio.create_task(agent.ask(LE_GUIN))
    await until(lambda: gateway.asked("PlanForm"))
    waiting = asyncio.create_task(ask_all(agent, [LEM] * 3))
    await asyncio.sleep(0.5)
    leader.cancel()
    results = await asyncio.wait_for(waiting, 4)
    assert outcomes(results) == {"miss": 1, "coalesced": 2}
    assert [titles(result) for result in results] == [["Solaris"]] * 3
    assert await locks_are_gone(database_url)


async def test_cancelled_answer_frees_the_key(agent, gateway, database_url):
    """The leader is lost between its plan and its storing."""
    gateway.fail("hang", times=1, on="answer")
    leader = asyncio.create_task(agent.ask(LE_GUIN))
    await until(lambda: gateway.asked("answer"))
    assert locks(database_url) == 1
    leader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leader
    assert await locks_are_gone(database_url)
    assert (await agent.ask(LEM)).cache == "miss"


async def test_planner_that_fails_once_is_asked_again(agent, gateway):
    gateway.fail("500", times=1, on="PlanForm")
    results = await ask_all(agent, [LE_GUIN] * 10)
    assert len(gateway.asked("PlanForm")) == 2
    assert outcomes(results) == {"fallback": 1, "miss": 1, "coalesced": 8}


async def test_planner_that_is_down_is_not_asked_by_all(agent_with, gateway):
    gateway.fail("hang", on="PlanForm")
    async with agent_with(litellm_provider_base_url=gateway.url, llm_timeout_sec=1) as agent:
        started = time.monotonic()
        results = await ask_all(agent, [LE_GUIN] * 20)
        assert time.monotonic() - started < 8
    assert outcomes(results) == {"fallback": 20}
    assert all(any("No plan" in warning for warning in result.warnings) for result in results)


async def test_plan_without_rows_serves_the_waiters(agent, gateway, database_url):
    """They take it although it is not stored; who asks after them has it planned anew."""
    query = BOOKS_OF["query"].replace("ORDER BY", "AND a.name <> 'Ursula Le Guin' ORDER BY")
    gateway.script("PlanForm", slowly(1, {**BOOKS_OF, "query": query}))
    leader = asyncio.create_task(agent.ask(LE_GUIN))
    await until(lambda: gateway.asked("PlanForm"))
    results = await ask_all(agent, [LE_GUIN] * 5)
    assert (await leader).status is Status.NO_RECORDS
    assert {result.status for result in results} == {Status.NO_RECORDS}
    assert await plans(agent) == []
    assert len(gateway.asked("PlanForm")) == 1
    assert await locks_are_gone(database_url)
    await agent.ask(LE_GUIN)
    assert len(gateway.asked("PlanForm")) == 2


async def test_answered_waiter_stores_the_plan(agent, gateway):
    """Its leader got no answer, and so could not."""
    gateway.script("answer", lambda request: "Here they are." if "Lem" in request.user else "Here they are [1].")
    gateway.script("PlanForm", slowly(1))
    leader = asyncio.create_task(agent.ask(LEM))
    await until(lambda: gateway.asked("PlanForm"))
    waiter = await agent.ask(LE_GUIN)
    assert (await leader).status is Status.ERROR
    assert (waiter.cache, titles(waiter)) == ("coalesced", LE_GUIN_TITLES)
    (stored,) = await plans(agent)
    assert stored.questions[0].roles == ("authors_name",)
    assert (await agent.ask("Which books did Selma Lagerlöf write?")).cache == "hit"


async def test_waiters_of_other_services_plan_what_was_not_stored(agent_with, gateway):
    gateway.script("answer", "It cites nothing.")
    gateway.script("PlanForm", slowly(1))
    async with (
        agent_with(litellm_provider_base_url=gateway.url) as one,
        agent_with(litellm_provider_base_url=gateway.url) as other,
    ):
        started = time.monotonic()
        results = await asyncio.gather(one.ask(LE_GUIN), other.ask(LE_GUIN))
        assert time.monotonic() - started < 6
    assert len(gateway.asked("PlanForm")) == 2
    assert {result.status for result in results} == {Status.ERROR}


async def test_reviewed_plan_keeps_nobody_waiting(agent, gateway, database_url):
    with pytest.raises(ReviewNeeded):
        await agent.ask(LE_GUIN, thread_id="r", review_new_plans=True)
    assert locks(database_url) == 0
    assert (await asyncio.wait_for(agent.ask(LEM), 4)).cache == "miss"
    assert (await agent.review("r", "approve")).status is Status.ANSWERED
    (stored,) = await plans(agent)
    assert stored.plan.status == "verified"


async def test_cache_down_lets_everybody_plan(agent_with, gateway, wire, database_url):  # noqa: F811
    url = wire.url(name_of(database_url))
    async with agent_with(litellm_provider_base_url=gateway.url, database_url=url) as agent:
        await agent.ask("Who are you?")
        await wire.cut()
        results = await asyncio.wait_for(ask_all(agent, [LE_GUIN] * 5), 10)
        await wire.mend()
    assert outcomes(results) == {"unavailable": 5}
    assert [titles(result) for result in results] == [LE_GUIN_TITLES] * 5


async def test_cache_lost_while_planning_blocks_nobody(agent_with, gateway, wire, database_url):  # noqa: F811
    gateway.script("PlanForm", slowly(1.5))
    url = wire.url(name_of(database_url))
    async with (
        agent_with(litellm_provider_base_url=gateway.url, database_url=url) as one,
        agent_with(litellm_provider_base_url=gateway.url, database_url=url) as other,
    ):
        asking = asyncio.gather(*(agent.ask(LE_GUIN) for agent in (one, other) for _ in range(3)))
        await until(lambda: gateway.asked("PlanForm"))
        await asyncio.sleep(0.3)
        await wire.cut()
        results = await asyncio.wait_for(asking, 15)
        await wire.mend()
    assert {result.status for result in results} == {Status.ANSWERED}
    assert len(gateway.asked("PlanForm")) == 2


async def test_impatient_waiters_plan_alone(agent_with, gateway):
    """The model may take longer than anybody waits; patience is the time of one model call."""
    async with agent_with(litellm_provider_base_url=gateway.url, llm_timeout_sec=1) as agent:
        gateway.script("PlanForm", BOOKS_OF)
        wrong = {**BOOKS_OF, "query": BOOKS_OF["query"].replace("b.title", "b.titel")}
        gateway.script("PlanForm", slowly(0.8, wrong), slowly(0.8))
        results = await asyncio.wait_for(ask_all(agent, [LE_GUIN] * 3), 10)
    assert {result.status for result in results} == {Status.ANSWERED}
    assert outcomes(results)["miss"] == 3
