"""Two judges compared kind by kind: scipy's permutation test and all swaps as truth, level by simulation."""

import math
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from dhp.stats.compare import JudgeScores, compare_variants

Floats = npt.NDArray[np.float64]


def judge(differences: Floats) -> JudgeScores:
    return JudgeScores(np.zeros(differences.shape[::2]), -differences, differences)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def judged(n: int, drop: float, seed: int, variants: int = 2, metrics: int = 1) -> Floats:
    return np.round(rng(seed).normal(drop, 1, (n, variants, metrics)))


def test_each_kind_is_tested_as_scipy_does() -> None:
    """Of few examples all swaps are counted out; a pair that one judge lacks is left out for both."""
    a, b = judged(9, 1.0, 1), judged(9, 0.2, 2)
    a[3, 1] = math.nan
    found = [pair for (pair,) in compare_variants([judge(a), judge(b)], rng())]
    for v, pair in enumerate(found):
        there = ~np.isnan(a[:, v, 0])
        shares = [(1 + np.sign(x[there, v, 0])) / 2 for x in (a, b)]
        truth = stats.permutation_test(
            shares, lambda x, y: x.mean() - y.mean(), permutation_type="samples", n_resamples=10_000
        )
        assert pair.difference == pytest.approx(-truth.statistic), "the second less the first"
        assert pair.p == pytest.approx(truth.pvalue)
        assert pair.low < pair.difference < pair.high
    assert [pair.p_adjusted for pair in found] == pytest.approx(by_all_swaps(a[:, :, 0], b[:, :, 0]))


def by_all_swaps(a: Floats, b: Floats) -> list[float]:
    """p of each kind, adjusted by the largest of all kinds in units of their spread under swaps."""
    shares = np.nan_to_num((np.sign(a) - np.sign(b)) / 2)
    unit = np.sqrt((shares**2).sum(axis=0))
    sums = [np.abs(np.array(s) @ shares) / unit for s in product([1, -1], repeat=len(shares))]
    return [float(np.mean([max(each) >= observed - 1e-9 for each in sums])) for observed in sums[0]]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "drops"), [(24, (0.4, 0.4)), (24, (1.0, 0.3)), (100, (0.5, 0.3))])
def test_limits_and_stars_are_from_the_same_test(n: int, drops: tuple[float, float]) -> None:
    for seed in range(20):
        a, b = (judged(n, drop, 2 * seed + i, variants=6) for i, drop in enumerate(drops))
        for (pair,) in compare_variants([judge(a), judge(b)], rng(seed), resamples=500):
            assert pair.low <= pair.difference <= pair.high
            assert pair.differs == (pair.p_adjusted <= 0.05)
            assert (pair.low >= 0 or pair.high <= 0) if pair.differs else (pair.low <= 0 <= pair.high)
            assert pair.p <= pair.p_adjusted


def test_answers_of_one_cluster_are_swapped_together() -> None:
    a, b = (np.repeat(judged(8, drop, seed), 3, axis=0) for drop, seed in ((1.0, 1), (0.2, 2)))
    together = compare_variants([judge(a), judge(b)], rng(), clusters=np.arange(24) // 3)
    alone = compare_variants([judge(a[::3]), judge(b[::3])], rng())
    assert [pair.p for (pair,) in together] == pytest.approx([pair.p for (pair,) in alone])


def test_every_pair_of_judges_is_compared_on_every_kind() -> None:
    """One judge sees the second kind alone: found there, with p adjusted over all six tests."""
    blind, seeing = np.zeros((60, 2, 1)), np.zeros((60, 2, 1))
    seeing[:, 1] = 1
    found = compare_variants([judge(blind), judge(seeing), judge(blind)], rng(), resamples=500)
    assert [[(p.first, p.second) for p in pairs] for pairs in found] == [[(0, 1), (0, 2), (1, 2)]] * 2
    assert [[p.difference for p in pairs] for pairs in found] == [[0, 0, 0], [0.5, 0, -0.5]]
    assert [p.p for p in found[0]] == [1, 1, 1]
    assert found[1][0].p == found[1][0].p_adjusted == pytest.approx(1 / 501)


def test_a_kind_that_nobody_rated_is_undefined() -> None:
    a = judged(12, 1.0, 1)
    a[:, 0] = math.nan
    (nothing,), (something,) = compare_variants([judge(a), judge(judged(12, 0.0, 2))], rng())
    assert np.isnan([nothing.difference, nothing.p, nothing.p_adjusted]).all()
    assert something.p_adjusted == something.p


@pytest.mark.slow
def test_equal_judges_are_seldom_told_apart_on_any_kind() -> None:
    """Three answers of a cluster share what both judges see in them; four kinds, 5 % nominal in all."""
    clusters, wrong = np.arange(90) // 3, 0
    for seed in range(300):
        draw = rng(seed)
        shared = np.repeat(draw.normal(0.5, 1, (2, 30, 4, 1)), 3, axis=1)
        a, b = np.round(shared + draw.normal(0, 0.3, shared.shape))
        found = compare_variants([judge(a), judge(b)], draw, clusters=clusters, resamples=400)
        wrong += any(pair.differs for (pair,) in found)
    assert wrong <= 25  # P(Binomial(300, .05) > 25) = .004
