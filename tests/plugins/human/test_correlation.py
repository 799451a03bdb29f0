"""Correlations equal scipy's at every level, under resampling too; what is undefined says so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from dhp.plugins.human.correlation import Coefficient, Correlation, correlations

SCIPY = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: stats.kendalltau(x, y).statistic,
    "kendall-c": lambda x, y: stats.kendalltau(x, y, variant="c").statistic,
}


def data(seed: int, sources: int = 9, systems: int = 6, missing: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 6, (sources, systems)).astype(float)
    judge = np.round(human + rng.normal(0, 1.5, human.shape))
    judge.flat[rng.choice(judge.size, missing, replace=False)] = np.nan
    return human, judge


def one(human: np.ndarray, judge: np.ndarray, level: str, coefficient: str, **more: object) -> Correlation:
    (found,) = correlations(human, judge, coefficients=[coefficient], levels=[level], **more)  # type: ignore[list-item, arg-type]
    return found


@pytest.mark.parametrize("coefficient", SCIPY)
@pytest.mark.parametrize("seed", range(3))
def test_point_estimates_equal_scipy(coefficient: Coefficient, seed: int) -> None:
    human, judge = data(seed)
    f = SCIPY[coefficient]
    there = ~np.isnan(judge)
    within = [f(h[t], j[t]) for h, j, t in zip(human, judge, there, strict=True)]
    pooled = f(human[there], judge[there])
    means = [np.nanmean(np.where(there, v, np.nan), axis=0) for v in (human, judge)]
    expected = {"per_source": np.mean(within), "pooled": pooled, "system": f(*means)}
    for level, value in expected.items():
        assert one(human, judge, level, coefficient).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_a_resample_is_the_correlation_of_the_drawn_sources(coefficient: Coefficient) -> None:
    """Percentiles of two resamples at 'confidence' 1 are their smallest and largest value."""
    human, judge = data(1, missing=0)
    counts = np.random.default_rng(5).multinomial(len(human), np.full(len(human), 1 / len(human)), size=2)
    drawn = [np.repeat(np.arange(len(human)), c) for c in counts]
    for level in ("pooled", "system"):
        values = []
        for rows in drawn:
            sides = [v[rows].ravel() if level == "pooled" else v[rows].mean(axis=0) for v in (human, judge)]
            values.append(SCIPY[coefficient](*sides))
        found = one(
            human, judge, level, coefficient, resamples=2, confidence=1.0, rng=np.random.default_rng(5)
        )
        assert found.ci == pytest.approx((min(values), max(values)), abs=1e-12)


def test_constant_sources_are_left_out_and_counted() -> None:
    human, judge = data(2, missing=0)
    judge[3] = 4.0
    kept = np.delete(np.arange(len(human)), 3)
    expected = np.mean([stats.pearsonr(human[i], judge[i]).statistic for i in kept])
    found = one(human, judge, "per_source", "pearson")
    assert (found.n, found.left_out) == (8, 1)
    assert found.value == pytest.approx(expected)


def test_pooled_rests_on_items_however_many_share_their_scores() -> None:
    human, judge = data(3, sources=40, systems=25, missing=5)
    assert len(np.unique(human)) * len(np.unique(judge)) < 100
    assert one(human, judge, "pooled", "pearson").n == 40 * 25 - 5


@pytest.mark.parametrize("level", ["per_source", "pooled", "system"])
def test_what_cannot_be_correlated_is_undefined(level: str) -> None:
    human, _ = data(0, missing=0)
    for judge in (np.full(human.shape, 3.0), np.full(human.shape, 0.1)):
        for coefficient in SCIPY:
            found = one(human, judge, level, coefficient)
            assert (found.value, found.ci) == (None, None)
    two_points = one(human[:1, :2], human[:1, :2] * 2, level, "pearson")
    assert two_points.value is None


@pytest.mark.slow
@given(arrays(float, (4, 5), elements=st.integers(0, 4)), arrays(float, (4, 5), elements=st.integers(0, 4)))
def test_swapping_and_rescaling_change_nothing(human: np.ndarray, judge: np.ndarray) -> None:
    for found, other in zip(correlations(human, judge), correlations(2 * judge + 1, human), strict=True):
        assert found.value == pytest.approx(other.value, abs=1e-9)
        if found.value is not None:
            assert -1 <= found.value <= 1
