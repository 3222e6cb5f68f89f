"""Two tenants with two users each on a real server: every operation, from everybody, on everybody's things."""

import asyncio
import itertools
import json
import uuid

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


@pytest.mark.parametrize("attacker", ["bea", "abe"])
async def test_nobody_hears_a_foreign_run(keyed_server, things, attacker):
    """Streams that are open before the run begins."""
    mine, heard = things["ann"], []

    async def listen(method, path, body):
        async with await client_of(keyed_server, keyed_server.people[attacker]) as http:
            heard.append((await call(http, method, path, body))[1])

    path = f"/threads/{mine.thread_id}"
    listeners = [
        asyncio.create_task(listen("GET", f"{path}/stream", None)),
        asyncio.create_task(listen("POST", f"{path}/stream/events", {"channels": ["values", "messages", "updates"]})),
    ]
    await asyncio.sleep(0.3)
    async with await client_of(keyed_server, keyed_server.people["ann"]) as http:
        own = asyncio.create_task(call(http, "GET", f"{path}/stream", None))
        await asyncio.sleep(0.3)
        body = {"assistant_id": "ask", "input": {"question": LE_GUIN}}
        assert (await http.post(f"{path}/runs/wait", json=body)).json()["status"] == "answered"
        assert "Dispossessed" in (await own)[1]
    await asyncio.gather(*listeners)
    assert [text for text in heard if "Dispossessed" in text or "Le Guin" in text] == []


@pytest.mark.parametrize("attacker", ["bea", "abe"])
async def test_a2a_leads_into_no_foreign_conversation(keyed_server, things, attacker):
    """By the server's own assistant, which everybody may use."""
    mine = things["ann"]
    async with get_client(url=keyed_server.url, api_key=keyed_server.people[attacker].key) as client:
        found = await client.assistants.search(graph_id="ask", limit=100)
    (system,) = [each["assistant_id"] for each in found if each["metadata"].get("created_by") == "system"]
    async with await client_of(keyed_server, keyed_server.people[attacker]) as http:
        for request in (
            rpc("message/send", message=a2a_message(contextId=mine.thread_id)),
            rpc("tasks/get", id=mine.run_id, contextId=mine.thread_id),
            rpc("tasks/cancel", id=mine.run_id, contextId=mine.thread_id),
        ):
            answer = (await http.post(f"/a2a/{system}", json=request)).json()
            assert "result" not in answer and "error" in answer, answer
        own = (await http.post(f"/a2a/{system}", json=rpc("message/send", message=a2a_message()))).json()
        assert own["result"]["contextId"] != mine.thread_id and own["result"]["status"]["state"] == "completed"


