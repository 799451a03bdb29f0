"""Failed ratings: hand-worked bounds, and scipy's binomial test as truth."""

import math

import numpy as np
import pytest
from scipy import stats

from dhp.stats.failures import failure_p, worst_case_bounds


def test_bounds_by_hand() -> None:
    low, high = worst_case_bounds(np.array([[1.0, 1], [0, 1], [-1, 1], [math.nan, 1]]))
    assert low.tolist() == [1.5 / 4, 1]
    assert high.tolist() == [2.5 / 4, 1]


@pytest.mark.parametrize(("first", "second"), [(0, 0), (3, 0), (1, 9), (6, 6)])
def test_it_is_the_exact_binomial_test(first: int, second: int) -> None:
    original = np.array([True] * first + [False] * second + [True, False])
    degraded = np.array([False] * first + [True] * second + [True, False])
    truth = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert failure_p(original, degraded) == pytest.approx(truth)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="at least one example"):
        worst_case_bounds(np.empty((0, 2)))
    with pytest.raises(ValueError, match="one shape"):
        failure_p([True], [True, False])
