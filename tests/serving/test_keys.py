"""Who gets in: keys and bearer tokens on a real server, and what stands open to everybody."""

import asyncio
import base64
import json
import time

import httpx
import jwt
import psycopg
import pytest
from langgraph_sdk import get_client
from tests.serving.conftest import JWT_SECRET
from tests.serving.things import operations

from qkva.contracts.keys import read_key
from qkva.serving.app import app

pytestmark = [pytest.mark.server, pytest.mark.db, pytest.mark.slow]

PUBLIC = {"/", "/ok", "/healthz", "/docs", "/openapi.json", "/info"}
FOR_THIS_MACHINE = {"/metrics"}
NOT_THERE = ("/internal", "/deploy")


def token(secret=JWT_SECRET, algorithm="HS256", headers=None, **claims):
    given = {"sub": "eve", "tenant": "acme", "aud": "qkva", "exp": time.time() + 60, **claims}
    kept = {name: value for name, value in given.items() if value is not None}
    return jwt.encode(kept, secret, algorithm=algorithm, headers=headers)


@pytest.fixture
async def http(keyed_server):
    async with httpx.AsyncClient(base_url=keyed_server.url, timeout=60) as http:
        yield http


async def status_of(http, **headers):
    return (await http.get("/api/whoami", headers=headers)).status_code


async def test_nothing_but_public_pages_stands_open(keyed_server, http):
    """Every operation that the server tells of, without a key, and with the header that Studio sends."""
    opened = []
    for method, path in await operations(keyed_server):
        if path in PUBLIC | FOR_THIS_MACHINE:
            continue
        called = path.replace("{", "").replace("}", "")
        for headers in ({}, {"x-auth-scheme": "langsmith"}, {"x-api-key": "lsv2_pt_of_somebody_else"}):
            answer = await http.request(method, called, headers=headers, json={} if method != "GET" else None)
            wanted = 404 if path.startswith(NOT_THERE) else 401
            if answer.status_code != wanted:
                opened.append((method, path, headers, answer.status_code))
    assert opened == []


async def test_own_routes_are_guarded(http):
    """Read from the app, so that it holds for routes that are still to come."""
    paths = {route.path for route in app.routes} - PUBLIC
    assert {"/api/whoami", "/api/stats"} <= paths
    for path in paths:
        answer = await http.get(path)
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "needs an API key" in answer.json()["detail"]


async def test_pages_of_the_development_server_are_for_nobody(keyed_server, http):
    """They would show any thread, and empty the database."""
    for method, path in (
        ("GET", "/internal/debug/thread/x"),
        ("POST", "/internal/truncate"),
        ("GET", "/deploy"),
        ("POST", "/deploy"),
    ):
        for person in keyed_server.people.values():
            assert (await http.request(method, path, headers=person.headers)).status_code == 404


async def test_health_tells_strangers_nothing(keyed_server, http):
    assert (await http.get("/healthz")).json() == {"ok": True}
    known = (await http.get("/healthz", headers=keyed_server.people["bea"].headers)).json()
    assert known == {"ok": True, "mode": "gateway", "sources": ["library"]}


async def test_key_says_who_calls(keyed_server, http):
    ann, bob = keyed_server.people["ann"], keyed_server.people["bob"]
    for headers in (ann.headers, {"Authorization": f"Bearer {ann.key}"}, {"authorization": f"bearer  {ann.key}"}):
        who = (await http.get("/api/whoami", headers=headers)).json()
        assert who == {"tenant": "acme", "user": "ann", "may_review": True}
    assert (await http.get("/api/whoami", headers=bob.headers)).json() == {
        "tenant": "bolt",
        "user": "bob",
        "may_review": False,
    }


async def test_forged_keys_are_refused(keyed_server, http):
    ann, bea = (read_key(keyed_server.people[user].key) for user in ("ann", "bea"))
    acme, bolt = (base64.urlsafe_b64encode(name).decode().rstrip("=") for name in (b"acme", b"bolt"))
    forged = [
        "qkva.",
        "qkva....",
        f"qkva.{acme}.{ann.id}.",
        f"qkva.{acme}.{ann.id}.{ann.secret[:-1]}",
        f"qkva.{acme}.{ann.id}.{ann.secret}x",
        f"qkva.{acme}.{ann.id}.{bea.secret}",
        f"qkva.{bolt}.{ann.id}.{ann.secret}",  # another tenant's name on one's own key
        f"qkva.{acme}.{bea.id}.{bea.secret}",
        f"qkva.{acme}.%.{ann.secret}",
        f"qkva.{acme}.' or true --.{ann.secret}",
        f"qkva.Kg.{ann.id}.{ann.secret}",  # the tenant *
        f"qkva.{acme}.{ann.id}.{ann.secret_hash.hex()}",
        f"QKVA.{acme}.{ann.id}.{ann.secret}",
    ]
    for key in forged:
        assert await status_of(http, **{"X-Api-Key": key}) == 401, key
        assert await status_of(http, Authorization=f"Bearer {key}") == 401, key


async def test_only_hashes_are_kept(keyed_server, postgres_server):
    with psycopg.connect(keyed_server.environment["DATABASE_URL"]) as connection:
        kept = str(connection.execute("select * from qkva.api_keys").fetchall())
    for person in keyed_server.people.values():
        key = read_key(person.key)
        assert key.id in kept and key.secret not in kept
        assert key.text not in keyed_server.log.read_text()


