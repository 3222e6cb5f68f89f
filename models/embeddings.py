"""Texts to vectors: a small model inside a wheel, or the gateway's."""

import asyncio
import threading
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr

from qkva.contracts.errors import ConfigError, ModelUnavailable
from qkva.models.text import encodable
from qkva.word_vectors import load_wordllama

WIDTH = 1536
"""Width of the vectors in our database. Zeros at the end keep every cosine."""

MASK_SPELLING = "‹type›"
"""How a mask is written changes its vector (wordllama: .861 for a bare word, .886 so): part of a fingerprint."""

BATCH = 100
"""Texts per request to a gateway."""

ON_THE_LOOP = 2000
"""Characters that wordllama embeds on the event loop (0.04 ms for a question); more go to a thread."""


class LocalEmbedder:
    """wordllama, 256 dimensions, from its wheel: no key and no network. An English model that ignores word order.

    It loads at the first use, in a thread (0.3 s).
    """

    dimensions = WIDTH
    own_width = 256

    def __init__(self) -> None:
        self.fingerprint = f"wordllama-{version('wordllama')}/{self.own_width}/{MASK_SPELLING}/casefold"
        self._model: Any = None
        self._loading = threading.Lock()

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in order. Raises ValueError for a text with nothing in it."""
        texts = ready_texts(texts)
        if self._model is None:
            await asyncio.to_thread(self._load)
        if sum(map(len, texts)) <= ON_THE_LOOP:
            return self._embed(texts)
        return await asyncio.to_thread(self._embed, texts)

    def _load(self) -> None:
        with self._loading:
            if self._model is None:
                self._model = load_wordllama()

    def _embed(self, texts: list[str]) -> list[list[float]]:
        if not texts:
            return []
        # Case changes a vector ("Refunded Orders" / "refunded orders": cosine .816).
        # A batch is padded to its longest text.
        rows = max(1, 64_000 // max(map(len, texts)))
        vectors = self._model.embed([text.casefold() for text in texts], norm=False, batch_size=min(rows, 64))
        return widen(unit_vectors(vectors))

    async def close(self) -> None:
        """Nothing to give back."""


class GatewayEmbedder:
    """An embedding model of an OpenAI-compatible gateway.

    `dimensions` is the width to ask for and to insist on. The first call checks that the gateway keeps to it.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: SecretStr | str,
        model: str,
        dimensions: int = WIDTH,
        timeout: float = 60.0,
        max_retries: int = 2,
    ) -> None:
        # Half a second of imports that a session without a gateway need not pay.
        from langchain_openai import OpenAIEmbeddings  # noqa: PLC0415

        from qkva.models.gateway import GatewayConnection  # noqa: PLC0415

        if not 0 < dimensions <= WIDTH:
            raise ConfigError(f"EMBEDDING_DIMENSIONS is {dimensions}, but must be between 1 and {WIDTH}.")
        self.dimensions = WIDTH
        self.fingerprint = f"{model}/{dimensions}/{MASK_SPELLING}"
        self._model, self._width = model, dimensions
        self._connection = GatewayConnection(
            base_url=base_url, api_key=api_key, timeout=timeout, max_retries=max_retries
        )
        # Without the length check nothing is fetched from the network for counting tokens, and text is sent as text.
        options = {**self._connection.client_options(), "model": model, "check_embedding_ctx_length": False}
        options |= {"chunk_size": BATCH, "model_kwargs": {"encoding_format": "float"}}
        self._sized, self._plain = OpenAIEmbeddings(**options, dimensions=dimensions), OpenAIEmbeddings(**options)
        self._takes_dimensions = True

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in order, in batches of 100.

        Raises ModelUnavailable, ValueError for an empty text, ConfigError if the vectors have another width.
        """
        texts = ready_texts(texts)
        found: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            vectors = await self._connection.call(self._model, partial(self._ask, batch))
            found += self._check(vectors, len(batch))
        return found

    async def _ask(self, batch: list[str]) -> list[list[float]]:
        from openai import BadRequestError, UnprocessableEntityError  # noqa: PLC0415 (as above)

        if self._takes_dimensions:
            try:
                return await self._sized.aembed_documents(batch)
            except (BadRequestError, UnprocessableEntityError):
                # Many models take no `dimensions`; without it, the width that comes back decides.
                vectors = await self._plain.aembed_documents(batch)
                self._takes_dimensions = False
                return vectors
        return await self._plain.aembed_documents(batch)

    def _check(self, vectors: list[list[float]], expected: int) -> list[list[float]]:
        host = self._connection.host
        if len(vectors) != expected:
            raise ModelUnavailable(f"The gateway {host} sent {len(vectors)} vectors for {expected} texts.")
        widths = {len(vector) for vector in vectors}
        if widths != {self._width}:
            raise ConfigError(
                f"EMBEDDING_MODEL {self._model} at {host} gives vectors of width {min(widths)}, but "
                f"EMBEDDING_DIMENSIONS is {self._width}; set EMBEDDING_DIMENSIONS={min(widths)}, or name another model."
            )
        try:
            return widen(unit_vectors(np.asarray(vectors, dtype=np.float64)))
        except (ValueError, TypeError):
            raise ModelUnavailable(
                f"The gateway {host} sent vectors for {self._model} that have no direction."
            ) from None

    async def close(self) -> None:
        """Give back the connection's sockets."""
        await self._connection.close()


def ready_texts(texts: Sequence[str]) -> list[str]:
    """Refuse empty texts: their vector is zero, and its cosine to anything is undefined."""
    for number, text in enumerate(texts):
        if not text.strip():
            raise ValueError(f"text {number} is empty and has no vector")
    return [encodable(text) for text in texts]


def unit_vectors(vectors: NDArray[Any]) -> NDArray[Any]:
    """Each row at length 1. Raises ValueError for a row that has no direction."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise ValueError("a text has a vector without direction")
    unit: NDArray[Any] = vectors / lengths
    return unit


def widen(vectors: NDArray[Any]) -> list[list[float]]:
    """Rows as lists, filled with zeros up to WIDTH."""
    zeros = [0.0] * (WIDTH - vectors.shape[1])
    return [row + zeros for row in vectors.tolist()]
