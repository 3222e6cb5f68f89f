"""Many callers miss the same key at once: one plan is made. Counted at the gateway, not by qkva."""

import asyncio
import threading
import time

import pytest
from tests.graphs.callers import (
    TITLES,
    ask_all,
    locks,
    locks_are_gone,
    once_all_have_missed,
    outcomes,
    question_of,
    titles,
    until,
    with_value,
)
from tests.graphs.conftest import BOOKS_OF
from tests.graphs.test_ask import LE_GUIN, LE_GUIN_TITLES, LEM, plans

pytestmark = pytest.mark.db


@pytest.fixture
async def agent(agent_with, gateway):
    """As elsewhere, but patient: the machine may be slow."""
    async with agent_with(litellm_provider_base_url=gateway.url, llm_timeout_sec=30) as agent:
        yield agent


async def test_fifty_equal_misses_make_one_plan(agent, gateway, database_url):
    gateway.script("PlanForm", once_all_have_missed(gateway, 50))
    results = await ask_all(agent, [LE_GUIN] * 50)
    assert len(gateway.asked("PlanForm")) == 1
    assert outcomes(results) == {"miss": 1, "coalesced": 49}
    assert [titles(result) for result in results] == [LE_GUIN_TITLES] * 50
    waiters = [result for result in results if result.cache == "coalesced"]
    assert all("build_plan" not in result.model_calls for result in waiters)
    (stored,) = await plans(agent)
    assert stored.hits == 0
    assert [question.masked for question in stored.questions] == ["which books did ‹authors.name› write"]
    assert await locks_are_gone(database_url)


async def test_quick_planner_plans_once_too(agent, gateway):
    """Callers come while the plan is made, while it is run, and after it is stored."""
    results = await ask_all(agent, [LE_GUIN] * 50)
    assert len(gateway.asked("PlanForm")) == 1
    assert outcomes(results)["miss"] == 1
    assert [titles(result) for result in results] == [LE_GUIN_TITLES] * 50


async def test_each_waiter_runs_its_own_values(agent, gateway):
    authors = [*TITLES] * 8
    gateway.script("PlanForm", once_all_have_missed(gateway, 24, with_value))
    results = await ask_all(agent, [question_of(author) for author in authors])
    assert len(gateway.asked("PlanForm")) == 1
    assert outcomes(results) == {"miss": 1, "coalesced": 23}
    assert [result.params for result in results] == [{"authors_name": author} for author in authors]
    assert [titles(result) for result in results] == [TITLES[author] for author in authors]


async def test_other_masks_do_not_wait(agent, gateway):
    started = threading.Barrier(2, timeout=10)

    def plan(request):
        started.wait()  # both plannings are under way at once
        return BOOKS_OF

    gateway.script("PlanForm", plan)
    results = await ask_all(agent, [LE_GUIN, "I want everything that Stanislaw Lem has ever published"])
    assert outcomes(results) == {"miss": 2}


async def test_other_tenants_do_not_wait(agent_with, gateway):
    started = threading.Barrier(2, timeout=10)

    def plan(request):
        started.wait()
        return BOOKS_OF

    gateway.script("PlanForm", plan)
    async with (
        agent_with(litellm_provider_base_url=gateway.url, tenant_id="a") as one,
        agent_with(litellm_provider_base_url=gateway.url, tenant_id="b") as other,
    ):
        results = await asyncio.gather(one.ask(LE_GUIN), other.ask(LE_GUIN))
    assert outcomes(results) == {"miss": 2}


async def test_two_services_make_one_plan(agent_with, gateway, database_url):
    """Nothing in the process connects them: they meet in the database."""
    gateway.script("PlanForm", once_all_have_missed(gateway, 20))
    async with (
        agent_with(litellm_provider_base_url=gateway.url, llm_timeout_sec=30) as one,
        agent_with(litellm_provider_base_url=gateway.url, llm_timeout_sec=30) as other,
    ):
        results = await asyncio.gather(*(agent.ask(q) for agent in (one, other) for q in [LE_GUIN, LEM] * 5))
    assert len(gateway.asked("PlanForm")) == 1
    assert outcomes(results) == {"miss": 1, "coalesced": 19}
    assert [titles(result) for result in results] == [LE_GUIN_TITLES, ["Solaris"]] * 10
    assert locks(database_url) == 0


async def test_waiting_holds_no_connection(agent, gateway, database_url):
    """Sixty waiters, and the pool of eight still looks up at once."""
    done = threading.Event()
    gateway.script("PlanForm", lambda request: done.wait(20) and BOOKS_OF)
    waiting = asyncio.create_task(ask_all(agent, [LE_GUIN] * 60))
    await until(lambda: len(gateway.asked("RouteForm")) == 60)
    started = time.monotonic()
    await asyncio.gather(*(plans(agent) for _ in range(8)))
    assert time.monotonic() - started < 1
    assert locks(database_url) == 1
    done.set()
    assert outcomes(await waiting) == {"miss": 1, "coalesced": 59}
