"""Power by simulation: exact binomial chances, monotone curves, populations of known detection."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dhp.plugins.power.simulation import (
    PowerCurve,
    most_tied,
    outcomes,
    power_curve,
    power_interval,
    simulated_power,
)
from dhp.stats.detection import detection, verdict


def exact_power(truth: float, n: int) -> float:
    """Of one metric without ties, over all numbers of scores that may fall."""
    chance = 0.0
    for fell in range(n + 1):
        x = np.array([1.0] * fell + [-1.0] * (n - fell))[:, None, None]
        found = detection(x, ["a"])
        if verdict(found.value[0], found.low[0], found.high[0], n) == "noticed":
            chance += float(stats.binom.pmf(fell, n, truth))
    return chance


@pytest.mark.parametrize(("truth", "n"), [(0.75, 30), (0.9, 12)])
def test_it_is_the_exact_chance_of_the_verdict(truth: float, n: int) -> None:
    population = outcomes(truth)
    found = simulated_power(population, n, np.random.default_rng(1), runs=2000)
    low, high = power_interval(found, 2000)
    assert low - 0.01 <= exact_power(truth, n) <= high + 0.01


def test_kinds_judged_together_cost_power() -> None:
    population = outcomes(0.75)
    alone, many = (
        simulated_power(population, 40, np.random.default_rng(1), runs=500, together=k) for k in (1, 5000)
    )
    assert many < alone


@given(st.floats(0.05, 0.95), st.floats(0, 1), st.integers(1, 4), st.floats(0, 0.9))
def test_populations_have_the_detection_that_is_asked_for(
    truth: float, share: float, metrics: int, correlation: float
) -> None:
    tied = share * most_tied(truth)
    x = outcomes(truth, metrics, correlation, tied)
    assert ((1 + x) / 2).mean() == pytest.approx(truth, abs=0.01)
    assert (x == 0).mean() == pytest.approx(tied, abs=0.015)


@pytest.mark.parametrize(
    ("sizes", "power", "chance", "needed"),
    [
        (
            (1, 10, 20, 30),
            (0.0, 0.5, 0.7, 0.95),
            0.8,
            23,
        ),  # 4.47 + 0.283 (5.48 - 4.47) is 4.76, the root of 22.6
        (
            (1, 9, 16),
            (0.0, 0.5, 1.0),
            0.9,
            12,
        ),  # 3 + 1.28 / 3.72 is 3.34, the root of 11.2; 1 counts as 0.9999
        ((4, 9), (0.85, 0.9), 0.8, 4),
        ((1, 2), (0.0, 0.1), 0.9, None),
    ],
)
def test_needed_examples_by_hand(
    sizes: tuple[int, ...], power: tuple[float, ...], chance: float, needed: int | None
) -> None:
    """Between two sizes the normal deviate of the power is straight in the root of the number.

    The ends of the interval are where the limits of the power reach the chance, the upper one first.
    """
    found = PowerCurve(sizes, power, 500).needed(chance)
    assert found.n == needed
    limits = [stats.binomtest(round(500 * share), 500).proportion_ci(method="wilson") for share in power]
    for end, values in ((found.low, [at.high for at in limits]), (found.high, [at.low for at in limits])):
        assert end == PowerCurve(sizes, tuple(values), 500).needed(chance).n


def test_a_curve_ends_where_its_lower_limit_has_the_chance() -> None:
    curve = power_curve(lambda n: min(1.0, n / 50), 0.8, 1000, 500)
    assert curve.sizes[0] == 1
    assert power_interval(curve.power[-1], 500)[0] >= 0.8
    assert all(b <= max(a + 1, a * 4 // 3) for a, b in zip(curve.sizes, curve.sizes[1:], strict=False))


def test_the_interval_is_wilsons() -> None:
    found = stats.binomtest(40, 100).proportion_ci(method="wilson")
    assert power_interval(0.4, 100) == pytest.approx((found.low, found.high))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: outcomes(1.2), "detection must be"),
        (lambda: outcomes(0.9, tied=0.5), "detection must be"),
        (lambda: outcomes(0.6, 0), "metrics must be"),
        (lambda: outcomes(0.6, 2, 1.0), "correlation"),
        (lambda: simulated_power([[1.0]], 5, np.random.default_rng(0), runs=1), "P at least 2"),
        (lambda: simulated_power([[1.0], [0.0]], 0, np.random.default_rng(0), runs=1), "at least 1"),
        (lambda: PowerCurve((1,), (0.5,), 10).needed(1.0), "chance must be"),
    ],
)
def test_bad_input(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        call()
