"""Simulated power against exact probabilities, scipy's test, a published formula and known intervals."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from dhp.stats.effects import effect
from dhp.stats.power import (
    PowerCurve,
    power_curve,
    power_interval,
    shifted,
    simulated_power,
)
from dhp.stats.wilcoxon.signed_rank import signed_rank
from tests.stats.test_combine import combine

RUNS = 1000


def rng(*key: int) -> np.random.Generator:
    return np.random.default_rng(key)


def curve(population: np.ndarray, limit: int = 2000) -> PowerCurve:
    drawn = rng(8)
    return power_curve(lambda n: simulated_power(population, n, drawn, runs=RUNS), 0.9, limit, RUNS)


@pytest.mark.parametrize(("mean", "n"), [(0.2, 40), (0.4, 30), (0.8, 15)])
def test_one_continuous_metric_is_as_scipys_wilcoxon_finds_it(mean: float, n: int) -> None:
    runs = rng(n).normal(mean, 1, (4000, n))
    p = scipy_stats.wilcoxon(runs, alternative="greater", axis=1).pvalue
    population = shifted(2 * scipy_stats.norm.cdf(mean * np.sqrt(2)) - 1)
    found = simulated_power(population, n, rng(n, 1), runs=4000)
    assert found == pytest.approx((p <= 0.05).mean(), abs=0.04)


@pytest.mark.parametrize("share", [0.1, 0.3, 1.0])
def test_a_judge_that_is_never_wrong_needs_five_drops(share: float) -> None:
    population = np.repeat([1.0, 0.0], [round(10 * share), 10 - round(10 * share)])[:, None]
    for n in (4, 5, 20, 60):
        found = simulated_power(population, n, rng(n), runs=4000)
        assert found == pytest.approx(scipy_stats.binom.sf(4, n, share), abs=0.035)
    found_curve = curve(population)
    for chance in (0.8, 0.9):
        exact = next(n for n in range(1, 200) if scipy_stats.binom.sf(4, n, share) >= chance)
        needed = found_curve.needed(chance)
        assert needed.n == pytest.approx(exact, rel=0.06)
        assert needed.low is not None
        assert needed.high is not None
        assert needed.low <= (needed.n or 0) <= needed.high


def with_zeros(size: float, nonzero: float) -> float:
    """The effect of the same shift where only a share of the scores moves."""
    shift = scipy_stats.norm.ppf((1 + size) / 2) / np.sqrt(2)
    return float(nonzero**2 * size + 2 * nonzero * (1 - nonzero) * (2 * scipy_stats.norm.cdf(shift) - 1))


@pytest.mark.slow
@pytest.mark.parametrize(("size", "chance"), [(0.15, 0.9), (0.2, 0.8)])
def test_small_effects_need_as_many_examples_as_noether_says(size: float, chance: float) -> None:
    z = scipy_stats.norm.ppf(0.95) + scipy_stats.norm.ppf(chance)
    noether = z**2 / (3 * (size / 2) ** 2)
    assert curve(shifted(size)).needed(chance).n == pytest.approx(noether, rel=0.1)
    half = curve(shifted(with_zeros(size, 0.5), nonzero=0.5)).needed(chance).n
    assert half == pytest.approx(2 * noether, rel=0.1), "scores that do not move do not count"


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 6, 20, 100])
def test_without_an_effect_the_level_is_held(n: int) -> None:
    for nonzero in (1.0, 0.3):
        runs = 2000
        of_chance = 5 * math.sqrt(0.05 * 0.95 / runs)
        one, several = shifted(0.0, nonzero=nonzero), shifted(0.0, 4, 0.3, nonzero)
        assert simulated_power(one, n, rng(n), runs=runs) <= 0.05 + of_chance
        assert simulated_power(several, n, rng(n), runs=runs) <= 0.06 + of_chance


@pytest.mark.slow
def test_without_an_effect_no_number_is_enough() -> None:
    needed = curve(shifted(0.0, 4, 0.3), limit=50).needed(0.8)
    assert (needed.n, needed.low, needed.high) == (None, None, None)


def test_the_simulation_tests_each_run_as_a_run_is_tested() -> None:
    population = np.round(rng(0).normal(0.4, 1, (50, 3)), 1)
    population[::7, 1] = np.nan
    found = simulated_power(population, 15, rng(1), runs=300)
    drawn = population[rng(1).integers(50, size=(300, 15))]
    noticed = 0
    for run in drawn:
        logs = [signed_rank(column[~np.isnan(column)]).log_p for column in run.T]
        noticed += combine(logs) <= np.log(0.05)
    assert 0.1 < found < 0.9
    assert found == pytest.approx(noticed / 300, abs=0.0034), "one of 300: p-values are those of log_tails"


@pytest.mark.slow
def test_power_grows_with_the_effect_and_the_share_that_moves() -> None:
    def at(population: np.ndarray, n: int) -> float:
        return simulated_power(population, n, rng(n), runs=RUNS)

    sizes = [at(shifted(r, 4, 0.5), 40) for r in (-0.3, 0, 0.15, 0.3, 0.5, 1)]
    assert sizes == sorted(sizes)
    assert sizes[0] < 0.01
    assert sizes[-1] == 1
    shares = [at(shifted(with_zeros(0.4, q), 4, 0.5, q), 30) for q in (0.2, 0.5, 1)]
    assert shares == sorted(shares)


def test_the_model_has_the_effect_asked_for() -> None:
    population = shifted(0.35, 3, 0.6, 0.5)
    for column in population.T:
        found = effect(column)
        assert found.rank_biserial == pytest.approx(0.35, abs=0.01)
        assert found.tied == pytest.approx(0.5, abs=0.01)
    whole = np.asarray(np.corrcoef(shifted(0.35, 3, 0.6).T))
    assert whole[np.triu_indices(3, 1)] == pytest.approx(0.6, abs=0.01)
    assert (shifted(1.0) > 0).all()


def test_by_default_500_runs_are_simulated() -> None:
    population = rng(0).normal(0.5, 1, (50, 1))
    assert simulated_power(population, 10, rng(1)) == simulated_power(population, 10, rng(1), runs=500)


def test_runs_without_a_pair_notice_nothing() -> None:
    assert simulated_power(np.full((5, 2), np.nan), 30, rng(0), runs=10) == 0


def test_the_printed_combination_is_liberal() -> None:
    found = simulated_power(shifted(0.0, 4), 50, rng(0), runs=2000, combination="printed")
    assert found > 0.15


@given(st.integers(1, 2000), st.data())
def test_the_interval_of_a_share_is_wilsons(runs: int, data: st.DataObject) -> None:
    noticed = data.draw(st.integers(0, runs))
    wilson = scipy_stats.binomtest(noticed, runs).proportion_ci(method="wilson")
    assert power_interval(noticed / runs, runs) == pytest.approx((wilson.low, wilson.high), abs=1e-9)


@given(st.floats(0.1, 3), st.floats(1.65, 3), st.sampled_from([0.5, 0.8, 0.9]))
def test_a_power_that_follows_the_root_is_read_exactly(slope: float, line: float, chance: float) -> None:
    normal = NormalDist()
    found = power_curve(lambda n: normal.cdf(slope * math.sqrt(n) - line), 0.9, 5000, 100_000)
    exact = max(1, math.ceil(((normal.inv_cdf(chance) + line) / slope) ** 2))
    needed = found.needed(chance)
    assert needed.n == pytest.approx(exact, abs=1)
    assert needed.low is not None
    assert needed.low <= exact + 1
    assert needed.high is None or needed.high >= exact - 1


@given(st.integers(1, 400), st.integers(1, 300))
def test_a_power_that_jumps_is_found_within_a_step(first: int, limit: int) -> None:
    needed = power_curve(lambda n: float(n >= first), 0.9, limit, 1000).needed(0.8)
    assert (needed.n is None) == (first > limit)
    if needed.n is not None:
        assert needed.n == pytest.approx(first, rel=1 / 3)


def test_a_size_whose_power_is_too_low_is_never_enough() -> None:
    assert PowerCurve((10, 13), (0.8 - 1e-12, 0.95), 1000).needed(0.8).n == 11


def test_values_out_of_range() -> None:
    good = np.ones((3, 1))
    for bad in (np.ones(3), np.ones((1, 2)), np.ones((3, 0)), np.full((3, 1), np.inf)):
        with pytest.raises(ValueError, match="population must have shape"):
            simulated_power(bad, 5, rng(0))
    with pytest.raises(ValueError, match="unknown combination 'fisher'"):
        simulated_power(good, 5, rng(0), combination="fisher")  # type: ignore[arg-type]
    for metrics, correlation, nonzero in ((0, 0, 1), (1, 1, 1), (1, 0, 0)):
        with pytest.raises(ValueError, match="metrics must be at least 1"):
            shifted(0, metrics, correlation, nonzero)
    for size, nonzero in ((1.1, 1), (0.8, 0.5), (math.nan, 1)):
        with pytest.raises(ValueError, match="effect must be in"):
            shifted(size, nonzero=nonzero)
    for n, runs in ((0, 5), (5, 0)):
        with pytest.raises(ValueError, match="n and runs must be at least 1"):
            simulated_power(good, n, rng(0), runs=runs)
    with pytest.raises(ValueError, match="chance must be between 0 and 1"):
        PowerCurve((1,), (0.5,), 10).needed(1.0)
