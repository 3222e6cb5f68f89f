"""Processes that know nothing of each other make one plan, and survive each other's death."""

import asyncio
import json
import sys
import time
from collections import Counter

import pytest
from tests.graphs.callers import ask_all, once_all_have_missed, outcomes, titles, until
from tests.graphs.test_ask import LE_GUIN, LE_GUIN_TITLES, LEM

pytestmark = pytest.mark.db


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
