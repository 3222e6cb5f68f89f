"""What a user of the server can have, and every operation of its interface that could reach it."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

import httpx
from tests.serving.conftest import KeyedServer, Person

LE_GUIN = "Which books did Ursula Le Guin write?"


@dataclass(frozen=True)
class Things:
    """One of each kind, all marked with a word that nobody else may see."""

    marker: str
    thread_id: str
    run_id: str
    checkpoint_id: str
    assistant_id: str
    cron_id: str

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not stand in an answer to somebody else, unless it was in the request."""
        return (self.marker, self.thread_id, self.run_id, self.checkpoint_id, self.assistant_id, self.cron_id)

    def in_path(self, path: str) -> str:
        for name, value in vars(self).items():
            path = path.replace("{" + name + "}", value)
        return path.replace("{namespace}", "x")


async def client_of(server: KeyedServer, person: Person) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=server.url, headers=person.headers, timeout=60)


async def make_things(server: KeyedServer, person: Person) -> Things:
    """Everything through the interface, as its user."""
    marker = f"secret-of-{person.user}-{uuid.uuid4().hex[:8]}"
    note = {"metadata": {"note": marker}}
    async with await client_of(server, person) as http:

        async def send(method: str, path: str, body: Any) -> Any:
            answer = await http.request(method, path, json=body)
            assert answer.status_code < 300, (path, answer.status_code, answer.text)
            return answer.json() if answer.content else None

        thread = await send("POST", "/threads", note)
        path = f"/threads/{thread['thread_id']}"
        run = await send("POST", f"{path}/runs", {"assistant_id": "ask", "input": {"question": LE_GUIN}, **note})
        answer = (await http.get(f"{path}/runs/{run['run_id']}/join")).json()
        assert answer["status"] == "answered", answer
        state = (await http.get(f"{path}/state")).json()
        assistant = await send("POST", "/assistants", {"graph_id": "ask", "name": marker, **note})
        cron = await send(
            "POST",
            "/runs/crons",
            {"assistant_id": "ask", "schedule": "0 0 1 1 *", "input": {"question": marker}, **note},
        )
        await send("PUT", "/store/items", {"namespace": ["notes"], "key": "k", "value": {"text": marker}})
    return Things(
        marker,
        thread["thread_id"],
        run["run_id"],
        state["checkpoint"]["checkpoint_id"],
        assistant["assistant_id"],
        cron["cron_id"],
    )


def rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def bodies(method: str, path: str, things: Things, victim: Person) -> list[dict[str, Any]]:
    """Requests that would reach the victim's things, one or more for an operation; none for what has no body."""
    ask = {"assistant_id": "ask", "input": {"question": LE_GUIN}}
    foreign = {"assistant_id": things.assistant_id, "input": {"question": LE_GUIN}}
    claimed = {"tenant_id": victim.tenant, "owner": f"{victim.tenant}/{victim.user}"}
    everything = {"metadata": {}, "limit": 1000}
    shelf = [victim.tenant, victim.user, "notes"]
    mcp = [
        rpc("tools/list"),
        rpc("tools/call", name="ask", arguments={"question": LE_GUIN}),
        rpc("tools/call", name=things.marker, arguments={"question": LE_GUIN}),
    ]
    table: dict[tuple[str, str], list[dict[str, Any]]] = {
        ("POST", "/assistants"): [
            {"graph_id": "ask", "assistant_id": things.assistant_id, "if_exists": "do_nothing"},
        ],
        ("POST", "/assistants/search"): [everything, {"metadata": {"note": things.marker}}],
        ("POST", "/assistants/count"): [{"metadata": {"note": things.marker}}],
        ("PATCH", "/assistants/{assistant_id}"): [{"name": "mine", "metadata": claimed}],
        ("POST", "/assistants/{assistant_id}/latest"): [{"version": 1}],
        ("POST", "/assistants/{assistant_id}/versions"): [{}],
        ("POST", "/threads"): [{"thread_id": things.thread_id, "if_exists": "do_nothing"}],
        ("POST", "/threads/search"): [everything, {"metadata": claimed}, {"ids": [things.thread_id]}],
        ("POST", "/threads/count"): [{"metadata": {"note": things.marker}}],
        ("POST", "/threads/prune"): [{"thread_ids": [things.thread_id]}],
        ("PATCH", "/threads/{thread_id}"): [{"metadata": claimed}],
        ("POST", "/threads/{thread_id}/commands"): [
            {"id": 1, "method": "run.start", "params": {**ask, "config": {}}},
        ],
        ("POST", "/threads/{thread_id}/copy"): [{}],
        ("POST", "/threads/{thread_id}/history"): [{"limit": 10}],
        ("POST", "/threads/{thread_id}/runs"): [ask, {**ask, "if_not_exists": "create"}],
        ("POST", "/threads/{thread_id}/runs/crons"): [{**ask, "schedule": "0 0 1 1 *"}],
        ("POST", "/threads/{thread_id}/runs/stream"): [ask],
        ("POST", "/threads/{thread_id}/runs/wait"): [ask, {**ask, "if_not_exists": "create"}],
        ("POST", "/threads/{thread_id}/runs/{run_id}/cancel"): [{}],
        ("POST", "/threads/{thread_id}/state"): [{"values": {"question": "mine"}}],
        ("POST", "/threads/{thread_id}/state/checkpoint"): [
            {"checkpoint": {"checkpoint_id": things.checkpoint_id, "thread_id": things.thread_id}},
        ],
        ("POST", "/threads/{thread_id}/stream/events"): [{"channels": ["values", "messages", "updates"]}],
        ("POST", "/runs"): [foreign],
        ("POST", "/runs/batch"): [[foreign]],  # type: ignore[list-item]
        ("POST", "/runs/cancel"): [
            {"thread_id": things.thread_id, "run_ids": [things.run_id]},
        ],
        ("POST", "/runs/crons"): [{**foreign, "schedule": "0 0 1 1 *"}],
        ("POST", "/runs/crons/count"): [{"assistant_id": things.assistant_id}],
        ("POST", "/runs/crons/search"): [{"limit": 1000}, {"thread_id": things.thread_id}],
        ("PATCH", "/runs/crons/{cron_id}"): [{"schedule": "* * * * *", "metadata": claimed}],
        ("POST", "/runs/stream"): [foreign],
        ("POST", "/runs/wait"): [foreign],
        ("PUT", "/store/items"): [{"namespace": shelf, "key": "k", "value": {"text": "overwritten"}}],
        ("DELETE", "/store/items"): [{"namespace": shelf, "key": "k"}],
        ("POST", "/store/items/search"): [
            {"namespace_prefix": [], "limit": 1000},
            {"namespace_prefix": shelf},
            {"namespace_prefix": [victim.tenant]},
        ],
        ("POST", "/store/namespaces"): [{}, {"prefix": [victim.tenant]}, {"suffix": ["notes"]}, {"max_depth": 1}],
        ("POST", "/mcp"): mcp,
        ("POST", "/mcp/"): mcp,
        ("POST", "/a2a/{assistant_id}"): [
            rpc("message/send", message=a2a_message(contextId=things.thread_id)),
            rpc("message/stream", message=a2a_message(contextId=things.thread_id)),
            rpc("tasks/get", id=things.run_id, contextId=things.thread_id),
            rpc("tasks/cancel", id=things.run_id, contextId=things.thread_id),
            rpc("ListTasks", contextId=things.thread_id),
            rpc("tasks/list", contextId=things.thread_id),
        ],
    }
    return table.get((method, path), [])


