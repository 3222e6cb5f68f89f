"""Every failure of a gateway ends as one clear error; transient ones are tried again."""

import inspect
import itertools
import time

import httpx2
import langchain_openai.chat_models.base as langchain_base
import openai
import pytest
from pydantic import BaseModel
from tests.gateway import Gateway

from qkva.contracts.errors import ModelError, ModelOutputInvalid, ModelUnavailable
from qkva.models import gateway as gateway_module
from qkva.models.chat import open_chat_models
from qkva.models.embeddings import GatewayEmbedder
from qkva.models.gateway import GatewayConnection

KEY = "sk-very-secret"


class PlanForm(BaseModel):
    kind: str


@pytest.fixture
async def gateway():
    async with Gateway() as gateway:
        gateway.script("PlanForm", {"kind": "count"})
        yield gateway


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(gateway_module, "FIRST_PAUSE", 0.01)


async def fill(gateway: Gateway, **options):
    models = open_chat_models(**{"base_url": gateway.url, "api_key": KEY, "answerer": "m", "timeout": 5.0, **options})
    try:
        return await models.planner.fill_form(PlanForm, system="s", user="u", purpose="build_plan")
    finally:
        await models.close()


async def write(gateway: Gateway, **options):
    models = open_chat_models(**{"base_url": gateway.url, "api_key": KEY, "answerer": "m", "timeout": 5.0, **options})
    try:
        return (await models.answerer.write(system="s", user="u", purpose="answer")).text
    finally:
        await models.close()


async def embed(gateway: Gateway, **options):
    embedder = GatewayEmbedder(**{"base_url": gateway.url, "api_key": KEY, "model": "m", "timeout": 5.0, **options})
    try:
        return await embedder.embed(["orders"])
    finally:
        await embedder.close()


calls = pytest.mark.parametrize("call", [fill, write, embed])


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        *itertools.product([fill, write, embed], ["500", "502", "503", "429", "408", "reset"]),
        *itertools.product([fill, embed], ["cut"]),
    ],
)
async def test_transient_failure_is_retried(gateway, call, fault):
    gateway.fail(fault, times=2)
    assert await call(gateway, max_retries=2)
    assert len(gateway.requests) == 3


@calls
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("500", "The gateway HOST answered 500 for m."),
        ("503", "The gateway HOST answered 503 for m."),
        ("429", "The gateway HOST answered 429 for m: too many requests."),
        ("reset", "The gateway HOST could not be reached, or hung up; check LITELLM_PROVIDER_BASE_URL."),
    ],
)
async def test_lasting_failure_is_said(gateway, call, fault, said):
    gateway.fail(fault)
    with pytest.raises(ModelUnavailable) as caught:
        await call(gateway, max_retries=1)
    assert caught.value.message == said.replace("HOST", host(gateway))
    assert caught.value.transient
    assert len(gateway.requests) == 2


@calls
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("401", "The gateway HOST refused the key for m (401); check LLM_API_KEY."),
        ("403", "The gateway HOST refused the key for m (403); check LLM_API_KEY."),
        ("404", "The gateway HOST does not know the model m (404); check its name and LITELLM_PROVIDER_BASE_URL."),
        ("400", "The gateway HOST did not accept the request for m (400)."),
        (
            "wrong_json",
            "The gateway HOST answered for m with something that is not the OpenAI protocol; "
            "check LITELLM_PROVIDER_BASE_URL.",
        ),
    ],
)
async def test_terminal_failure_is_not_retried(gateway, call, fault, said):
    gateway.fail(fault)
    with pytest.raises(ModelUnavailable) as caught:
        await call(gateway, max_retries=3)
    assert caught.value.message == said.replace("HOST", host(gateway))
    assert len(gateway.requests) == (2 if call is embed and fault == "400" else 1)  # once more without dimensions


