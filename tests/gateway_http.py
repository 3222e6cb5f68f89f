"""The HTTP side of tests/gateway.py: speaks the OpenAI protocol and commits the faults."""

import base64
import hashlib
import json
import math
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 30},
}
"""Of every chat."""


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    purpose: str

    @property
    def system(self) -> str:
        return "\n".join(text(m) for m in self.body.get("messages", ()) if m["role"] == "system")

    @property
    def user(self) -> str:
        return "\n".join(text(m) for m in self.body.get("messages", ()) if m["role"] == "user")

    @property
    def schema(self) -> dict[str, Any]:
        found: dict[str, Any] = self.body["response_format"]["json_schema"]["schema"]
        return found


class Brain(Protocol):
    """What the server asks of the double."""

    width: int
    honours_dimensions: bool
    retry_after: str
    models: tuple[str, ...]
    error_message: str
    chunk_pause: float
    gives_logprobs: bool
    closing: threading.Event

    def take(self, request: Request) -> str | None: ...

    def reply_to(self, request: Request) -> str | None: ...


class Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.open: set[Any] = set()

    def hang_up(self) -> None:
        for connection in list(self.open):
            _close(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is part of the test."""


class Handler(BaseHTTPRequestHandler):
    gateway: Brain
    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.server.open.add(self.connection)

    def finish(self) -> None:
        self.server.open.discard(self.connection)
        super().finish()

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        self._serve(json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}"))

    def _serve(self, body: dict[str, Any]) -> None:
        purpose = purpose_of(self.path, body)
        request = Request(self.path, body, {k.lower(): v for k, v in self.headers.items()}, purpose)
        fault = self.gateway.take(request)
        if fault and self._fail_early(fault, streams=bool(body.get("stream"))):
            return
        if purpose == "models":
            data = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in self.gateway.models]
            self._send_json(200, {"object": "list", "data": data})
        elif purpose == "embedding":
            self._send_embeddings(request, fault)
        elif purpose:
            self._send_chat(request, fault)
        else:
            self._send_error(404, f"no such path: {self.path}")

    def _fail_early(self, fault: str, *, streams: bool) -> bool:
        if fault.isdigit():
            self._send_error(int(fault), self.gateway.error_message, retry_after=self.gateway.retry_after)
        elif fault == "hang" or (fault == "stall" and not streams):
            self.gateway.closing.wait(60)
            self._drop()
        elif fault == "reset":
            self._drop()
        elif fault == "wrong_json":
            self._send(200, b"<html>Bad gateway</html>")
        elif fault == "wrong_form":
            self._send_json(200, {"detail": "something else"})
        else:
            return False
        return True

    def _send_embeddings(self, request: Request, fault: str | None) -> None:
        texts = request.body["input"]
        texts = [texts] if isinstance(texts, str) else texts
        asked = request.body.get("dimensions")
        width = asked if asked and self.gateway.honours_dimensions else self.gateway.width
        as_base64 = request.body.get("encoding_format") == "base64"
        texts = {"no_choices": [], "fewer": texts[:-1]}.get(fault or "", texts)
        vectors = [embedding(each, width) for each in texts]
        data = [
            {"object": "embedding", "index": number, "embedding": _packed(vector) if as_base64 else vector.tolist()}
            for number, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        self._send_json(200, {"object": "list", "data": data, "model": "test", "usage": usage}, cut=fault == "cut")

    def _send_chat(self, request: Request, fault: str | None) -> None:
        content = self.gateway.reply_to(request)
        if content is None:
            self._send_error(400, f"the test scripts no reply for {request.purpose}")
            return
        reason, logprobs = "stop", None
        if request.body.get("logprobs"):
            content, reason, logprobs = _first_word(content, request.body)
        if fault == "truncated":
            content, reason = content[: len(content) // 2], "length"
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if fault == "null_content":
            message["content"] = None
        if fault == "refusal":
            message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
        if request.body.get("stream"):
            self._stream(request, message, reason, fault)
        elif fault == "error_chunk":
            self._send_error(500, "the model fell over")
        else:
            choice = {"index": 0, "message": message, "finish_reason": reason}
            choice["logprobs"] = logprobs if self.gateway.gives_logprobs else None
            choices = [] if fault == "no_choices" else [choice]
            self._send_json(200, {**_head("chat.completion"), "choices": choices, "usage": USAGE}, cut=fault == "cut")

    def _stream(self, request: Request, message: dict[str, Any], reason: str, fault: str | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        words = [word + " " for word in (message["content"] or "").split(" ")]
        deltas = [{"role": "assistant", "content": ""}, *({"content": word} for word in words)]
        if words:
            deltas[-1]["content"] = words[-1][:-1]
        if message.get("refusal"):
            deltas.append({"refusal": message["refusal"]})
        if fault in ("cut", "error_chunk", "stall"):
            deltas = deltas[: 1 + len(words) // 2]
        for delta in deltas if fault != "no_choices" else []:
            time.sleep(self.gateway.chunk_pause)
            self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        if fault == "stall":
            self.gateway.closing.wait(60)
        if fault in ("cut", "stall"):
            self._drop()
            return
        if fault == "error_chunk":
            self._chunk('data: {"error": {"message": "the model fell over", "code": 500}}\n\n')
        elif fault != "no_choices":
            self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
            if (request.body.get("stream_options") or {}).get("include_usage"):
                self._event({"choices": [], "usage": USAGE})
        self._chunk("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, chunk: dict[str, Any]) -> None:
        self._chunk(f"data: {json.dumps({**_head('chat.completion.chunk'), **chunk})}\n\n")

    def _chunk(self, line: str) -> None:
        data = line.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _send_error(self, status: int, message: str, retry_after: str | None = None) -> None:
        extra = {"Retry-After": retry_after} if retry_after and status in (429, 503) else {}
        body = {"error": {"message": message, "type": "test", "code": str(status), "param": None}}
        self._send(status, json.dumps(body).encode(), extra)

    def _send_json(self, status: int, body: dict[str, Any], *, cut: bool = False) -> None:
        self._send(status, json.dumps(body).encode(), cut=cut)

    def _send(self, status: int, data: bytes, extra: dict[str, str] | None = None, *, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        if cut:
            self._drop()

    def _drop(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        _close(self.connection)


def purpose_of(path: str, body: dict[str, Any]) -> str:
    """The name of the form, "answer", "embedding", "models", or "" for an unknown path."""
    if path.endswith("/chat/completions"):
        other = "yes_no" if body.get("logprobs") else "answer"
        name: str = ((body.get("response_format") or {}).get("json_schema") or {}).get("name", other)
        return name
    return {"/embeddings": "embedding", "/models": "models"}.get("/" + path.rstrip("/").rpartition("/")[2], "")


@lru_cache(maxsize=4096)
def direction(word: str, width: int) -> NDArray[np.float64]:
    """A fixed random direction for a word."""
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(width)


def embedding(line: str, width: int) -> NDArray[np.float64]:
    """A unit vector: the sum of its words' directions, so that texts with common words are near."""
    total: NDArray[np.float64] = np.sum([direction(word, width) for word in line.casefold().split() or [""]], axis=0)
    return total / np.linalg.norm(total)


def text(message: dict[str, Any]) -> str:
    """A message's text; parts are joined."""
    content = message["content"] or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _head(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-test", "object": kind, "created": 0, "model": "test-model"}


def _first_word(scripted: str, body: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """A choice of one token with its alternatives, likeliest first, as many as were asked for."""
    odds = sorted(json.loads(scripted).items(), key=lambda each: -each[1])
    tokens = [
        {"token": word, "logprob": math.log(chance), "bytes": list(word.encode())} for word, chance in odds if chance
    ]
    first = {**tokens[0], "top_logprobs": tokens[: body.get("top_logprobs", 0)]}
    return odds[0][0], "length", {"content": [first], "refusal": None}


def _packed(vector: NDArray[np.float64]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _close(connection: Any) -> None:
    try:
        connection.shutdown(2)
    except OSError:
        pass  # the client was first
