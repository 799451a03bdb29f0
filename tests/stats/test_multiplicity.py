"""Adjusted p-values against hand-worked cases, definitions and scipy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.stats.discernment import holm

probabilities = st.lists(st.floats(1e-300, 1.0), min_size=1, max_size=12)


def test_holm_hand_worked() -> None:
    # 4 * .01, 3 * .02, then 2 * .03 = .06 = the one before, then 1 * .2
    assert np.exp(holm(np.log([0.03, 0.01, 0.2, 0.02]))) == pytest.approx([0.06, 0.04, 0.2, 0.06])


@given(probabilities, st.floats(0.001, 0.999))
def test_holm_rejects_what_its_step_down_procedure_rejects(p: list[float], level: float) -> None:
    rejected: set[int] = set()
    for step, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[i] > level / (len(p) - step):
            break
        rejected.add(i)
    found = holm(np.log(p))
    assert all(found[i] <= math.log(level) + 1e-12 for i in rejected)
    assert all(found[i] >= math.log(level) - 1e-12 for i in range(len(p)) if i not in rejected)


def test_far_tails_undefined_tests_and_order() -> None:
    logs = np.array([-5000.0, math.nan, -4000.0, -1.0])
    found = holm(logs)
    assert math.isnan(found[1])
    assert found[0] == pytest.approx(-5000 + math.log(3))
    assert holm(logs[::-1])[::-1] == pytest.approx(found, nan_ok=True)
    assert holm(logs[[0, 2, 3]]) == pytest.approx(found[[0, 2, 3]])
    assert holm([]).size == 0


@pytest.mark.parametrize("bad", [0.1, [0.1], [[-1.0]]])
def test_bad_values_are_refused(bad: object) -> None:
    with pytest.raises(ValueError, match="log_p must"):
        holm(bad)  # type: ignore[arg-type]
