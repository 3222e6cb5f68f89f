"""The audit log only grows, until a line's time is over; its figures are counted by hand here."""

import psycopg
import pytest
from psycopg import errors

from qkva.contracts.ask_log import AskEntry
from qkva.stores.ask_log import PostgresAskLog
from qkva.stores.database import Database

pytestmark = pytest.mark.db


@pytest.fixture
def log(database):
    return PostgresAskLog(database, retention_days=30)


async def add(log, tenant="a", times=1, **fields):
    for _ in range(times):
        log.add(tenant, AskEntry(**{"status": "answered", **fields}))
    await log.flush()


def statuses(url):
    with psycopg.connect(url) as connection:
        return connection.execute("select tenant_id, status from qkva.ask_log order by 1, 2").fetchall()


@pytest.mark.parametrize(
    "statement",
    [
        "update qkva.ask_log set status = 'forged'",
        "update qkva.ask_log set expires_at = now()",
        "truncate qkva.ask_log",
        "alter table qkva.ask_log disable row level security",
        "drop policy over_only on qkva.ask_log",
    ],
)
async def test_line_cannot_be_changed(log, app_database_url, database_url, statement):
    await add(log)
    with psycopg.connect(app_database_url) as connection:
        connection.execute("select set_config('app.tenant_id', 'a', true)")
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute(statement)
    assert statuses(database_url) == [("a", "answered")]


async def test_line_cannot_be_deleted_before_its_time(log, app_database_url, database_url):
    await add(log)
    with psycopg.connect(app_database_url) as connection:
        connection.execute("select set_config('app.tenant_id', 'a', true)")
        assert connection.execute("delete from qkva.ask_log").rowcount == 0
        assert connection.execute("delete from qkva.ask_log where tenant_id = 'a'").rowcount == 0
    assert statuses(database_url) == [("a", "answered")]


async def test_old_lines_of_all_tenants_go(log, database_url):
    """Also those of a tenant that asks nothing any more, and nobody has to see them."""
    for tenant in ("a", "b"):
        await add(log, tenant, status="old")
        await add(log, tenant, status="new")
    with psycopg.connect(database_url) as connection:
        connection.execute("update qkva.ask_log set expires_at = now() - interval '1 second' where status = 'old'")

    assert await log.forget_old() == 2

    assert statuses(database_url) == [("a", "new"), ("b", "new")]


async def test_retention_is_what_was_set(database, database_url):
    await add(PostgresAskLog(database, retention_days=2.5))
    with psycopg.connect(database_url) as connection:
        hours = connection.execute(
            "select round(extract(epoch from expires_at - asked_at) / 3600) from qkva.ask_log"
        ).fetchone()
    assert hours == (60,)


async def test_first_write_forgets_by_itself(log, database_url, database):
    await add(log, status="old")
    with psycopg.connect(database_url) as connection:
        connection.execute("update qkva.ask_log set expires_at = now() - interval '1 second'")

    await add(PostgresAskLog(database, retention_days=30), status="new")

    assert statuses(database_url) == [("a", "new")]


async def test_figures_are_counted_right(log, save, plan_store):
    await add(log, times=3, cache="hit", source="shop", model_calls={"answer": 1}, tokens={"m:input": 10}, execute_ms=1)
    await add(
        log,
        times=2,
        cache="miss",
        source="shop",
        model_calls={"route": 1, "build_plan": 2},
        tokens={"m:input": 100, "big/model:7b:output": 7},
        execute_ms=11,
    )
    await add(log, cache="miss", source="mail", execute_ms=500, model_calls={"route": 1})
    await add(log, status="source_unavailable", cache="hit", source="mail")
    await add(log, status="refused")
    await add(log, "b", times=50, cache="hit", source="shop")
    stored = await save("a", masked="orders of ‹customers.name›")
    for verdict, masked in (("different", "x"), ("same", "y"), ("different", "z")):
        await plan_store.add_label(
            "a", plan_id=stored.plan.id, masked=masked, verdict=verdict, similarity=0.9, score=0.9,
            source_of_label="audit", embedder="toy/1536",
        )  # fmt: skip

    figures = await log.figures("a", days=1)

    assert figures.statuses == {"answered": 6, "refused": 1, "source_unavailable": 1}
    outcomes = {(each.source, each.cache): (each.questions, each.model_calls, each.tokens) for each in figures.outcomes}
    assert outcomes == {
        ("shop", "hit"): (3, 3, {"m:input": 30}),
        ("shop", "miss"): (2, 6, {"m:input": 200, "big/model:7b:output": 14}),
        ("mail", "miss"): (1, 1, {}),
        ("mail", "hit"): (1, 0, {}),
        (None, None): (1, 0, {}),
    }
    assert [(s.source, s.queries, s.median_ms, s.unavailable) for s in figures.sources] == [
        ("mail", 1, 500, 1),
        ("shop", 5, 1, 0),
    ]
    assert [(label.source, label.origin, label.verdict, label.labels) for label in figures.labels] == [
        ("shop", "audit", "different", 2),
        ("shop", "audit", "same", 1),
    ]
    only = await log.figures("a", days=1, source="mail")
    assert only.statuses == {"answered": 1, "source_unavailable": 1} and only.labels == ()


async def test_figures_end_with_their_days(log, database_url):
    await add(log, status="new")
    await add(log, status="old")
    with psycopg.connect(database_url) as connection:
        connection.execute("update qkva.ask_log set asked_at = now() - interval '3 days' where status = 'old'")

    assert (await log.figures("a", days=2)).statuses == {"new": 1}
    assert (await log.figures("a", days=4)).statuses == {"new": 1, "old": 1}


async def test_lines_wait_for_a_database_that_is_away(log, database_url, caplog):
    """In order, and none is lost while the process lives."""
    here, log._database = log._database, await Database.open("postgresql://nobody@127.0.0.1:1/none")
    for status in ("first", "second", "third"):
        await add(log, status=status)
    assert statuses(database_url) == [] and "waits with 3 entries" in caplog.text

    log._database = here
    await add(log, status="fourth")
    assert [entry.status for entry in await log.entries("a")] == ["fourth", "third", "second", "first"]


async def test_line_that_is_refused_holds_up_no_other(log, database_url, caplog):
    await add(log, status="kept", plan_id="no uuid")
    await add(log, status="after")
    assert statuses(database_url) == [("a", "after")]
    assert "has lost an entry" in caplog.text


async def test_what_is_lost_at_the_end_is_said(log, caplog):
    log._database = await Database.open("postgresql://nobody@127.0.0.1:1/none")
    await add(log, times=2)
    await log.close()
    assert "has lost 2 entries" in caplog.text
