"""Tests by sign flips: every pattern counted by hand, scipy's exact test, level and power."""

import math
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from dhp.stats.flips import flip_log_p

Floats = npt.NDArray[np.float64]


def test_one_metric_is_the_exact_signed_rank_test() -> None:
    x = np.random.default_rng(1).normal(0.5, 1, 18)
    fell, rose = flip_log_p(x[:, None, None])
    assert np.exp(fell[0]) == pytest.approx(stats.wilcoxon(x, alternative="greater", method="exact").pvalue)
    assert rose[0] == 0
    assert flip_log_p(-x[:, None, None])[1][0] == fell[0]


def by_hand(x: Floats) -> tuple[float, float]:
    """All patterns of signs of (n, M) differences: the largest standardised signed-rank sum."""
    ranks = np.stack([np.sign(m) * stats.rankdata(np.where(m == 0, np.inf, np.abs(m))) for m in x.T], axis=1)
    scale = np.sqrt((ranks**2).sum(axis=0))
    patterns = np.array(list(product([1, -1], repeat=len(x))))
    largest = (patterns @ ranks / scale).max(axis=1)
    return float((largest >= largest[0] - 1e-9).mean()), float((largest <= largest[0] + 1e-9).mean())


def test_several_metrics_by_hand() -> None:
    x = np.array([[2.0, 1], [1, 0], [3, -1], [-1, 2], [0, 1], [2, 2]])
    fell, rose = flip_log_p(x[:, None])
    assert (np.exp(fell[0]), np.exp(rose[0])) == pytest.approx(by_hand(x))


def test_metrics_that_move_alike_count_once() -> None:
    x = np.random.default_rng(2).integers(-1, 3, (10, 1, 1)).astype(float)
    once, four = flip_log_p(x)[0], flip_log_p(np.repeat(x, 4, axis=2))[0]
    assert np.exp(four) == pytest.approx(np.exp(once))


def test_clusters_flip_together() -> None:
    x = np.repeat(np.array([2.0, 1, 3, 1]), 5)[:, None, None]
    for metrics in (1, 2):
        fell = flip_log_p(np.repeat(x, metrics, axis=2), np.arange(20) // 5)[0]
        assert np.exp(fell[0]) == pytest.approx(1 / 16)


def test_what_never_moves_says_nothing() -> None:
    x = np.zeros((12, 2, 2))
    x[:, 1, 0] = 1.0  # the other metric never moves
    fell, rose = flip_log_p(x)
    assert (fell[0], rose[0], rose[1]) == (0, 0, 0)
    assert np.exp(fell[1]) == pytest.approx(2**-12)
    assert flip_log_p(np.full((4, 1, 1), math.nan))[0][0] == 0


@pytest.mark.slow
def test_kinds_do_not_hang_on_each_other() -> None:
    x = np.random.default_rng(4).normal(0.2, 1, (40, 200, 2))
    assert flip_log_p(x)[0][:3] == pytest.approx(flip_log_p(x[:, :3])[0])


def test_texts_that_a_damage_does_not_apply_to_do_not_change_its_p() -> None:
    """Twelve texts have 4,096 patterns, which are counted out, whatever other texts the table has."""
    x = np.random.default_rng(4).integers(-1, 4, (12, 1, 3)).astype(float)
    others = np.random.default_rng(5).integers(-1, 4, (30, 1, 3)).astype(float)
    none = np.full((30, 1, 3), np.nan)
    both = np.concatenate([np.concatenate([x, none]), np.concatenate([x, others])], axis=1)
    assert [each[0] for each in flip_log_p(both)] == pytest.approx([each[0] for each in flip_log_p(x)])


@pytest.mark.parametrize("correlated", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_blind_judge_is_found_out_by_chance_only(correlated: bool) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(20, 1500, 4))
    x = x[:, :, :1] + 0.3 * x if correlated else x
    for p in flip_log_p(x, resamples=999):
        assert (p <= math.log(0.05)).mean() == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / 1500))


@pytest.mark.slow
def test_sizes_add_to_signs() -> None:
    """Large falls in 40 % of the texts, small noise in the others: signs alone hardly see them."""
    rng = np.random.default_rng(6)
    bites = rng.random((24, 300, 1)) < 0.4
    x = np.where(bites, 3.0, 0.5) * np.where(bites, 1.0, rng.normal(size=bites.shape))
    with_sizes, signs = ((flip_log_p(each)[0] <= math.log(0.005)).mean() for each in (x, np.sign(x)))
    assert with_sizes > signs + 0.3


@pytest.mark.parametrize(
    ("x", "clusters"),
    [(np.zeros((2, 2)), None), (np.full((2, 1, 1), math.inf), None), (np.ones((2, 1, 1)), [0])],
)
def test_bad_input(x: Floats, clusters: list[int] | None) -> None:
    with pytest.raises(ValueError, match=r"differences|clusters"):
        flip_log_p(x, clusters)
