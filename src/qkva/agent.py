"""Ask from Python: `async with qkva.open_agent() as agent: await agent.ask("…")`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from qkva.contracts.result import AskResult
from qkva.contracts.state import AskContext
from qkva.graphs.ask import AskGraph, build_ask_graph
from qkva.graphs.services import open_services
from qkva.nodes.runtime import AskServices
from qkva.settings import Settings, load_settings


class ReviewNeeded(Exception):
    """A new plan waits for review; resume with `agent.review(thread_id, …)`."""

    def __init__(self, thread_id: str, request: dict[str, Any]) -> None:
        super().__init__(f"A new plan waits for review on thread {thread_id!r}.")
        self.thread_id = thread_id
        self.request = request


class Agent:
    """The ask graph with open services."""

    def __init__(self, services: AskServices) -> None:
        self.services = services
        self.graph = build_ask_graph(lambda: services, checkpointer=InMemorySaver())
        """With threads, kept in memory for as long as the agent lives."""
        self._alone = build_ask_graph(lambda: services)
        """For questions that stand alone: nothing of them is kept, and a hit is a millisecond faster."""

    async def ask(
        self,
        question: str,
        *,
        source: str | None = None,
        now: datetime | None = None,
        timezone: str | None = None,
        thread_id: str | None = None,
        **context: Any,
    ) -> AskResult:
        """Answer one question; on a thread it may refer to the one before.

        `context` takes the other fields of AskContext. Never raises for a question, a source or a model that
        fails: `status` and `error` say it. Raises ReviewNeeded when a new plan is held for review.
        """
        wishes = AskContext(source=source, now=now, timezone=timezone, **context)
        graph, thread_id, options = self._run(thread_id, wishes)
        output = await graph.ainvoke({"question": question}, context=wishes, **options)
        return result_of(output, thread_id)

    async def stream(
        self, question: str, *, thread_id: str | None = None, **context: Any
    ) -> AsyncIterator[dict[str, Any] | AskResult]:
        """As `ask`, but yields each node's progress (`{"node", "event", "ms", …}`) and at last the result."""
        wishes = AskContext(**context)
        graph, thread_id, options = self._run(thread_id, wishes)
        output: dict[str, Any] = {}
        parts: AsyncIterator[Any] = graph.astream(
            {"question": question}, context=wishes, stream_mode=["custom", "values"], **options
        )
        async for mode, part in parts:
            if mode == "custom":
                yield part
            else:
                output = part
        yield result_of(output, thread_id)

    async def review(self, thread_id: str, decision: dict[str, Any] | str, **context: Any) -> AskResult:
        """Resume a question whose plan was held: "approve", "reject", or `{"decision": "edit", "query": …}`."""
        output = await self.graph.ainvoke(
            Command(resume=decision), on_thread(thread_id), context=AskContext(**context), durability="exit"
        )
        return result_of(output, thread_id)

    def _run(self, thread_id: str | None, wishes: AskContext) -> tuple[AskGraph, str, dict[str, Any]]:
        """The graph to run, the thread, and LangGraph's options; a plan that may be held needs a thread to wait on."""
        held = wishes.review_new_plans or self.services.settings.review_new_plans
        if thread_id is None and not held:
            return self._alone, "", {}
        thread_id = thread_id or f"question-{uuid4()}"
        # one checkpoint a turn, not one a node: a turn that dies is asked again
        return self.graph, thread_id, {"config": on_thread(thread_id), "durability": "exit"}


def on_thread(thread_id: str) -> RunnableConfig:
    """LangGraph's configuration for a thread."""
    return {"configurable": {"thread_id": thread_id}}


def result_of(output: dict[str, Any], thread_id: str) -> AskResult:
    """The graph's output as a result. Raises ReviewNeeded."""
    if output.get("__interrupt__"):
        raise ReviewNeeded(thread_id, output["__interrupt__"][0].value)
    fields = {name: output[name] for name in AskResult.model_fields if output.get(name) is not None}
    return AskResult.model_validate(fields)


@asynccontextmanager
async def open_agent(settings: Settings | None = None) -> AsyncIterator[Agent]:
    """Open services by the settings (default: the environment's) and compile the graph over them. Raises QkvaError."""
    async with open_services(settings or load_settings()) as services:
        yield Agent(services)
