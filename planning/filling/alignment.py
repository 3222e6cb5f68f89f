"""Put the slots of a stored question and of a new one onto each other: which of the new values plays which role.

Only slots of one label compete. Each pairing costs what differs around the two slots (direction, preposition, the noun
in front, a slot right beside it, the order); the cheapest assignment is taken if no other one that would fill the
parameters differently comes near it. Parameters that a query treats alike ("A and B") may swap.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations

from qkva.planning.reading.slot_roles import SlotRole

DIRECTION, PREPOSITION, CUE, NEIGHBOUR, ORDER = 2.0, 0.6, 0.3, 0.8, 0.25
"""What a difference costs."""
MARGIN = 0.2
"""Less than one inversion of the order: where all else is equal, the order decides."""
MOST = 6
"""Slots of one label; more of them are taken in their order."""


@dataclass(frozen=True)
class Aligned:
    """Stored slot by new slot."""

    pairs: tuple[int | None, ...]
    """For each slot of the new question the index of the stored one; None for one more than was stored."""
    ambiguous: tuple[int, ...] = ()
    """New slots whose place nothing tells."""


def align(
    asked: Sequence[SlotRole], stored: Sequence[SlotRole], *, same: Callable[[dict[int, int], dict[int, int]], bool]
) -> Aligned:
    """`same` says whether two assignments (new slot to stored slot) would fill the parameters alike."""
    pairs: dict[int, int] = {}
    ambiguous: list[int] = []
    for ours, theirs in _by_label(asked, stored):
        best, clear = _assign(ours, theirs, asked, stored, same)
        pairs |= best
        if not clear:
            ambiguous += best
    return Aligned(tuple(pairs.get(at) for at in range(len(asked))), tuple(sorted(ambiguous)))


def _by_label(asked: Sequence[SlotRole], stored: Sequence[SlotRole]) -> list[tuple[list[int], list[int]]]:
    groups: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for at, slot in enumerate(asked):
        groups[slot.label][0].append(at)
    for at, slot in enumerate(stored):
        groups[slot.label][1].append(at)
    return [(ours, theirs) for ours, theirs in groups.values() if ours and theirs]


def _assign(
    ours: list[int],
    theirs: list[int],
    asked: Sequence[SlotRole],
    stored: Sequence[SlotRole],
    same: Callable[[dict[int, int], dict[int, int]], bool],
) -> tuple[dict[int, int], bool]:
    if len(ours) == len(theirs) == 1:
        return {ours[0]: theirs[0]}, True
    if max(len(ours), len(theirs)) > MOST:
        return dict(zip(ours, theirs, strict=False)), len(ours) == len(theirs)
    ranked = sorted(
        ((_cost(choice, asked, stored), choice) for choice in _choices(ours, theirs)), key=lambda found: found[0]
    )
    least, best = ranked[0]
    near = (choice for cost, choice in ranked[1:] if cost < least + MARGIN)
    return best, all(same(best, other) for other in near)


def _choices(ours: list[int], theirs: list[int]) -> list[dict[int, int]]:
    if len(ours) <= len(theirs):
        return [dict(zip(ours, chosen, strict=True)) for chosen in permutations(theirs, len(ours))]
    return [dict(zip(chosen, theirs, strict=True)) for chosen in permutations(ours, len(theirs))]


def _cost(choice: dict[int, int], asked: Sequence[SlotRole], stored: Sequence[SlotRole]) -> float:
    cost = sum(_difference(asked, ours, stored, theirs) for ours, theirs in choice.items())
    placed = [choice[at] for at in sorted(choice)]
    return cost + ORDER * sum(one > other for at, one in enumerate(placed) for other in placed[at + 1 :])


def _difference(asked: Sequence[SlotRole], ours: int, stored: Sequence[SlotRole], theirs: int) -> float:
    a, b = asked[ours], stored[theirs]
    cost = DIRECTION * (a.direction != b.direction)
    if a.preposition != b.preposition:
        cost += PREPOSITION if a.preposition and b.preposition else PREPOSITION / 2
    if a.cue != b.cue:
        cost += CUE if a.cue and b.cue else CUE / 2
    return cost + NEIGHBOUR * (a.beside != b.beside)
