"""Counts the tokens of all model calls that a node makes, by listening beside LangChain's other callbacks."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.tracers.context import register_configure_hook

# Registered once: LangChain's own helper registers one more at each use, and keeps them all.
_listener: ContextVar[UsageMetadataCallbackHandler | None] = ContextVar("qkva_usage", default=None)
register_configure_hook(_listener, inheritable=True)


@contextmanager
def counting_tokens() -> Iterator[UsageMetadataCallbackHandler]:
    """A listener whose `usage_metadata` holds what was used inside, by model."""
    listener = UsageMetadataCallbackHandler()
    token = _listener.set(listener)
    try:
        yield listener
    finally:
        _listener.reset(token)
