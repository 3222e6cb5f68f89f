"""How a verifier's probabilities hold on one source, from the labels that its cache makes by itself.

`logit p′ = slope · logit p + shift`, with a normal prior on slope and shift: what they were on the sets of questions
that the verifier was tried on without having seen them. Each label moves them (Laplace's approximation), and what stays
uncertain is taken off the probability. So a cache whose source is unknown is strict, and opens as its labels come in.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qkva.planning.decision.verifier import Prior, logistic, logit

WEAK = Prior(slope=1.0, shift=0.0, slope_deviation=1.0, shift_deviation=3.0)
"""Says next to nothing: for fitting a line to a set of labels alone."""
ROUNDS = 25


@dataclass(frozen=True)
class Recalibration:
    """Slope and shift with their covariance."""

    mean: tuple[float, float]
    covariance: tuple[tuple[float, float], tuple[float, float]]
    labels: int = 0

    def probability(self, p: float) -> float:
        """The verifier's probability, corrected."""
        return logistic(self.mean[0] * logit(p) + self.mean[1])

    def at_least(self, p: float, deviations: float) -> float:
        """Its lower confidence bound, so many standard deviations down."""
        x = logit(p)
        (a, b), (_, d) = self.covariance
        spread = math.sqrt(max(0.0, a * x * x + 2 * b * x + d))
        return logistic(self.mean[0] * x + self.mean[1] - deviations * spread)


def recalibrate(prior: Prior, probabilities: Sequence[float], same: Sequence[bool]) -> Recalibration:
    """The posterior given labels: the verifier's probability of the best candidate, and whether it was the right
    one."""
    xs = np.array([[logit(p), 1.0] for p in probabilities]).reshape(-1, 2)
    ys = np.array(same, float)
    mean = np.array([prior.slope, prior.shift])
    precision = np.diag([prior.slope_deviation**-2, prior.shift_deviation**-2])
    found, hessian = _newton(xs, ys, mean, precision)
    covariance = np.linalg.inv(hessian)
    return Recalibration(
        (max(0.1, float(found[0])), float(found[1])),
        ((float(covariance[0, 0]), float(covariance[0, 1])), (float(covariance[1, 0]), float(covariance[1, 1]))),
        len(ys),
    )


def fit_line(logits: Sequence[float], same: Sequence[bool]) -> tuple[float, float]:
    """Slope and shift that suit these labels, with no more than a weak prior."""
    found = recalibrate(WEAK, [logistic(x) for x in logits], same)
    return found.mean


def _newton(
    xs: NDArray[np.float64], ys: NDArray[np.float64], mean: NDArray[np.float64], precision: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mode of a logistic regression with a normal prior, and the curvature there."""
    at = mean.copy()
    hessian = precision
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(xs @ at, -30, 30)))
        gradient = xs.T @ (p - ys) + precision @ (at - mean)
        hessian = xs.T @ (xs * (p * (1 - p))[:, None]) + precision
        step = np.linalg.solve(hessian, gradient)
        at = at - step
        if np.abs(step).max() < 1e-6:
            break
    return at, hessian
