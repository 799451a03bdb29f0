"""Psychometric curves: scipy's optimiser and isotonic regression as truth, hand-worked cases, coverage."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from dhp.stats.arrays import cluster_draws
from dhp.stats.psychometric import _threshold, crossing, curve, fit, monotone, psychometric, threshold_grid

DOSES = np.array([1.0, 2, 4, 8, 16, 32])
Floats = npt.NDArray[np.float64]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def judged(n: int, t75: float, power: float = 1.0, lapse: float = 0.0, seed: int = 1) -> Floats:
    """Differences of one metric that fall as often as the curve says, with no ties."""
    p = curve(DOSES, t75, power, lapse)
    return np.where(rng(seed).random((n, DOSES.size, 1)) < p[:, None], 1.0, -1.0)


def test_the_curve_is_that_of_signal_detection() -> None:
    """d' proportional to the dose, in a choice between two texts."""
    assert curve(DOSES, 4, 1, 0) == pytest.approx(stats.norm.cdf(stats.norm.ppf(0.75) * DOSES / 4))


@given(st.floats(0.5, 30), st.floats(0.4, 4), st.floats(0, 0.24))
def test_the_curve_passes_75_per_cent_at_t75_and_ends_at_the_lapses(
    t75: float, power: float, lapse: float
) -> None:
    at = curve([1e-9, t75, 1e9], t75, power, lapse)
    assert at.tolist() == pytest.approx([0.5, 0.75, 1 - lapse], abs=1e-3)


@given(st.floats(0.5, 30), st.floats(0.4, 4), st.floats(0.25, 0.5))
def test_a_curve_that_ends_below_75_per_cent_passes_half_of_its_rise_at_its_threshold(
    threshold: float, power: float, lapse: float
) -> None:
    at = curve([1e-9, threshold, 1e9], threshold, power, lapse)
    assert at.tolist() == pytest.approx([0.5, 0.5 + (0.5 - lapse) / 2, 1 - lapse], abs=1e-3)


def test_a_judge_that_sees_nothing_has_a_flat_curve() -> None:
    assert curve(DOSES, 4, 1, 0.5).tolist() == [0.5] * 6


@pytest.mark.parametrize(("t75", "power"), [(3.0, 1.0), (9.0, 2.0), (20.0, 0.7)])
def test_the_fit_is_the_maximum_of_the_likelihood(t75: float, power: float) -> None:
    pairs = np.full((1, 6), 200.0)
    sums = np.round(pairs * curve(DOSES, t75, power, 0.0))

    def loss(at: Floats) -> float:
        p = np.clip(curve(DOSES, math.exp(at[0]), math.exp(at[1]), 0.0), 1e-6, 1 - 1e-6)
        return float(-(sums @ np.log(p) + (pairs - sums) @ np.log1p(-p))[0])

    truth = optimize.minimize(loss, [math.log(5), 0.0], method="Nelder-Mead").x
    found, powers, lapses = fit(DOSES, sums, pairs)
    assert found[0] == pytest.approx(math.exp(truth[0]), rel=0.04)
    assert powers[0] == pytest.approx(math.exp(truth[1]), rel=0.2)
    assert lapses[0] <= 0.03


@pytest.mark.parametrize("lapse", [0.03, 0.07, 0.12, 0.18, 0.24, 0.26, 0.32, 0.4])
def test_lapses_are_found_and_do_not_move_the_threshold_far(lapse: float) -> None:
    """A curve that ends below 75 per cent reaches them nowhere."""
    pairs = np.full((1, 6), 1000.0)
    found, _, lapses = fit(DOSES, pairs * curve(DOSES, 4, 1.5, lapse), pairs)
    assert found[0] == pytest.approx(4 if lapse < 0.25 else math.inf, rel=0.1)
    assert lapses[0] == pytest.approx(lapse)


def ends_at_74(n: int, rng: np.random.Generator) -> Floats:
    """A judge that looks at 48 % of the texts, and there sees every dose but the smallest."""
    looks, fell = rng.random((n, 1)) < 0.48, rng.choice([1.0, -1.0], (n, DOSES.size))
    return np.where(looks & (DOSES > 1), 1.0, fell)[:, :, None]


@pytest.mark.slow
@pytest.mark.parametrize("n", [24, 100])
def test_of_a_judge_that_ends_at_74_per_cent_the_interval_says_not_reached(n: int) -> None:
    found = [psychometric(DOSES, ends_at_74(n, rng(s)), rng(s), resamples=100).fitted for s in range(30)]
    assert sum(math.isinf(one[2]) for one in found) >= 26
    assert any(math.isinf(one[0]) for one in found)
    assert all(math.isinf(one[2]) for one in found if math.isinf(one[0]))


