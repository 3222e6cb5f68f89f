"""The judge of a run: a real model at any OpenAI-compatible endpoint, asked the same only once."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from langchain_core.messages import AIMessage
from pydantic import SecretStr

from qkva.contracts.errors import ConfigError, ModelUnavailable
from qkva.contracts.models import Chat, ChatModels, Form


@dataclass(frozen=True, kw_only=True)
class JudgeAt:
    """Where the judge is, and how it is called."""

    url: str
    model: str
    api_key: SecretStr = SecretStr("none")
    timeout: float = 60.0
    """Seconds one call may take."""
    max_retries: int = 2


class RememberingChat:
    """A chat that answers an equal prompt from memory, and stops the run when the model is out of reach.

    The product would go on without its judge; the figures would then be those of something else.
    """

    def __init__(self, chat: Chat) -> None:
        self.name = chat.name
        self._chat = chat
        self._odds: dict[tuple[str, str], float | None] = {}
        self._forms: dict[tuple[type, str, str], object] = {}

    @property
    def gives_log_probabilities(self) -> bool:
        """As the endpoint does."""
        return self._chat.gives_log_probabilities

    async def probability_of_yes(self, *, system: str, user: str, purpose: str) -> float | None:
        """Raises ConfigError."""
        if (system, user) not in self._odds:
            with needed():
                self._odds[system, user] = await self._chat.probability_of_yes(
                    system=system, user=user, purpose=purpose
                )
        return self._odds[system, user]

    async def fill_form(self, form: type[Form], *, system: str, user: str, purpose: str) -> Form:
        """Raises ConfigError or ModelOutputInvalid."""
        if (form, system, user) not in self._forms:
            with needed():
                filled = await self._chat.fill_form(form, system=system, user=user, purpose=purpose)
            self._forms[form, system, user] = filled
        found = self._forms[form, system, user]
        assert isinstance(found, form)
        return found

    async def write(self, *, system: str, user: str, purpose: str) -> AIMessage:
        """Raises ConfigError or ModelOutputInvalid. No text is remembered."""
        with needed():
            return await self._chat.write(system=system, user=user, purpose=purpose)


@contextmanager
def needed() -> Iterator[None]:
    """A model that is out of reach ends the run. Raises ConfigError, which no node takes for an absent model."""
    try:
        yield
    except ModelUnavailable as error:
        raise ConfigError(f"The bench needs its judge. {error.message}") from None


@dataclass(frozen=True)
class OnlyJudge:
    """The chat models of a run: a judge, and nobody who plans, routes, fills or answers."""

    judge: Chat

    @property
    def answerer(self) -> Chat:
        """Nobody."""
        raise AssertionError("the bench asks no model but its judge")

    router = planner = answerer


@asynccontextmanager
async def open_judge(at: JudgeAt | None) -> AsyncIterator[ChatModels | None]:
    """The judge as the product's nodes take it; None without one. Raises ConfigError for a URL that is none."""
    if at is None:
        yield None
        return
    # langchain_openai takes over a second to import
    from qkva.models.chat import open_chat_models  # noqa: PLC0415

    try:
        models = open_chat_models(
            base_url=at.url,
            api_key=at.api_key,
            answerer=at.model,
            timeout=at.timeout,
            max_retries=at.max_retries,
        )
    except ConfigError:
        raise ConfigError("--judge must be a URL such as http://127.0.0.1:4000/v1.") from None
    try:
        yield OnlyJudge(RememberingChat(models.judge))
    finally:
        await models.close()
