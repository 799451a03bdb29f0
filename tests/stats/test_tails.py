"""Tails of many tests at once against the exact test of each."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dhp.stats.wilcoxon.null import doubled_ranks, exact_log_tail, exact_log_tails, log_tails
from dhp.stats.wilcoxon.signed_rank import Grid, signed_rank


def grouped(d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    tests = Grid.of(d).tests(np.ones((d.size, 1), dtype=np.int32))
    return tests.sizes, tests.positive


def tails_of(sizes: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """log p of tests with so many differences of each magnitude, so many of them positive."""
    counts = sizes.astype(np.int64)
    ranks = doubled_ranks(counts)
    return log_tails(ranks, counts, (ranks * positive.astype(np.int64)).sum(axis=1))


def relative_error(d: np.ndarray) -> float:
    return float(np.expm1(tails_of(*grouped(d))[0] - signed_rank(d).log_p))


@given(st.lists(st.integers(-3, 5), min_size=1, max_size=120))
def test_exact_where_tie_groups_are_few(d: list[int]) -> None:
    few = np.clip(d, -2, 2).astype(np.float64)
    assert relative_error(few) == pytest.approx(0, abs=1e-9)


@given(st.lists(st.integers(-40, 40), min_size=1, max_size=16))
@example([-1, 2, 3, -4, 5, 6, -7, 8, -9, 10, 11, -12, -13])  # without ties, below the mean
def test_exact_where_differences_are_few(d: list[int]) -> None:
    assert relative_error(np.array(d, dtype=np.float64)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("sizes", "positive"),
    [
        ([7, 7, 1, 27, 9, 2, 5, 1], [7, 4, 1, 26, 9, 2, 5, 0]),
        ([19, 12, 29, 13, 17], [19, 12, 27, 10, 14]),
        ([5, 39, 8, 4, 1, 23], [5, 39, 5, 4, 0, 21]),
    ],
)
def test_exact_near_the_largest_value_where_it_moves_in_leaps(sizes: list[int], positive: list[int]) -> None:
    """A smooth tail is 3 to 7 % off there."""
    falls = np.repeat(np.arange(1.0, len(sizes) + 1), positive)
    rises = np.repeat(np.arange(1.0, len(sizes) + 1), np.subtract(sizes, positive))
    assert relative_error(np.concatenate([falls, -rises])) == pytest.approx(0, abs=1e-9)


@given(st.lists(st.integers(-6, 9).filter(bool), min_size=1, max_size=40))
def test_exact_tails_are_exact(d: list[int]) -> None:
    sizes, positive = grouped(np.array(d, dtype=np.float64))
    ranks = 2 * np.cumsum(sizes, axis=1) - sizes + 1
    found = exact_log_tails(ranks, sizes, (ranks * positive).sum(axis=1))
    assert found == pytest.approx([signed_rank(d).log_p], rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("shift", [0.0, 0.3, 0.8])
def test_within_a_tenth_of_a_per_cent_of_forty_without_ties(shift: float) -> None:
    rng = np.random.default_rng(1)
    assert np.abs([relative_error(rng.normal(shift, 1, 40)) for _ in range(10)]).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 60, 100, 200])
@pytest.mark.parametrize("shift", [-0.5, 0.0, 0.2, 0.5, 0.8])
def test_within_one_per_cent_without_ties(n: int, shift: float) -> None:
    rng = np.random.default_rng(n)
    errors = [relative_error(rng.normal(shift, 1, n)) for _ in range(20)]
    assert np.abs(errors).max() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 60, 100])
@pytest.mark.parametrize("shift", [0.0, 0.5, 1.0, 1.5])
def test_means_of_five_whole_scores_are_within_one_per_cent(n: int, shift: float) -> None:
    rng = np.random.default_rng(n)
    samples = [np.round(rng.normal(shift, 3, n)) for _ in range(60)]
    errors = np.abs([relative_error(d) for d in samples if signed_rank(d).p >= 1e-12])
    assert np.quantile(errors, 0.95) < 0.01
    assert errors.max() < 0.02


@pytest.mark.parametrize("drawn", [[2, 3, 5, 8, 9], [1, 1, 2, 3, 7, 7, 8], [4, 4, 4, 4]])
def test_many_tests_at_once_are_the_tests_one_by_one(drawn: list[int]) -> None:
    rng = np.random.default_rng(len(drawn))
    d = np.repeat(np.array(drawn) * rng.choice([-1.0, 1.0], len(drawn)), 12)
    times = rng.multinomial(60, np.full(d.size, 1 / d.size), size=200).T
    tests = Grid.of(d).tests(times)
    ranks = 2 * np.cumsum(tests.sizes, axis=1) - tests.sizes + 1
    ranks[tests.sizes == 0] = 0
    found = exact_log_tails(ranks, tests.sizes, (ranks * tests.positive).sum(axis=1))
    truth = [signed_rank(np.repeat(d, one)).log_p for one in times.T]
    assert found == pytest.approx(truth, rel=1e-9, abs=1e-12)


def test_tests_of_many_differences_that_lack_as_much_are_not_confused() -> None:
    """Without ties, with as many differences and as far from the largest sum, by counting sign patterns."""
    sizes = np.array([[1] * 40, [2] * 20 + [0] * 20])
    ranks = np.where(sizes > 0, 2 * np.cumsum(sizes, axis=1) - sizes + 1, 0)
    w = (ranks * sizes).sum(axis=1) - 600
    found = exact_log_tails(ranks, sizes, w)
    each = [exact_log_tail(r[s > 0], s[s > 0], int(at)) for r, s, at in zip(ranks, sizes, w, strict=True)]
    assert found == pytest.approx(each, rel=1e-12)
    assert found[0] != pytest.approx(found[1], rel=1e-3)


def resampled_tests(d: np.ndarray, resamples: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Sizes of the groups and positive counts of resamples of `d`, and the resamples themselves."""
    magnitudes = np.unique(np.abs(d[d != 0]))
    drawn = [np.random.default_rng(7).choice(d, d.size) if i else d for i in range(resamples)]
    sizes = np.array([[(np.abs(r) == v).sum() for v in magnitudes] for r in drawn], dtype=np.float64)
    positive = np.array([[(r == v).sum() for v in magnitudes] for r in drawn], dtype=np.float64)
    return sizes, positive, drawn


