"""Three states: the rules one by one, and the examples that would decide."""

import math

import numpy as np
import pytest

from dhp.stats.detection import detection
from dhp.stats.verdict import examples_to_decide, verdict

SURE, UNSURE = math.log(0.01), math.log(0.2)


@pytest.mark.parametrize(
    ("log_p", "value", "high", "pairs", "options", "expected"),
    [
        (SURE, 0.8, 0.9, 50, {}, "noticed"),
        (math.log(0.05), 0.8, 0.9, 50, {}, "noticed"),
        (UNSURE, 0.55, 0.65, 50, {}, "undecided"),
        (UNSURE, 0.5, 0.59, 50, {}, "missed"),
        (UNSURE, 0.5, 0.59, 50, {"floor": 0.55}, "undecided"),
        (SURE, 0.8, 0.9, 4, {}, "undecided"),
        (SURE, 0.8, 0.9, 5, {}, "noticed"),
        (UNSURE, 0.2, 0.4, 4, {}, "undecided"),
        (SURE, 0.8, 0.9, 50, {"controls": 0.8}, "undecided"),
        (SURE, 0.8, 0.9, 50, {"controls": 0.7}, "noticed"),
        (SURE, 0.55, 0.59, 50, {"controls": 0.7}, "missed"),
        (math.nan, math.nan, math.nan, 50, {}, "undecided"),
    ],
)
def test_each_rule(
    log_p: float, value: float, high: float, pairs: int, options: dict[str, float], expected: str
) -> None:
    assert verdict(log_p, value, high, pairs, **options) == expected


def test_missed_is_wrong_in_few_runs_at_the_floor() -> None:
    """True detection of 60 %: 2,000 runs of 2.5 % stay below 3.3 %."""
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(10):
        x = rng.choice([1.0, 0.0, -1.0], (40, 200, 1), p=[0.4, 0.4, 0.2])
        found = detection(x, ["all"] * 200).variants
        wrong += sum(verdict(0.0, 0.5, high, 40) == "missed" for high in found.high.tolist())
    assert 10 < wrong <= 66


def test_examples_that_would_decide() -> None:
    """A share of the deviate: z = 1 needs ((1.645 + 0.842) / 1) ** 2 = 6.18 times the examples."""
    log_p = math.log(0.15865525393)
    assert examples_to_decide(100, log_p, 1, 0.7, (0.5, 0.9)) == 619
    assert examples_to_decide(100, log_p, 1, 0.7, (0.5, 0.9), controls=0.8) is None
    assert examples_to_decide(100, 0.0, 1, 0.5, (0.402, 0.598)) == 197
    assert examples_to_decide(100, math.nan, 1, math.nan, (math.nan, math.nan)) is None
    assert examples_to_decide(100, math.log(0.49), 12, 0.7, (0.5, 0.9)) is None
