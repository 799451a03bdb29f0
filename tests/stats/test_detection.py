"""Detection by the best metric: hand-worked tables, exact coverage by enumeration, simulation."""

import math
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dhp.stats.arrays import level_shares, metric_weights
from dhp.stats.bounds import mean_interval
from dhp.stats.detection import averaged_kinds, detection, detection_influences
from dhp.stats.examples_needed import examples_to_separate

Floats = npt.NDArray[np.float64]


def with_shares(fell: int, tied: int, rose: int) -> Floats:
    return np.array([1.0] * fell + [0.0] * tied + [-1.0] * rose)


def test_hand_worked() -> None:
    x = np.array([[[2.0, 0]], [[1, 0]], [[0, -1]], [[-3, math.nan]]])
    found = detection(x, ["word"])
    assert (found.fell[0, 0], found.tied[0, 0], found.rose[0, 0]) == (0.5, 0.25, 0.25)
    assert found.metric_value[0].tolist() == pytest.approx([0.625, 1 / 3])
    assert found.pairs[0].tolist() == [4, 3]


def test_one_metric_is_the_kind() -> None:
    x = with_shares(14, 6, 4)[:, None, None]
    found = detection(x, ["word"])
    low, high = mean_interval(detection_influences(x))
    assert found.value[0] == found.metric_value[0, 0] == pytest.approx(17 / 24)
    assert found.low[0] == found.metric_low[0, 0] == low[0, 0]
    assert found.high[0] == found.metric_high[0, 0] == high[0, 0]


def test_an_interval_does_not_hang_on_the_other_kinds() -> None:
    one = with_shares(20, 2, 2)[:, None, None]
    alone, among = detection(one, ["a"]), detection(np.repeat(one, 30, axis=1), ["a"] * 30)
    assert (alone.low[0], alone.high[0]) == (among.low[7], among.high[7])


def test_no_limit_denies_what_the_exact_one_holds() -> None:
    """24 of 24 by one of four metrics, of which three never move."""
    x = np.zeros((24, 1, 4))
    x[:, 0, 2] = 1.0
    found = detection(x, ["a"])
    exact = stats.binomtest(24, 24).proportion_ci().low
    assert found.low[0] <= exact + 1e-9
    assert found.metric_low[0, 2] == pytest.approx(exact)


def test_the_value_is_that_of_a_metric_that_stands_out() -> None:
    x = np.zeros((50, 1, 4))
    x[:, 0, 2] = 1.0
    found = detection(x, ["word"])
    assert found.value[0] == pytest.approx(1.0)


def test_equal_metrics_have_their_common_value() -> None:
    x = np.repeat(with_shares(14, 6, 4)[:, None, None], 4, axis=2)
    assert detection(x, ["word"]).value[0] == pytest.approx(17 / 24)


def test_the_cross_fitted_value_by_hand() -> None:
    """Three examples, two metrics: each outcome is weighted by what the other two examples say."""
    x = np.array([[[1.0, 0]], [[1, 0]], [[0, -1]]])

    def weight(others: list[tuple[float, float]]) -> float:
        """Of the first metric; its net share is ahead of the other's."""
        net = np.mean(others, axis=0)
        moved = [(abs(a) + abs(b) + 2) / 4 for a, b in zip(*others, strict=True)]
        shrunk = [(a + b) / 4 for a, b in zip(*others, strict=True)]
        error = math.sqrt(np.mean([m - s**2 for m, s in zip(moved, shrunk, strict=True)]))
        behind = math.exp(-1.5 * (3 * (net[0] - net[1]) ** 2) / error**2)
        return 1 / (1 + behind)

    signs = [(1.0, 0.0), (1.0, 0.0), (0.0, -1.0)]
    first, second = weight([signs[1], signs[2]]), weight([signs[0], signs[1]])
    by_hand = (2 * (first * 1 + (1 - first) * 0.5) + (second * 0.5 + (1 - second) * 0.0)) / 3
    assert detection(x, ["a"]).seen.value[0, 0] == pytest.approx(by_hand)


def blind_bias(n: int, correlation: float, runs: int = 1500) -> float:
    rng = np.random.default_rng(n)
    shared, own = rng.normal(size=(n, runs, 1)), rng.normal(size=(n, runs, 4))
    x = np.round(math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own)
    return float(detection(x, ["a"] * runs).value.mean()) - 0.5


@pytest.mark.parametrize(("n", "most"), [(24, 0.02), (100, 0.01)])
@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_the_value_does_not_flatter_a_blind_judge(n: int, most: float, correlation: float) -> None:
    """The largest of four plain detections would be 0.03 to 0.1 too high."""
    assert abs(blind_bias(n, correlation, 500)) < most


def test_levels_weigh_the_same_and_few_pairs_do_not_count() -> None:
    x = np.ones((10, 4, 1))
    x[:, 0] = 0
    x[4:, 3] = math.nan
    found = detection(x, ["word", "sentence", "sentence", "word"])
    assert found.average[0] == pytest.approx(0.75)
    assert found.lowest == 0
    assert found.value[3] == 1.0  # it has a figure, but no part in the average


def test_what_is_undefined() -> None:
    x = np.ones((5, 2, 2))
    x[:, 1, 0] = math.nan
    found = detection(x, ["word", "sentence"])
    assert found.value.tolist() == [1.0, 1.0]
    nothing = detection(np.full((5, 2, 1), math.nan), ["a", "b"])
    assert nothing.lowest == -1
    assert np.isnan([nothing.average[0], nothing.average[1], *nothing.value]).all()