async def test_claims_of_a_request_change_nobody(keyed_server):
    """Who calls is decided by the key, whatever else is sent."""
    bea = keyed_server.people["bea"]
    claim = {"tenant_id": "acme", "owner": "acme/ann", "created_by": "system"}
    user = {"identity": "acme/ann", "is_authenticated": True, "permissions": ["ask", "review"]}
    question = {"assistant_id": "ask", "input": {"question": LE_GUIN}}
    async with await client_of(keyed_server, bea) as http:
        thread = (await http.post("/threads", json={"metadata": claim})).json()
        path = f"/threads/{thread['thread_id']}"
        assert thread["metadata"]["owner"] == "bolt/bea" and thread["metadata"]["tenant_id"] == "bolt"
        patched = (await http.patch(path, json={"metadata": claim})).json()
        assert patched["metadata"]["owner"] == "bolt/bea" and patched["metadata"]["tenant_id"] == "bolt"
        for extra in (
            {"metadata": claim},
            {"config": {"metadata": claim}},
            {"config": {"configurable": {"langgraph_auth_user": user, "langgraph_auth_user_id": "acme/ann"}}},
            {"context": {"langgraph_auth_user": user}},
            {"context": {"tenant_id": "acme"}},
            {"config": {"configurable": {"user_id": "acme/ann", "tenant_id": "acme"}}},
        ):
            answer = await http.post("/runs", json={**question, **extra, "on_completion": "keep"})
            if answer.status_code == 422:
                continue
            run = answer.json()
            kept = (await http.get(f"/threads/{run['thread_id']}")).json()
            assert kept["metadata"]["owner"] == "bolt/bea", extra
            await http.get(f"/threads/{run['thread_id']}/runs/{run['run_id']}/join")
        made = (await http.post("/assistants", json={"graph_id": "ask", "metadata": claim})).json()
        assert made["metadata"]["created_by"] == "bolt/bea"
        body = {"metadata": {"created_by": "system"}}
        made = (await http.patch(f"/assistants/{made['assistant_id']}", json=body)).json()
        assert made["metadata"]["created_by"] == "bolt/bea"
        headers = {"x-auth-scheme": "langsmith", "x-user-id": "ann", "x-tenant-id": "acme"}
        assert (await http.get("/api/whoami", headers=headers)).json()["tenant"] == "bolt"
    async with await client_of(keyed_server, keyed_server.people["ann"]) as http:
        found = (await http.post("/assistants/search", json={"limit": 1000})).json()
        assert made["assistant_id"] not in [each["assistant_id"] for each in found]


async def test_plans_are_the_tenants_own(keyed_server):
    """Colleagues share a plan; another tenant's same question knows nothing of it."""
    question = {"question": "How many books of the genre fantasy are there?"}
    keyed_server.gateway.script(
        lambda request: request.purpose == "PlanForm" and "genre fantasy" in request.user,
        {
            "key_text": "number of books of a genre",
            "query": "SELECT count(*) AS books FROM books WHERE genre = {genre}",
            "params": [
                {"name": "genre", "type": "text", "column": "books.genre", "description": "", "value": "fantasy"}
            ],
            "answerable": True,
            "why": "",
        },
    )
    outcomes = []
    for user in ("ann", "ann", "abe", "bea", "bob"):
        async with get_client(url=keyed_server.url, api_key=keyed_server.people[user].key) as client:
            output = await client.runs.wait(None, "ask", input=question)
            outcomes.append((user, output["cache"], len(output["doors"]) > 0))
    assert [(user, cache) for user, cache, _ in outcomes] == [
        ("ann", "miss"),
        ("ann", "hit"),
        ("abe", "hit"),
        ("bea", "miss"),
        ("bob", "hit"),
    ]


async def test_two_tenants_race_for_one_question(keyed_server):
    """Eight callers at once, the same new question: one plan for each tenant, and nobody waits for the other's."""
    question = {"question": "How many books of the genre children are there?"}
    keyed_server.gateway.script(
        lambda request: request.purpose == "PlanForm" and "genre children" in request.user,
        {
            "key_text": "number of books of a genre",
            "query": "SELECT count(*) AS books FROM books WHERE genre = {genre}",
            "params": [
                {"name": "genre", "type": "text", "column": "books.genre", "description": "", "value": "children"}
            ],
            "answerable": True,
            "why": "",
        },
    )
    names = [f"race-{side}-{uuid.uuid4().hex[:6]}" for side in ("left", "right")]
    keys = [(tenant, keyed_server.key(tenant, f"user{n}", False)) for n in range(4) for tenant in names]

    async def ask(tenant, key):
        async with get_client(url=keyed_server.url, api_key=key) as client:
            output = await client.runs.wait(None, "ask", input=question)
            return tenant, output["plan"]["id"], output["records"]["rows"]

    answers = await asyncio.gather(*(ask(tenant, key) for tenant, key in keys))

    assert [rows for _, _, rows in answers] == [[{"books": 1}]] * 8
    plans = {tenant: {plan for of, plan, _ in answers if of == tenant} for tenant in names}
    assert [len(ids) for ids in plans.values()] == [1, 1] and not plans[names[0]] & plans[names[1]]
    asked = keyed_server.gateway.asked(lambda r: r.purpose == "PlanForm" and "genre children" in r.user)
    assert len(asked) == 2
    for tenant in names:
        logged = keyed_server.entries(tenant)
        assert len(logged) == 4 and {entry.plan_id for entry in logged} == plans[tenant]


