"""Vectors as PostgreSQL sends them, and as the product of many with one wants them: single precision, of length 1."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

SPARE = 1.25
"""Room for new rows when a buffer has to move; pages that are not written take no memory."""


def append(vectors: Floats, count: int, new: Floats) -> Floats:
    """The buffer with new rows behind the first `count`; a larger one if they do not fit or are wider."""
    width = max(vectors.shape[1], new.shape[1])
    if width > vectors.shape[1] or count + len(new) > len(vectors):
        roomy = np.empty((max(len(vectors), int((count + len(new)) * SPARE)), width), np.float32)
        roomy[:count, : vectors.shape[1]] = vectors[:count]
        roomy[:count, vectors.shape[1] :] = 0
        vectors = roomy
    vectors[count : count + len(new), : new.shape[1]] = new
    vectors[count : count + len(new), new.shape[1] :] = 0
    return vectors


def unpack_vectors(packed: bytes, count: int) -> Floats:
    """Unit rows of as many columns as any of them fills; PostgreSQL sends 4 bytes, then big-endian halves."""
    halves = np.frombuffer(packed, np.uint16).reshape(count, -1)[:, 2:]
    filled = np.flatnonzero(halves.any(axis=0))
    halves = halves[:, : int(filled[-1]) + 1 if filled.size else 0]
    # In two steps, which is three times faster.
    return unit_rows(halves.view(">f2").astype(np.float16).astype(np.float32))


def unit_rows(vectors: Floats) -> Floats:
    """Each row at length 1; a zero row stays zero, and so is unrelated to everything."""
    lengths = np.sqrt(np.vecdot(vectors, vectors))
    lengths[lengths == 0] = 1
    unit: Floats = vectors / lengths[:, np.newaxis]
    return unit


def as_halves(embedding: Sequence[float]) -> Floats:
    """A question's vector with the precision that stored ones have."""
    with np.errstate(over="ignore"):
        return np.asarray(embedding, np.float64).astype(np.float16).astype(np.float32)
