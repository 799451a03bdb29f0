"""Verdicts in two orders: position bias, strengths against their likelihood."""

import numpy as np
import pytest
from scipy import optimize, stats

from dhp.plugins.arena.statistics import bradley_terry, position_bias


def test_a_judge_that_always_says_first() -> None:
    as_given, swapped = np.ones(40), -np.ones(40)
    bias = position_bias(as_given, swapped)
    assert (bias.share, bias.toward_first, bias.ci[1]) == (1, 1, 1)
    assert bias.p == pytest.approx(2 * 0.5**40)


def test_position_bias_by_hand() -> None:
    """Ten pairs, four flip, three of them toward the first."""
    bias = position_bias([1, 1, 1, -1, 1, 1, 1, -1, 0, 1], [-1, -1, -1, 1, 1, 1, 1, -1, 0, 0])
    assert (bias.flips, bias.n, bias.toward_first) == (4, 10, 0.75)
    exact = stats.binomtest(4, 10).proportion_ci(method="exact")
    assert bias.ci == pytest.approx((exact.low, exact.high))
    assert bias.p == pytest.approx(stats.binomtest(3, 4).pvalue)
    assert position_bias([np.nan], [1]) is None
    steady = position_bias([1, -1], [1, -1])
    assert (steady.share, steady.toward_first, steady.p) == (0, None, 1)


def test_strengths_maximise_the_likelihood() -> None:
    wins = np.array([[0, 7, 9, 4], [3, 0, 6, 5], [1, 4, 0, 2], [6, 5, 8, 0.0]])

    def loss(free: np.ndarray) -> float:
        s = np.concatenate([[0], free])
        return float((wins * np.logaddexp(0, s[None, :] - s[:, None])).sum())

    best = np.concatenate([[0], optimize.minimize(loss, np.zeros(3), tol=1e-12).x])
    np.testing.assert_allclose(bradley_terry(wins, prior=0), best - best.mean(), atol=1e-5)


def test_strengths_stay_finite_and_mirror() -> None:
    wins = np.array([[0, 10], [0, 0.0]])
    found = bradley_terry(wins)
    assert np.isfinite(found).all()
    assert found[0] > found[1]
    np.testing.assert_allclose(bradley_terry(wins.T), found[::-1])
    with pytest.raises(ValueError, match="square"):
        bradley_terry(np.zeros((2, 3)))
