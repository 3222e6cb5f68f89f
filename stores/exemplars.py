"""Which of a plan's exemplars may go when it has too many: those that say again what another one says."""

import numpy as np
from numpy.typing import NDArray

from qkva.stores.vectors import Floats, unit_rows

EQUALLY_NEAR = 1e-6
"""Less than this is the rounding of a product."""


def redundant(vectors: Floats, protected: NDArray[np.bool_], excess: int) -> list[int]:
    """The places of at most `excess` exemplars, none of them protected, and never all; `vectors` by merit.

    Again and again the exemplar goes that is nearest to another one; of two that are nearest to each other the later.
    """
    unit = unit_rows(vectors)
    nearness = unit @ unit.T
    np.fill_diagonal(nearness, -np.inf)
    may_go = ~protected
    gone: list[int] = []
    for _ in range(min(excess, len(vectors) - 1)):
        nearest = np.where(may_go, nearness.max(axis=1), -np.inf)
        if not np.isfinite(nearest.max()):
            break
        place = int(np.flatnonzero(nearest >= nearest.max() - EQUALLY_NEAR)[-1])
        gone.append(place)
        may_go[place] = False
        nearness[place, :] = nearness[:, place] = -np.inf
    return gone
