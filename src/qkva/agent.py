"""Ask from Python: `async with qkva.open_agent() as agent: await agent.ask("…")`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

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

    def __init__(self, services: AskServices, graph: AskGraph) -> None:
        self.services = services
        self.graph = graph
        self._turns = 0

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
        output = await self.graph.ainvoke(
            {"question": question},
            self._config(thread_id),
            context=AskContext(source=source, now=now, timezone=timezone, **context),
            durability="exit",  # one checkpoint a turn, not one a node: a turn that dies is asked again
        )
        return self._result(output, thread_id)

    async def stream(
        self, question: str, *, thread_id: str | None = None, **context: Any
    ) -> AsyncIterator[dict[str, Any] | AskResult]:
        """As `ask`, but yields each node's progress (`{"node", "event", "ms", …}`) and at last the result."""
        output: dict[str, Any] = {}
        parts: AsyncIterator[Any] = self.graph.astream(
            {"question": question},
            self._config(thread_id),
            context=AskContext(**context),
            stream_mode=["custom", "values"],
            durability="exit",
        )
        async for mode, part in parts:
            if mode == "custom":
                yield part
            else:
                output = part
        yield self._result(output, thread_id)

    async def review(self, thread_id: str, decision: dict[str, Any] | str, **context: Any) -> AskResult:
        """Resume a question whose plan was held: "approve", "reject", or `{"decision": "edit", "query": …}`."""
        output = await self.graph.ainvoke(
            Command(resume=decision), self._config(thread_id), context=AskContext(**context), durability="exit"
        )
        return self._result(output, thread_id)

    def _config(self, thread_id: str | None) -> RunnableConfig:
        """Without a thread each question stands alone."""
        self._turns += 1
        return {"configurable": {"thread_id": thread_id or f"question-{self._turns}"}}

    def _result(self, output: dict[str, Any], thread_id: str | None) -> AskResult:
        """The graph's output as a result."""
        if output.get("__interrupt__"):
            raise ReviewNeeded(thread_id or f"question-{self._turns}", output["__interrupt__"][0].value)
        fields = {name: output[name] for name in AskResult.model_fields if output.get(name) is not None}
        return AskResult.model_validate(fields)


@asynccontextmanager
async def open_agent(settings: Settings | None = None) -> AsyncIterator[Agent]:
    """Open services by the settings (default: the environment's) and compile the graph over them. Raises QkvaError."""
    async with open_services(settings or load_settings()) as services:
        yield Agent(services, build_ask_graph(lambda: services, checkpointer=InMemorySaver()))
