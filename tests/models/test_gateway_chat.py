"""Forms and text over real HTTP."""

import asyncio
import logging
from typing import Literal

import pytest
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel
from tests.gateway import Gateway

from qkva.contracts.errors import ConfigError, ModelOutputInvalid, ModelUnavailable
from qkva.models import gateway as gateway_module
from qkva.models.chat import GatewayModels, open_chat_models


class PlanForm(BaseModel):
    kind: Literal["count", "list"]
    table: str | None
    parts: list[str]


FILLED = {"kind": "count", "table": "orders", "parts": ["a"]}
KEY = "sk-very-secret"


@pytest.fixture
async def gateway():
    async with Gateway() as gateway:
        gateway.script("PlanForm", FILLED)
        yield gateway


@pytest.fixture
async def models(gateway):
    models = open_models(gateway)
    yield models
    await models.close()


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(gateway_module, "FIRST_PAUSE", 0.01)


def open_models(gateway: Gateway, **options) -> GatewayModels:
    return open_chat_models(**{"base_url": gateway.url, "api_key": KEY, "answerer": "big", "timeout": 5.0, **options})


async def fill(models: GatewayModels) -> PlanForm:
    return await models.planner.fill_form(PlanForm, system="Plan.", user="How many orders?", purpose="build_plan")


async def write(models: GatewayModels) -> str:
    return (await models.answerer.write(system="Answer.", user="Who?", purpose="answer")).text


async def test_form_comes_back_filled(gateway, models):
    assert await fill(models) == PlanForm(kind="count", table="orders", parts=["a"])
    (request,) = gateway.requests
    assert request.body["response_format"]["type"] == "json_schema"
    assert request.body["response_format"]["json_schema"]["strict"] is True
    assert request.schema["required"] == ["kind", "table", "parts"]
    assert request.schema["additionalProperties"] is False
    assert request.body["temperature"] == 0
    assert request.user == "How many orders?"
    assert request.headers["authorization"] == f"Bearer {KEY}"


async def test_prompt_describes_every_field(gateway, models):
    await fill(models)
    system = gateway.requests[0].system
    assert system.startswith("Plan.")
    assert '"kind" (one of "count", "list")' in system
    assert '"table" (string or null)' in system


