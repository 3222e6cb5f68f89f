"""Where a question goes next: pure functions of the state. A status means that the turn has ended.

Each return type is one Literal, since LangGraph draws the edges from it.
"""

from collections.abc import Sequence
from typing import Literal

from qkva.contracts.plan import Strategy
from qkva.contracts.state import AskState

END: Literal["__end__"] = "__end__"
"""LangGraph's own, with its type."""


async def route_after_read_question(state: AskState) -> Literal["embed", "__end__"]:
    """A question that cannot be used goes no further."""
    return END if state.status else "embed"


async def route_after_embed(state: AskState) -> Literal["look_up", "__end__"]:
    """No source, no question."""
    return END if state.status else "look_up"


async def route_after_look_up(state: AskState) -> Literal["fill_params", "judge", "route", "__end__"]:
    """A hit skips routing and planning; a miss and a cache that is down do not, and in between a judge is asked."""
    if state.status:
        return END
    if state.plan is None and state.grey is not None:
        return "judge"
    return "fill_params" if state.plan else "route"


async def route_after_judge(state: AskState) -> Literal["fill_params", "route", "__end__"]:
    """An accepted plan is a hit; else the question is planned, which shows whether the judge was right."""
    if state.status:
        return END
    return "fill_params" if state.plan else "route"


async def route_after_route(state: AskState) -> Sequence[str]:
    """By strategy; hybrid plans a live query and retrieves passages side by side."""
    if state.status:
        return [END]
    nodes: dict[Strategy, list[str]] = {
        Strategy.NO_RETRIEVAL: ["answer"],
        Strategy.CLARIFY: [END],
        Strategy.VECTOR_ONLY: ["retrieve"],
        Strategy.SQL_ONLY: ["build_plan"],
        Strategy.HYBRID: ["build_plan", "retrieve"],
    }
    return nodes[Strategy(state.strategy or Strategy.SQL_ONLY)]


async def route_after_build_plan(state: AskState) -> Literal["review_plan", "fill_params", "fall_back", "__end__"]:
    """No plan means a broad query; a new one may have to pass a person first."""
    if state.status:
        return END
    if state.plan is None:
        return "fall_back"
    return "review_plan" if state.review else "fill_params"


async def route_after_review_plan(state: AskState) -> Literal["fill_params", "__end__"]:
    """A rejected plan ends the turn."""
    return END if state.status else "fill_params"


async def route_after_fall_back(state: AskState) -> Literal["execute", "__end__"]:
    """Nothing near the question, nothing to run."""
    return END if state.status else "execute"


async def route_after_fill_params(state: AskState) -> Literal["execute", "route", "__end__"]:
    """A cached plan that does not fit is excluded, and the question routed as a miss."""
    if state.status:
        return END
    return "execute" if state.plan else "route"


async def route_after_execute(state: AskState) -> Literal["answer", "route", "__end__"]:
    """Nothing found and a source that is down end the turn; a cached plan that the source rejects is a miss."""
    if state.status:
        return END
    return "answer" if state.plan else "route"


async def route_after_answer(state: AskState) -> Literal["write_back", "__end__"]:
    """Only an answer teaches the cache."""
    return "write_back" if state.status == "answered" and state.plan else END