def close_in_d(log_p: float, exact: float) -> bool:
    d, truth = log_p / math.log(0.05), exact / math.log(0.05)
    return abs(d - truth) <= max(0.1, 0.08 * truth)


grids = st.one_of(
    st.lists(st.integers(-2, 4), min_size=1, max_size=150),
    st.lists(st.integers(-20, 40), min_size=1, max_size=150),
    st.lists(st.sampled_from([-1, 1, 1, 1, 0, 5]), min_size=1, max_size=150),
).filter(any)


@pytest.mark.slow
@given(grids)
def test_resampled_tails_agree_with_the_exact_test(differences: list[int]) -> None:
    sizes, positive, drawn = resampled_tests(np.array(differences, dtype=np.float64), 2)
    for log_p, sample in zip(tails_of(sizes, positive), drawn, strict=True):
        assert close_in_d(log_p, signed_rank(sample).log_p)


@pytest.mark.parametrize("shift", [-0.3, 0.0, 0.15, 0.4, 1.0, 3.0])
def test_resampled_tails_of_scores_without_ties_are_almost_exact(shift: float) -> None:
    for n in (17, 40, 100):
        d = np.random.default_rng(n).normal(shift, 1.0, n)
        sizes, positive, _ = resampled_tests(d, 1)
        exact = signed_rank(d).log_p / math.log(0.05)
        assert tails_of(sizes, positive)[0] / math.log(0.05) == pytest.approx(exact, abs=0.03, rel=0.01)


def test_tails_of_all_positive_and_of_no_differences_are_exact() -> None:
    sizes = np.array([[60.0, 60.0], [120.0, 80.0], [0.0, 0.0], [40.0, 0.0]])
    positive = np.array([[60.0, 60.0], [0.0, 0.0], [0.0, 0.0], [40.0, 0.0]])
    assert tails_of(sizes, positive) == pytest.approx([-120 * math.log(2), 0, 0, -40 * math.log(2)])


def test_tails_of_thousands_of_nearly_perfect_scores_stay_finite() -> None:
    d = np.arange(1.0, 3001.0) * np.where(np.arange(3000) < 3, -1, 1)
    sizes, positive = np.ones((1, 3000)), (d > 0)[None].astype(np.float64)
    with np.errstate(all="raise", under="ignore"):
        log_p = tails_of(sizes, positive)[0]
    assert close_in_d(log_p, signed_rank(d).log_p)
