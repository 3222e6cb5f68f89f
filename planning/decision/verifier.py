"""The probability that a plan means a question, from the features of both sides: a small model in a readable file.

The geometric mean of a logistic regression and of shallow monotone trees: the first one knows no interactions, the
second no slopes, and a pair has to convince both. `qkva bench train` writes the file, and says in it of what.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

CLIP = 4.0
"""Standard deviations: what lies further out counts as that far."""


@dataclass(frozen=True)
class Weight:
    """One feature of the logistic regression."""

    mean: float
    scale: float
    weight: float


@dataclass(frozen=True)
class Node:
    """An inner node asks for a feature and goes to `low` for at most `threshold`, else to `high`; a leaf has a
    value."""

    feature: str = ""
    threshold: float = 0.0
    low: int = 0
    high: int = 0
    value: float = 0.0


@dataclass(frozen=True)
class Prior:
    """How well its probabilities hold on sources it has not seen: logit p′ = slope · logit p + shift, per source."""

    slope: float = 1.0
    shift: float = 0.0
    slope_deviation: float = 0.3
    shift_deviation: float = 1.0


@dataclass(frozen=True)
class Verifier:
    """What the file holds."""

    version: str
    intercept: float
    weights: Mapping[str, Weight]
    baseline: float
    trees: Sequence[Sequence[Node]]
    prior: Prior = Prior()
    hard_guards: bool = True
    """Whether a contradiction that the guards see shuts the door whatever the probability. False only for a file that
    was trained on the source's own questions: there the guards are evidence among other."""

    def probability(self, features: Mapping[str, float]) -> float:
        """0 to 1, from all of `evidence.FEATURES`; about 30 µs."""
        linear = self.intercept
        for name, w in self.weights.items():
            linear += w.weight * max(-CLIP, min(CLIP, (features[name] - w.mean) / w.scale))
        grown = self.baseline + sum(_leaf(tree, features) for tree in self.trees)
        return math.sqrt(logistic(linear) * logistic(grown))

    def dump(self) -> dict[str, Any]:
        """As `read_verifier` reads it: small numbers, features by name."""
        return {
            "version": self.version,
            "hard_guards": self.hard_guards,
            "prior": vars(self.prior),
            "intercept": self.intercept,
            "weights": {name: [w.mean, w.scale, w.weight] for name, w in self.weights.items()},
            "baseline": self.baseline,
            "trees": [
                [[n.feature, n.threshold, n.low, n.high] if n.feature else n.value for n in tree] for tree in self.trees
            ],
        }


def _leaf(tree: Sequence[Node], features: Mapping[str, float]) -> float:
    node = tree[0]
    while node.feature:
        node = tree[node.low if features[node.feature] <= node.threshold else node.high]
    return node.value


def logistic(x: float) -> float:
    """1 / (1 + e^-x), without overflow."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def logit(p: float) -> float:
    """The inverse of `logistic`, within 1e-6 of its ends."""
    p = min(1 - 1e-6, max(1e-6, p))
    return math.log(p / (1 - p))


def read_verifier(text: str) -> Verifier:
    """From the text of a file that `dump` made. Raises ValueError or KeyError for another one."""
    raw = json.loads(text)
    return Verifier(
        version=raw["version"],
        intercept=raw["intercept"],
        weights={name: Weight(*values) for name, values in raw["weights"].items()},
        baseline=raw["baseline"],
        trees=tuple(
            tuple(Node(*node) if isinstance(node, list) else Node(value=node) for node in tree) for tree in raw["trees"]
        ),
        prior=Prior(**raw["prior"]),
        hard_guards=raw["hard_guards"],
    )


@cache
def shipped_verifier() -> Verifier:
    """The one that comes with the package."""
    return read_verifier(files("qkva.planning.decision").joinpath("verifier.json").read_text("utf-8"))
