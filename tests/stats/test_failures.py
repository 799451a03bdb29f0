"""Failed ratings: scipy's binomial test as truth."""

import numpy as np
import pytest
from scipy import stats

from dhp.stats.judge_habits import failure_p


@pytest.mark.parametrize(("first", "second"), [(0, 0), (3, 0), (1, 9), (6, 6)])
def test_it_is_the_exact_binomial_test(first: int, second: int) -> None:
    original = np.array([True] * first + [False] * second + [True, False])
    degraded = np.array([False] * first + [True] * second + [True, False])
    truth = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert failure_p(original, degraded) == pytest.approx(truth)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="one shape"):
        failure_p([True], [True, False])
