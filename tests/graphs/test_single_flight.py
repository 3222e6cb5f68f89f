"""Many callers miss the same key at once: one plan is made. Counted at the gateway, not by qkva."""

import asyncio
import json
import sys
import threading
import time
from collections import Counter

import psycopg
import pytest
from tests.graphs.conftest import BOOKS_OF
from tests.graphs.test_ask import LE_GUIN, LE_GUIN_TITLES, LEM, plans
from tests.graphs.test_failures import name_of, wire  # noqa: F401

from qkva.agent import ReviewNeeded
from qkva.contracts.result import Status

pytestmark = pytest.mark.db

TITLES = {
    "Ursula Le Guin": LE_GUIN_TITLES,
    "Stanislaw Lem": ["Solaris"],
    "Selma Lagerlöf": ["Nils Holgersson"],
}


def question_of(author):
    return f"Which books did {author} write?"


def slowly(seconds, reply=BOOKS_OF):
    def answer(request):
        time.sleep(seconds)
        return reply

    return answer


def with_value(request):
    """What a careful planner answers: who the author is in the question that it sees."""
    (author,) = [name for name in TITLES if question_of(name) in request.user]
    return {**BOOKS_OF, "params": [{**BOOKS_OF["params"][0], "value": author}]}


def once_all_have_missed(gateway, askers, reply=BOOKS_OF):
    """A planner that answers when every caller has looked up and been routed, so that no look-up is a hit."""

    def answer(request):
        deadline = time.monotonic() + 20
        while len(gateway.asked("RouteForm")) < askers and time.monotonic() < deadline:
            time.sleep(0.02)
        return reply(request) if callable(reply) else reply

    return answer


@pytest.fixture
async def agent(agent_with, gateway):
    """As elsewhere, but patient: the machine may be slow."""
    async with agent_with(litellm_provider_base_url=gateway.url, llm_timeout_sec=30) as agent:
        yield agent


async def ask_all(agent, questions, **context):
    return await asyncio.gather(*(agent.ask(question, **context) for question in questions))


def outcomes(results):
    return Counter(str(result.cache) for result in results)


def titles(result):
    return [row["title"] for row in result.records.rows]


def locks(url):
    with psycopg.connect(url) as connection:
        (count,) = connection.execute(
            "select count(*) from pg_locks where locktype = 'advisory' "
            "and database = (select oid from pg_database where datname = current_database())"
        ).fetchone()
        return count


async def locks_are_gone(url):
    for _ in range(50):
        if locks(url) == 0:
            return True
        await asyncio.sleep(0.02)
    return False


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


async def until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.02)


ASK = """
import asyncio, json, sys
from qkva.agent import open_agent
from qkva.settings import Settings, SourceConfig

async def main(settings, question, times):
    settings["sources"] = {name: SourceConfig(**source) for name, source in settings["sources"].items()}
    async with open_agent(Settings(_env_file=None, **settings)) as agent:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        results = await asyncio.gather(*(agent.ask(question) for _ in range(times)))
        print(json.dumps([[result.cache, [row["title"] for row in result.records.rows]] for result in results]))

asyncio.run(main(*json.loads(sys.argv[1])))
"""


@pytest.fixture
async def processes(database_url, library_database, tmp_path, gateway):
    """Start processes of their own that ask once they are told to."""
    started = []

    async def start(question, times):
        settings = {
            "database_url": database_url,
            "cache_dir": str(tmp_path),
            "sources": {"library": {"type": "sql", "options": {"url": library_database}}},
            "litellm_provider_base_url": gateway.url,
            "llm_max_retries": 0,
            "llm_timeout_sec": 20,
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", ASK, json.dumps([settings, question, times]),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        assert await process.stdout.readline() == b"ready\n"
        return process

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def answers_of(process):
    out, _ = await process.communicate(b"\n")
    return json.loads(out)


async def test_two_processes_make_one_plan(processes, gateway):
    gateway.script("PlanForm", once_all_have_missed(gateway, 6))
    one, other = await asyncio.gather(processes(LE_GUIN, 3), processes(LEM, 3))
    answers = await asyncio.gather(answers_of(one), answers_of(other))
    assert len(gateway.asked("PlanForm")) == 1
    assert Counter(cache for answer in answers for cache, _ in answer) == {"miss": 1, "coalesced": 5}
    assert [found for answer in answers for _, found in answer] == [LE_GUIN_TITLES] * 3 + [["Solaris"]] * 3


async def test_killed_leader_frees_other_processes(processes, agent, gateway):
    gateway.fail("hang", times=1, on="PlanForm")
    leader = await processes(LE_GUIN, 1)
    leader.stdin.write(b"\n")
    await until(lambda: gateway.asked("PlanForm"))
    waiting = asyncio.create_task(ask_all(agent, [LEM] * 3))
    await asyncio.sleep(1)
    assert len(gateway.asked("PlanForm")) == 1 and not waiting.done()
    leader.kill()
    killed = time.monotonic()
    results = await waiting
    assert time.monotonic() - killed < 3
    assert outcomes(results) == {"miss": 1, "coalesced": 2}
    assert [titles(result) for result in results] == [["Solaris"]] * 3


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
