"""Two judges compared kind by kind: scipy's permutation test and Holm as truth, level by simulation."""

import math

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
        assert pair.difference == pytest.approx(truth.statistic)
        assert pair.p == pytest.approx(truth.pvalue)
        assert pair.low < pair.difference < pair.high
    low, high = sorted(pair.p for pair in found)
    assert sorted(pair.p_holm for pair in found) == pytest.approx(
        [min(1, 2 * low), min(1, max(2 * low, high))]
    )


def test_answers_of_one_cluster_are_swapped_together() -> None:
    a, b = (np.repeat(judged(8, drop, seed), 3, axis=0) for drop, seed in ((1.0, 1), (0.2, 2)))
    together = compare_variants([judge(a), judge(b)], rng(), clusters=np.arange(24) // 3)
    alone = compare_variants([judge(a[::3]), judge(b[::3])], rng())
    assert [pair.p for (pair,) in together] == pytest.approx([pair.p for (pair,) in alone])


def test_every_pair_of_judges_is_compared_on_every_kind() -> None:
    """One judge sees the second kind alone: found there, with p adjusted over all six tests."""
    blind, seeing = np.zeros((60, 2, 1)), np.zeros((60, 2, 1))
    seeing[:, 1] = 1
    found = compare_variants([judge(blind), judge(seeing), judge(blind)], rng(), resamples=1)
    assert [[(p.first, p.second) for p in pairs] for pairs in found] == [[(0, 1), (0, 2), (1, 2)]] * 2
    assert [[p.difference for p in pairs] for pairs in found] == [[0, 0, 0], [-0.5, 0, 0.5]]
    assert [p.p for p in found[0]] == [1, 1, 1]
    assert found[1][0].p == pytest.approx(1 / 241)  # 40 swaps a test
    assert found[1][0].p_holm == pytest.approx(6 / 241)


def test_a_kind_that_nobody_rated_is_undefined() -> None:
    a = judged(12, 1.0, 1)
    a[:, 0] = math.nan
    (nothing,), (something,) = compare_variants([judge(a), judge(judged(12, 0.0, 2))], rng())
    assert np.isnan([nothing.difference, nothing.p, nothing.p_holm]).all()
    assert something.p_holm == something.p


@pytest.mark.slow
def test_equal_judges_are_seldom_told_apart_on_any_kind() -> None:
    """Three answers of a cluster share what both judges see in them; four kinds, 5 % nominal in all."""
    clusters, wrong = np.arange(90) // 3, 0
    for seed in range(300):
        draw = rng(seed)
        shared = np.repeat(draw.normal(0.5, 1, (2, 30, 4, 1)), 3, axis=1)
        a, b = np.round(shared + draw.normal(0, 0.3, shared.shape))
        found = compare_variants([judge(a), judge(b)], draw, clusters=clusters, resamples=400)
        wrong += any(pair.p_holm <= 0.05 for (pair,) in found)
    assert wrong <= 25  # P(Binomial(300, .05) > 25) = .004