def test_where_the_monotone_fit_does_not_reach_75_per_cent_t75_is_not_reached() -> None:
    """Detection falls behind the third dose, so that the pooled one stays at 70 %."""
    share = np.array([0.5, 0.55, 0.9, 0.6, 0.6, 0.7])
    x = np.where(np.arange(20)[:, None] < 20 * share, 1.0, -1.0)[:, :, None]
    found = psychometric(DOSES, x, rng(), resamples=20)
    assert found.fitted[0] == math.inf


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=7))
def test_monotone_is_scipys_isotonic_regression(counts: list[tuple[int, int]]) -> None:
    fell, not_fell = np.array(counts, dtype=float).T
    pairs = fell + not_fell + 1
    expected = optimize.isotonic_regression(fell / pairs, weights=pairs).x
    assert monotone(fell[None], pairs[None])[0] == pytest.approx(np.maximum(expected, 0.5))


@pytest.mark.parametrize(
    ("detection", "expected"),
    [
        ([0.5, 0.5, 1.0, 1, 1, 1], math.sqrt(8)),
        ([0.5, 0.7, 0.8, 1, 1, 1], math.sqrt(8)),
        ([0.5, 0.75, 1.0, 1, 1, 1], 2),
        ([0.8, 0.9, 1.0, 1, 1, 1], 0),
        ([0.5, 0.5, 0.5, 0.6, 0.7, 0.74], math.inf),
    ],
)
def test_crossings_by_hand(detection: list[float], expected: float) -> None:
    assert crossing(DOSES, np.array([detection]))[0] == pytest.approx(expected)


def test_it_finds_the_threshold_whatever_n() -> None:
    for n in (100, 400):
        found = psychometric(DOSES, judged(n, 5.0), rng(), resamples=200)
        assert found.fitted[1] < 5 < found.fitted[2]
        assert found.fitted[0] == pytest.approx(5, rel=0.3)
        assert found.pairs.tolist() == [n] * 6


def test_detection_is_that_of_the_data() -> None:
    x = judged(20, 6.0)
    found, fell = psychometric(DOSES, x, rng(), resamples=5), (x[:, :, 0] > 0).mean(axis=0)
    assert found.detection == pytest.approx(fell)


def test_it_is_the_same_every_time() -> None:
    once, again = (psychometric(DOSES, judged(30, 5.0), rng(3), resamples=50) for _ in range(2))
    assert once.fitted == again.fitted


def test_thresholds_outside_the_doses_are_not_guessed() -> None:
    sharp = psychometric(DOSES, np.ones((40, 6, 1)), rng(), resamples=50)
    assert sharp.fitted[0] == sharp.fitted[1] == 0
    dull = psychometric(DOSES, judged(200, 300.0), rng(), resamples=50)
    assert dull.fitted[0] == dull.fitted[2] == math.inf


def test_two_clusters_have_limits_and_one_has_none() -> None:
    x, halves = judged(40, 6.0), np.repeat([0, 1], 20)
    two = psychometric(DOSES, x, rng(), resamples=50, clusters=halves).fitted
    one = psychometric(DOSES, x, rng(), resamples=50, clusters=np.zeros(40, dtype=int)).fitted
    assert two[1] <= two[2]
    assert math.isnan(one[1])
    assert math.isnan(one[2])


@pytest.mark.slow
def test_limits_are_percentiles_expanded_for_few_examples() -> None:
    """The normal tail beyond t * sqrt(n / (n - 1)) (Hesterberg 2015) as a rank (Davison and Hinkley 1997)."""
    x = judged(25, 6.0)
    found = psychometric(DOSES, x, rng(3), resamples=400, level=0.8).fitted
    times, fell = cluster_draws(np.arange(25), 400, rng(3)).T.astype(float), (x[:, :, 0] > 0).astype(float)
    by_resample = fit(DOSES, times @ fell, times @ np.ones(fell.shape))[0]
    tail = stats.norm.sf(stats.t.ppf(0.9, 24) * math.sqrt(25 / 24))
    rank, drawn = math.floor(tail * 401), np.sort(by_resample)
    assert (found[1], found[2]) == pytest.approx((drawn[rank - 1], drawn[400 - rank]))
    assert DOSES[0] < found[1] < found[0] < found[2] < DOSES[-1]


