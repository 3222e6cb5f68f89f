"""qkva: ask questions of your own data; plan once, run live every time."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qkva.agent import Agent, ReviewNeeded, open_agent
    from qkva.contracts.result import AskResult
    from qkva.graphs.ask import build_ask_graph

__all__ = ["Agent", "AskResult", "ReviewNeeded", "build_ask_graph", "open_agent"]

_HOMES = {
    "Agent": "qkva.agent",
    "AskResult": "qkva.contracts.result",
    "ReviewNeeded": "qkva.agent",
    "build_ask_graph": "qkva.graphs.ask",
    "open_agent": "qkva.agent",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import qkva` and the command line start fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'qkva' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_HOMES[name]), name)