def test_a_judge_that_never_moves_is_blind() -> None:
    found = detection(np.zeros((24, 2, 3)), ["a", "b"])
    assert (found.value == 0.5).all()
    assert found.average[1] < 0.5 < found.average[2]


def test_clusters_widen_where_they_agree() -> None:
    x = np.repeat(np.random.default_rng(1).normal(0.3, 1, (20, 2, 2)), 5, axis=0)
    alone, together = detection(x, ["a", "b"]), detection(x, ["a", "b"], np.arange(100) // 5)
    for low, high in (("low", "high"), ("metric_low", "metric_high")):
        narrow, wide = (getattr(each, high) - getattr(each, low) for each in (alone, together))
        assert (wide > 1.4 * narrow).all()
    assert together.average[2] - together.average[1] > 1.4 * (alone.average[2] - alone.average[1])


def test_the_metric_is_chosen_by_other_clusters() -> None:
    """Two clusters whose metrics contradict each other: neither may choose for itself."""
    x = np.zeros((20, 1, 2))
    x[:10, 0, 0], x[10:, 0, 1] = 1.0, 1.0
    clusters = np.arange(20) // 10
    assert detection(x, ["a"], clusters).seen.value[0, 0] < 0.55 < detection(x, ["a"]).seen.value[0, 0]


@given(st.integers(0, 2**32 - 1), st.integers(2, 30))
def test_order_of_examples_and_metrics_does_not_matter(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(-2, 3, (n, 3, 3)).astype(float)
    x[rng.random(x.shape) < 0.1] = math.nan
    found = detection(x, ["a", "b", "b"])
    mixed = detection(x[rng.permutation(n)][:, :, [2, 0, 1]], ["a", "b", "b"])
    for one in ("value", "low", "high", "average"):
        np.testing.assert_allclose(getattr(found, one), getattr(mixed, one), atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(1, 4))
def test_values_lie_within_their_limits_and_between_the_metrics(seed: int, n: int, metrics: int) -> None:
    x = np.random.default_rng(seed).integers(-1, 2, (n, 2, metrics)).astype(float)
    found = detection(x, ["a", "b"])
    assert (found.low <= found.value + 1e-12).all()
    assert (found.value <= found.high + 1e-12).all()
    assert (found.value <= found.metric_value.max(axis=1) + 1e-12).all()


@cache
def outcomes(n: int) -> tuple[list[tuple[int, int]], Floats]:
    """Every number of pairs that fell and that rose, and the limits of each as the only kind."""
    counts = [(i, j) for i, j in product(range(n + 1), repeat=2) if i + j <= n]
    kinds = [detection(with_shares(i, n - i - j, j)[:, None, None], ["a"]) for i, j in counts]
    return counts, np.array([(kind.low[0], kind.high[0]) for kind in kinds])


@pytest.mark.parametrize("fell", [0.1, 0.3, 0.5, 0.7, 0.9, 0.97])
@pytest.mark.parametrize("tied", [0.0, 0.1, 0.6])
def test_exact_coverage_of_one_kind(fell: float, tied: float) -> None:
    """By counting every outcome of 24 pairs; nominal is 95 %."""
    counts, limits = outcomes(24)
    rose = (1 - fell) * (1 - tied)
    chances = stats.multinomial.pmf(
        [[i, j, 24 - i - j] for i, j in counts], 24, [fell, rose, 1 - fell - rose]
    )
    truth = (1 + fell - rose) / 2
    held = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    assert 0.95 <= float(chances @ held) <= 1.0


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
    with pytest.raises(ValueError, match=r"differences|levels must be 1 names"):
        detection(x, levels)


def test_the_mean_over_levels_is_one_figure() -> None:
    """Two kinds of the first level fell in all and in half of the pairs, one of the second in none."""
    differences = np.array([[[1.0], [1.0], [-1.0]], [[1.0], [-1.0], [-1.0]]])
    levels = ["word", "word", "sentence"]
    average = averaged_kinds(detection(differences, levels).seen, levels, np.ones(3, bool))
    assert average.value.tolist() == [(3 / 4 + 0) / 2]


def test_examples_that_would_put_an_interval_on_one_side_of_a_limit() -> None:
    """Half a width of 0.1 of 1.96 errors, 1 + 0.8416 / 1.96 times as wide for a chance of 80 %: 0.1429."""
    assert examples_to_separate(50, 0.85, 0.75, 0.95, 0.8) == math.ceil(50 * (0.142939 / 0.05) ** 2)
    assert examples_to_separate(50, 0.75, 0.65, 0.85, 0.8) == math.ceil(50 * (0.142939 / 0.05) ** 2)
    assert examples_to_separate(50, 0.8, 0.7, 0.9, 0.8) is None, "on the line"
    assert examples_to_separate(50, 0.8001, 0.7, 0.9, 0.8) is None, "beyond 100,000"
    assert examples_to_separate(50, 0.9, 0.89, 0.91, 0.8) == 51, "already there"


@pytest.mark.parametrize("clusters", [None, np.arange(30) // 3])
def test_the_one_sided_limit_is_that_of_the_test(clusters: npt.NDArray[np.int64] | None) -> None:
    x = np.sign(np.random.default_rng(3).normal(0.4, 1, (30, 40, 2)))
    found = detection(x, ["all"] * 40, clusters)
    beyond = found.at_least(0.05) > 0.55
    assert beyond.tolist() == (found.log_p_above(0.55) <= math.log(0.05)).tolist()
    assert 0 < beyond.sum() < 40
    assert (found.at_least(0.05) > found.low).all()
