"""Detection and its selected figures: hand-worked tables, exact coverage by enumeration, simulation."""

import math
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dhp.stats.detection import Estimate, detection, level_shares, metric_weights
from dhp.stats.selection import largest, smallest

Floats = npt.NDArray[np.float64]


def test_hand_worked() -> None:
    x = np.array([[[2.0, 0]], [[1, 0]], [[0, -1]], [[-3, math.nan]]])
    found = detection(x, ["word"])
    assert (found.fell[0, 0], found.tied[0, 0], found.rose[0, 0]) == (0.5, 0.25, 0.25)
    assert found.metrics.value[0].tolist() == pytest.approx([0.625, 1 / 3])
    assert found.pairs[0].tolist() == [4, 3]
    assert found.variants.value[0] == pytest.approx((0.625 + 1 / 3) / 2)
    assert found.best_metric.index[0] == 0
    assert found.best_metric.value[0] == 0.625


def test_weights_say_which_metric_should_fall() -> None:
    x = np.zeros((10, 1, 4))
    x[:, 0, 2] = 1.0
    assert detection(x, ["word"]).variants.value[0] == pytest.approx(0.625)
    right = detection(x, ["word"], [[0, 0, 1, 0]]).variants
    assert right.value[0] == 1
    alone = detection(x[:, :, 2:3], ["word"]).metrics
    assert (right.low[0], right.high[0]) == pytest.approx((alone.low[0, 0], alone.high[0, 0]))


def test_levels_weigh_the_same() -> None:
    x = np.ones((10, 3, 1))
    x[:, 0] = 0
    found = detection(x, ["word", "sentence", "sentence"])
    assert found.level_names == ("word", "sentence")
    assert found.levels.value.tolist() == [0.5, 1.0]
    assert found.average.value == pytest.approx(0.75)
    assert (found.minimum.index, found.minimum.value) == (0, 0.5)


def test_undefined_variants_have_no_part() -> None:
    x = np.ones((5, 2, 2))
    x[:, 1, 0] = math.nan
    found = detection(x, ["word", "sentence"])
    assert math.isnan(found.variants.value[1])
    assert found.level_names == ("word",)
    assert (found.average.value, found.minimum.index) == (1, 0)
    nothing = detection(np.full((5, 2, 1), math.nan), ["a", "b"])
    assert nothing.level_names == ()
    assert nothing.minimum.index == -1
    assert np.isnan([nothing.average.value, nothing.average.low, nothing.minimum.value]).all()


def test_a_judge_that_never_moves_is_blind() -> None:
    found = detection(np.zeros((24, 2, 3)), ["a", "b"])
    assert (found.metrics.value == 0.5).all()
    assert found.average.low < 0.5 < found.average.high


def test_one_pair_has_no_limits() -> None:
    found = detection(np.ones((1, 1, 1)), ["a"])
    assert found.average.value == 1
    assert np.isnan([found.average.low, found.minimum.low, found.minimum.high]).all()


def test_clusters_widen_where_they_agree() -> None:
    x = np.repeat(np.random.default_rng(1).normal(0.3, 1, (20, 2, 2)), 5, axis=0)
    alone, together = detection(x, ["a", "b"]), detection(x, ["a", "b"], clusters=np.arange(100) // 5)
    for one in ("metrics", "variants", "average"):
        narrow, wide = getattr(alone, one), getattr(together, one)
        assert ((wide.high - wide.low) > 1.5 * (narrow.high - narrow.low)).all()


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 30))
def test_reversed_scores_mirror_everything(seed: int, n: int) -> None:
    x = np.random.default_rng(seed).integers(-2, 3, (n, 3, 2)).astype(float)
    found, mirrored = detection(x, ["a", "b", "b"]), detection(-x, ["a", "b", "b"])
    for one in ("metrics", "variants", "levels", "average"):
        a, b = getattr(found, one), getattr(mirrored, one)
        assert a.value == pytest.approx(1 - b.value)
        assert a.low == pytest.approx(1 - b.high)
    assert found.minimum.low <= found.minimum.value <= found.minimum.high


@cache
def outcomes(n: int) -> tuple[list[tuple[int, int]], Estimate]:
    """Every number of pairs that fell and that rose, and what is found of each."""
    counts = [(i, j) for i, j in product(range(n + 1), repeat=2) if i + j <= n]
    x = np.array([[1.0] * i + [-1.0] * j + [0.0] * (n - i - j) for i, j in counts]).T[:, :, None]
    return counts, detection(x, ["a"] * len(counts)).metrics


