"""AUROC and the standardised drop against scipy, brute force and the jackknife."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dhp.stats import unpaired
from dhp.stats.influences import Influences, student_interval, wilson_interval
from dhp.stats.unpaired import auroc_influences, standardised_drop_influences

Floats = npt.NDArray[np.float64]
SCORES = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=25)


def one(method: object, x: npt.ArrayLike, y: npt.ArrayLike) -> Influences:
    return method(np.asarray(x, dtype=float)[:, None], np.asarray(y, dtype=float)[:, None, None])  # type: ignore[operator]


def test_hand_worked() -> None:
    """Of nine pairs 6 are won and 2 tied."""
    found = one(auroc_influences, [3, 5, 2], [2, 1, 4])
    assert found.value[0, 0] == pytest.approx((6 + 0.5) / 9)
    assert found.influence.sum() == pytest.approx(0)


@given(SCORES)
def test_it_is_mann_and_whitneys(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=float).T
    truth = stats.mannwhitneyu(x, y).statistic / x.size**2
    assert one(auroc_influences, x, y).value[0, 0] == pytest.approx(truth)


@given(SCORES)
def test_the_variance_is_delongs(pairs: list[tuple[int, int]]) -> None:
    """var V10 / n + var V01 / n + 2 cov(V10, V01) / n, as original and copy belong to one example."""
    x, y = np.array(pairs, dtype=float).T
    kernel = (x[:, None] > y) + (x[:, None] == y) / 2
    components = np.cov(kernel.mean(axis=1), kernel.mean(axis=0))
    assert one(auroc_influences, x, y).variance()[0][0, 0] == pytest.approx(components.sum() / x.size)


@pytest.mark.parametrize("method", [auroc_influences, standardised_drop_influences])
def test_influences_are_those_of_the_jackknife(method: object) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(3, 1, 300), rng.normal(2, 1.5, 300)
    found = one(method, x, y)
    without = [one(method, np.delete(x, i), np.delete(y, i)).value[0, 0] for i in range(40)]
    assert (found.value[0, 0] - np.array(without)) == pytest.approx(
        found.influence[:40, 0, 0] * 300 / 299, abs=1e-4
    )


def test_the_drop_is_cohens_d() -> None:
    x, y = np.array([4.0, 5, 3, 4, 4]), np.array([2.0, 4, 3, 1, 2])
    expected = (x.mean() - y.mean()) / math.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2)
    found = one(standardised_drop_influences, x, y)
    assert found.value[0, 0] == pytest.approx(expected)
    low, high = student_interval(found)
    assert low[0, 0] < expected < high[0, 0]


def test_pairs_that_lack_a_score_are_left_out() -> None:
    x, y = np.array([4.0, 5, math.nan, 3, 4]), np.array([2.0, math.nan, 1, 3, 1])
    kept = [0, 3, 4]
    for method in (auroc_influences, standardised_drop_influences):
        found = one(method, x, y)
        assert found.value[0, 0] == pytest.approx(one(method, x[kept], y[kept]).value[0, 0])
        assert found.influence[[1, 2], 0, 0].tolist() == [0, 0]
        assert found.defined[:, 0, 0].tolist() == [True, False, False, True, True]


def test_undefined_is_not_a_number() -> None:
    nothing = one(auroc_influences, [math.nan, 1], [1, math.nan])
    assert np.isnan(nothing.value).all()
    assert np.isnan(wilson_interval(nothing)).all()
    constant = one(standardised_drop_influences, [5, 5, 5], [1, 1, 1])
    assert np.isnan(constant.value).all()
    assert np.isnan(student_interval(constant)).all()


def test_a_perfect_judge_still_has_an_interval_of_some_width() -> None:
    low, high = wilson_interval(one(auroc_influences, [5] * 24, [1] * 24))
    assert 0.8 < low[0, 0] < 0.95
    assert high[0, 0] == pytest.approx(1)


@pytest.mark.slow
def test_coverage() -> None:
    rng, runs, shift = np.random.default_rng(1), 400, 1.2
    auroc, drop = stats.norm.cdf(shift / 2 / 0.5**0.5 / 2**0.5), shift / 2**0.5
    hits = np.zeros(2)
    for _ in range(runs):
        quality = rng.normal(size=(50, 1, 1))
        x, y = (quality + rng.normal(size=(50, 1, 1)))[:, 0], quality + rng.normal(-shift, 1, (50, 1, 1))
        for i, (method, interval, true) in enumerate(
            (
                (auroc_influences, wilson_interval, auroc),
                (standardised_drop_influences, student_interval, drop),
            )
        ):
            low, high = interval(method(x, y))
            hits[i] += (low[0, 0] <= true <= high[0, 0]) / runs
    assert ((hits >= 0.925) & (hits <= 0.98)).all()


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.zeros((3, 2)), np.zeros((3, 2)), "must have shape"),
        (np.zeros((3, 2)), np.zeros((3, 1, 1)), "must have shape"),
        (np.full((3, 1), math.inf), np.zeros((3, 1, 1)), "finite or NaN"),
    ],
)
def test_bad_input(x: Floats, y: Floats, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        auroc_influences(x, y)


def test_variants_computed_apart_are_those_computed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.integers(1, 6, (30, 2)).astype(float), rng.integers(1, 6, (30, 5, 2)).astype(float)
    x[3, 0], y[7, 2, 1] = np.nan, np.nan
    whole = standardised_drop_influences(x, y)
    monkeypatch.setattr(unpaired, "_CELLS", 130)
    apart = standardised_drop_influences(x, y)
    np.testing.assert_array_equal(apart.value, whole.value)
    np.testing.assert_array_equal(apart.influence, whole.influence)
