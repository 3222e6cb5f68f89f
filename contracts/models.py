"""What nodes may ask of models; `qkva.models` builds the clients."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from langchain_core.messages import AIMessage
from pydantic import BaseModel

Form = TypeVar("Form", bound=BaseModel)


class Embedder(Protocol):
    """Texts to vectors."""

    fingerprint: str
    """Model, width and mask spelling: vectors of different fingerprints are never compared."""
    dimensions: int
    """Width of the vectors that `embed` returns (1536, zero-padded where the model's own is smaller)."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per non-empty text, in order. Raises ModelUnavailable; ValueError for an empty text."""
        ...


class Chat(Protocol):
    """One chat model behind the gateway. All methods retry transient failures and keep the timeout."""

    name: str

    @property
    def gives_log_probabilities(self) -> bool:
        """Whether `probability_of_yes` is worth asking: true until the gateway has shown that it is not."""
        ...

    async def probability_of_yes(self, *, system: str, user: str, purpose: str) -> float | None:
        """0 to 1, by the log-probabilities of the answer's first word, which the prompt has to make yes or no.

        None if the gateway gives none, or the model says something else. Raises ModelUnavailable.
        """
        ...

    async def fill_form(self, form: type[Form], *, system: str, user: str, purpose: str) -> Form:
        """Structured output by JSON schema. Raises ModelUnavailable or ModelOutputInvalid."""
        ...

    async def write(self, *, system: str, user: str, purpose: str) -> AIMessage:
        """Plain text, as one message whose tokens stream to LangGraph's message stream. Raises ModelUnavailable."""
        ...


class ChatModels(Protocol):
    """The chat models by what they are for."""

    @property
    def answerer(self) -> Chat:
        """Writes answers and fills parameters."""
        ...

    @property
    def router(self) -> Chat:
        """Routes, and resolves what a question refers to."""
        ...

    @property
    def judge(self) -> Chat:
        """Says whether a cached plan means a question."""
        ...

    @property
    def planner(self) -> Chat:
        """Makes plans."""
        ...
