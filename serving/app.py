"""The HTTP app beside the graph: opens services with the server, closes them with it, and says whether all is well."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from qkva.contracts.errors import QkvaError
from qkva.graphs.services import close_default_services, default_services

logger = logging.getLogger(__name__)


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[None]:
    """Open before the first question, so that it does not wait; a failure is logged, and each question says it."""
    try:
        await default_services()
    except QkvaError as error:
        logger.error("qkva could not open its services: %s", error.message)
    yield
    await close_default_services()


async def healthz(_: Request) -> JSONResponse:
    """200 with the mode and the sources' names once services are open, else 503 with one sentence."""
    try:
        services = await default_services()
    except QkvaError as error:
        return JSONResponse({"ok": False, "error": error.message}, status_code=503)
    mode = "gateway" if services.chat else "no gateway"
    return JSONResponse({"ok": True, "mode": mode, "sources": sorted(services.sources.connectors)})


app = Starlette(routes=[Route("/healthz", healthz)], lifespan=lifespan)
