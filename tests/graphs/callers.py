"""Many callers at once, the planners they wait for, and what became of them."""

import asyncio
import time
from collections import Counter

import psycopg
from tests.graphs.conftest import BOOKS_OF
from tests.graphs.test_ask import LE_GUIN_TITLES

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


async def until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.02)