async def test_revoked_key_is_refused_at_once(keyed_server, http):
    made = keyed_server.qkva("keys", "create", "--user", "leaver", "--tenant", "acme")
    assert await status_of(http, **{"X-Api-Key": made["key"]}) == 200
    keyed_server.qkva("keys", "revoke", made["id"], "--tenant", "acme")
    assert await status_of(http, **{"X-Api-Key": made["key"]}) == 401
    states = {key["id"]: key["state"] for key in keyed_server.qkva("keys", "list", "--tenant", "acme")["keys"]}
    assert states[made["id"]] == "revoked"
    assert made["id"] not in [key["id"] for key in keyed_server.qkva("keys", "list", "--tenant", "bolt")["keys"]]


async def test_rotated_key_gives_way(keyed_server, http):
    old = keyed_server.qkva("keys", "create", "--user", "turner", "--tenant", "acme", "--rate", "77", "--reviewer")
    new = keyed_server.qkva("keys", "rotate", old["id"], "--tenant", "acme")
    assert (new["user"], new["per_minute"], new["may_review"]) == ("turner", 77, True)
    assert await status_of(http, **{"X-Api-Key": old["key"]}) == 401
    assert await status_of(http, **{"X-Api-Key": new["key"]}) == 200

    third = keyed_server.qkva("keys", "rotate", new["id"], "--tenant", "acme", "--grace-minutes", "5")
    assert await status_of(http, **{"X-Api-Key": new["key"]}) == 200
    assert await status_of(http, **{"X-Api-Key": third["key"]}) == 200


async def test_expired_key_is_refused(keyed_server, http):
    made = keyed_server.qkva("keys", "create", "--user", "guest", "--tenant", "acme", "--expires-days", "0.0001")
    for _ in range(60):
        if await status_of(http, **{"X-Api-Key": made["key"]}) == 401:
            break
        await asyncio.sleep(0.25)
    assert await status_of(http, **{"X-Api-Key": made["key"]}) == 401


async def test_rate_limit_is_of_one_key(keyed_server, http):
    slow, other = (
        keyed_server.qkva("keys", "create", "--user", "poller", "--tenant", "acme", "--rate", rate)["key"]
        for rate in ("3", "0")
    )
    answers = [await http.get("/api/whoami", headers={"X-Api-Key": slow}) for _ in range(5)]
    assert [answer.status_code for answer in answers[:3]] == [200, 200, 200]
    refused = answers[4]
    assert refused.status_code == 429 and refused.headers["retry-after"] == "20"
    assert "More than 3 calls a minute" in refused.json()["detail"]
    assert (await http.post("/threads/search", json={}, headers={"X-Api-Key": slow})).status_code == 429
    assert await status_of(http, **{"X-Api-Key": other}) == 200


async def test_bearer_token_says_who_calls(http):
    who = (await http.get("/api/whoami", headers={"Authorization": f"Bearer {token()}"})).json()
    assert who == {"tenant": "acme", "user": "eve", "may_review": False}
    reviewer = token(scope="openid qkva:review")
    assert (await http.get("/api/whoami", headers={"Authorization": f"Bearer {reviewer}"})).json()["may_review"]


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": 1},
        {"exp": None},
        {"nbf": 9_999_999_999},
        {"aud": "another"},
        {"aud": None},
        {"tenant": None},
        {"tenant": "*"},
        {"tenant": "acme/ann"},
        {"tenant": ""},
        {"tenant": ["acme"]},
        {"sub": None},
        {"sub": ""},
    ],
    ids=str,
)
async def test_token_that_says_too_little_is_refused(http, claims):
    assert await status_of(http, Authorization=f"Bearer {token(**claims)}") == 401


async def test_forged_tokens_are_refused(http):
    good = token()
    head, body, signature = good.split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').decode().rstrip("=")
    other = base64.urlsafe_b64encode(json.dumps({"sub": "eve", "tenant": "bolt", "aud": "qkva"}).encode()).decode()
    for forged in (
        token(secret="another secret that is long enough too"),
        f"{none}.{body}.",
        f"{none}.{body}.{signature}",
        f"{head}.{other.rstrip('=')}.{signature}",
        f"{head}.{body}.",
        "a.b.c",
        "x" * 20_000,
    ):
        assert await status_of(http, Authorization=f"Bearer {forged}") == 401
    assert await status_of(http, Authorization=f"Basic {good}") == 401
    assert await status_of(http, Authorization=good) == 401


async def test_two_tenants_of_tokens_see_their_own(keyed_server):
    for tenant in ("north", "south"):
        bearer = {"Authorization": f"Bearer {token(tenant=tenant)}"}
        async with get_client(url=keyed_server.url, headers=bearer, api_key=None) as client:
            await client.threads.create(metadata={"of": tenant})
            assert [thread["metadata"]["of"] for thread in await client.threads.search(limit=100)] == [tenant]


async def test_figures_are_the_tenants_own(keyed_server, http):
    """Questions of one tenant do not move the figures of another."""

    async def figures(user):
        return (await http.get("/api/stats", headers=keyed_server.people[user].headers)).json()["questions"]

    before = {user: await figures(user) for user in ("ann", "bea")}
    async with get_client(url=keyed_server.url, api_key=keyed_server.people["ann"].key) as client:
        await client.runs.wait(None, "ask", input={"question": "Which books did Stanislaw Lem write?"})
    assert await figures("ann") == before["ann"] + 1
    assert await figures("bea") == before["bea"]
    assert (await http.get("/api/stats?days=no", headers=keyed_server.people["ann"].headers)).status_code == 422


async def test_browser_may_ask_whether_it_may_call(http):
    """A preflight carries no key."""
    headers = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    assert (await http.options("/threads", headers=headers)).status_code == 200
    assert (await http.options("/threads")).status_code == 401
