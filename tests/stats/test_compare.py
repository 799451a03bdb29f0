"""Judges compared on the same examples: twins, planted differences, error rates, hand-worked figures."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.stats.compare import QUANTITIES, Comparison, JudgeScores, _groups, compare
from dhp.stats.detection import detection

LEVELS = ["a", "b"]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def judge(differences: np.ndarray) -> JudgeScores:
    """With originals that vary and these differences."""
    original = np.arange(len(differences))[:, None] % 5 + np.zeros(differences.shape[2])
    return JudgeScores(original, original[:, None] - differences, differences)


def judges(*drops: float, n: int = 80, seed: int = 1) -> list[JudgeScores]:
    """One for each mean drop; what is hard about an example is shared."""
    r = rng(seed)
    shared = r.normal(0, 0.8, (n, 1, 1))
    return [judge(np.round(drop + shared + r.normal(0, 0.8, (n, 2, 2)))) for drop in drops]


def compared(found: list[JudgeScores], resamples: int = 500, seed: int = 0) -> dict[str, Comparison]:
    return compare(found, LEVELS, rng(seed), resamples=resamples)


def test_a_planted_difference_is_found_and_twins_are_not_told_apart() -> None:
    one, other = judges(1.0, 0.1)
    found = compared([one, other, one])
    assert set(found) == set(QUANTITIES)
    for by_figure in found.values():
        pairs = {(pair.first, pair.second): pair for pair in by_figure.pairs}
        assert (pairs[0, 2].difference, pairs[0, 2].p) == (0, 1)
        assert pairs[0, 1].p == pytest.approx(1 / 501)
        assert pairs[0, 1].p_adjusted == pytest.approx(3 / 501)
        assert by_figure.groups == ((0, 2), (1,))
        assert by_figure.rank.tolist() == [1.5, 3, 1.5]
        assert (by_figure.rank_low.tolist(), by_figure.rank_high.tolist()) == ([1, 3, 1], [2, 3, 2])
        assert pairs[0, 1].low < pairs[0, 1].difference < pairs[0, 1].high < 0, "the second less the first"


def test_detection_by_hand() -> None:
    """The kind of level a is seen by its second metric alone; of b three pairs fell, one tied, one rose."""
    first = np.zeros((5, 2, 2))
    first[:, 0, 1] = 1
    first[:, 1] = np.array([1, 1, 1, 0, -1])[:, None]
    many = np.tile(first, (8, 1, 1))
    found = compared([judge(many), judge(-many)])["detection"]
    assert found.point[0] == pytest.approx((1 + 3.5 / 5) / 2)
    assert found.point[1] == pytest.approx((0.5 + 1.5 / 5) / 2)
    assert found.pairs[0].difference == found.point[1] - found.point[0]


def test_the_figures_compared_are_those_of_each_judge_alone() -> None:
    x = judges(0.7, 0.3)
    found = compared(x)["detection"]
    for k, one in enumerate(x):
        alone = detection(one.differences, LEVELS).average
        assert (found.point[k], found.low[k], found.high[k]) == alone


def test_kinds_with_fewer_than_five_pairs_enter_no_average() -> None:
    one, other = (found.differences for found in judges(1.0, 0.2))
    few = one.copy()
    few[4:, 0] = math.nan
    found = compared([judge(few), judge(other)])
    expected = compare([judge(x[:, 1:]) for x in (one, other)], LEVELS[1:], rng(), resamples=500)
    for quantity in QUANTITIES:
        assert found[quantity].point == pytest.approx(expected[quantity].point)


def test_limits_of_a_difference_stay_within_what_it_can_be() -> None:
    """Of shares within -1 and 1; of drops in standard deviations anywhere."""
    one, other = (judge(drop + np.zeros((40, 2, 2))) for drop in (9.0, -9.0))
    found = compared([one, other])
    for quantity in ("detection", "auroc"):
        assert -1 <= found[quantity].pairs[0].low < found[quantity].pairs[0].high <= 1
    drop = found["standardised_drop"].pairs[0]
    assert drop.low <= drop.difference <= drop.high < -1
    assert -drop.difference == pytest.approx(2 * 9 / np.std(np.arange(40) % 5, ddof=1))


def test_pairs_that_one_judge_lacks_are_left_out_for_all() -> None:
    x, y = (found.differences for found in judges(0.6, 0.6))
    x[:30, 0, 0] = math.nan
    fewer = y.copy()
    fewer[:30, 0, 0] = math.nan
    for quantity, found in compared([judge(x), judge(y)]).items():
        assert found.point.tolist() == compared([judge(x), judge(fewer)])[quantity].point.tolist()


@pytest.mark.slow
def test_the_order_of_judges_does_not_matter() -> None:
    x = judges(0.7, 0.3, 0.5)
    found, turned = compared(x)["detection"], compared(x[::-1])["detection"]
    assert turned.point[::-1] == pytest.approx(found.point)
    assert {(2 - p.second, 2 - p.first): pytest.approx(p.low) for p in turned.pairs} == {
        (p.first, p.second): -p.high for p in found.pairs
    }
    assert compared(x, seed=4)["auroc"].pairs == compared(x, seed=4)["auroc"].pairs


@pytest.mark.slow
def test_equal_judges_are_told_apart_in_five_per_cent() -> None:
    """With the same expected scores and noise of their own; 300 runs of 5 % stay within 2.4 to 8 %."""
    rejected = dict.fromkeys(QUANTITIES, 0)
    for seed in range(300):
        for name, found in compared(judges(0.4, 0.4, n=40, seed=seed), 300, seed).items():
            rejected[name] += found.pairs[0].p <= 0.05
    assert all(count <= 24 for count in rejected.values()), rejected
    assert all(count >= 5 for count in rejected.values()), rejected


def test_undefined_where_there_is_nothing_to_compare() -> None:
    empty = compared([judge(np.full((5, 2, 2), math.nan))] * 2)
    for found in empty.values():
        assert found.groups == ()
        assert np.isnan([found.rank[0], found.rank_low[0], found.pairs[0].p, found.pairs[0].p_adjusted]).all()


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


def test_one_judge_and_unlike_shapes_are_refused() -> None:
    one, other = (judge(np.zeros(shape)) for shape in ((5, 2, 2), (5, 2, 3)))
    for found in ([], [one], [one, other]):
        with pytest.raises(ValueError, match="judges must be two or more of one shape"):
            compared(found)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="resamples"):
        compare(judges(0.5, 0.1), LEVELS, rng(), resamples=0)
