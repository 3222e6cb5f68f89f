"""A double of an OpenAI-compatible gateway: a real HTTP server on a free port, scripted by the test.

    with Gateway() as gateway:                      # or: async with
        gateway.script("RouteForm", {"strategy": "sql_only", ...})
        gateway.script("PlanForm", "not json", {...})            # one after the other; the last one stays
        gateway.script("answer", lambda request: f"It is {len(request.user)} [1].")
        gateway.fail("503", times=2)                # the next two requests, whatever they are
        gateway.fail("hang", on="PlanForm")         # every plan request
        gateway.script("yes_no", {"yes": 0.7, "no": 0.2})       # what its first word would be, with log-probabilities
    ... gateway.url, gateway.requests, gateway.asked("PlanForm") ...

A request's purpose is the name of the JSON schema that it asks for ("RouteForm", "PlanForm", "FillForm",
"StandaloneForm" …), "yes_no" for one that asks for log-probabilities, "answer" for any other chat, "embedding" or
"models".
"""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel
from tests.gateway_http import Handler, Request, Server

Fault = Literal[
    "500",  # and any other status as a text of digits
    "429",  # with Retry-After
    "hang",  # takes the request and never answers
    "reset",  # closes the connection without a word
    "cut",  # closes it in the middle of the body
    "stall",  # a stream that stops coming; else as "hang"
    "truncated",  # half of the text, finish_reason "length"
    "wrong_json",  # the body is no JSON
    "wrong_form",  # the body is an object of another kind
    "no_choices",  # and no vectors
    "fewer",  # one vector too few
    "null_content",
    "refusal",
    "error_chunk",  # a stream that ends with an error object; else a 500
]
Reply = str | dict[str, Any] | BaseModel
Script = Reply | Callable[[Request], Reply]
Match = str | Callable[[Request], bool]


@dataclass
class _Rule:
    match: Match | None
    replies: list[Script]


@dataclass
class _Failure:
    kind: str
    match: Match | None
    left: int | None


@dataclass
class Gateway:
    """See the module's head. `width` is the width of its vectors; with `honours_dimensions` a request can choose it."""

    width: int = 1536
    honours_dimensions: bool = True
    retry_after: str = "0.01"
    models: tuple[str, ...] = ("test-model", "test-embedding")
    error_message: str = "the test wants it so"
    chunk_pause: float = 0.0
    """Seconds between the chunks of a stream."""
    gives_logprobs: bool = True
    """False ignores that a request asks for them, as many gateways do."""
    requests: list[Request] = field(default_factory=list)

    _rules: list[_Rule] = field(default_factory=list)
    _failures: list[_Failure] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)

    def script(self, match: Match, *replies: Script) -> None:
        """Set what such requests get: a text, or an object sent as JSON. A later script goes before an older one."""
        self._rules.insert(0, _Rule(match, list(replies)))

    def fail(self, kind: Fault | str, *, times: int | None = None, on: Match | None = None) -> None:
        """Let the next `times` requests fail (None: all from now on), only those that fit `on` if it is given."""
        self._failures.append(_Failure(kind, on, times))

    def heal(self) -> None:
        """Forget all faults."""
        self._failures.clear()

    def asked(self, match: Match) -> list[Request]:
        """The requests that fit."""
        return [request for request in self.requests if fits(request, match)]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "Gateway":
        handler = type("BoundHandler", (Handler,), {"gateway": self})
        self._server = Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()

    async def __aenter__(self) -> "Gateway":
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()

    def take(self, request: Request) -> str | None:
        """Record a request; the fault that it meets, if any."""
        with self._lock:
            self.requests.append(request)
            for failure in self._failures:
                if failure.left != 0 and fits(request, failure.match):
                    failure.left = None if failure.left is None else failure.left - 1
                    return failure.kind
        return None

    def reply_to(self, request: Request) -> str | None:
        """The text that is scripted; None for a form that nobody scripted."""
        with self._lock:
            rule = next((rule for rule in self._rules if fits(request, rule.match)), None)
            if rule is None:
                return "The records say so [1]." if request.purpose == "answer" else None
            script = rule.replies.pop(0) if len(rule.replies) > 1 else rule.replies[0]
        reply = script(request) if callable(script) else script
        if isinstance(reply, BaseModel):
            return reply.model_dump_json()
        return reply if isinstance(reply, str) else json.dumps(reply)


def fits(request: Request, match: Match | None) -> bool:
    """Whether a request is of that purpose, or satisfies that predicate; None fits all."""
    return match is None or (request.purpose == match if isinstance(match, str) else match(request))
