"""Bind a node to the services: time it, stream its progress, and turn its errors into the end of the turn."""

import inspect
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from qkva.contracts.errors import AuthError, ConfigError, InvalidQuestion, QkvaError, RequestRefused, SourceUnavailable
from qkva.contracts.result import Status
from qkva.contracts.state import AskContext, AskState
from qkva.nodes.runtime import AskRuntime, AskServices, CallMeter

FIRST_NODE = "read_question"
LAST_NODE = "write_back"

ServicesProvider = Callable[[], AskServices | Awaitable[AskServices]]
Node = Callable[[AskState, AskRuntime], Awaitable[dict[str, Any]]]


class BoundNode(Protocol):
    """A node as LangGraph calls it."""

    async def __call__(self, state: AskState, *, runtime: Runtime[AskContext]) -> dict[str, Any]:
        """The fields of the state that it changed."""
        ...


def bind(node: Node, provider: ServicesProvider) -> BoundNode:
    """The node as LangGraph calls it."""
    name = node.__name__

    async def run(state: AskState, *, runtime: Runtime[AskContext]) -> dict[str, Any]:
        started = time.perf_counter()
        runtime.stream_writer({"node": name, "event": "started"})
        meter = CallMeter(budget=0)
        services: AskServices | None = None
        update: dict[str, Any] | None = None
        try:
            services = await provided(provider)
            before = 0 if name == FIRST_NODE else sum(state.model_calls.values())
            meter = CallMeter(budget=services.settings.max_model_calls, before=before)
            context = runtime.context or AskContext()
            update = await node(
                state,
                AskRuntime(
                    services=services,
                    context=context,
                    tenant_id=tenant_of(runtime, services),
                    now=clock(context, services),
                    meter=meter,
                ),
            )
        except QkvaError as error:
            update = {"status": status_of(error), "error": error.message}
        finally:
            if services is not None and state.flight is not None and ends_flight(name, update):
                services.flights.land(state.flight)
        if "status" in update and update["status"] and "messages" not in update:
            update["messages"] = [AIMessage(update.get("answer") or update.get("error") or "")]
        milliseconds = round((time.perf_counter() - started) * 1000, 3)
        runtime.stream_writer({"node": name, "event": "finished", "ms": milliseconds, **progress(update)})
        return with_measures(update, name, milliseconds, meter)

    run.__name__ = name
    run.__doc__ = node.__doc__
    return run


async def provided(provider: ServicesProvider) -> AskServices:
    """Providers may be plain or async."""
    services = provider()
    return await services if inspect.isawaitable(services) else services


def tenant_of(runtime: Runtime[AskContext], services: AskServices) -> str:
    """The authenticated caller's tenant ("tenant/user" is the identity); without a server, the configured one."""
    user = runtime.server_info.user if runtime.server_info else None
    identity = str(getattr(user, "identity", "") or "")
    if user is None or not identity or not getattr(user, "is_authenticated", False):
        return services.tenant_id
    return identity.split("/", 1)[0]


def clock(context: AskContext, services: AskServices) -> datetime:
    """Now, in the caller's zone. Raises ConfigError for a zone that does not exist."""
    name = context.timezone or services.settings.timezone
    try:
        zone = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError(f"{name!r} is no IANA time zone; write one such as Europe/Berlin.") from None
    now = context.now or services.fixed_now or datetime.now(UTC)
    return now.replace(tzinfo=zone) if now.tzinfo is None else now.astimezone(zone)


def status_of(error: QkvaError) -> str:
    """How an error that a node did not handle ends the turn."""
    if isinstance(error, InvalidQuestion | RequestRefused):
        return Status.REFUSED.value
    if isinstance(error, SourceUnavailable | AuthError):
        return Status.SOURCE_UNAVAILABLE.value
    return Status.ERROR.value


def ends_flight(name: str, update: dict[str, Any] | None) -> bool:
    """Whether a plan that others may wait for is stored now, or never will be; None for a node that was torn down."""
    return update is None or name == LAST_NODE or update.get("status") not in (None, Status.ANSWERED)


def progress(update: dict[str, Any]) -> dict[str, Any]:
    """What a watcher wants to know of a step, in a few plain fields."""
    return {name: update[name] for name in ("cache", "strategy", "source", "status") if update.get(name)}


def with_measures(update: dict[str, Any], name: str, milliseconds: float, meter: CallMeter) -> dict[str, Any]:
    """Add the time and the calls; the node that starts a turn overwrites what a thread holds of the last one."""
    measures: dict[str, Any] = {"timings_ms": {name: milliseconds}, "model_calls": dict(meter.spent)}
    if name == FIRST_NODE:
        measures = {field: Overwrite(value) for field, value in measures.items()}
        measures["warnings"] = Overwrite(update.get("warnings", []))
    return {**update, **measures}
