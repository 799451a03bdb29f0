"""Differences of means: exact fractions as truth, and planted scores that are hardly apart."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.stats.arrays import rounding_error, with_ties


def differences(original: np.ndarray, degraded: np.ndarray) -> np.ndarray:
    """Of the means over the samples of scores of shape (n, samples), none of them negative."""
    one, other = original.mean(axis=1), degraded.mean(axis=1)
    return with_ties(one - other, rounding_error(np.maximum(one, other), original.shape[1]))


@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.integers(0, 12), st.sampled_from([5, 100, 10_000]))
def test_ties_and_signs_are_those_of_exact_decimals(seed: int, samples: int, digits: int, most: int) -> None:
    whole = np.random.default_rng(seed).integers(0, most, (2, 30, samples))
    exact = [Fraction(int(a) - int(b), samples) for a, b in zip(*whole.sum(axis=2), strict=True)]
    found = differences(*(whole / 10**digits))
    assert np.sign(found).tolist() == [(d > 0) - (d < 0) for d in exact]
    sizes = np.abs(found)
    for i, d in enumerate(exact):
        assert (sizes == sizes[i]).tolist() == [abs(d) == abs(other) for other in exact]


@pytest.mark.parametrize("least", [1e-14, 1e-300])
def test_what_is_hardly_apart_is_apart(least: float) -> None:
    """Drops that are tiny against other scores of the file: neither ties nor equal to each other."""
    degraded = np.append(least * np.arange(1, 41), 30.0)
    found = differences(np.append(2 * degraded[:-1], 100.0)[:, None], degraded[:, None])
    assert (found > 0).all()
    assert np.unique(found).size == 41


def test_neighbours_of_fifteen_digits_are_apart() -> None:
    original = np.array([[9.99999999999999], [999999999999999.0]])
    assert (differences(original, np.array([[9.99999999999998], [999999999999998.0]])) > 0).all()


def test_equal_but_for_rounding_is_zero_without_a_sign() -> None:
    found = differences(np.array([[0.3]]), np.array([[0.1 + 0.2]]))
    assert found.tolist() == [0.0]
    assert not np.signbit(found[0])


def test_missing_scores_stay_missing() -> None:
    error = rounding_error(np.array([1.0, np.nan, 1.0]))
    found = with_ties(np.array([0.5, np.nan, -0.5 - 1e-16]), error)
    assert found.tolist() == pytest.approx([0.5, np.nan, -0.5], nan_ok=True)
    assert with_ties(np.array([]), np.array([])).size == 0
