"""Bind a node to the services: time it, stream its progress, turn its errors into the end of the turn, and log that."""

import inspect
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from langchain_core.messages import AIMessage
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from qkva.contracts.errors import AuthError, ConfigError, InvalidQuestion, QkvaError, RequestRefused, SourceUnavailable
from qkva.contracts.identity import REVIEW, Caller
from qkva.contracts.result import Status
from qkva.contracts.state import AskContext, AskState
from qkva.graphs.audit import TORN_DOWN, ends_turn, entry_of, token_counts
from qkva.graphs.usage import counting_tokens
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
        services: AskServices | None = None
        caller: Caller | None = None
        update: dict[str, Any] | None = None
        paused = False
        with counting_tokens() as usage:
            meter = CallMeter(budget=0)
            try:
                services = await provided(provider)
                before = 0 if name == FIRST_NODE else sum(state.model_calls.values())
                meter = CallMeter(budget=services.settings.max_model_calls, before=before)
                caller = caller_of(runtime, services)
                update = await node(state, ask_runtime(runtime, services, caller, meter))
            except QkvaError as error:
                update = {"status": status_of(error), "error": error.message}
            except GraphBubbleUp:
                paused = True
                raise
            finally:
                if services is not None and state.flight is not None and ends_flight(name, update):
                    services.flights.land(state.flight)
                milliseconds = round((time.perf_counter() - started) * 1000, 3)
                measures = measured(update or {}, name, milliseconds, meter, token_counts(usage.usage_metadata))
                if services and caller and not paused:
                    note(name, state, update, measures, caller, services)
        if update.get("status") and "messages" not in update:
            update["messages"] = [AIMessage(update.get("answer") or update.get("error") or "")]
        runtime.stream_writer({"node": name, "event": "finished", "ms": milliseconds, **progress(update)})
        return {**update, **measures}

    run.__name__, run.__doc__ = name, node.__doc__
    return run


def ask_runtime(runtime: Runtime[AskContext], services: AskServices, caller: Caller, meter: CallMeter) -> AskRuntime:
    """What the node may use. Raises ConfigError for a zone that does not exist."""
    context = runtime.context or AskContext()
    return AskRuntime(
        services=services,
        context=context,
        tenant_id=caller.tenant_id,
        may_review=caller.may_review,
        now=clock(context, services),
        meter=meter,
    )


async def provided(provider: ServicesProvider) -> AskServices:
    """Providers may be plain or async."""
    services = provider()
    return await services if inspect.isawaitable(services) else services


def caller_of(runtime: Runtime[AskContext], services: AskServices) -> Caller:
    """The authenticated caller ("tenant/user" is the identity); without a server, whoever runs this program.

    Raises RequestRefused for a caller whom a server has let in without knowing who it is.
    """
    user = runtime.server_info.user if runtime.server_info else None
    if user is None:
        return Caller(tenant_id=services.tenant_id, user="", may_review=True)
    identity = str(getattr(user, "identity", "") or "")
    if not identity or not getattr(user, "is_authenticated", False):
        raise RequestRefused("Nobody knows who asks this: call the server with an API key or a bearer token.")
    permissions = getattr(user, "permissions", None) or ()
    return Caller.from_identity(identity).model_copy(update={"may_review": REVIEW in permissions})


def note(
    name: str,
    state: AskState,
    update: dict[str, Any] | None,
    measures: dict[str, Any],
    caller: Caller,
    services: AskServices,
) -> None:
    """Log the turn if it has ended."""
    if services.ask_log is None or not ends_turn(name, LAST_NODE, state, update):
        return
    # what a thread holds before its first node is of the turn before
    of_turn = AskState(question=state.question) if name == FIRST_NODE else state
    thread_id = get_config().get("configurable", {}).get("thread_id")
    services.ask_log.add(
        caller.tenant_id,
        entry_of(
            of_turn,
            {**({"status": TORN_DOWN} if update is None else update), **measures},
            user=caller.user or None,
            thread_id=str(thread_id) if thread_id else None,
            with_text=services.settings.audit_text,
        ),
    )


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


def measured(
    update: dict[str, Any], name: str, milliseconds: float, meter: CallMeter, tokens: dict[str, int]
) -> dict[str, Any]:
    """The time, calls and tokens; the node that starts a turn overwrites what a thread holds of the last one."""
    measures: dict[str, Any] = {"timings_ms": {name: milliseconds}, "model_calls": dict(meter.spent), "tokens": tokens}
    if name == FIRST_NODE:
        measures = {field: Overwrite(value) for field, value in measures.items()}
        measures["warnings"] = Overwrite(update.get("warnings", []))
    return measures
