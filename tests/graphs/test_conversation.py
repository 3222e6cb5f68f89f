"""Threads, chats, streams and reviews."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from tests.graphs.conftest import BOOKS_OF
from tests.graphs.test_ask import LE_GUIN, LEM, plans

from qkva.agent import ReviewNeeded
from qkva.contracts.result import AskResult, Status

pytestmark = pytest.mark.db


async def test_follow_up_takes_the_question_before(agent, gateway):
    await agent.ask(LE_GUIN, thread_id="t")
    result = await agent.ask("and by Stanislaw Lem?", thread_id="t")
    assert [row["title"] for row in result.records.rows] == ["Solaris"]
    assert result.cache == "hit"
    assert gateway.asked("StandaloneForm") == []


async def test_turns_of_a_thread_do_not_add_up(agent):
    first = await agent.ask(LE_GUIN, thread_id="t")
    second = await agent.ask(LE_GUIN, thread_id="t")
    assert first.model_calls == {"route": 1, "build_plan": 1, "answer": 1}
    assert second.model_calls == {"answer": 1}
    assert set(second.timings_ms) == {
        "read_question",
        "embed",
        "look_up",
        "fill_params",
        "execute",
        "answer",
        "write_back",
    }


async def test_refused_turn_leaves_nothing_of_the_last(agent):
    await agent.ask(LE_GUIN, thread_id="t")
    refused = await agent.ask("Delete all books of Ursula Le Guin", thread_id="t")
    assert refused.status is Status.REFUSED
    assert (refused.answer, refused.plan, refused.citations, refused.records.count) == (None, None, (), 0)


async def test_messages_are_a_question_too(agent):
    output = await agent.graph.ainvoke({"messages": [HumanMessage(LE_GUIN)]}, {"configurable": {"thread_id": "m"}})
    assert output["question"] == LE_GUIN
    assert [type(message) for message in output["messages"]] == [HumanMessage, AIMessage]
    output = await agent.graph.ainvoke({"messages": [HumanMessage(LEM)]}, {"configurable": {"thread_id": "m"}})
    assert output["question"] == LEM
    assert output["cache"] == "hit"


async def test_whole_chat_resolves_follow_up(agent):
    chat = [HumanMessage(LE_GUIN), AIMessage("Three books [1]."), HumanMessage("and by Stanislaw Lem?")]
    output = await agent.graph.ainvoke({"messages": chat}, {"configurable": {"thread_id": "c"}})
    assert output["records"]["rows"][0]["title"] == "Solaris"


async def test_progress_and_tokens_stream(agent):
    seen, tokens, messages = [], [], []
    async for mode, part in agent.graph.astream(
        {"question": LE_GUIN}, {"configurable": {"thread_id": "s"}}, stream_mode=["custom", "messages"]
    ):
        if mode == "custom":
            seen.append((part["node"], part["event"]))
        else:
            message, metadata = part
            if isinstance(message, AIMessage):
                tokens.append(message.text)
                messages.append(message.id)
                assert metadata["langgraph_node"] == "answer"
    assert seen[0] == ("read_question", "started")
    assert ("build_plan", "finished") in seen
    assert "".join(tokens) == "Here they are [1]."
    assert len(set(messages)) == 1


async def test_agent_stream_ends_with_result(agent):
    parts = [part async for part in agent.stream(LE_GUIN)]
    assert isinstance(parts[-1], AskResult)
    assert parts[-1].status is Status.ANSWERED
    assert {"node": "look_up", "event": "started"} in parts


async def test_reviewer_approves_a_plan(agent, gateway):
    with pytest.raises(ReviewNeeded) as held:
        await agent.ask(LE_GUIN, thread_id="r", review_new_plans=True)
    assert "{authors_name}" in held.value.request["plan"]["query"]
    assert await plans(agent) == []
    calls = len(gateway.requests)
    result = await agent.review("r", "approve")
    assert result.status is Status.ANSWERED
    assert [request.purpose for request in gateway.requests[calls:]] == ["answer"]
    (stored,) = await plans(agent)
    assert stored.plan.status == "verified"


async def test_reviewer_edits_a_plan(agent):
    with pytest.raises(ReviewNeeded):
        await agent.ask(LE_GUIN, thread_id="r", review_new_plans=True)
    edited = BOOKS_OF["query"].replace("ORDER BY b.id", "AND b.genre = 'fantasy' ORDER BY b.id")
    result = await agent.review("r", {"decision": "edit", "query": edited, "key_text": "fantasy books of an author"})
    assert [row["title"] for row in result.records.rows] == ["A Wizard of Earthsea"]
    assert result.plan.key_text == "fantasy books of an author"


async def test_wrong_edit_is_asked_again(agent):
    with pytest.raises(ReviewNeeded):
        await agent.ask(LE_GUIN, thread_id="r", review_new_plans=True)
    with pytest.raises(ReviewNeeded) as again:
        await agent.review("r", {"decision": "edit", "query": "DROP TABLE books"})
    assert again.value.request["problem"]
    result = await agent.review("r", "reject")
    assert result.status is Status.REFUSED
    assert await plans(agent) == []


async def test_state_holds_no_vector_and_no_full_record(agent):
    await agent.ask(LE_GUIN, thread_id="k")
    snapshot = await agent.graph.aget_state({"configurable": {"thread_id": "k"}})
    assert "embeddings" not in snapshot.values
    assert "result" not in snapshot.values
