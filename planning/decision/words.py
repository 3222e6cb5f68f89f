"""How rare a word is, and how near two words are: what the weight of a difference depends on."""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import wordfreq
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from qkva.planning.decision.synonyms import same_word
from qkva.word_vectors import load_wordllama

SYNONYM, SAME_STEM, NEAREST_BY_VECTOR = 0.95, 0.85, 0.8
"""What a pair of synonyms, of one stem, and of near vectors at most, counts as; 1.0 is the same word."""


@lru_cache(maxsize=50_000)
def rarity(lemma: str) -> float:
    """0.15 for the commonest words to 1.25 for those that hardly occur: the Zipf frequency, 7 to 2.6, turned round."""
    return min(1.25, max(0.15, (7.6 - wordfreq.zipf_frequency(lemma.strip("<>"), "en")) / 4.0))


@lru_cache(maxsize=100_000)
def likeness(one: str, other: str) -> float:
    """0 to 1: how likely one lemma stands for the other, whatever is spoken of."""
    if one == other:
        return 1.0
    if one > other:
        return likeness(other, one)
    if same_word(one, other):
        return SYNONYM
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if shared >= 5 and shared >= 0.6 * max(len(one), len(other)):
        return SAME_STEM  # teach, teacher
    if len(one) >= 5 and len(other) >= 5 and Levenshtein.distance(one, other) == 1:
        return SAME_STEM  # a typo
    cosine = float(_vector(one) @ _vector(other))
    return min(NEAREST_BY_VECTOR, max(0.0, (cosine - 0.25) / 0.6))


def nearest(word: str, others: Iterable[str]) -> float:
    """The likeness of the most alike of the others; 0 without any."""
    return max((likeness(word, other) for other in others), default=0.0)


@lru_cache(maxsize=50_000)
def _vector(word: str) -> NDArray[np.float32]:
    vector = np.asarray(load_wordllama().embed([word])[0], np.float32)
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector
