"""The embedder that needs no key: vectors from the wheel, and nothing taken from the host app."""

import asyncio
import logging
import math
import socket
import subprocess
import sys

import pytest

from qkva.models.embeddings import LocalEmbedder


@pytest.fixture(scope="module")
def embedder():
    return LocalEmbedder()


def cosine(a: list[float], b: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


async def test_vectors_are_wide_and_of_unit_length(embedder):
    vectors = await embedder.embed(["orders of ‹customers.name› since ‹time›", "how many refunds were there"])
    assert [len(vector) for vector in vectors] == [1536, 1536]
    assert embedder.dimensions == 1536
    for vector in vectors:
        assert math.isclose(cosine(vector, vector), 1, rel_tol=1e-5)
        assert any(vector[:256])
        assert not any(vector[256:])


async def test_near_texts_are_near(embedder):
    question, reworded, other = await embedder.embed(
        ["orders of a customer in a time range", "a customer's orders in some time range", "average price of a product"]
    )
    assert cosine(question, reworded) > cosine(question, other) + 0.2


async def test_case_makes_no_difference(embedder):
    upper, lower = await embedder.embed(["Refunded ORDERS", "refunded orders"])
    assert upper == lower


async def test_a_text_alone_or_in_a_batch(embedder):
    texts = [f"orders of customer {number} in month {number % 12}" for number in range(300)]
    together = await embedder.embed(texts)
    alone = (await embedder.embed([texts[250]]))[0]
    assert cosine(together[250], alone) > 0.99999


@pytest.mark.parametrize("text", ["", "  ", "\n\t"])
async def test_empty_text_is_refused(embedder, text):
    with pytest.raises(ValueError, match="text 1 is empty"):
        await embedder.embed(["orders", text])


@pytest.mark.parametrize("text", ["\x00", "\ud800", "日本語の質問", "🤷", "‹›", "x" * 100_000, "word " * 20_000])
async def test_odd_text_has_a_vector(embedder, text):
    (vector,) = await embedder.embed([text])
    assert math.isclose(cosine(vector, vector), 1, rel_tol=1e-4)


async def test_no_texts_no_vectors(embedder):
    assert await embedder.embed([]) == []


async def test_fingerprint_names_all_that_shapes_a_vector(embedder):
    assert embedder.fingerprint.startswith("wordllama-0.4")
    assert embedder.fingerprint.endswith("/256/‹type›/casefold")


async def test_first_calls_may_come_together():
    embedder = LocalEmbedder()
    vectors = await asyncio.gather(*(embedder.embed(["orders"]) for _ in range(8)))
    assert all(vector == vectors[0] for vector in vectors)


async def test_no_connection_is_opened(monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert await LocalEmbedder().embed(["orders"])


async def test_root_logger_stays_as_it_is():
    await LocalEmbedder().embed(["orders"])
    before = (list(logging.root.handlers), logging.root.level)
    code = (
        "import asyncio, logging\n"
        "from qkva.models.embeddings import LocalEmbedder\n"
        "asyncio.run(LocalEmbedder().embed(['orders']))\n"
        "import sys; assert 'wordllama' in sys.modules\n"
        "assert 'openai' not in sys.modules, 'the gateway clients are slow to import'\n"
        "print(logging.root.handlers, logging.root.level)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"[] {logging.WARNING}"
    assert (list(logging.root.handlers), logging.root.level) == before
