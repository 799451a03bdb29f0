"""The effective size: by hand, and what must hold whatever the data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dhp.stats.effective_size import effective_size


def test_of_clusters_that_agree_in_part_by_hand() -> None:
    """Three clusters of two: 1 1, 1 0, 0 0. The design effect 1.25 is assumed, with a weight of 1.

    A single outcome has a variance of 1/4. The sums of the clusters lie 1, 0 and -1 from theirs, so the
    variance of the mean is 3/2 * 2/36 = 1/12.
    """
    wider = stats.t.ppf(0.975, 2) / stats.norm.ppf(0.975)
    expected = 6 * (4 * 6 / 4 + 1) / (4 * 36 / 12 + 1.25) / wider**2
    assert effective_size(6, 1 / 4, 1 / 12, 3, cluster_size=2) == pytest.approx(expected)


def test_where_nothing_varies_it_is_the_assumed_one() -> None:
    """Of 24 examples with two tests that correlate by .7: 24 / .85."""
    wider = stats.t.ppf(0.975, 23) / stats.norm.ppf(0.975)
    assert effective_size(24, 0, 0, 24, tests=2) == pytest.approx(24 / 0.85 / wider**2)


@given(st.integers(2, 200), st.floats(0, 0.25), st.floats(0, 0.25))
def test_independent_examples_count_as_they_are(n: int, single: float, variance: float) -> None:
    assert effective_size(n, single, variance, n) == n


def test_one_cluster_has_none() -> None:
    assert np.isnan(effective_size(5, 0.25, np.nan, 1, cluster_size=5))
