"""Vectors from a gateway: batches, the width that comes back, and vectors that are none."""

import math

import pytest
from tests.gateway import Gateway
from tests.gateway_http import embedding

from qkva.contracts.errors import ConfigError, ModelUnavailable
from qkva.models.embeddings import GatewayEmbedder


@pytest.fixture
async def gateway():
    async with Gateway() as gateway:
        yield gateway


@pytest.fixture
async def open_embedder(gateway):
    opened = []

    def build(**options) -> GatewayEmbedder:
        options = {"base_url": gateway.url, "api_key": "k", "model": "small", "timeout": 5.0, **options}
        opened.append(GatewayEmbedder(**options))
        return opened[-1]

    yield build
    for embedder in opened:
        await embedder.close()


async def test_vectors_come_in_order(gateway, open_embedder):
    texts = ["orders", "refunds of orders"]
    vectors = await open_embedder().embed(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert vector == pytest.approx(embedding(text, 1536).tolist())
    (request,) = gateway.requests
    assert request.body["input"] == texts  # text, not token numbers
    assert request.body["model"] == "small"
    assert request.body["dimensions"] == 1536


async def test_batches_of_a_hundred(gateway, open_embedder):
    vectors = await open_embedder(dimensions=8).embed([f"text {number}" for number in range(250)])
    assert [len(request.body["input"]) for request in gateway.requests] == [100, 100, 50]
    assert vectors[249][:8] == pytest.approx(embedding("text 249", 8).tolist())


async def test_small_vectors_are_filled_with_zeros(open_embedder):
    embedder = open_embedder(dimensions=384)
    (vector,) = await embedder.embed(["orders"])
    assert len(vector) == embedder.dimensions == 1536
    assert not any(vector[384:])
    assert math.isclose(sum(value * value for value in vector), 1)


async def test_vectors_are_brought_to_unit_length(gateway, open_embedder, monkeypatch):
    monkeypatch.setattr("tests.gateway_http.embedding", lambda text, width: 5 * embedding(text, width))
    (vector,) = await open_embedder().embed(["orders"])
    assert math.isclose(sum(value * value for value in vector), 1)


@pytest.mark.parametrize("width", [384, 3072])
async def test_another_width_stops_the_start(gateway, open_embedder, width):
    gateway.width, gateway.honours_dimensions = width, False
    with pytest.raises(ConfigError) as caught:
        await open_embedder().embed(["orders"])
    assert caught.value.message == (
        f"EMBEDDING_MODEL small at {gateway.url[7:-3]} gives vectors of width {width}, "
        f"but EMBEDDING_DIMENSIONS is 1536; set EMBEDDING_DIMENSIONS={width}, or name another model."
    )


async def test_model_that_takes_no_dimensions(gateway, open_embedder):
    gateway.fail("400", on=lambda request: "dimensions" in request.body)
    gateway.width = 768
    embedder = open_embedder(dimensions=768)
    await embedder.embed(["orders"])
    await embedder.embed(["refunds"])
    assert ["dimensions" in request.body for request in gateway.requests] == [True, False, False]


async def test_dimensions_beyond_the_column(open_embedder):
    with pytest.raises(ConfigError, match="EMBEDDING_DIMENSIONS is 3072, but must be between 1 and 1536"):
        open_embedder(dimensions=3072)


@pytest.mark.parametrize("factor", [0.0, math.nan])
async def test_vector_without_direction(open_embedder, monkeypatch, factor):
    monkeypatch.setattr("tests.gateway_http.embedding", lambda text, width: factor * embedding(text, width))
    with pytest.raises(ModelUnavailable, match="have no direction"):
        await open_embedder().embed(["orders"])


async def test_too_few_vectors(gateway, open_embedder):
    gateway.fail("fewer")
    with pytest.raises(ModelUnavailable, match="sent 2 vectors for 3 texts"):
        await open_embedder().embed(["a", "b", "c"])


async def test_empty_text_is_not_sent(gateway, open_embedder):
    with pytest.raises(ValueError, match="text 0 is empty"):
        await open_embedder().embed([" "])
    assert gateway.requests == []


async def test_fingerprint_tells_models_apart(open_embedder):
    prints = {open_embedder(model=m, dimensions=d).fingerprint for m in ("a", "b") for d in (256, 768)}
    assert len(prints) == 4
