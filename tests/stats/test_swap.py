"""Swapping the labels of two judges: scipy and enumeration as truth, level by simulation."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from dhp.stats.detection import detection_influences
from dhp.stats.influences import Influences, weighted
from dhp.stats.swap import noninferiority, swap
from dhp.stats.unpaired import standardised_drop_influences

Floats = npt.NDArray[np.float64]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def mean_detection(differences: Floats) -> Influences:
    """Over all tests, each weighing the same."""
    tests = detection_influences(differences)
    return weighted(tests, np.full((1, *tests.value.shape), 1 / tests.value.size))


def judged(n: int, drop: float, seed: int, variants: int = 3, metrics: int = 2) -> Floats:
    return np.round(rng(seed).normal(drop, 1, (n, variants, metrics)))


def test_few_examples_are_counted_out_as_scipy_does() -> None:
    a, b = judged(9, 1.0, 1), judged(9, 0.2, 2)
    shares = [((1 + np.sign(x)) / 2).mean(axis=(1, 2)) for x in (a, b)]
    truth = stats.permutation_test(
        shares, lambda x, y: x.mean() - y.mean(), permutation_type="samples", n_resamples=10_000
    )
    found = swap(mean_detection(a), mean_detection(b), rng())
    assert found.exact
    assert found.difference[0] == pytest.approx(truth.statistic)
    assert found.p[0] == pytest.approx(truth.pvalue)
    assert found.low[0] < found.difference[0] < found.high[0]


def test_many_examples_are_swapped_at_random() -> None:
    a, b = judged(40, 1.0, 1), judged(40, 0.6, 2)
    found = swap(mean_detection(a), mean_detection(b), rng(), resamples=20_000)
    shares = [((1 + np.sign(x)) / 2).mean(axis=(1, 2)) for x in (a, b)]
    truth = stats.ttest_rel(*shares).pvalue
    assert not found.exact
    assert found.p[0] == pytest.approx(truth, abs=0.02)


def test_the_order_of_the_judges_does_not_matter() -> None:
    a, b = mean_detection(judged(30, 1.0, 1)), mean_detection(judged(30, 0.6, 2))
    one, other = swap(a, b, rng(3)), swap(b, a, rng(3))
    assert one.p == other.p
    assert one.difference == -other.difference
    assert one.low == pytest.approx(-other.high)


def test_a_judge_does_not_differ_from_itself() -> None:
    x = judged(30, 1.0, 1)
    found = swap(mean_detection(x), mean_detection(x), rng())
    assert (found.difference[0], found.p[0]) == (0, 1)


@pytest.mark.parametrize("resamples", [1, 999])
def test_a_clear_difference_has_the_smallest_p(resamples: int) -> None:
    sharp, wrong = mean_detection(np.ones((50, 1, 1))), mean_detection(-np.ones((50, 1, 1)))
    found = swap(sharp, wrong, rng(), resamples=resamples)
    assert (found.difference[0], found.p[0]) == (1, 1 / (resamples + 1))


def test_clusters_are_swapped_together() -> None:
    a, b = (np.repeat(judged(8, drop, seed), 5, axis=0) for drop, seed in ((1.0, 1), (0.2, 2)))
    together = swap(mean_detection(a), mean_detection(b), rng(), np.arange(40) // 5)
    alone = swap(mean_detection(a[::5]), mean_detection(b[::5]), rng())
    assert together.exact
    assert together.p == pytest.approx(alone.p)


def test_what_one_judge_lacks_is_undefined() -> None:
    a = judged(10, 1.0, 1, 1, 1)
    found = swap(mean_detection(a), mean_detection(np.full_like(a, math.nan)), rng())
    assert np.isnan([found.difference[0], found.p[0], found.low[0]]).all()
    margin = noninferiority(mean_detection(a), mean_detection(np.full_like(a, math.nan)), 0.05, rng())
    assert np.isnan([margin.p_inferior[0], margin.p_noninferior[0]]).all()


@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_noninferiority_is_a_shifted_sign_test_of_means(margin: float) -> None:
    a, b = judged(9, 1.0, 1), judged(9, 0.9, 2)
    new, old = (((1 + np.sign(x)) / 2).mean(axis=(1, 2)) for x in (a, b))
    found = noninferiority(mean_detection(a), mean_detection(b), margin, rng())
    for p, side in ((found.p_noninferior, "greater"), (found.p_inferior, "less")):
        truth = stats.permutation_test(
            (new - old + margin,), np.mean, permutation_type="samples", alternative=side, n_resamples=10_000
        )
        assert p[0] == pytest.approx(truth.pvalue)


def test_what_a_gate_can_prove() -> None:
    sharp, dull = mean_detection(np.ones((60, 2, 2))), mean_detection(judged(60, 0.0, 1, 2, 2))
    better, worse, same = (
        noninferiority(*pair, 0.05, rng()) for pair in ((sharp, dull), (dull, sharp), (sharp, sharp))
    )
    assert (better.p_noninferior <= 0.05, worse.p_inferior <= 0.05, same.p_noninferior <= 0.05) == (1, 1, 1)
    few = noninferiority(mean_detection(judged(3, 0.0, 1)), mean_detection(judged(3, 0.0, 2)), 0.05, rng())
    assert min(few.p_noninferior[0], few.p_inferior[0]) > 0.05


def test_a_figure_without_bounds() -> None:
    x, y = rng(1).normal(3, 1, (30, 1)), rng(2).normal(2, 1, (30, 1, 1))
    drop = weighted(standardised_drop_influences(x, y), np.ones((1, 1, 1)))
    less = weighted(standardised_drop_influences(x, y + 2), np.ones((1, 1, 1)))
    found = swap(drop, less, rng(), bounds=None)
    assert found.low[0] > 1
    assert found.p[0] < 0.01


@pytest.mark.slow
def test_equal_judges_are_told_apart_in_five_per_cent() -> None:
    """Judges of the same texts; and one that does not change passes a gate of five points nearly always."""
    runs, told, not_failed = 600, 0, 0
    for seed in range(runs):
        random = rng(seed)
        quality = random.normal(size=(40, 1, 1))
        a, b = (
            mean_detection(np.round(0.6 + 0.5 * quality + random.normal(size=(40, 6, 2)))) for _ in range(2)
        )
        told += swap(a, b, random, resamples=499).p[0] <= 0.05
        gate = noninferiority(a, b, 0.05, random, resamples=499)
        not_failed += not gate.p_inferior[0] <= 0.05 < gate.p_noninferior[0]
    assert stats.binomtest(told, runs, 0.05).pvalue > 0.001
    assert not_failed / runs >= 0.99


@pytest.mark.parametrize("margin", [-0.1, math.nan])
def test_margins_are_not_negative(margin: float) -> None:
    one = mean_detection(judged(5, 1.0, 1))
    with pytest.raises(ValueError, match="margin must be at least 0"):
        noninferiority(one, one, margin, rng())


def test_bad_input() -> None:
    one, other = mean_detection(judged(5, 1.0, 1)), mean_detection(judged(6, 1.0, 1))
    with pytest.raises(ValueError, match="figures of one shape"):
        swap(one, other, rng())
    with pytest.raises(ValueError, match="resamples must be at least 1"):
        swap(one, one, rng(), resamples=0)
