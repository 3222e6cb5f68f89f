"""A host whose own packages are called like those of qkva; it asks the demo shop by agent and in its own graph."""

import asyncio

import graphs
import nodes
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import qkva
import qkva.nodes
from qkva.graphs.ask import graph as ask_graph
from qkva.graphs.services import close_default_services

QUESTION = "How many customers are there in France?"


class HostState(TypedDict):
    """What the host carries."""

    question: str
    answer: str


async def ask_qkva(state: HostState) -> dict[str, str]:
    """qkva as one step of the host's graph."""
    result = await ask_graph.ainvoke({"question": state["question"]}, context={})
    return {"answer": result["answer"] or result["error"]}


async def main() -> None:
    """Ask once by the agent and once by the graph."""
    assert (graphs.OWNER, nodes.OWNER) == ("host", "host")
    async with qkva.open_agent() as agent:
        result = await agent.ask(QUESTION)
        assert result.status == "answered", result
        print(result.text)
    builder = StateGraph(HostState)
    builder.add_node(ask_qkva)
    builder.add_edge(START, "ask_qkva")
    builder.add_edge("ask_qkva", END)
    state = await builder.compile().ainvoke({"question": QUESTION, "answer": ""})
    await close_default_services()
    assert "customers = 13" in state["answer"], state
    print("host app: ok")


if __name__ == "__main__":
    asyncio.run(main())
