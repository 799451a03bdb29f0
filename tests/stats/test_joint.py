"""Sign flips of all metrics together: exact enumeration as truth, level under dependence, clusters."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from dhp.stats.discernment import discern, joint_log_p

NO_TAIL = np.zeros(1)


def statistic(x: np.ndarray) -> float:
    """Sum of 1 / p over the metrics, p by the normal distribution of the signed rank sum."""
    found = 0.0
    for column in x.T:
        moved = column[column != 0]
        ranks = rankdata(np.abs(moved))
        found += 1 / norm.sf((np.sign(moved) * ranks).sum() / math.sqrt((ranks**2).sum()))
    return found


def enumerated(x: np.ndarray, clusters: np.ndarray) -> float:
    flips = itertools.product((1, -1), repeat=len(set(clusters)))
    values = [statistic(x * np.array(signs)[clusters][:, None]) for signs in flips]
    return float(np.mean(np.array(values) >= statistic(x) * (1 - 1e-12)))


@pytest.mark.parametrize("clusters", [np.arange(8), np.array([0, 0, 1, 2, 2, 3, 4, 5])])
def test_it_is_the_share_of_all_swaps(clusters: np.ndarray) -> None:
    x = np.random.default_rng(3).integers(-2, 4, (8, 2)).astype(float)
    shares = np.array([x[clusters == c].sum() for c in set(clusters)])
    assert (shares != 0).any()
    found = joint_log_p(x[:, None], np.random.default_rng(0), clusters, tail=NO_TAIL)
    if len(set(clusters)) == 8:
        assert math.exp(found[0]) == pytest.approx(enumerated(x, clusters))
    else:
        assert enumerated(x, clusters) <= 1
        assert 1 / 64 <= math.exp(found[0]) <= 1


def test_one_example_that_moves_is_a_coin_flip() -> None:
    x = np.zeros((6, 1, 1))
    x[2] = 1.0
    for sign, p in ((1, 0.5), (-1, 1.0)):
        assert np.exp(joint_log_p(sign * x, np.random.default_rng(0), tail=NO_TAIL)) == pytest.approx([p])


def test_beyond_the_swaps_the_tail_takes_over() -> None:
    x = np.ones((200, 1, 3))
    rng = np.random.default_rng(0)
    assert joint_log_p(x, rng, tail=np.array([-70.0]), resamples=99)[0] == -70
    assert joint_log_p(x, rng, tail=NO_TAIL, resamples=99)[0] == pytest.approx(math.log(1 / 100))
    assert np.isnan(joint_log_p(np.full((9, 1, 1), math.nan), rng, tail=np.array([math.nan]))).all()
    assert joint_log_p(np.zeros((9, 1, 1)), rng, tail=NO_TAIL)[0] == 0


def test_metrics_are_combined_by_it() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(-2, 4, (8, 2, 3)).astype(float)
    weights = np.array([[0.6, 0.3, 0.1], [np.nan] * 3])
    _, d, d_ew = discern(x, weights, combination="joint")
    for v in range(2):
        assert 0.05 ** d[v] == pytest.approx(enumerated(x[:, v], np.arange(8)))
    _, _, only = discern(x, np.array([[1.0, 0, 0], [0, 1.0, 0]]), combination="joint")
    for v in range(2):
        assert 0.05 ** only[v] == pytest.approx(enumerated(x[:, v, [v]], np.arange(8)))
    assert d_ew[0] != d[0]
    assert d_ew[1] == d[1]


def test_beyond_the_patterns_d_is_that_of_the_default_but_within_clusters() -> None:
    x = np.random.default_rng(4).normal(1.5, 1, (60, 1, 2))
    plain, joint = (discern(x, combination=c)[1] for c in ("hmp-asymptotic", "joint"))  # type: ignore[arg-type]
    assert joint == plain > 5
    paired = discern(x, combination="joint", clusters=np.arange(60) // 2)[1]
    assert 3 < paired < plain
    one = [discern(x[:, :, :1], combination=c)[1] for c in ("hmp-asymptotic", "joint")]  # type: ignore[arg-type]
    assert one[0] == one[1], "the exact test of one metric is a test by sign flips"


@pytest.mark.slow
def test_it_holds_its_level_within_clusters() -> None:
    """Ten clusters of five whose examples share a shift: 600 runs of 5 % stay within 3 to 7.2 %."""
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(10), 5)
    passed = {"clustered": 0, "ignored": 0}
    for _ in range(600):
        x = np.round(rng.normal(0, 1, (10, 1, 1))[clusters] + rng.normal(0, 1, (50, 1, 2)))
        passed["clustered"] += joint_log_p(x, rng, clusters, tail=NO_TAIL, resamples=199)[0] <= math.log(0.05)
        passed["ignored"] += joint_log_p(x, rng, tail=NO_TAIL, resamples=199)[0] <= math.log(0.05)
    assert 18 <= passed["clustered"] <= 43
    assert passed["ignored"] > 60
