"""Where a drop fell and where it was expected: hand-worked figures and properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.stats.judge_habits import confusion

DROPS = st.lists(st.floats(-4, 4).map(lambda x: round(x, 6)), min_size=2, max_size=5)


@pytest.mark.parametrize(
    ("drops", "weights", "expected"),
    [
        ([1.4, 0.6], [0.7, 0.3], 0.0),
        ([2.0, 0.0], [0.0, 1.0], 1.0),
        ([1.0, 1.0], [1.0, 0.0], 0.5),
        ([3.0, -2.0], [0.8, 0.2], 0.2),
        ([0.5, 0.5, 0.5, 0.5], [0.7, 0.1, 0.1, 0.1], 0.45),
    ],
)
def test_hand_worked(drops: list[float], weights: list[float], expected: float) -> None:
    assert confusion(drops, weights) == pytest.approx(expected)


def test_without_a_drop_nothing_is_misplaced_or_right() -> None:
    assert math.isnan(confusion([0, 0], [0.5, 0.5]))
    assert math.isnan(confusion([-1, -2], [0.5, 0.5]))
    assert math.isnan(confusion([1, math.nan], [0.5, 0.5]))


@given(DROPS, st.floats(0.1, 10))
def test_a_share_that_does_not_depend_on_the_size_of_the_drop(drops: list[float], factor: float) -> None:
    weights = np.arange(1, len(drops) + 1) / sum(range(1, len(drops) + 1))
    found = confusion(drops, weights)
    if max(drops) <= 0:
        assert math.isnan(found)
    else:
        assert 0 <= found <= 1
        assert confusion(np.array(drops) * factor, weights) == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize(
    ("values", "weights"),
    [([], []), ([1.0], [0.5, 0.5]), ([1.0, 2.0], [0.5, 0.6]), ([1.0, 2.0], [-0.5, 1.5])],
)
def test_what_does_not_fit_is_refused(values: list[float], weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        confusion(values, weights)