@calls
async def test_hanging_gateway_is_left(gateway, call):
    gateway.fail("hang")
    started = time.monotonic()
    with pytest.raises(ModelUnavailable) as caught:
        await call(gateway, timeout=0.3)
    assert caught.value.message == f"The model m at the gateway {host(gateway)} did not answer within 0.3 s."
    assert time.monotonic() - started < 2
    assert len(gateway.requests) == 1


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        *itertools.product([fill, write, embed], ["wrong_form", "no_choices"]),
        *itertools.product([fill, write], ["error_chunk", "truncated", "null_content", "refusal"]),
    ],
)
async def test_odd_answer_is_a_model_error(gateway, call, fault):
    gateway.fail(fault)
    with pytest.raises(ModelError) as caught:
        await call(gateway, max_retries=0)
    assert KEY not in caught.value.message
    assert caught.value.message.endswith(".")


async def test_stream_that_stops_coming(gateway):
    gateway.fail("stall")
    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.3 s"):
        await write(gateway, timeout=0.3)


@pytest.mark.parametrize("fault", ["cut", "error_chunk"])
async def test_broken_stream_is_not_repeated(gateway, fault):
    gateway.fail(fault, times=1)
    with pytest.raises(ModelUnavailable):
        await write(gateway, max_retries=3)
    assert len(gateway.requests) == 1


async def test_slow_stream_may_take_longer(gateway):
    gateway.chunk_pause = 0.1
    gateway.script("answer", "one two three four five six seven eight [1]")
    assert await write(gateway, timeout=0.5) == "one two three four five six seven eight [1]"


async def test_retry_after_is_kept(gateway):
    gateway.retry_after = "0.3"
    gateway.fail("429", times=1)
    started = time.monotonic()
    await fill(gateway, max_retries=1)
    assert 0.3 <= time.monotonic() - started < 2


async def test_long_retry_after_is_not_waited_for(gateway):
    gateway.retry_after = "60"
    gateway.fail("429")
    started = time.monotonic()
    with pytest.raises(ModelUnavailable, match="too many requests and asks to wait 60 s"):
        await fill(gateway, max_retries=3)
    assert time.monotonic() - started < 2
    assert len(gateway.requests) == 1


async def test_too_long_prompt_is_said(gateway):
    gateway.error_message = "the request exceeds the available context size (8192 tokens)"
    gateway.fail("400")
    with pytest.raises(ModelUnavailable, match="The prompt is too long for the model m"):
        await fill(gateway)


async def test_no_server_at_all():
    async with Gateway() as gone:
        pass
    with pytest.raises(ModelUnavailable, match="could not be reached"):
        await fill(gone, max_retries=0)


@pytest.mark.parametrize("fault", ["401", "400", "500"])
async def test_key_and_prompt_stay_out(gateway, fault):
    gateway.error_message = f"Incorrect API key provided: {KEY}"
    gateway.fail(fault)
    with pytest.raises(ModelUnavailable) as caught:
        await fill(gateway, max_retries=0)
    assert KEY not in str(caught.value)
    assert caught.value.__suppress_context__  # a traceback does not show the gateway's words either


def test_url_password_is_not_the_host():
    connection = GatewayConnection(base_url="https://me:secret@gw.example/v1", api_key=KEY, timeout=1, max_retries=0)
    assert connection.host == "gw.example"


def subclasses(base: type[BaseException]) -> set[type[BaseException]]:
    return {base}.union(*(subclasses(each) for each in base.__subclasses__()))


def example(kind: type[openai.OpenAIError]) -> openai.OpenAIError:
    """An instance with whatever its constructor asks for."""
    request = httpx2.Request("POST", "http://gw/v1")
    given = {
        "message": "said",
        "request": request,
        "response": httpx2.Response(getattr(kind, "status_code", 418), request=request),
        "body": None,
        "completion": openai.types.chat.ChatCompletion(
            id="", choices=[], created=0, model="", object="chat.completion"
        ),
    }
    wanted = inspect.signature(kind).parameters
    return kind(**{name: value for name, value in given.items() if name in wanted})


async def test_no_client_error_is_unmapped():
    assert langchain_base.OpenAIRateLimitError in (kinds := subclasses(openai.OpenAIError))
    assert len(kinds) > 15
    connection = GatewayConnection(base_url="http://gw/v1", api_key=KEY, timeout=1, max_retries=0)
    for kind in kinds:
        with pytest.raises((ModelUnavailable, ModelOutputInvalid)):
            async with connection.patience("m"):
                raise example(kind)
    await connection.close()


def host(gateway: Gateway) -> str:
    return gateway.url.removeprefix("http://").removesuffix("/v1")
