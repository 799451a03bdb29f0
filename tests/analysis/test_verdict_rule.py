"""The verdict: the rules one by one, its error rates, and the examples that would decide."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.analysis.verdict_rule import control_state, verdict
from dhp.core.verdicts import RAISED
from dhp.stats.detection import detection, examples_to_decide, examples_to_separate


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (0.39, 0.37, 0.42, "preferred"),
        (0.5, 0.45, 0.59, "missed"),
        (0.45, 0.35, 0.5, "missed"),
        (0.5, 0.45, 0.6, "undecided"),
        (0.55, 0.51, 0.59, "faint"),
        (0.55, 0.51, 0.7, "faint"),
        (0.6, 0.51, 0.7, "noticed"),
        (0.8, 0.51, 0.95, "noticed"),
        (0.8, 0.5, 0.95, "undecided"),
        (0.7, 0.4, 0.9, "undecided"),
        (math.nan, math.nan, math.nan, "undecided"),
        (0.8, math.nan, math.nan, "undecided"),
    ],
)
def test_each_rule(value: float, low: float, high: float, expected: str) -> None:
    assert verdict(value, low, high, 50) == expected


def test_the_floor_moves_two_verdicts() -> None:
    assert verdict(0.65, 0.51, 0.8, 50, floor=0.7) == "faint"
    assert verdict(0.5, 0.45, 0.59, 50, floor=0.55) == "undecided"


def test_few_pairs_decide_nothing() -> None:
    assert [verdict(0.9, 0.6, 1.0, n) for n in (4, 5)] == ["undecided", "noticed"]


def test_damage_must_be_told_from_harmless_edits() -> None:
    said = [verdict(0.9, 0.7, 1.0, 50, above_controls=more) for more in (-0.1, 0.0, 0.1, math.nan)]
    assert said == ["as harmless edits", "as harmless edits", "noticed", "noticed"]
    assert verdict(0.55, 0.51, 0.59, 50, above_controls=-0.1) == "faint"
    quiet = [verdict(0.9, 0.7, 1.0, 50, above_controls=more, false_alarm=False) for more in (-0.1, 0.1)]
    assert quiet == ["undecided", "noticed"]


@pytest.mark.parametrize(
    ("value", "low", "high", "pairs", "expected"),
    [
        (0.5, 0.45, 0.55, 20, "still"),
        (0.5, 0.45, 0.55, 19, "not tested"),
        (0.55, 0.51, 0.59, 40, "still"),
        (0.55, 0.45, 0.65, 40, "not decided"),
        (0.7, 0.51, 0.8, 15, "false alarm"),
        (0.4, 0.3, 0.45, 40, "still"),
        (math.nan, math.nan, math.nan, 0, "not tested"),
    ],
)
def test_states_of_controls(value: float, low: float, high: float, pairs: int, expected: str) -> None:
    assert control_state(value, low, high, pairs) == expected


def test_an_attack_is_raised() -> None:
    assert control_state(0.7, 0.51, 0.8, 40, alarm=RAISED) == "raised"


@given(
    st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.integers(0, 50), st.sampled_from([0.55, 0.6, 0.75])
)
def test_no_verdict_contradicts_the_figures_beside_it(
    a: float, b: float, c: float, pairs: int, floor: float
) -> None:
    low, value, high = sorted((a, b, c))
    said = verdict(value, low, high, pairs, floor=floor)
    assert said != "noticed" or (value >= floor and low > 0.5)
    assert said != "missed" or high < floor
    assert said != "preferred" or high < 0.5
    assert (said in ("noticed", "faint")) <= (low > 0.5)
    assert not (said == "noticed" and control_state(value, low, high, pairs, floor=floor) == "still")


SHAPES = {"independent": 0.0, "halo": 1.0}


def shares(truth: float, n: int, correlation: float, runs: int) -> dict[str, float]:
    """Of the verdicts in runs of 12 kinds and four metrics that all detect so much, a third of them tied."""
    rng, fell = np.random.default_rng([n, int(1000 * truth)]), truth - 1 / 6
    counts: dict[str, int] = {}
    for _ in range(runs):
        draws = rng.random((n, 12, 4))
        draws = np.where(rng.random((n, 12, 1)) < correlation, draws[:, :, :1], draws)
        x = np.where(draws < fell, 1.0, np.where(draws < fell + 1 / 3, 0.0, -1.0))
        found = detection(x, ["a"] * 12)
        for ends in zip(found.value, found.low, found.high, strict=True):
            said = verdict(*map(float, ends), n)
            counts[said] = counts.get(said, 0) + 1
    return {said: count / runs / 12 for said, count in counts.items()}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [24, 100, 200])
def test_more_examples_never_turn_a_verdict_over(shape: str, n: int) -> None:
    """Damage at 55 % is noticed in at most 5 % of runs, at 65 % missed in at most 1 %."""
    assert shares(0.55, n, SHAPES[shape], 40).get("noticed", 0.0) <= 0.07  # 480 kinds; 0.05 + 2 errors
    assert shares(0.65, n, SHAPES[shape], 20).get("missed", 0.0) <= 0.01


@pytest.mark.parametrize("shape", SHAPES)
def test_a_blind_judge_notices_nothing(shape: str) -> None:
    assert shares(0.5, 100, SHAPES[shape], 40).get("noticed", 0.0) * 12 <= 0.05


def test_examples_that_would_decide() -> None:
    """The lower width times 1 + 0.8416 / 2 is 0.2842: at 0.7 that takes (0.2842 / 0.2)^2 times as many."""
    assert examples_to_decide(100, 0.7, 0.5, 0.9, (2.0, 2.0)) == 202
    assert examples_to_decide(100, 0.5, 0.402, 0.65, (2.0, 2.0)) == math.ceil(
        100 * (0.15 * 1.42081 / 0.1) ** 2
    )
    assert examples_to_decide(100, math.nan, math.nan, math.nan, (2.0, 2.0)) is None
    assert examples_to_decide(100, 0.5001, 0.1, 0.5002 + 0.4, (2.0, 2.0), floor=0.5002) is None


def test_examples_that_would_put_an_interval_on_one_side_of_a_limit() -> None:
    """Half a width of 0.1 of 1.96 errors, 1 + 0.8416 / 1.96 times as wide for a chance of 80 %: 0.1429."""
    assert examples_to_separate(50, 0.85, 0.75, 0.95, 0.8) == math.ceil(50 * (0.142939 / 0.05) ** 2)
    assert examples_to_separate(50, 0.75, 0.65, 0.85, 0.8) == math.ceil(50 * (0.142939 / 0.05) ** 2)
    assert examples_to_separate(50, 0.8, 0.7, 0.9, 0.8) is None, "on the line"
    assert examples_to_separate(50, 0.8001, 0.7, 0.9, 0.8) is None, "beyond 100,000"
    assert examples_to_separate(50, 0.9, 0.89, 0.91, 0.8) == 51, "already there"