def test_a_fit_stays_on_the_grid_where_every_score_falls_at_every_dose() -> None:
    pairs = np.full((1, DOSES.size), 50.0)
    assert fit(DOSES, pairs, pairs)[0] == pytest.approx(threshold_grid(DOSES)[0])


def test_where_nothing_moves_it_is_undefined() -> None:
    found = psychometric(DOSES, np.zeros((20, 6, 2)), rng(), resamples=20)
    assert np.isnan([found.fitted[0], found.fitted[1], found.fitted[2], found.power]).all()
    assert found.detection.tolist() == [0.5] * 6


def test_too_little_data_is_undefined() -> None:
    one_dose = judged(20, 5.0)
    one_dose[:, 1:] = math.nan
    found = psychometric(DOSES, one_dose, rng(), resamples=20)
    assert math.isnan(found.fitted[0])
    assert found.pairs.tolist() == [20, 0, 0, 0, 0, 0]
    one_cluster = psychometric(DOSES, judged(20, 5.0), rng(), clusters=[1] * 20, resamples=20)
    assert one_cluster.fitted[0] > 0
    assert math.isnan(one_cluster.fitted[1])


def test_the_curve_is_that_of_the_metric_that_sees_the_damage() -> None:
    """One metric of four sees it, as kinds of damage are judged; three are blind."""
    blind = np.random.default_rng(9).choice([1.0, -1.0], (100, 6, 3))
    seen = judged(100, 3.0)
    alone = psychometric(DOSES, seen, rng(2), resamples=50)
    among = psychometric(DOSES, np.concatenate([blind, seen], axis=2), rng(2), resamples=50)
    assert among.fitted[0] == pytest.approx(alone.fitted[0], rel=0.1)
    assert among.detection == pytest.approx(alone.detection, abs=0.03)


def test_clusters_widen() -> None:
    x = np.repeat(judged(25, 5.0), 4, axis=0)
    alone = psychometric(DOSES, x, rng(), resamples=300).fitted
    together = psychometric(DOSES, x, rng(), clusters=np.arange(100) // 4, resamples=300).fitted
    assert math.log(together[2] / together[1]) > 1.4 * math.log(alone[2] / alone[1])


@pytest.mark.slow
@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10))
def test_thresholds_are_in_units_of_the_dose(seed: int, unit: float) -> None:
    x = judged(20, 6.0, seed=seed)
    plain, scaled = (psychometric(DOSES * u, x, rng(seed), resamples=30) for u in (1.0, unit))
    assert scaled.fitted == pytest.approx(tuple(unit * end for end in plain.fitted))


@pytest.mark.slow
@pytest.mark.parametrize("n", [24, 100])
def test_coverage(n: int) -> None:
    t75, runs = 6.0, 100
    hits = 0
    for seed in range(runs):
        found = psychometric(DOSES, judged(n, t75, 1.3, 0.05, seed), rng(seed), resamples=200).fitted
        hits += found[1] <= t75 <= found[2]
    assert hits / runs >= 0.89


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"doses": [1, 2]}, r"doses must have shape \(6,\)"),
        ({"doses": [0, 1, 2, 3, 4, 5]}, "positive and increasing"),
        ({"differences": np.zeros((3, 6))}, "differences"),
        ({"resamples": 0}, "resamples must be at least 1"),
        ({"clusters": [1, 2]}, "clusters"),
    ],
)
def test_bad_input(change: dict[str, npt.ArrayLike], message: str) -> None:
    given_: dict[str, object] = {"doses": DOSES, "differences": judged(20, 5.0), "rng": rng(), **change}
    with pytest.raises(ValueError, match=message):
        psychometric(**given_)  # type: ignore[arg-type]


def test_the_interval_of_a_threshold_is_by_rank_of_the_resamples_alone() -> None:
    """The second of 99 from either end with very many clusters; 0 below the doses, infinite above."""
    resamples = np.arange(2.0, 101)
    found = np.append(1.5, resamples)
    assert _threshold(found, np.array([1.0, 200]), 10**6, 0.95) == (1.5, 3.0, 99.0)
    assert _threshold(found, np.array([3.5, 98.5]), 10**6, 0.95) == (0.0, 0.0, math.inf)
    assert _threshold(found, np.array([1.0, 200]), 1, 0.95)[0] == 1.5
    assert np.isnan(_threshold(found, np.array([1.0, 200]), 1, 0.95)[1:]).all()