async def test_models_go_by_their_names(gateway):
    models = open_models(gateway, router="small", temperature=0.7)
    await models.router.fill_form(PlanForm, system="s", user="u", purpose="route")
    await write(models)
    assert [request.body["model"] for request in gateway.requests] == ["small", "big"]
    assert gateway.requests[1].body["temperature"] == 0.7
    assert models.planner.name == "big"
    await models.close()


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n{"kind": "count", "table": "orders", "parts": ["a"]}\n```',
        '<think>A {count}?</think>{"kind": "count", "table": "orders", "parts": ["a"]}',
        'Here it is:\n{"kind": "count", "table": "orders", "parts": ["a"]}\nI hope it helps.',
    ],
)
async def test_form_inside_other_text(gateway, models, reply):
    gateway.script("PlanForm", reply)
    assert (await fill(models)).table == "orders"


async def test_gateway_without_json_schema(gateway, models):
    gateway.fail("400", times=1, on=lambda request: "response_format" in request.body)
    gateway.script("answer", FILLED)  # without a schema the double takes it for an answer
    gateway.error_message = "response_format of type json_schema is not supported"
    assert (await fill(models)).kind == "count"
    assert (await fill(models)).kind == "count"
    assert ["response_format" in request.body for request in gateway.requests] == [True, False, False]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("not json", "it is no JSON object"),
        ('{"kind": "count"', "it is no JSON object"),
        ({"kind": "chart", "table": None, "parts": []}, "kind: Input should be 'count' or 'list'"),
        ({"kind": "count", "parts": []}, "table: Field required"),
        ("Here it is: {", "it is no JSON object"),
        ("null", "it is no JSON object"),
        ("[]", "it is no JSON object"),
    ],
)
async def test_wrongly_filled_form(gateway, models, reply, said):
    gateway.script("PlanForm", reply)
    with pytest.raises(ModelOutputInvalid) as caught:
        await fill(models)
    assert caught.value.message == f"The model big did not fill the PlanForm as asked: {said}."
    assert len(gateway.requests) == 1


async def test_wrong_value_is_not_quoted(gateway, models):
    gateway.script("PlanForm", {"kind": "Ada Lovelace", "table": None, "parts": []})
    with pytest.raises(ModelOutputInvalid) as caught:
        await fill(models)
    assert "Ada" not in caught.value.message
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("truncated", "The model big reached its limit of tokens before it had finished; raise LLM_MAX_TOKENS."),
        ("null_content", "The model big answered with nothing."),
        ("refusal", "The model big refused to fill the PlanForm."),
    ],
)
async def test_form_without_content(gateway, models, fault, said):
    gateway.fail(fault)
    with pytest.raises(ModelOutputInvalid) as caught:
        await fill(models)
    assert caught.value.message == said


async def test_answer_streams_and_forms_do_not(gateway, models):
    async def node(_: MessagesState):
        await fill(models)
        return {"messages": [await models.answerer.write(system="s", user="u", purpose="answer")]}

    gateway.script("answer", "Three orders came in [1].")
    graph = StateGraph(MessagesState).add_node(node).add_edge(START, "node").add_edge("node", END).compile()
    chunks = []
    async for mode, part in graph.astream({"messages": []}, stream_mode=["messages", "values"]):
        if mode == "messages":
            chunks.append(part[0])
        else:
            final = part["messages"]
    assert "".join(chunk.text for chunk in chunks) == "Three orders came in [1]."
    assert len(chunks) > 4
    assert {chunk.id for chunk in chunks} == {final[-1].id}
    assert not gateway.asked("PlanForm")[0].body.get("stream")


async def test_cut_answer_is_no_answer(gateway, models):
    gateway.fail("truncated")
    with pytest.raises(ModelOutputInvalid, match="limit of tokens"):
        await write(models)


@pytest.mark.parametrize("fault", ["null_content", "refusal"])
async def test_answer_without_text(gateway, models, fault):
    gateway.fail(fault)
    with pytest.raises(ModelOutputInvalid, match="answered with nothing"):
        await write(models)


async def test_thoughts_are_no_answer(gateway, models):
    gateway.script("answer", "<think>Is it 3?</think>\n\nThree [1].")
    assert await write(models) == "Three [1]."


async def test_other_settings_of_openai_do_not_matter(gateway, monkeypatch):
    monkeypatch.setenv("OPENAI_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    models = open_models(gateway, answerer="gpt-5-codex")
    assert await write(models) == "The records say so [1]."
    assert gateway.requests[0].headers["authorization"] == f"Bearer {KEY}"
    await models.close()


async def test_cancelled_call_ends_at_once(gateway, models):
    gateway.fail("hang")
    task = asyncio.create_task(fill(models))
    while not gateway.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 1)
    assert len(gateway.requests) == 1


async def test_lone_surrogate_is_sent(gateway, models):
    await models.answerer.write(system="s", user="caf\u00e9 \ud800", purpose="answer")
    assert gateway.requests[0].user == "caf\u00e9 ?"


async def test_wrong_base_url():
    with pytest.raises(ConfigError, match="LITELLM_PROVIDER_BASE_URL"):
        open_chat_models(base_url="localhost:4000", api_key="none", answerer="m")


async def test_no_log_holds_key_or_question(gateway, models, caplog):
    gateway.fail("503", times=1)
    with caplog.at_level(logging.INFO):
        await fill(models)
        gateway.fail("401")
        with pytest.raises(ModelUnavailable):
            await fill(models)
    assert KEY not in caplog.text
    assert "How many orders" not in caplog.text


async def test_calls_run_side_by_side(gateway, models):
    assert [form.kind for form in await asyncio.gather(*(fill(models) for _ in range(5)))] == ["count"] * 5
