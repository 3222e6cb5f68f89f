"""Without a key a server serves its own machine alone, and says so."""

import httpx
import pytest
from langgraph_sdk import get_client

pytestmark = [pytest.mark.server, pytest.mark.db, pytest.mark.slow]

STRANGERS = [
    {"Host": "qkva.example.com"},  # a name that was made to point here
    {"Host": "10.0.0.7:2024"},
    {"X-Forwarded-For": "10.0.0.7"},
    {"X-Forwarded-For": "127.0.0.1"},
    {"X-Real-Ip": "10.0.0.7"},
    {"X-Forwarded-Host": "qkva.example.com"},
    {"Forwarded": "for=10.0.0.7"},
    {"Origin": "https://evil.example"},  # a page in the owner's browser
    {"Origin": "null"},
    {"Origin": "https://smith.langchain.com.evil.example"},
    {"Origin": "http://smith.langchain.com"},
]
FRIENDS = [
    {},
    {"Host": "localhost:2024"},
    {"Host": "[::1]:2024"},
    {"Origin": "http://localhost:3000"},
    {"Origin": "https://smith.langchain.com"},
    {"Origin": "https://eu.smith.langchain.com"},
    {"X-Api-Key": "lsv2_pt_what_a_client_found_in_its_environment"},
    {"x-auth-scheme": "langsmith"},
]


@pytest.fixture
async def http(server):
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        yield http


def test_log_says_so(server):
    assert "No API key exists: qkva serves programs on this machine alone" in server.log.read_text()


@pytest.mark.parametrize("headers", STRANGERS, ids=str)
async def test_stranger_is_refused(http, headers):
    for method, path in (("GET", "/api/whoami"), ("POST", "/threads/search"), ("POST", "/mcp"), ("GET", "/metrics")):
        answer = await http.request(method, path, json={} if method == "POST" else None, headers=headers)
        assert answer.status_code == 403, (path, answer.text)
    assert (await http.get("/healthz", headers=headers)).json() == {"ok": True}


@pytest.mark.parametrize("headers", FRIENDS, ids=str)
async def test_own_machine_is_served(http, headers):
    who = await http.get("/api/whoami", headers=headers)
    assert who.json() == {"tenant": "default", "user": "local", "may_review": True}
    assert (await http.post("/threads/search", json={}, headers=headers)).status_code == 200


async def test_unknown_key_of_ours_is_refused(http):
    assert (await http.get("/api/whoami", headers={"X-Api-Key": "qkva.YWNtZQ.x.y"})).status_code == 401


async def test_pages_of_the_development_server_are_for_nobody(server, http):
    async with get_client(url=server.url) as client:
        thread = await client.threads.create()
        assert (await http.get(f"/internal/debug/thread/{thread['thread_id']}")).status_code == 404
        assert (await http.post("/internal/truncate")).status_code == 404
        assert (await client.threads.get(thread["thread_id"]))["thread_id"] == thread["thread_id"]


async def test_things_belong_to_the_configured_tenant(server):
    async with get_client(url=server.url) as client:
        thread = await client.threads.create()
    assert thread["metadata"]["tenant_id"] == "default" and thread["metadata"]["owner"] == "default/local"
