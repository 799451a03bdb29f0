"""Power by formula against exact probabilities, scipy's test, a published formula and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from dhp.stats.combine import combine
from dhp.stats.effects import effect
from dhp.stats.power import Power, SignedRanks, shifted, simulated_power, smallest
from dhp.stats.wilcoxon.signed_rank import signed_rank


def rng(*key: int) -> np.random.Generator:
    return np.random.default_rng(key)


def grid(mean: float, sd: float, metrics: int = 4) -> np.ndarray:
    """Differences of whole scores."""
    return np.round(rng(3).normal(mean, sd, (6000, metrics)))


@pytest.mark.parametrize(("mean", "n"), [(0.2, 40), (0.4, 30), (0.8, 15)])
def test_one_continuous_metric_is_as_scipys_wilcoxon_finds_it(mean: float, n: int) -> None:
    runs = rng(n).normal(mean, 1, (4000, n))
    p = scipy_stats.wilcoxon(runs, alternative="greater", axis=1).pvalue
    population = shifted(2 * scipy_stats.norm.cdf(mean * np.sqrt(2)) - 1)
    assert Power.of(population).at(n) == pytest.approx((p <= 0.05).mean(), abs=0.03)


@pytest.mark.parametrize("share", [0.1, 0.3, 1.0])
def test_a_judge_that_is_never_wrong_needs_five_drops(share: float) -> None:
    population = np.repeat([1.0, 0.0], [round(10 * share), 10 - round(10 * share)])[:, None]
    power = Power.of(population)
    for n in (4, 5, 20, 60):
        assert power.at(n) == pytest.approx(scipy_stats.binom.sf(4, n, share), abs=0.002)
    exact = next(n for n in range(1, 200) if scipy_stats.binom.sf(4, n, share) >= 0.8)
    assert power.needed(0.8) == exact


def with_zeros(size: float, nonzero: float) -> float:
    """The effect of the same shift where only a share of the scores moves."""
    shift = scipy_stats.norm.ppf((1 + size) / 2) / np.sqrt(2)
    return float(nonzero**2 * size + 2 * nonzero * (1 - nonzero) * (2 * scipy_stats.norm.cdf(shift) - 1))


@pytest.mark.parametrize(("size", "chance"), [(0.1, 0.8), (0.15, 0.9), (0.2, 0.8)])
def test_small_effects_need_as_many_examples_as_noether_says(size: float, chance: float) -> None:
    z = scipy_stats.norm.ppf(0.95) + scipy_stats.norm.ppf(chance)
    noether = z**2 / (3 * (size / 2) ** 2)
    needed = Power.of(shifted(size)).needed(chance)
    assert needed == pytest.approx(noether, rel=0.05)
    half = Power.of(shifted(with_zeros(size, 0.5), nonzero=0.5)).needed(chance)
    assert half == pytest.approx(2 * noether, rel=0.05), "scores that do not move do not count"


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 6, 20, 100, 1000])
def test_without_an_effect_the_level_is_held(n: int) -> None:
    for nonzero in (1.0, 0.3):
        assert Power.of(shifted(0.0, nonzero=nonzero)).at(n) <= 0.053
        several = shifted(0.0, 4, 0.3, nonzero)
        assert Power.of(several, combination="hmp-asymptotic").at(n) <= 0.06
        assert Power.of(several).needed(0.8) is None


POPULATIONS = {
    "few equal steps": np.repeat([[1.0], [0.0], [-1.0]], [4, 5, 1], axis=0),
    "whole scores": grid(0.3, 0.8),
    "one whole score": grid(0.5, 1.2, 1),
    "fine scores": np.round(rng(1).normal(0.3, 1, (6000, 4)), 1),
    "skewed": np.exp(rng(2).normal(0, 1, (6000, 2))) - 1.2,
    "never wrong": (rng(6).random((6000, 4)) < 0.15).astype(float),
    "correlated": shifted(0.5, 4, 0.8, 0.6),
    "one metric of four": np.column_stack([shifted(0.0, 3), shifted(0.6)]),
    "missing": np.where(rng(4).random((6000, 3)) < 0.2, np.nan, rng(5).normal(0.4, 1, (6000, 3))),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize("n", [15, 30])
def test_formula_and_simulation_agree(name: str, n: int) -> None:
    population = POPULATIONS[name]
    found = simulated_power(population, n, rng(n), runs=3000)
    assert Power.of(population).at(n) == pytest.approx(found, abs=0.045)


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


def test_p_values_are_right_in_the_tail() -> None:
    m = 20
    counts = np.ones(1)
    for rank in range(1, m + 1):
        counts = np.convolve(counts, np.eye(1, rank + 1, rank)[0] + np.eye(1, rank + 1)[0])
    exact = counts[::-1].cumsum()[::-1] / 2.0**m
    w = np.array([135.0, 150.0, 165.0, 175.0])
    population = SignedRanks.of(shifted(0.0)[:, 0])
    sd = np.sqrt(m * (m**2 / 3 + m / 3 + 1 / 3))  # of W+ less W-, by projection
    found = np.exp(population.log_p(np.full(4, float(m)), (2 * w - m * (m + 1) / 2) / sd, "exact"))
    assert found == pytest.approx(exact[w.astype(int)], rel=0.05)


@given(
    st.lists(st.integers(-2, 4), min_size=2, max_size=30),
    st.sampled_from([(5, 10), (12, 30), (40, 200), (300, 2000)]),
)
@settings(max_examples=60, derandomize=True)
def test_more_examples_never_hurt_where_scores_fall(values: list[int], sizes: tuple[int, int]) -> None:
    population = np.array(values, dtype=float)[:, None]
    power = Power.of(population)
    few, many = power.at(sizes[0]), power.at(sizes[1])
    assert 0 <= few <= 1
    if effect(population[:, 0]).rank_biserial > 0.05:
        assert many >= few - 0.01


def test_power_grows_with_the_effect_and_the_share_that_moves() -> None:
    sizes = [Power.of(shifted(r, 4, 0.5)).at(40) for r in (-0.3, 0, 0.1, 0.3, 0.5, 1)]
    assert sizes == sorted(sizes)
    assert sizes[0] < 0.01
    assert sizes[-1] == 1
    shares = [Power.of(shifted(with_zeros(0.4, q), 4, 0.5, q)).at(30) for q in (0.2, 0.5, 1)]
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


def test_a_missing_pair_counts_as_little_as_one_that_did_not_move() -> None:
    gaps = POPULATIONS["missing"]
    filled = np.where(np.isnan(gaps), 0.0, gaps)
    assert Power.of(gaps).at(30) == Power.of(filled).at(30)
    assert Power.of(np.full((5, 2), np.nan)).at(30) == 0
    assert simulated_power(np.full((5, 2), np.nan), 30, rng(0), runs=10) == 0


def test_the_printed_combination_is_liberal() -> None:
    nothing = shifted(0.0, 4)
    assert Power.of(nothing, combination="printed").at(50) > 0.15
    found = simulated_power(nothing, 50, rng(0), runs=2000, method="scipy", combination="printed")
    paper = Power.of(nothing, method="scipy", combination="printed").at(50)
    assert paper == pytest.approx(found, abs=0.04)


@given(st.integers(1, 400), st.integers(1, 300), st.integers(1, 300))
def test_the_search_finds_the_first_number_that_is_enough(first: int, guess: int, limit: int) -> None:
    found = smallest(lambda n: float(n >= first), 0.5, limit, guess=guess)
    assert found == (first if first <= limit else None)
    close = smallest(lambda n: float(n >= first), 0.5, limit, guess=guess, tolerance=0.1)
    assert (close is None) == (found is None)
    if close is not None:
        assert first <= close <= first / 0.9 + 1


def test_values_out_of_range() -> None:
    good = np.ones((3, 1))
    for bad in (np.ones(3), np.ones((1, 2)), np.ones((3, 0)), np.full((3, 1), np.inf)):
        with pytest.raises(ValueError, match="population must have shape"):
            Power.of(bad)
    with pytest.raises(ValueError, match="unknown combination 'fisher'"):
        Power.of(good, combination="fisher")  # type: ignore[arg-type]
    for metrics, correlation, nonzero in ((0, 0, 1), (1, 1, 1), (1, 0, 0)):
        with pytest.raises(ValueError, match="metrics must be at least 1"):
            shifted(0, metrics, correlation, nonzero)
    for size, nonzero in ((1.1, 1), (0.8, 0.5), (math.nan, 1)):
        with pytest.raises(ValueError, match="effect must be in"):
            shifted(size, nonzero=nonzero)
    with pytest.raises(ValueError, match="n must be at least 1"):
        Power.of(good).at(0)
    with pytest.raises(ValueError, match="n and runs must be at least 1"):
        simulated_power(good, 5, rng(0), runs=0)
    with pytest.raises(ValueError, match="chance must be between 0 and 1"):
        Power.of(good).needed(1.0)
