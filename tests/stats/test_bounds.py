"""Limits of means of outcomes: Clopper and Pearson's as truth, coverage by counting every outcome."""

import math
from itertools import combinations_with_replacement, product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dhp.stats.bounds import Bounds, mean_interval
from dhp.stats.detection import detection_influences
from dhp.stats.influences import Influences, mean_influences, weighted

Floats = npt.NDArray[np.float64]


def outcomes(fell: int, tied: int, rose: int) -> Influences:
    return detection_influences(np.array([1.0] * fell + [0.0] * tied + [-1.0] * rose)[:, None])


@pytest.mark.parametrize(("fell", "rose"), [(24, 0), (19, 5), (0, 8), (1, 4), (300, 100), (1, 0)])
def test_without_ties_it_is_clopper_and_pearsons(fell: int, rose: int) -> None:
    low, high = mean_interval(outcomes(fell, 0, rose))
    truth = stats.binomtest(fell, fell + rose).proportion_ci(0.95)
    assert (low[0], high[0]) == pytest.approx((truth.low, truth.high))


def test_where_nothing_moves_it_is_that_of_the_share_that_could_have() -> None:
    """No rise in 24 texts: at most 14.2 % rise (1 - .025 ** (1 / 24)), so detection is 42.9 % or more."""
    low, high = mean_interval(outcomes(0, 24, 0))
    assert low[0] == pytest.approx(0.5 - (1 - 0.025 ** (1 / 24)) / 2)
    assert high[0] == pytest.approx(1 - low[0])


@pytest.mark.parametrize("counts", [(5, 19, 0), (12, 10, 2), (3, 20, 1), (60, 20, 20)])
def test_it_is_near_the_quantile_of_the_weighted_mean(counts: tuple[int, int, int]) -> None:
    """Drawn: shares of a Dirichlet distribution with one outcome of 0 added."""
    fell, tied, rose = counts
    rng = np.random.default_rng(3)
    drawn = rng.dirichlet([max(fell, 1e-9), max(tied, 1e-9), rose + 1], 200_000) @ [1, 0.5, 0]
    assert mean_interval(outcomes(*counts))[0][0] == pytest.approx(np.quantile(drawn, 0.025), abs=0.008)


@pytest.mark.parametrize("n", [5, 13, 24])
@pytest.mark.parametrize("tied", [0.0, 0.4, 0.8])
def test_neither_limit_fails_in_more_than_half_of_the_error(n: int, tied: float) -> None:
    """By counting every outcome."""
    counts = [(i, n - i - j, j) for i, j in product(range(n + 1), repeat=2) if i + j <= n]
    limits = np.array([[end[0] for end in mean_interval(outcomes(*each))] for each in counts])
    for fell in np.linspace(0, 1, 11) * (1 - tied):
        rose = 1 - tied - fell
        truth = fell + tied / 2
        chances = stats.multinomial.pmf(counts, n, [fell, tied, max(rose, 0.0)])
        assert chances[limits[:, 0] > truth + 1e-12].sum() <= 0.0251
        assert chances[limits[:, 1] < truth - 1e-12].sum() <= 0.0251


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.sampled_from([0.5, 0.55, 0.6, 0.9]))
def test_tests_and_limits_say_the_same(fell: int, tied: int, rose: int, line: float) -> None:
    if not fell + tied + rose:
        return
    found = outcomes(fell, tied, rose)
    low, high = mean_interval(found)
    assert 0 <= low[0] <= found.value[0] <= high[0] <= 1
    for p, beyond in (
        (Bounds(found).log_p_above(line)[0], low[0] - line),
        (Bounds(found).log_p_below(line)[0], line - high[0]),
    ):
        assert abs(beyond) < 1e-9 or (p <= math.log(0.025)) == (beyond > 0)


def test_copies_of_examples_add_nothing() -> None:
    x = np.repeat(np.random.default_rng(2).integers(0, 2, 30).astype(float), 4)
    alone, copied = mean_influences(x), mean_influences(x)
    low, high = mean_interval(alone)
    lower, higher = mean_interval(copied, np.arange(120) // 4)
    assert (higher - lower) > 1.7 * (high - low)


@pytest.mark.parametrize(("groups", "size"), [(6, 4), (4, 5), (8, 3), (3, 8)])
def test_of_equal_clusters_one_event_fewer_never_raises_the_upper_limit(groups: int, size: int) -> None:
    """Of every way in which events can fall on the clusters."""
    ways = list(combinations_with_replacement(range(size, -1, -1), groups))
    events = np.array([[place < count for count in way for place in range(size)] for way in ways], float).T
    values = events.mean(axis=0)
    found = Influences(
        values, (events - values) / len(events), np.ones(events.shape, bool), np.ones(len(ways))
    )
    low, high = mean_interval(found, np.arange(groups * size) // size)
    limits = dict(zip(ways, zip(low, high, strict=True), strict=True))
    for way in ways:
        for g in np.flatnonzero(way):
            fewer = tuple(sorted((count - (h == g) for h, count in enumerate(way)), reverse=True))
            assert (np.array(limits[fewer]) <= np.array(limits[way]) + 1e-9).all()


@given(st.data())
def test_no_event_is_never_worse_than_some(data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.integers(0, 6), min_size=2, max_size=40))
    events = data.draw(st.lists(st.integers(0, 1), min_size=len(labels), max_size=len(labels)))
    if len(set(labels)) < 2:
        return
    _, high = mean_interval(mean_influences(np.array(events, float)), labels)
    _, none = mean_interval(mean_influences(np.zeros(len(labels))), labels)
    assert none <= high + 1e-12


def test_of_several_tests_the_limit_lies_between_that_of_one_and_of_independent_ones() -> None:
    """24 examples, two kinds each, of which all fell: .7 is assumed, so 24 < size < 48."""
    kinds = weighted(detection_influences(np.ones((24, 2, 1))), [[[0.5], [0.5]]])
    (low,), _ = mean_interval(kinds, squares=[1.0])
    assert 0.025 ** (1 / 24) < low < 0.025 ** (1 / 48)


def test_what_is_undefined() -> None:
    none = detection_influences(np.full((3, 1), math.nan))
    assert np.isnan([*mean_interval(none), Bounds(none).log_p_above(0.5)]).all()
    assert np.isnan(mean_interval(outcomes(3, 1, 1), [2] * 5)).all()


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_levels_must_be_shares(level: float) -> None:
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        Bounds(outcomes(1, 1, 1)).low(level)
