"""What counts say of a share: exact bounds of a binomial proportion."""

import math
from collections.abc import Callable


def clopper_pearson(found: int, of: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of a binomial share: each bound makes what was found just as unlikely as is allowed.

    Each bound alone is one-sided at (1 + confidence) / 2.
    """
    tail = (1 - confidence) / 2
    if of == 0:
        return 0.0, 1.0
    low = 0.0 if found == 0 else _bisect(lambda p: 1 - at_most(found - 1, of, p) < tail)
    high = 1.0 if found == of else _bisect(lambda p: at_most(found, of, p) > tail)
    return low, high


def _bisect(too_small: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if too_small(middle) else (low, middle)
    return (low + high) / 2


def at_most(found: int, of: int, p: float) -> float:
    """The probability of `found` or fewer in `of` draws."""
    if p in (0.0, 1.0):
        return 1.0 if p == 0.0 or found == of else 0.0
    logs = (
        math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1) + k * math.log(p) + (of - k) * math.log1p(-p)
        for k in range(found + 1)
    )
    return math.fsum(map(math.exp, logs))
