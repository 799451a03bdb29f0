"""Figures with influences: hand-worked intervals, scipy's, and what must hold whatever the data."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dhp.stats.detection import detection_influences
from dhp.stats.influences import (
    Influences,
    difference,
    student_interval,
    weighted,
    wilson_interval,
)


def of_mean(values: list[float]) -> Influences:
    x = np.array(values)[:, None]
    return Influences(x.mean(axis=0), (x - x.mean()) / len(x), np.ones(x.shape, dtype=bool), np.ones(1))


def test_student_is_that_of_scipy() -> None:
    x = [1.0, 4, 2, 8, 5]
    low, high = student_interval(of_mean(x))
    truth = stats.ttest_1samp(x, 0).confidence_interval(0.95)
    assert (low[0], high[0]) == pytest.approx((truth.low, truth.high))


def test_clusters_count_as_their_means_where_they_are_of_one_size() -> None:
    x = [1.0, 4, 2, 8, 5, 3]
    low, high = student_interval(of_mean(x), [0, 0, 1, 1, 2, 2])
    truth = stats.ttest_1samp([2.5, 5, 4], 0).confidence_interval(0.95)
    assert (low[0], high[0]) == pytest.approx((truth.low, truth.high))


def test_unequal_weights_count_as_fewer_tests() -> None:
    """Kish: (1/2 + 1/4 + 1/4)^2 / (1/4 + 1/16 + 1/16) = 8/3."""
    found = detection_influences(np.ones((4, 1, 3)))
    twice = weighted(found, [[[0.5, 0.25, 0.25]], [[1.0, 0.5, 0.5]]])
    assert twice.tests == pytest.approx([8 / 3, 8 / 3])


def test_tests_of_different_examples_are_not_several_tests_of_one() -> None:
    apart = np.array([[1.0, math.nan], [1, math.nan], [math.nan, 1], [math.nan, -1]])[:, :, None]
    assert weighted(detection_influences(apart), [[[0.5], [0.5]]]).tests == [1]


def test_wilson_of_shares_is_that_of_scipy_but_for_students_t() -> None:
    """Without ties the design effect is n / (n - 1), and with many examples t is z."""
    n, k = 4000, 1300
    low, high = wilson_interval(detection_influences(np.array([1.0] * k + [-1] * (n - k))[:, None]))
    truth = stats.binomtest(k, n).proportion_ci(method="wilson")
    assert (low[0], high[0]) == pytest.approx((truth.low, truth.high), abs=1e-4)


@pytest.mark.parametrize(
    ("tests", "clusters", "independent"),
    [(1, None, 6), (1, [0, 0, 1, 1, 2, 2], 6 / 1.25), (3, None, 6 / 0.5), (3, [0, 0, 0, 0, 1, 2], 6 / 0.75)],
)
def test_where_all_fell_a_correlation_of_a_quarter_is_assumed(
    tests: int, clusters: list[int] | None, independent: float
) -> None:
    """Three such tests count as two; an example is in a cluster of three on average in the last row.

    Wilson's lower limit of n out of n is n / (n + t^2).
    """
    found = detection_influences(np.ones((6, 1)))
    low, high = wilson_interval(
        Influences(found.value, found.influence, found.defined, np.array([tests])), clusters
    )
    t = stats.t.ppf(0.975, len(set(clusters or range(6))) - 1)
    assert (low[0], high[0]) == pytest.approx((independent / (independent + t**2), 1))


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0, math.nan]), min_size=2, max_size=40))
def test_intervals_hold_the_figure_and_have_a_width(differences: list[float]) -> None:
    found = detection_influences(np.array(differences)[:, None])
    several = Influences(found.value, found.influence, found.defined, np.array([4.0]))
    for low, high in (wilson_interval(several),):
        if found.defined.sum() < 2:
            assert np.isnan([low, high]).all()
        else:
            assert -1e-12 <= low[0] <= found.value[0] + 1e-12 <= high[0] + 2e-12 <= 1 + 1e-9
            assert high[0] - low[0] > 0.01


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=3, max_size=30), st.floats(0.5, 0.9))
def test_a_higher_level_is_wider(differences: list[float], level: float) -> None:
    found = detection_influences(np.array(differences)[:, None])
    for method in (wilson_interval, student_interval):
        (low, high), (lower, higher) = method(found, None, level), method(found, None, level + 0.05)
        assert lower <= low + 1e-12
        assert high <= higher + 1e-12


def test_the_mean_of_equal_tests_is_each_of_them() -> None:
    one = np.array([1.0, 0, -1, 1, 1, 1])
    found = detection_influences(np.stack([one, one], axis=1)[:, None, :])
    mean = weighted(found, np.full((1, 1, 2), 0.5))
    assert mean.value[0] == found.value[0, 0]
    assert mean.variance()[0] == pytest.approx(found.variance()[0][0, :1])
    assert mean.tests[0] == 2


def test_a_test_without_weight_may_be_undefined() -> None:
    x = np.array([[[1.0, math.nan]], [[0.0, math.nan]]])
    found = weighted(detection_influences(x), [[[1.0, 0.0]], [[0.5, 0.5]]])
    assert found.value[0] == 0.75
    assert math.isnan(found.value[1])


def test_the_difference_of_two_is_paired() -> None:
    x = np.array([1.0, -1, 1, 1])[:, None]
    same = difference(detection_influences(x), detection_influences(x))
    assert same.value[0] == 0
    assert same.variance()[0][0] == 0
    low, high = wilson_interval(same, bounds=(-1.0, 1.0))
    assert low[0] == pytest.approx(-high[0])
    assert 0 < high[0] < 1


def test_wilson_follows_the_scale() -> None:
    x = np.array([0.0, 1, 1, 0.5, 1, 0, 1, 1])
    unit = wilson_interval(of_mean(list(x)))
    stretched = wilson_interval(of_mean(list(6 * x - 2)), bounds=(-2, 4))
    assert np.array(stretched) == pytest.approx(6 * np.array(unit) - 2)


def test_one_cluster_has_no_interval() -> None:
    found = detection_influences(np.array([1.0, 0, 1])[:, None])
    for method in (wilson_interval, student_interval):
        assert np.isnan(method(found, [4, 4, 4])).all()


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0])
def test_levels_must_be_shares(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        wilson_interval(of_mean([0.0, 1.0]), level=level)


def test_coefficients_must_fit() -> None:
    with pytest.raises(ValueError, match=r"coefficients must have shape"):
        weighted(detection_influences(np.zeros((3, 2, 2))), np.ones((1, 2, 3)))


def test_one_cluster_has_no_variance() -> None:
    found = detection_influences(np.array([[1.0], [0.0], [-1.0]]))
    for clusters, undefined in (([0, 0, 0], True), ([0, 0, 1], False)):
        assert np.isnan(found.variance(clusters)[0]) == [undefined]


def test_an_example_of_either_figure_counts_in_their_difference() -> None:
    x = np.array([1.0, np.nan, 1, 1, np.nan])[:, None]
    y = np.array([np.nan, 1.0, 1, -1, np.nan])[:, None]
    found = difference(detection_influences(x), detection_influences(y))
    assert found.defined.ravel().tolist() == [True, True, True, True, False]
    assert found.value[0] == pytest.approx(1 - 2 / 3)
