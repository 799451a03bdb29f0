"""Arrays: differences of means against exact fractions; sums, draws and sign flips by cluster."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dhp.stats.arrays import cluster_draws, cluster_index, cluster_sums, rounding_error, with_ties
from dhp.stats.sign_flips import flip_p, sign_flips


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
    assert signs.rows()[0].tolist() == [1, 1, 1]
    assert {tuple(row) for row in signs.rows().tolist()} == set(product((1, -1), repeat=3))
    signs, exact = sign_flips(4, 8, np.random.default_rng(1))
    assert (signs.rows().shape, exact) == ((8, 4), False)


def test_signs_drawn_in_parts_are_those_of_one_draw() -> None:
    for clusters in (7, 13, 300_001):
        drawn, one = np.random.default_rng(3), np.random.default_rng(3)
        signs, _ = sign_flips(clusters, 6, drawn)
        assert (signs.rows() == 1 - 2 * one.integers(2, size=(6, clusters), dtype=np.int8)).all()
        assert (signs.rows(2, 4) == signs.rows()[2:4]).all()
        assert drawn.random() == one.random()


def test_p_is_that_of_scipy() -> None:
    x = np.array([3.0, -1, 2, 5, 0.5, -0.2, 1])
    signs, exact = sign_flips(x.size, 1 << x.size, np.random.default_rng(1))
    p = flip_p(np.array([x.mean()]), signs.rows() @ x[:, None] / x.size, exact)
    truth = stats.permutation_test((x,), np.mean, permutation_type="samples", alternative="greater")
    assert p[0] == pytest.approx(truth.pvalue)


def test_random_flips_never_give_zero() -> None:
    x = np.ones((40, 1))
    signs, exact = sign_flips(40, 199, np.random.default_rng(1))
    assert flip_p(x.sum(axis=0), signs.rows() @ x, exact).tolist() == [1 / 200]
    assert np.isnan(flip_p(np.array([np.nan]), signs.rows() @ x, exact)).all()


def test_a_statistic_of_zero_is_as_extreme_as_what_is_not_below_it() -> None:
    flipped = np.array([[0.1], [-0.1], [0.0], [0.2]])
    assert flip_p(np.array([0.0]), flipped, exact=True).tolist() == [3 / 4]
