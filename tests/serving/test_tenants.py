"""Two tenants with two users each on a real server: every operation, from everybody, on everybody's things."""

import asyncio
import itertools
import json

import httpx
import pytest
from langgraph_sdk import get_client
from tests.serving.things import (
    LE_GUIN,
    a2a_message,
    attempts,
    bodies,
    call,
    client_of,
    make_things,
    operations,
    rpc,
    without_request,
)

pytestmark = [pytest.mark.server, pytest.mark.db, pytest.mark.slow]

REACHES = ("{thread_id}", "{assistant_id}", "{cron_id}", "{run_id}")
SAID_INSIDE = ("not found", '"error"', '"tasks":[]')
"""Streams and JSON-RPC say with status 200 that there is nothing; so does a stream by saying nothing at all."""
FOR_NOBODY = ("/internal", "/deploy", "/ui")


@pytest.fixture(scope="module")
async def things(keyed_server):
    """By user, what each has made."""
    return {user: await make_things(keyed_server, person) for user, person in keyed_server.people.items()}


def sight(server, attacker, victim):
    """Whether the attacker is of the victim's tenant: then the tenant's assistants are not foreign."""
    return server.people[attacker].tenant == server.people[victim].tenant


async def test_every_operation_is_tried(keyed_server, things):
    """An operation that a new server brings has to be thought about here."""
    untried = [
        (method, path)
        for method, path in await operations(keyed_server)
        if method in ("POST", "PUT", "PATCH")
        and not bodies(method, path, things["ann"], keyed_server.people["ann"])
            and not path.startswith(FOR_NOBODY)
    ]
    assert untried == []


@pytest.mark.parametrize("victim", ["ann", "bea"])
async def test_owner_reaches_own_things(keyed_server, things, victim):
    """The same requests, so that a refusal of somebody else says something."""
    unreached = []
    async with await client_of(keyed_server, keyed_server.people[victim]) as http:
        for method, path, called, body in await attempts(keyed_server, things[victim], keyed_server.people[victim]):
            reads = method == "GET" or path.endswith(("/history", "/search", "/count", "/versions", "/checkpoint"))
            if not reads or path.startswith(("/internal", "/deploy", "/mcp", "/metrics", "/a2a/{assistant_id}")):
                continue
            if "{namespace}" in path or path == "/a2a/{assistant_id}":
                continue
            status, text = await call(http, method, called, body)
            if status >= 400 and path != "/threads/{thread_id}/stream":
                unreached.append((method, called, status, text[:200]))
    assert unreached == []


@pytest.mark.parametrize(("attacker", "victim"), list(itertools.permutations(["ann", "abe", "bea", "bob"], 2)))
async def test_nobody_reaches_the_things_of_another(keyed_server, things, attacker, victim):
    of_tenant = sight(keyed_server, attacker, victim)
    secrets = things[victim].secrets
    if of_tenant:  # assistants are the tenant's
        secrets = tuple(s for s in secrets if s not in (things[victim].assistant_id, things[victim].marker))
    leaks, reached = [], []
    async with await client_of(keyed_server, keyed_server.people[attacker]) as http:
        for method, path, called, body in await attempts(keyed_server, things[victim], keyed_server.people[victim]):
            if of_tenant and ("assistant_id" in path or things[victim].assistant_id in json.dumps(body)):
                continue
            status, text = await call(http, method, called, body)
            if found := without_request(text, called, body, secrets):
                leaks.append((method, called, body, status, found, text[:300]))
            refused = status >= 400 or not text or any(word in text.lower() for word in SAID_INSIDE)
            if any(name in path for name in REACHES) and not refused:
                reached.append((method, called, body, status, text[:300]))
    assert leaks == []
    assert reached == []


async def test_all_things_are_as_they_were(keyed_server, things):
    """After all those attempts to change and delete them (this test runs after them)."""
    for user, mine in things.items():
        async with await client_of(keyed_server, keyed_server.people[user]) as http:
            thread = (await http.get(f"/threads/{mine.thread_id}")).json()
            assert thread["metadata"]["note"] == mine.marker and thread["status"] == "idle"
            assert thread["values"]["question"] == LE_GUIN and len(thread["values"]["messages"]) == 2
            runs = (await http.get(f"/threads/{mine.thread_id}/runs")).json()
            assert [run["run_id"] for run in runs] == [mine.run_id]
            assistant = (await http.get(f"/assistants/{mine.assistant_id}")).json()
            assert assistant["name"] == mine.marker and assistant["version"] == 1
            cron = (await http.get(f"/runs/crons/{mine.cron_id}")).json()
            assert cron["schedule"] == "0 0 1 1 *" and cron["metadata"]["note"] == mine.marker
            item = (await http.get("/store/items", params={"namespace": "notes", "key": "k"})).json()
            assert item["value"] == {"text": mine.marker}
