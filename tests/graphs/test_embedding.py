"""The compiled graph inside other people's graphs."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import START, MessagesState, StateGraph
from tests.graphs.test_ask import LE_GUIN

from qkva.contracts.result import AskResult
from qkva.contracts.state import AskOutput, AskState
from qkva.graphs.ask import build_ask_graph

pytestmark = pytest.mark.db


async def test_graph_is_a_node_of_a_host_graph(agent):
    ask = build_ask_graph(lambda: agent.services)
    host = StateGraph(MessagesState)
    host.add_node("data", ask)
    host.add_edge(START, "data")
    host.add_edge("data", "__end__")
    output = await host.compile().ainvoke({"messages": [("user", LE_GUIN)]})
    assert output["messages"][-1].text == "Here they are [1]."
    assert len(output["messages"]) == 2


async def test_graph_runs_without_checkpointer(agent):
    output = await build_ask_graph(lambda: agent.services).ainvoke({"question": LE_GUIN})
    assert output["status"] == "answered"
    assert output["plan"]["query"].startswith("SELECT")


async def test_async_provider_is_awaited(agent):
    async def provider():
        return agent.services

    output = await build_ask_graph(provider).ainvoke({"question": LE_GUIN})
    assert output["status"] == "answered"


async def test_postgres_checkpointer_keeps_the_whole_state(agent, database_url, recwarn):
    async with AsyncPostgresSaver.from_conn_string(database_url) as saver:
        await saver.setup()
        graph = build_ask_graph(lambda: agent.services, checkpointer=saver)
        config = {"configurable": {"thread_id": "p"}}
        await graph.ainvoke({"question": LE_GUIN}, config)
        second = await graph.ainvoke({"question": "and by Stanislaw Lem?"}, config)
        snapshot = await graph.aget_state(config)
    assert second["cache"] == "hit"
    assert "Stanislaw Lem" in snapshot.values["standalone"]
    assert not [warning for warning in recwarn if "unregistered" in str(warning.message).lower()]


async def test_context_may_be_left_out(agent):
    graph = build_ask_graph(lambda: agent.services, checkpointer=InMemorySaver())
    output = await graph.ainvoke({"question": LE_GUIN}, {"configurable": {"thread_id": "x"}}, context=None)
    assert output["status"] == "answered"


def test_output_has_the_fields_of_the_result():
    assert set(AskOutput.model_fields) == {*AskResult.model_fields, "messages"}
    state_fields = set(AskState.__dataclass_fields__)
    assert set(AskResult.model_fields) <= state_fields