def a2a_message(**fields: str) -> dict[str, Any]:
    parts = [{"kind": "text", "text": LE_GUIN}]
    return {"role": "user", "parts": parts, "messageId": str(uuid.uuid4()), **fields}


QUERIES = {
    "/store/items": ["?namespace=notes&key=k", "?namespace={tenant}.{user}.notes&key=k"],
    "/.well-known/agent-card.json": ["?assistant_id={assistant_id}"],
}
HIDDEN = [
    ("GET", "/.well-known/agent-card.json"),
    ("GET", "/a2a/{assistant_id}/.well-known/agent-card.json"),
    ("GET", "/internal/debug/thread/{thread_id}"),
    ("GET", "/deploy"),
    ("GET", "/api/stats"),
    ("GET", "/api/whoami"),
]
"""Operations that the server's own list leaves out."""


async def operations(server: KeyedServer) -> list[tuple[str, str]]:
    """Every operation that the server tells of, and the hidden ones."""
    async with httpx.AsyncClient(base_url=server.url) as http:
        paths = (await http.get("/openapi.json")).json()["paths"]
    known = [(method.upper(), path) for path, ways in paths.items() for method in ways if method != "parameters"]
    return sorted({*known, *HIDDEN})


async def attempts(
    server: KeyedServer, things: Things, victim: Person
) -> list[tuple[str, str, str, dict[str, Any] | None]]:
    """(method, path as declared, path to call, body) for everything that could reach the victim's things."""
    found: list[tuple[str, str, str, dict[str, Any] | None]] = []
    for method, path in await operations(server):
        called = things.in_path(path)
        for query in QUERIES.get(path, [""]):
            query = things.in_path(query).replace("{tenant}", victim.tenant).replace("{user}", victim.user)
            for body in bodies(method, path, things, victim) or [None]:  # type: ignore[list-item]
                found.append((method, path, called + query, body))
    return found


async def call(http: httpx.AsyncClient, method: str, path: str, body: Any) -> tuple[int, str]:
    """Status and text; of an endless stream what comes in its first second."""
    headers = {"Accept": "application/json, text/event-stream"}
    pieces: list[str] = []
    status = 0
    try:
        timeout = httpx.Timeout(60, read=20 if "stream" not in path else 2)
        async with http.stream(method, path, json=body, headers=headers, timeout=timeout) as answer:
            status = answer.status_code
            async for piece in answer.aiter_text():
                pieces.append(piece)
    except httpx.ReadTimeout:
        pass
    return status, "".join(pieces)


def without_request(text: str, path: str, body: Any, secrets: tuple[str, ...]) -> list[str]:
    """The secrets that an answer holds although the request did not."""
    said = path + json.dumps(body)
    return [secret for secret in secrets if secret in text and secret not in said]
