"""The LangGraph server, driven as its clients drive it."""

import uuid

import httpx
import pytest
from langgraph_sdk import get_client

pytestmark = [pytest.mark.server, pytest.mark.db, pytest.mark.slow]

LE_GUIN = "Which books did Ursula Le Guin write?"
LEM = "Which books did Stanislaw Lem write?"


@pytest.fixture
async def client(server):
    async with get_client(url=server.url) as client:
        yield client


async def assistant_id(client):
    return {each["graph_id"]: each["assistant_id"] for each in await client.assistants.search(limit=100)}["ask"]


async def test_run_waits_for_an_answer(client):
    output = await client.runs.wait(None, "ask", input={"question": LE_GUIN})
    assert output["status"] == "answered"
    assert output["records"]["rows"][0]["title"] == "The Dispossessed"
    assert output["citations"][0]["record_id"] == "11"


async def test_second_question_needs_no_plan(client, server):
    await client.runs.wait(None, "ask", input={"question": LE_GUIN})
    before = len(server.gateway.requests)
    output = await client.runs.wait(None, "ask", input={"question": LEM})
    assert output["cache"] == "hit"
    assert [request.purpose for request in server.gateway.requests[before:]] == ["answer"]


async def test_thread_takes_follow_up(client):
    thread = await client.threads.create()
    await client.runs.wait(thread["thread_id"], "ask", input={"question": LE_GUIN})
    output = await client.runs.wait(thread["thread_id"], "ask", input={"question": "and by Stanislaw Lem?"})
    assert output["records"]["rows"] == [{"id": 21, "title": "Solaris"}]
    assert len(output["messages"]) == 4


async def test_stream_brings_progress_and_tokens(client):
    thread = await client.threads.create()
    nodes, tokens = [], []
    async for part in client.runs.stream(
        thread["thread_id"], "ask", input={"question": LE_GUIN}, stream_mode=["custom", "messages-tuple"]
    ):
        if part.event == "custom" and part.data.get("event") == "finished":
            nodes.append(part.data["node"])
        if part.event == "messages" and part.data[0]["type"].startswith("AI"):
            tokens.append(part.data[0]["content"])
    assert nodes[:3] == ["read_question", "embed", "look_up"]
    assert "".join(tokens) == "Here they are [1]."


async def test_schemas_can_be_drawn(client):
    schemas = await client.assistants.get_schemas(await assistant_id(client))
    assert {"question", "messages"} <= set(schemas["input_schema"]["properties"])
    assert {"answer", "citations", "status", "doors"} <= set(schemas["output_schema"]["properties"])
    context = schemas["context_schema"]["properties"]
    assert context["timezone"]["description"] and "tenant_id" not in context


async def test_context_chooses_source(client):
    output = await client.runs.wait(None, "ask", input={"question": LE_GUIN}, context={"source": "nowhere"})
    assert output["status"] == "error"
    assert "library" in output["error"]


async def test_new_plan_is_held_and_resumed(client, server):
    thread = await client.threads.create()
    question = "How many books of the genre fantasy are there?"
    server.gateway.script(
        lambda request: request.purpose == "PlanForm" and "fantasy" in request.user,
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
    held = await client.runs.wait(
        thread["thread_id"], "ask", input={"question": question}, context={"review_new_plans": True}
    )
    assert held["__interrupt__"][0]["value"]["plan"]["key_text"] == "number of books of a genre"
    output = await client.runs.wait(thread["thread_id"], "ask", command={"resume": {"decision": "approve"}})
    assert output["records"]["rows"] == [{"books": 1}]


async def test_mcp_tool_answers(server):
    headers = {"Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60) as http:
        listed = (await http.post("/mcp", json=rpc("tools/list"))).json()
        (tool,) = [tool for tool in listed["result"]["tools"] if tool["name"] == "ask"]
        assert "question" in tool["inputSchema"]["properties"]
        called = rpc("tools/call", name="ask", arguments={"question": LE_GUIN})
        answer = (await http.post("/mcp", json=called)).json()
    assert "The Dispossessed" in answer["result"]["content"][0]["text"]


async def test_a2a_agent_answers(client, server):
    name = await assistant_id(client)
    message = {
        "role": "user",
        "parts": [{"kind": "text", "text": LE_GUIN}],
        "messageId": str(uuid.uuid4()),
    }
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        card = (await http.get("/.well-known/agent-card.json", params={"assistant_id": name})).json()
        assert card["name"]
        sent = await http.post(
            f"/a2a/{name}", json=rpc("message/send", message=message), headers={"Accept": "application/json"}
        )
    task = sent.json()["result"]
    assert task["status"]["state"] == "completed"
    assert "Here they are [1]." in str(task["artifacts"])


async def test_health_names_mode_and_sources(server):
    async with httpx.AsyncClient(base_url=server.url) as http:
        health = (await http.get("/healthz")).json()
    assert health == {"ok": True, "mode": "gateway", "sources": ["library"]}


def rpc(method, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
