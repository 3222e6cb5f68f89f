"""The gate before every route of the server, LangGraph's and our own: who may pass, and what is there for nobody."""

import logging

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from qkva.contracts.errors import NotAuthenticated, QkvaError, RequestRefused, TooManyCalls
from qkva.contracts.identity import Caller
from qkva.serving.callers import default_callers
from qkva.serving.local import is_local

logger = logging.getLogger(__name__)

CALLER = "qkva.caller"
"""Where the caller stands in the scope of a request that has passed."""
INSIDE = "/noauth"
"""Root path of calls that the server makes to itself in memory; no request from outside can have it."""
PUBLIC = frozenset({"/", "/ok", "/healthz", "/docs", "/openapi.json", "/info"})
"""They tell nothing of any tenant."""
THIS_MACHINE = frozenset({"/metrics"})
"""Numbers of all tenants together."""
NOBODY = ("/internal", "/deploy")
"""The development server's own: they show any thread, empty the database and start programs, and ask nobody's name."""
POLICY_VIOLATION = 1008


class Gate:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass with its caller, or answer in its place."""
        root = scope.get("root_path", "")
        if scope["type"] == "lifespan" or root == INSIDE or root.startswith(INSIDE + "/"):
            return await self.app(scope, receive, send)
        try:
            caller = await passing(scope, str(scope["path"]).removeprefix(root) or "/")
        except QkvaError as error:
            return await refuse(error, scope, receive, send)
        return await self.app({**scope, CALLER: caller}, receive, send)


class NotThere(QkvaError):
    """Not Found"""


async def passing(scope: Scope, path: str) -> Caller | None:
    """The caller; None for what anybody may see. Raises QkvaError."""
    if path.startswith(NOBODY):
        raise NotThere
    if path in THIS_MACHINE and not is_local(scope):
        raise RequestRefused("This page is for programs on the server's own machine.")
    if path in PUBLIC | THIS_MACHINE or is_preflight(scope):
        return None
    return await (await default_callers()).identify(scope)


def is_preflight(scope: Scope) -> bool:
    """A browser's question whether a page may call; it carries no key and gets no data."""
    return scope.get("method") == "OPTIONS" and "access-control-request-method" in Headers(scope=scope)


async def refuse(error: QkvaError, scope: Scope, receive: Receive, send: Send) -> None:
    """One sentence with its status."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": error.message[:120]})
        return
    status, headers = answer_to(error)
    if status >= 500:
        logger.error("a call was not served: %s", error.message)
    await JSONResponse({"detail": error.message}, status_code=status, headers=headers)(scope, receive, send)


def answer_to(error: QkvaError) -> tuple[int, dict[str, str]]:
    """Status and headers for an error."""
    readable = {"Access-Control-Allow-Origin": "*"}  # or a page in a browser could not even read why
    if isinstance(error, TooManyCalls):
        return 429, {**readable, "Retry-After": str(error.retry_after_sec)}
    if isinstance(error, NotAuthenticated):
        return 401, {**readable, "WWW-Authenticate": "Bearer"}
    if isinstance(error, RequestRefused):
        return 403, readable
    if isinstance(error, NotThere):
        return 404, readable
    return 503, {**readable, "Retry-After": "5"}
