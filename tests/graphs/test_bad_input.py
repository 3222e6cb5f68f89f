"""What cannot be asked, and asking without a model: one clear sentence each."""

import pytest

from qkva.contracts.result import Status
from qkva.contracts.state import AskContext
from qkva.nodes.ask.look_up import policy_of
from qkva.nodes.runtime import AskRuntime, AskServices, AskSettings, CallMeter

pytestmark = pytest.mark.db


@pytest.fixture
async def plain_agent(agent_with):
    """An agent without a gateway and without any plan."""
    async with agent_with() as agent:
        yield agent


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("", "empty"),
        ("   \n ", "empty"),
        ("how many books " * 7000, "characters"),
        ("how many \x00\x01 books", "binary"),
        ("how many \ufffd\ufffd books", "binary"),
        ("???", "no words"),
        ("12345", "no words"),
    ],
)
async def test_unreadable_question_is_refused(plain_agent, question, said):
    result = await plain_agent.ask(question)
    assert (result.status, result.answer, result.cache) == (Status.REFUSED, None, None)
    assert said in result.text
    assert len(result.text) < 200


@pytest.mark.parametrize(
    "question",
    [
        "Wie viele Bücher hat Ursula Le Guin bisher geschrieben?",
        "Combien de livres a écrit Ursula Le Guin le mois dernier ?",
        "Сколько книг написал Станислав Лем?",
    ],
)
async def test_other_language_needs_a_model(plain_agent, question):
    result = await plain_agent.ask(question)
    assert result.status is Status.REFUSED
    assert "English" in result.text and "LITELLM_PROVIDER_BASE_URL" in result.text


async def test_unknown_source_names_the_known(plain_agent):
    result = await plain_agent.ask("Which books are there?", source="nowhere")
    assert result.status is Status.ERROR
    assert "'nowhere'" in result.text and "library" in result.text


async def test_unknown_zone_is_an_error(plain_agent):
    result = await plain_agent.ask("Which books are there?", timezone="Mars/Olympus")
    assert result.status is Status.ERROR
    assert "Mars/Olympus" in result.text


@pytest.mark.parametrize(
    "question", ["Delete all books", "please drop the table loans", "Return book 11 to the shelf and update the loan"]
)
async def test_request_to_change_is_refused(plain_agent, question):
    result = await plain_agent.ask(question)
    assert result.status is Status.REFUSED
    assert "only reads" in result.text


async def test_miss_without_model_falls_back(plain_agent):
    result = await plain_agent.ask("Which books did Ursula Le Guin write?")
    assert (result.status, result.cache) == (Status.ANSWERED, "fallback")
    assert result.model_calls == {}
    titles = {row["title"] for row in result.records.rows}
    assert titles == {"The Dispossessed", "The Lathe of Heaven", "A Wizard of Earthsea"}
    assert any("No plan answers this exactly" in warning for warning in result.warnings)


async def test_foreign_matter_is_refused_since_no_query_ran(plain_agent):
    result = await plain_agent.ask("What is the weather on the moon tonight?")
    assert (result.status, result.plan, result.answer) == (Status.REFUSED, None, None)
    assert "nothing in the question belongs to library" in result.text


async def test_no_source_says_what_to_do(agent_with):
    async with agent_with(sources={}) as agent:
        result = await agent.ask("Which books are there?")
    assert result.status is Status.ERROR
    assert "qkva.toml" in result.text


async def test_caller_may_only_tighten_the_budget():
    def budget(asked):
        services = AskServices(
            tenant_id="t", settings=AskSettings(max_wrong_hits=0.01), plans=None, sources=None, embedder=None, chat=None
        )
        runtime = AskRuntime(
            services=services,
            context=AskContext(max_wrong_hits=asked),
            tenant_id="t",
            now=None,
            meter=CallMeter(budget=1),
        )
        return policy_of(runtime).max_wrong_hits

    assert (budget(0.5), budget(0.001), budget(None)) == (0.01, 0.001, 0.01)