async def test_colleague_may_use_assistant_and_not_change_it(keyed_server, things):
    """Nor may a user who reviews nothing; who reviews for the tenant may."""
    path = f"/assistants/{things['abe'].assistant_id}"
    async with await client_of(keyed_server, keyed_server.people["bob"]) as http:
        assert (await http.get(path)).status_code == 404
    bobs = f"/assistants/{things['bea'].assistant_id}"
    async with await client_of(keyed_server, keyed_server.people["bob"]) as http:
        assert (await http.get(bobs)).status_code == 200
        assert (await http.patch(bobs, json={"name": "mine"})).status_code == 404
        assert (await http.delete(bobs)).status_code == 404
    async with await client_of(keyed_server, keyed_server.people["ann"]) as http:
        assert (await http.patch(path, json={"name": "reviewed"})).status_code == 200


async def test_cron_keeps_who_made_it(keyed_server):
    """It fires within a minute, as nobody who is there."""
    async with await client_of(keyed_server, keyed_server.people["bea"]) as http:
        body = {
            "assistant_id": "ask",
            "schedule": "* * * * *",
            "input": {"question": LE_GUIN},
            "on_run_completed": "keep",
            "metadata": {"note": "by cron"},
        }
        cron = (await http.post("/runs/crons", json=body)).json()
        thread = None
        for _ in range(180):
            found = (await http.post("/threads/search", json={"metadata": {"note": "by cron"}})).json()
            if found and found[0]["status"] == "idle" and found[0]["values"]:
                (thread,) = found[:1]
                break
            await asyncio.sleep(0.5)
        assert thread is not None, "the cron has not fired"
        assert (await http.delete(f"/runs/crons/{cron['cron_id']}")).status_code < 300
    assert thread["metadata"]["owner"] == "bolt/bea"
    assert thread["values"]["status"] == "answered", thread["values"]
    logged = keyed_server.entries("bolt")
    assert [entry.user for entry in logged if entry.thread_id == thread["thread_id"]] == ["bea"]
    assert [entry for entry in keyed_server.entries("acme") if entry.thread_id == thread["thread_id"]] == []
    async with await client_of(keyed_server, keyed_server.people["ann"]) as http:
        assert (await http.get(f"/threads/{thread['thread_id']}")).status_code == 404


async def test_users_with_odd_names_share_no_shelf(keyed_server):
    """Periods part the labels of a namespace, and a percent sign stands for itself."""
    names = ["ann.lee", "ann%2Elee", "ann", "ann lee/acme", "ann@lee.org"]
    made = {
        name: keyed_server.qkva("keys", "create", "--user", name, "--tenant", "dotted.org")["key"] for name in names
    }
    for name, key in made.items():
        async with httpx.AsyncClient(base_url=keyed_server.url, headers={"X-Api-Key": key}) as http:
            item = {"namespace": ["lee"], "key": "k", "value": {"of": name}}
            assert (await http.put("/store/items", json=item)).status_code == 204
    for name, key in made.items():
        async with httpx.AsyncClient(base_url=keyed_server.url, headers={"X-Api-Key": key}) as http:
            found = (await http.post("/store/items/search", json={"namespace_prefix": [], "limit": 1000})).json()
            assert [item["value"]["of"] for item in found["items"]] == [name]
            again = {"namespace_prefix": found["items"][0]["namespace"]}
            assert len((await http.post("/store/items/search", json=again)).json()["items"]) == 1
            listed = (await http.post("/store/namespaces", json={"max_depth": 1})).json()["namespaces"]
            assert len(listed) == 1
