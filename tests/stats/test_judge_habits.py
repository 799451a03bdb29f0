"""Habits of a judge: hand-worked and published tables, scipy, planted styles, simulations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dhp.stats.error_rates import error_rates
from dhp.stats.metric_relations import confusion, correlations
from dhp.stats.missing import failure_p
from dhp.stats.repeated_answers import flip_rate, sample_consistency
from dhp.stats.spread import spread, style_names

# Confusion -------------------------------------------------------------------------------------------------

DROPS = st.lists(st.floats(-4, 4).map(lambda x: round(x, 6)), min_size=2, max_size=5)


@pytest.mark.parametrize(
    ("drops", "weights", "expected"),
    [
        ([1.4, 0.6], [0.7, 0.3], 0.0),
        ([2.0, 0.0], [0.0, 1.0], 1.0),
        ([1.0, 1.0], [1.0, 0.0], 0.5),
        ([3.0, -2.0], [0.8, 0.2], 0.2),
        ([0.5, 0.5, 0.5, 0.5], [0.7, 0.1, 0.1, 0.1], 0.45),
    ],
)
def test_hand_worked(drops: list[float], weights: list[float], expected: float) -> None:
    assert confusion(drops, weights) == pytest.approx(expected)


def test_without_a_drop_nothing_is_misplaced_or_right() -> None:
    assert math.isnan(confusion([0, 0], [0.5, 0.5]))
    assert math.isnan(confusion([-1, -2], [0.5, 0.5]))
    assert math.isnan(confusion([1, math.nan], [0.5, 0.5]))


@given(DROPS, st.floats(0.1, 10))
def test_a_share_that_does_not_depend_on_the_size_of_the_drop(drops: list[float], factor: float) -> None:
    weights = np.arange(1, len(drops) + 1) / sum(range(1, len(drops) + 1))
    found = confusion(drops, weights)
    if max(drops) <= 0:
        assert math.isnan(found)
    else:
        assert 0 <= found <= 1
        assert confusion(np.array(drops) * factor, weights) == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize(
    ("values", "weights"),
    [([], []), ([1.0], [0.5, 0.5]), ([1.0, 2.0], [0.5, 0.6]), ([1.0, 2.0], [-0.5, 1.5])],
)
def test_what_does_not_fit_is_refused(values: list[float], weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        confusion(values, weights)


# Error rates -----------------------------------------------------------------------------------------------


def test_independent_texts_count_as_they_are() -> None:
    good = np.array([[5, 4, 3, 5, np.nan]])
    bad = np.array([[1, 4, 2, np.nan, 5]])
    found = error_rates(good, bad, 4)
    assert found.sensitivity == pytest.approx((3, 4))
    assert found.specificity == pytest.approx((2, 4))


def test_copies_of_a_text_add_nothing() -> None:
    once = np.array([[5, 4, 3, 5, 1, 2.0]])
    one, many = (error_rates(rows, rows, 4) for rows in (once, np.repeat(once, 9, axis=0)))
    assert many.sensitivity == pytest.approx(one.sensitivity)
    assert many.specificity == pytest.approx(one.specificity)


def test_rates_without_spread_count_examples() -> None:
    found = error_rates(np.full((3, 7), 5.0), np.full((2, 7), 1.0), 4)
    assert (found.sensitivity, found.specificity) == ((7, 7), (7, 7))


def test_no_texts_have_no_rates() -> None:
    assert error_rates(np.full((1, 3), np.nan), np.ones((1, 3)), 1) is None
    assert error_rates(np.ones((1, 3)), np.empty((0, 3)), 1) is None


# Failures --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [(0, 0), (3, 0), (1, 9), (6, 6)])
def test_it_is_the_exact_binomial_test(first: int, second: int) -> None:
    original = np.array([True] * first + [False] * second + [True, False])
    degraded = np.array([False] * first + [True] * second + [True, False])
    truth = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert failure_p(original, degraded) == pytest.approx(truth)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="one shape"):
        failure_p([True], [True, False])


# Flip rate -------------------------------------------------------------------------------------------------


def test_a_table_worked_by_hand() -> None:
    """Of three answers 0, 1, 2 or 3 pass: two differ in 0, 2/3, 2/3, 0 of the pairs."""
    scores = np.array([[1, 1, 1], [1, 1, 5], [1, 5, 5], [5, 5, 5], [np.nan, np.nan, 5]])
    found = flip_rate(scores, 3, np.arange(5))
    assert (found.value, found.n) == (pytest.approx(1 / 3), 4)


def test_of_two_answers_the_interval_is_wilsons() -> None:
    scores = np.repeat([[1.0, 5], [5, 5]], [60, 240], axis=0)
    found = flip_rate(scores, 3, np.arange(300))
    expected = stats.binomtest(60, 300).proportion_ci(method="wilson")
    assert found.ci == pytest.approx((expected.low, expected.high), abs=0.002)


def test_copies_of_texts_say_nothing_new() -> None:
    scores = np.repeat([[1.0, 5], [5, 5]], [12, 28], axis=0)
    alone = flip_rate(scores, 3, np.arange(40))
    copied = flip_rate(np.repeat(scores, 5, axis=0), 3, np.repeat(np.arange(40), 5))
    assert copied.ci[1] - copied.ci[0] > 0.85 * (alone.ci[1] - alone.ci[0])


def test_one_answer_a_text_shows_nothing() -> None:
    assert flip_rate(np.array([[1.0], [5.0]]), 3, np.arange(2)) is None


def test_the_interval_covers_the_rate_of_a_judge_that_throws_dice() -> None:
    """Each text passes with a probability p of its own, uniform: two answers differ in 1/3."""
    rng, held, runs = np.random.default_rng(0), 0, 400
    for _ in range(runs):
        scores = (rng.random((40, 3)) < rng.random((40, 1))).astype(float)
        found = flip_rate(scores, 0.5, np.arange(40))
        held += found.ci[0] <= 1 / 3 <= found.ci[1]
    assert 0.91 < held / runs < 0.99


# Response style --------------------------------------------------------------------------------------------


def test_a_distribution_by_hand() -> None:
    found = spread([[1, 2, 2], [4, np.nan, 4]])
    assert (found.mean, found.low, found.high) == (2.6, 1, 4)
    assert found.sd == pytest.approx(np.sqrt(1.8))
    assert found.histogram == {"1": 0.2, "2": 0.4, "4": 0.4}


def test_many_scores_are_binned_and_none_is_lost() -> None:
    found = spread(np.linspace(0, 100, 1001))
    assert len(found.histogram) == 20
    assert sum(found.histogram.values()) == pytest.approx(1)
    assert (found.low, found.high) == (5, 95)


@given(st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=30))
def test_no_share_is_lost_however_close_scores_are(scores: list[float]) -> None:
    close = [100000 + score * 1e-15 for score in scores]
    for each in (scores, close):
        assert sum(spread(each).histogram.values()) == pytest.approx(1)
    assert len(spread([1.0000001, 1.0000002, 1.0000003]).histogram) == 3


def test_what_is_no_distribution() -> None:
    assert spread([np.nan]) is None
    assert spread([3.0]).sd is None
    with pytest.raises(ValueError, match="finite"):
        spread([np.inf])


def test_scores_of_any_size() -> None:
    found = spread([1e306, 3e306] * 100)
    assert found.mean == pytest.approx(2e306)
    assert found.sd == pytest.approx(1e306, rel=0.01)


@pytest.mark.parametrize(
    ("originals", "degraded", "words"),
    [
        ([4, 5, 4, 5], [1, 2, 3, 2], ()),
        ([5, 5, 5, 5], [4, 4, 4, 2], ()),
        ([5, 5, 5, 5], [4, 4, 4, 4], ("lenient", "compressed")),
        ([2, 3, 3, 4], [1, 1, 1, 1], ("harsh",)),
        ([3, 4, 4, 4], [2, 2, 3, 3], ("compressed",)),
        ([3, 3, 3, 3], [3, 3, 3, 3], ("harsh", "compressed")),
    ],
)
def test_names_by_their_figures(originals: list[int], degraded: list[int], words: tuple[str, ...]) -> None:
    assert style_names(spread(originals), spread(degraded), 1, 5) == words
    grown = [spread(25 * (np.array(side) - 1)) for side in (originals, degraded)]
    assert style_names(*grown, 0, 100) == words


def test_the_bounds_of_the_names_belong_to_them() -> None:
    assert style_names(spread([4] * 4), spread([3] * 4), 1, 4) == ("lenient", "compressed")
    assert style_names(spread([3] * 4), spread([1, 2, 2, 2]), 1, 5) == ("harsh", "compressed")


def test_correlations_are_spearmans_over_shared_rows() -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(1, 6, (60, 3)).astype(float)
    x[:, 1] += x[:, 0]
    x[rng.random(x.shape) < 0.1] = np.nan
    found = correlations(x, "spearman")
    for i in range(3):
        for j in range(3):
            there = ~np.isnan(x[:, [i, j]]).any(axis=1)
            truth = stats.spearmanr(x[there, i], x[there, j]).statistic
            assert found[i, j] == pytest.approx(truth, abs=1e-12)


def test_an_undefined_correlation_is_no_number() -> None:
    found = correlations([[1, 5, np.nan], [2, 5, np.nan], [3, 5, 1], [4, 5, 2]], "spearman")
    assert np.isnan(found[0, 1])
    assert np.isnan(found[0, 2])
    assert found[0, 0] == 1


# Sample consistency ----------------------------------------------------------------------------------------

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def test_the_published_table() -> None:
    """Shrout and Fleiss (1979), table 2: between-target mean square 11.24, within 6.26, ICC(1,1) = .17."""
    found = sample_consistency(SHROUT_FLEISS)
    assert found.within == pytest.approx(6.26, abs=0.005)
    assert found.between == pytest.approx((11.24 - 6.26) / 4, abs=0.005)
    assert found.icc == pytest.approx(0.17, abs=0.005)
    assert found.identical == 0


def test_planted_variances_are_found() -> None:
    rng = np.random.default_rng(3)
    texts = rng.normal(3, 1.5, (4000, 1))
    found = sample_consistency(texts + rng.normal(0, 0.8, (4000, 5)))
    assert found.within == pytest.approx(0.64, rel=0.05)
    assert found.between == pytest.approx(2.25, rel=0.06)
    assert found.icc == pytest.approx(2.25 / 2.89, abs=0.02)
    uneven = texts + rng.normal(0, 0.8, (4000, 5))
    uneven[rng.random(uneven.shape) < 0.4] = np.nan
    uneven = uneven[~np.isnan(uneven).all(axis=1)]
    assert sample_consistency(uneven).icc == pytest.approx(2.25 / 2.89, abs=0.02)


def test_a_judge_that_always_says_the_same_of_a_text() -> None:
    steady = sample_consistency([[4, 4, 4], [2, 2, 2], [5, 5, np.nan]])
    assert (steady.within, steady.icc, steady.identical) == (0, 1, 1)
    one_digit = sample_consistency(np.full((6, 3), 4.0))
    assert (one_digit.dominance, one_digit.entropy, one_digit.distinct) == (1, 0, 1)
    assert one_digit.icc is None


def test_spread_over_the_scale() -> None:
    found = sample_consistency([[1], [2], [3], [4], [4], [4], [4], [4]])
    assert found.dominance == 5 / 8
    assert found.entropy == pytest.approx(3 * math.log2(8) / 8 + 5 / 8 * math.log2(8 / 5))
    assert (found.within, found.between, found.icc, found.identical) == (None, None, None, None)


@given(st.lists(st.lists(st.integers(1, 5), min_size=3, max_size=3), min_size=2, max_size=8), st.randoms())
def test_order_does_not_matter(rows: list[list[int]], rng: object) -> None:
    found = sample_consistency(rows)
    turned = sample_consistency([row[::-1] for row in rows[::-1]])
    assert found.identical == turned.identical
    assert found.entropy == pytest.approx(turned.entropy)
    if found.icc is not None:
        assert -0.5 - 1e-9 <= found.icc <= 1
        assert turned.icc == pytest.approx(found.icc, abs=1e-9)


@pytest.mark.parametrize("scores", [[], [1.0, 2.0], [[np.nan, np.nan]], [[1.0, np.inf]]])
def test_what_are_no_scores_is_refused(scores: object) -> None:
    with pytest.raises(ValueError, match="scores must have shape"):
        sample_consistency(scores)  # type: ignore[arg-type]
