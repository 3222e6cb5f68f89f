"""The HTTP app beside the graph: opens services with the server, closes them with it, and guards every route."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from qkva.contracts.errors import QkvaError, StoreUnavailable
from qkva.contracts.identity import Caller
from qkva.graphs.services import close_default_services, default_services
from qkva.graphs.stats import stats_of
from qkva.planning.decision.words import rarity
from qkva.serving.callers import Callers, default_callers
from qkva.serving.gate import CALLER, Gate

logger = logging.getLogger(__name__)
LONGEST_DAYS = 36_500


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[None]:
    """Open before the first question, so that it does not wait; a failure is logged, and each question says it."""
    await asyncio.to_thread(rarity, "word")  # its table is read at its first use, which would hold up every caller
    try:
        await say_who_is_served(await default_callers())
    except QkvaError as error:
        logger.error("qkva could not open its services: %s", error.message)
    yield
    await close_default_services()


async def say_who_is_served(callers: Callers) -> None:
    """A server that asks nobody for a key says so."""
    try:
        if await callers.demanded():
            return
    except StoreUnavailable as error:
        logger.warning("%s", error.message)
        return
    why = "SERVER_AUTH is off" if callers.settings.server_auth == "off" else "No API key exists"
    logger.warning(
        "%s: qkva serves programs on this machine alone, without a key, as tenant %r. `qkva keys create` makes a key.",
        why,
        callers.settings.tenant_id,
    )


async def healthz(request: Request) -> JSONResponse:
    """200 once services are open, with mode and sources for callers who may ask; else 503 with one sentence."""
    try:
        services = await default_services()
    except QkvaError as error:
        logger.error("qkva could not open its services: %s", error.message)
        return JSONResponse({"ok": False, "error": "The services could not be opened; the log says why."}, 503)
    try:
        await (await default_callers()).identify(request.scope)
    except QkvaError:
        return JSONResponse({"ok": True})
    mode = "gateway" if services.chat else "no gateway"
    return JSONResponse({"ok": True, "mode": mode, "sources": sorted(services.sources.connectors)})


async def whoami(request: Request) -> JSONResponse:
    """As whom the server knows the caller."""
    caller: Caller = request.scope[CALLER]
    return JSONResponse({"tenant": caller.tenant_id, "user": caller.user, "may_review": caller.may_review})


async def stats(request: Request) -> JSONResponse:
    """What `qkva stats --json` prints, for the tenant of the caller; the query may give days and source."""
    caller: Caller = request.scope[CALLER]
    try:
        days = float(request.query_params.get("days", "30"))
        if not 0 < days <= LONGEST_DAYS:
            raise ValueError
    except ValueError:
        return JSONResponse({"detail": f"days is a number above 0 and up to {LONGEST_DAYS}."}, 422)
    services = await default_services()
    settings = (await default_callers()).settings
    try:
        found = await stats_of(services, settings, caller.tenant_id, days, request.query_params.get("source"))
    except QkvaError as error:
        return JSONResponse({"detail": error.message}, 503)
    return JSONResponse(found.model_dump(mode="json"))


app = Starlette(
    routes=[Route("/healthz", healthz), Route("/api/whoami", whoami), Route("/api/stats", stats)],
    middleware=[Middleware(Gate)],
    lifespan=lifespan,
)
"""Routes are for authenticated callers, who stand in the scope, unless the gate names them as public."""
