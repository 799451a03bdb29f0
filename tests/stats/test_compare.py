"""Models compared on the same examples: twins, planted differences, error rates."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.stats.bootstrap import bootstrap
from dhp.stats.compare import _groups, compare

LEVELS = ["a", "b"]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def models(*drops: float, n: int = 80, seed: int = 1) -> np.ndarray:
    """One model for each mean drop; what is hard about an example is shared."""
    r = rng(seed)
    shared = r.normal(0, 0.8, (n, 1, 1))
    return np.stack([np.round(drop + shared + r.normal(0, 0.8, (n, 2, 2))) for drop in drops])


def test_a_planted_difference_is_found_and_twins_are_not_told_apart() -> None:
    x = models(1.0, 0.1)
    found = compare(np.stack([x[0], x[1], x[0]]), LEVELS, rng(), resamples=300)
    for quantity in ("d_avg", "d_min", "d_avg_ew", "d_min_ew"):
        one = found[quantity]
        by_pair = {(pair.first, pair.second): pair for pair in one.pairs}
        twins, apart = by_pair[0, 2], by_pair[0, 1]
        assert (twins.difference, twins.low, twins.high, twins.p) == (0, 0, 0, 1)
        assert apart.low > 0
        assert apart.p == pytest.approx(1 / 301)
        assert apart.p_holm == pytest.approx(3 / 301)
        assert one.groups == ((0, 2), (1,))
        assert one.rank.tolist() == [1.5, 3, 1.5]
        assert (one.rank_low[1], one.rank_high[1]) == (3, 3)


def test_points_are_those_of_each_model_where_none_lacks_a_pair() -> None:
    x = models(0.6, 0.4, 0.2)
    found = compare(x, LEVELS, rng(2), resamples=50)
    for i, one in enumerate(x):
        alone = bootstrap(one, LEVELS, rng(2), resamples=50)
        assert found["d_avg"].point[i] == alone.point.d_avg[0]
        assert found["d_min"].point[i] == alone.point.d_min[0]


def test_pairs_that_one_model_lacks_are_left_out_for_all() -> None:
    x = models(0.6, 0.6)
    x[0, :30, 0, 0] = math.nan
    fewer = x.copy()
    fewer[1, :30, 0, 0] = math.nan
    found, expected = (compare(y, LEVELS, rng(), resamples=50)["d_avg"] for y in (x, fewer))
    assert found.point.tolist() == expected.point.tolist()
    x[0, :, 1, 1] = math.nan
    half = compare(x, LEVELS, rng(), resamples=50)["d_avg"]
    assert half.point.tolist() == compare(x[:, :, :1], ["a"], rng(), resamples=50)["d_avg"].point.tolist()


def test_the_order_of_models_does_not_matter() -> None:
    x = models(0.7, 0.3, 0.5)
    found, turned = (compare(y, LEVELS, rng(4), resamples=100)["d_min"] for y in (x, x[::-1]))
    assert turned.point[::-1] == pytest.approx(found.point)
    assert turned.rank_low[::-1].tolist() == found.rank_low.tolist()
    assert {(2 - p.second, 2 - p.first): (p.p, -p.high) for p in turned.pairs} == {
        (p.first, p.second): (p.p, pytest.approx(p.low)) for p in found.pairs
    }
    assert compare(x, LEVELS, rng(4), resamples=100)["d_min"].pairs == found.pairs


@pytest.mark.slow
def test_equal_models_are_rarely_told_apart() -> None:
    """Models with the same expected scores and noise of their own: at most 5 % of the comparisons."""
    rejected = 0
    for seed in range(150):
        found = compare(models(0.4, 0.4, n=40, seed=seed), LEVELS, rng(seed), method="scipy", resamples=150)
        rejected += found["d_avg"].pairs[0].p <= 0.05
    assert rejected / 150 <= 0.09


def test_undefined_where_there_is_nothing_to_compare() -> None:
    for x in (np.full((2, 5, 2, 2), math.nan), models(0.5, 0.1, n=1)):
        one = compare(x, LEVELS, rng(), resamples=20)["d_avg"]
        assert np.isnan([one.pairs[0].low, one.pairs[0].p, one.pairs[0].p_holm, one.rank_low[0]]).all()
    empty = compare(np.full((2, 5, 2, 2), math.nan), LEVELS, rng(), resamples=20)["d_avg"]
    assert empty.groups == ()
    assert np.isnan(empty.rank).all()


@given(st.integers(1, 6).flatmap(lambda k: st.tuples(st.just(k), st.sets(st.integers(0, 20)))))
def test_groups_are_the_largest_sets_of_which_no_two_differ(case: tuple[int, set[int]]) -> None:
    k, chosen = case
    pairs = list(combinations(range(k), 2))
    apart = {pair for i, pair in enumerate(pairs) if i in chosen}
    expected = set()
    free = [
        set(s)
        for size in range(1, k + 1)
        for s in combinations(range(k), size)
        if not any(pair in apart for pair in combinations(s, 2))
    ]
    expected = {frozenset(s) for s in free if not any(s < other for other in free)}
    found = _groups(-np.arange(float(k)), sorted(apart))
    assert {frozenset(s) for s in found} == expected
    assert len(found) == len(expected)
    assert list(found) == sorted(found)


@pytest.mark.parametrize("shape", [(1, 5, 2, 2), (5, 2, 2), (2, 0, 2, 2)])
def test_bad_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="differences must have shape"):
        compare(np.zeros(shape), LEVELS, rng())


def test_what_does_not_fit_is_refused() -> None:
    x = models(0.5, 0.1)
    for wrong in ({"resamples": 0}, {"level": 0.0}, {"weights": [[1.0, 0.0]]}):
        with pytest.raises(ValueError, match=r"resamples|level|weights"):
            compare(x, LEVELS, rng(), **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="finite or NaN"):
        compare(np.full((2, 5, 2, 2), math.inf), LEVELS, rng())