def coverage(n: int, fell: float, rose: float) -> float:
    """Of the interval of one test, by counting every outcome."""
    counts, found = outcomes(n)
    chances = stats.multinomial.pmf([[i, j, n - i - j] for i, j in counts], n, [fell, rose, 1 - fell - rose])
    truth = (1 + fell - rose) / 2
    return float(chances @ ((found.low <= truth) & (truth <= found.high))[:, 0])


@pytest.mark.parametrize("fell", [0.1, 0.3, 0.5, 0.7, 0.9, 0.97])
@pytest.mark.parametrize("tied", [0.0, 0.1, 0.6])
def test_exact_coverage_of_one_test(fell: float, tied: float) -> None:
    rest = 1 - fell
    assert coverage(24, fell, rest * (1 - tied)) >= 0.92


@pytest.mark.slow
def test_coverage_of_what_depends_and_what_is_selected() -> None:
    """Four equal metrics that correlate, six variants of which the last two are equally hard."""
    rng = np.random.default_rng(1)
    drop, n, runs = np.array([1.5, 1.2, 1.0, 0.8, 0.3, 0.3]), 40, 400
    truth = stats.norm.cdf(drop / 2**0.5)
    hits = {"variants": 0.0, "average": 0.0, "minimum": 0.0, "best": 0.0}
    for _ in range(runs):
        shared, own = rng.normal(size=(n, 6, 1)), rng.normal(size=(n, 6, 4))
        found = detection(drop[:, None] + shared + own, ["a", "b"] * 3)
        for name, figure, true in (
            ("variants", found.variants, truth),
            ("average", found.average, truth.mean()),
            ("minimum", found.minimum, truth.min()),
            ("best", found.best_metric, truth),
        ):
            hits[name] += float(np.mean((figure.low <= true) & (true <= figure.high))) / runs
    assert 0.935 <= hits["variants"] <= 0.975
    assert 0.925 <= hits["average"] <= 0.98
    assert hits["minimum"] >= 0.935
    assert hits["best"] >= 0.935


def normal_limits(values: Floats, error: float):  # type: ignore[no-untyped-def]
    return lambda level: (
        values - stats.norm.ppf((1 + level) / 2) * error,
        values + stats.norm.ppf((1 + level) / 2) * error,
    )


def test_a_clear_minimum_costs_nearly_nothing() -> None:
    """Only a tenth of the error goes to finding out which figures may be the smallest."""
    values = np.array([0.5, 0.9, 0.95, 0.99])
    found = smallest(values, normal_limits(values, 0.01))
    assert found.low == pytest.approx(0.5 - 1.96 * 0.01, abs=1e-4)
    assert found.high == pytest.approx(0.5 + stats.norm.isf(0.0225) * 0.01)
    close = np.array([0.5, 0.501, 0.502, 0.503])
    assert smallest(close, normal_limits(close, 0.01)).high == pytest.approx(
        0.5 + stats.norm.isf(0.0225 / 4) * 0.01
    )


def test_one_figure_needs_no_correction() -> None:
    values = np.array([[0.7], [0.2]])
    lowest = smallest(values, normal_limits(values, 0.1))
    assert lowest.high == pytest.approx(values[:, 0] + 0.196, abs=1e-4)
    found = largest(values, normal_limits(values, 0.1))
    assert found.low == pytest.approx(values[:, 0] - 0.196, abs=1e-4)
    assert found.high == pytest.approx(values[:, 0] + 0.196, abs=1e-4)


def test_shares_of_levels() -> None:
    names, shares = level_shares(["a", "b", "a", "c"], np.array([True, True, True, False]))
    assert names == ("a", "b")
    assert shares.tolist() == [[0.5, 0, 0.5, 0], [0, 1, 0, 0], [0.25, 0.5, 0.25, 0]]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((2, 2)), "non-negative and sum to 1"),
        (np.ones((2, 3)), r"shape \(2, 2\)"),
        ([[2, -1], [0.5, 0.5]], "non-negative"),
        ([[math.nan, 1.0], [0.5, 0.5]], "non-negative"),
    ],
)
def test_weights_must_fit(weights: npt.ArrayLike, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metric_weights(weights, 2, 2)


def test_rows_without_weights_are_equal() -> None:
    assert metric_weights([[math.nan, math.nan], [1, 0]], 2, 2).tolist() == [[0.5, 0.5], [1, 0]]


@pytest.mark.parametrize(
    ("x", "levels"),
    [(np.zeros((2, 2)), ["a"]), (np.full((2, 1, 1), math.inf), ["a"]), (np.zeros((2, 1, 1)), ["a", "b"])],
)
def test_bad_input(x: Floats, levels: list[str]) -> None:
    with pytest.raises(ValueError, match=r"differences must have shape|levels must be 1 names"):
        detection(x, levels)
