"""Models compared on the same examples: twins, planted differences, error rates."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.stats.bootstrap import bootstrap
from dhp.stats.compare import _groups, compare
from dhp.stats.design import Design

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
    found = compare([Design.of(one, LEVELS) for one in np.stack([x[0], x[1], x[0]])], rng(), resamples=300)
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
    found = compare([Design.of(one, LEVELS) for one in x], rng(2), resamples=50)
    for i, one in enumerate(x):
        alone = bootstrap(Design.of(one, LEVELS), rng(2), resamples=50)
        assert found["d_avg"].point[i] == alone.point.d_avg[0]
        assert found["d_min"].point[i] == alone.point.d_min[0]


def test_pairs_that_one_model_lacks_are_left_out_for_all() -> None:
    x = models(0.6, 0.6)
    x[0, :30, 0, 0] = math.nan
    fewer = x.copy()
    fewer[1, :30, 0, 0] = math.nan
    found, expected = (
        compare([Design.of(one, LEVELS) for one in y], rng(), resamples=50)["d_avg"] for y in (x, fewer)
    )
    assert found.point.tolist() == expected.point.tolist()
    x[0, :, 1, 1] = math.nan
    half = compare([Design.of(one, LEVELS) for one in x], rng(), resamples=50)["d_avg"]
    assert (
        half.point.tolist()
        == compare([Design.of(one, ["a"]) for one in x[:, :, :1]], rng(), resamples=50)[
            "d_avg"
        ].point.tolist()
    )


def test_the_order_of_models_does_not_matter() -> None:
    x = models(0.7, 0.3, 0.5)
    found, turned = (
        compare([Design.of(one, LEVELS) for one in y], rng(4), resamples=100)["d_min"] for y in (x, x[::-1])
    )
    assert turned.point[::-1] == pytest.approx(found.point)
    assert turned.rank_low[::-1].tolist() == found.rank_low.tolist()
    assert {(2 - p.second, 2 - p.first): (p.p, -p.high) for p in turned.pairs} == {
        (p.first, p.second): (p.p, pytest.approx(p.low)) for p in found.pairs
    }
    assert compare([Design.of(one, LEVELS) for one in x], rng(4), resamples=100)["d_min"].pairs == found.pairs


@pytest.mark.slow
def test_equal_models_are_rarely_told_apart() -> None:
    """Models with the same expected scores and noise of their own: at most 5 % of the comparisons."""
    rejected = 0
    for seed in range(150):
        found = compare(
            [Design.of(one, LEVELS, method="scipy") for one in models(0.4, 0.4, n=40, seed=seed)],
            rng(seed),
            resamples=150,
        )
        rejected += found["d_avg"].pairs[0].p <= 0.05
    assert rejected / 150 <= 0.09


def test_undefined_where_there_is_nothing_to_compare() -> None:
    for x in (np.full((2, 5, 2, 2), math.nan), models(0.5, 0.1, n=1)):
        one = compare([Design.of(one, LEVELS) for one in x], rng(), resamples=20)["d_avg"]
        assert np.isnan([one.pairs[0].low, one.pairs[0].p, one.pairs[0].p_holm, one.rank_low[0]]).all()
    empty = compare([Design.of(one, LEVELS) for one in np.full((2, 5, 2, 2), math.nan)], rng(), resamples=20)[
        "d_avg"
    ]
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


def test_one_model_and_unlike_shapes_are_refused() -> None:
    one, other = (Design.of(np.zeros(shape), LEVELS) for shape in ((5, 2, 2), (5, 2, 3)))
    for designs in ([], [one], [one, other]):
        with pytest.raises(ValueError, match="designs must be two or more of one shape"):
            compare(designs, rng())


def test_what_does_not_fit_is_refused() -> None:
    designs = [Design.of(one, LEVELS) for one in models(0.5, 0.1)]
    for wrong in ({"resamples": 0}, {"level": 0.0}):
        with pytest.raises(ValueError, match=r"resamples|level"):
            compare(designs, rng(), **wrong)  # type: ignore[arg-type]


def test_no_interval_of_a_score_reaches_below_zero() -> None:
    blind = [np.random.default_rng(seed).normal(0, 1, (40, 2, 2)) for seed in range(4)]
    found = compare([Design.of(one, LEVELS) for one in blind], rng(), resamples=200)
    for one in found.values():
        assert (one.low >= 0).all()
        assert (one.low == 0).any(), "centred resamples would reach below"
        assert min(pair.low for pair in one.pairs) < 0, "differences do"
