"""Clusters: sums, draws and sign flips by cluster."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dhp.stats.arrays import cluster_draws, cluster_index, cluster_sums, flip_p, sign_flips

LABELS = [7, 3, 7, 7, 3]


def test_sums_by_cluster() -> None:
    index = cluster_index(LABELS, 5)
    assert index.tolist() == [1, 0, 1, 1, 0]
    values = np.array([[1.0, 10], [2, 20], [3, 30], [4, 40], [5, 50]])
    assert cluster_sums(values, index).tolist() == [[7, 70], [8, 80]]


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30))
def test_sums_as_a_loop_gives_them(labels: list[int]) -> None:
    values = np.arange(len(labels)) + 1.0
    found = cluster_sums(values, cluster_index(labels, len(labels)))
    expected = [sum(i + 1 for i, mine in enumerate(labels) if mine == one) for one in sorted(set(labels))]
    assert found.tolist() == expected


def test_without_clusters_each_example_is_its_own() -> None:
    assert cluster_index(None, 3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("clusters", [[1, 2], [1.0, 2.0, 3.0], ["a", "b", "c"]])
def test_labels_must_fit(clusters: object) -> None:
    with pytest.raises(ValueError, match=r"clusters must be integers of shape \(3,\)"):
        cluster_index(clusters, 3)


def test_draws_keep_clusters_together() -> None:
    times = cluster_draws(cluster_index(LABELS, 5), 4000, np.random.default_rng(1))
    assert (times[0] == times[2]).all()
    assert (times[1] == times[4]).all()
    assert ((times[0] + times[1]) == 2).all()
    assert (times[0] == 1).mean() == pytest.approx(0.5, abs=0.03)


def test_few_clusters_are_flipped_in_every_way() -> None:
    signs, exact = sign_flips(3, 8, np.random.default_rng(1))
    assert exact
    assert signs[0].tolist() == [1, 1, 1]
    assert {tuple(row) for row in signs.tolist()} == set(product((1, -1), repeat=3))
    signs, exact = sign_flips(4, 8, np.random.default_rng(1))
    assert (signs.shape, exact) == ((8, 4), False)


def test_p_is_that_of_scipy() -> None:
    x = np.array([3.0, -1, 2, 5, 0.5, -0.2, 1])
    signs, exact = sign_flips(x.size, 1 << x.size, np.random.default_rng(1))
    p = flip_p(np.array([x.mean()]), signs @ x[:, None] / x.size, exact)
    truth = stats.permutation_test((x,), np.mean, permutation_type="samples", alternative="greater")
    assert p[0] == pytest.approx(truth.pvalue)


def test_random_flips_never_give_zero() -> None:
    x = np.ones((40, 1))
    signs, exact = sign_flips(40, 199, np.random.default_rng(1))
    assert flip_p(x.sum(axis=0), signs @ x, exact).tolist() == [1 / 200]
    assert np.isnan(flip_p(np.array([np.nan]), signs @ x, exact)).all()


def test_a_statistic_of_zero_is_as_extreme_as_what_is_not_below_it() -> None:
    flipped = np.array([[0.1], [-0.1], [0.0], [0.2]])
    assert flip_p(np.array([0.0]), flipped, exact=True).tolist() == [3 / 4]
