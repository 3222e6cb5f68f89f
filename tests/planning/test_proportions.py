"""Shares of counts, against values from textbooks."""

import pytest

from qkva.planning.proportions import at_most, clopper_pearson


@pytest.mark.parametrize(
    ("found", "of", "low", "high"),
    [(10, 100, 0.0490, 0.1762), (0, 36, 0.0, 0.0974), (5, 5, 0.4782, 1.0), (0, 0, 0.0, 1.0), (1, 2000, 0.0000, 0.0028)],
)
def test_interval_is_clopper_pearson(found, of, low, high):
    assert clopper_pearson(found, of) == pytest.approx((low, high), abs=0.00006)


def test_cumulated_binomial():
    assert at_most(2, 5, 0.5) == pytest.approx(0.5)  # by symmetry
    assert at_most(0, 45, 0.05) == pytest.approx(0.95**45)
