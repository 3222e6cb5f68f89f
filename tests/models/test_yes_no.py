"""A yes or no with its probability, over real HTTP and out of what gateways may send."""

import math

import pytest
from tests.gateway import Gateway

from qkva.contracts.errors import ModelUnavailable
from qkva.models.chat import open_chat_models
from qkva.models.yes_no import probability_of_yes


@pytest.fixture
async def gateway():
    async with Gateway() as gateway:
        gateway.script("yes_no", {"yes": 0.6, "no": 0.2})
        yield gateway


@pytest.fixture
async def judge(gateway):
    models = open_chat_models(
        base_url=gateway.url, api_key="k", answerer="big", router="small", timeout=5, max_retries=0
    )
    yield models.judge
    await models.close()


async def ask(judge):
    return await judge.probability_of_yes(system="Yes or no.", user="Is it?", purpose="judge")


async def test_probability_is_yes_against_no(gateway, judge):
    assert await ask(judge) == pytest.approx(0.75)  # 0.6 of 0.8
    (request,) = gateway.requests
    assert request.body["model"] == "small"  # the router's, as no other is named
    assert (request.body["logprobs"], request.body["top_logprobs"], request.body["temperature"]) == (True, 5, 0)
    assert request.body.get("max_completion_tokens", request.body.get("max_tokens")) == 4
    assert "response_format" not in request.body and not request.body.get("stream")


async def test_judge_may_have_its_own_model(gateway):
    models = open_chat_models(base_url=gateway.url, api_key="k", answerer="big", router="small", judge="wise")
    await ask(models.judge)
    assert gateway.requests[0].body["model"] == "wise"
    await models.close()


async def test_gateway_that_gives_none_is_asked_three_times(gateway, judge):
    gateway.gives_logprobs = False
    for number in range(3):
        assert judge.gives_log_probabilities, number
        assert await ask(judge) is None
    assert not judge.gives_log_probabilities


async def test_one_odd_answer_is_no_rule(gateway, judge):
    gateway.script("yes_no", {"Well": 0.9, "yes": 0.1}, {"Well": 0.9}, {"no": 1.0}, {"Well": 0.9})
    assert [await ask(judge) for _ in range(4)] == [None, None, 0.0, None]
    assert judge.gives_log_probabilities


@pytest.mark.parametrize("status", ["400", "422", "501"])
async def test_refused_request_gives_none(gateway, judge, status):
    gateway.fail(status)
    assert await ask(judge) is None


@pytest.mark.parametrize("fault", ["500", "401", "reset", "wrong_form"])
async def test_failure_is_an_error_and_shows_nothing(gateway, judge, fault):
    gateway.fail(fault)
    with pytest.raises(ModelUnavailable):
        await ask(judge)
    assert judge.gives_log_probabilities


def choice(*tokens, **alternatives):
    """The log-probabilities of some tokens; the alternatives are those of the last."""
    made = [{"token": token, "logprob": 0.0, "top_logprobs": []} for token in tokens]
    made[-1]["logprob"] = math.log(alternatives.get(tokens[-1], 1.0))
    made[-1]["top_logprobs"] = [{"token": t, "logprob": math.log(p)} for t, p in alternatives.items()]
    return {"content": made}


@pytest.mark.parametrize(
    ("given", "right"),
    [
        (choice("Yes", **{"Yes": 0.4, " yes": 0.2, "YES.": 0.2, "No": 0.1, "maybe": 0.1}), 0.8 / 0.9),
        (choice("\u2581no", **{"\u2581no": 0.9, "\u0120Yes": 0.1}), 0.1),
        (choice("\n", "no", no=0.6, yes=0.2), 0.25),  # the first token that is a word
        (choice("yes"), 1.0),  # no alternatives
        (choice("yes", yes=1.0), 1.0),  # the chosen one is listed among them and counts once
        (choice("Yes", Yes=0.3, The=0.7), None),
        (choice("\n"), None),
        ({"content": []}, None),
        ({"content": [{"token": "yes"}]}, None),
        ({"content": [{"token": "yes", "logprob": "high", "top_logprobs": None}]}, None),
        ({"content": [{"token": "yes", "logprob": float("nan")}]}, None),
        ({"content": ["yes"]}, None),
        ({"content": None}, None),
        ({}, None),
        (None, None),
        ("yes", None),
    ],
)
def test_reading_what_gateways_send(given, right):
    assert probability_of_yes(given) == (right if right is None else pytest.approx(right))
