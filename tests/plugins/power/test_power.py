"""Power: how many examples a judge needs to notice damage, from populations and pilots."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dhp
from dhp.analysis.verdict_rule import verdicts
from dhp.core.errors import InputError
from dhp.plugins.power.curve import PowerCurve, power_curve, power_interval
from dhp.plugins.power.population import most_tied, outcomes
from dhp.plugins.power.power import power, power_of_detection
from dhp.plugins.power.question import Question
from dhp.plugins.power.simulation import simulated_power
from dhp.stats.detection import detection
from dhp.stats.flips import flip_log_p
from tests.cli.conftest import Run

FEW = Question(runs=60, n=50)


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("power") / "run"
    dhp.run("mock/ideal?random_typos=0", "mini/story_cloze", out=folder)
    return folder


@pytest.mark.slow
def test_what_is_seen_needs_fewer_examples_than_what_is_hardly_seen() -> None:
    (strong,), (weak,) = (power_of_detection(x, FEW, metrics=1).variants for x in (95, 70))
    assert strong.n_80.n < weak.n_80.n
    assert strong.miss < weak.miss


def test_below_the_floor_no_number_is_enough() -> None:
    found = power_of_detection(55, FEW)
    assert found.range_80 is None
    for row in found.variants:
        assert not row.reachable
        assert row.n_80 is None or row.n_80.n is None


@pytest.mark.slow
def test_several_metrics_give_a_range_and_a_correlation_one_number_within_it() -> None:
    whole = power_of_detection(75, Question(runs=200))
    low, high = whole.range_80
    assert low < high
    assert whole.to_json()["range_80"] == (low, high)
    (between,) = power_of_detection(75, Question(runs=200), correlation=0.5).variants
    assert low - 3 <= between.n_80.n <= high + 3
    assert power_of_detection(75, FEW, metrics=1).range_80 is None


@pytest.mark.slow
def test_a_pilot_speaks_of_its_kinds(pilot: Path) -> None:
    (found,) = power(pilot, question=FEW)
    assert (found.pilot, found.kinds, found.floor) == (30, 6, 0.6)
    rows = {row.variant: row for row in found.variants}
    assert rows["random_deletions"].verdict == "noticed"
    assert rows["random_deletions"].miss == 0
    assert not rows["random_typos"].reachable


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power_of_detection(0.7, FEW), "`detection` 0.7"),
        (lambda: power_of_detection(101, FEW), "`detection` 101"),
        (lambda: power_of_detection(70, FEW, correlation=1), "correlation: 1; must be"),
        (lambda: power_of_detection(70, FEW, metrics=51), "`metrics` 51"),
        (lambda: power_of_detection(90, FEW, tied=50), "tied"),
        (lambda: Question(n=0), "`question.n` 0"),
        (lambda: Question(runs=0), "`question.runs` 0"),
        (lambda: Question(kinds=0), "`question.kinds` 0: must be"),
    ],
)
def test_bad_input_is_one_line(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def exact_power(truth: float, n: int) -> float:
    """Of one metric without ties, over all numbers of scores that may fall."""
    chance = 0.0
    for fell in range(n + 1):
        x = np.array([1.0] * fell + [-1.0] * (n - fell))[:, None, None]
        found = detection(x, ["a"])
        if verdicts(found, flip_log_p(x)) == ["noticed"]:
            chance += float(stats.binom.pmf(fell, n, truth))
    return chance


@pytest.mark.slow
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
        # 4.47 + 0.283 (5.48 - 4.47) is 4.76, the root of 22.6
        ((1, 10, 20, 30), (0.0, 0.5, 0.7, 0.95), 0.8, 23),
        # 3 + 1.28 / 3.72 is 3.34, the root of 11.2; 1 counts as 0.9999
        ((1, 9, 16), (0.0, 0.5, 1.0), 0.9, 12),
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


QUICK = ("--simulate", "40", "--n", "50")


@pytest.mark.slow
def test_a_detection_in_words_and_as_json(dhp: Run) -> None:
    said = dhp("power", "--detection", "80", *QUICK)
    assert said.code == 0
    assert "12 kinds judged together, noticed from 60% on" in said.out
    (found,) = json.loads(dhp("power", "--detection", "80", *QUICK, "--json").out)
    assert (found["kinds"], found["n"], found["runs"]) == (12, 50, 40)
    assert found["variants"][0]["n_80"]["n"] > 10


@pytest.mark.slow
def test_the_same_seed_gives_the_same_figures(dhp: Run) -> None:
    one, two = (dhp("power", "--detection", "75", *QUICK, "--seed", "3", "--json").out for _ in range(2))
    assert one == two
