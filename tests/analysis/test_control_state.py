"""States of controls and attacks, from scores with planted movements."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from dhp.analysis.control_state import control_state
from dhp.core.verdicts import (
    FALSE_ALARM,
    MOVES_A_LITTLE,
    NOT_DECIDED,
    NOT_TESTED,
    PREFERS_EDITS,
    RAISED,
    STILL,
    Verdict,
)
from dhp.stats.controls import movements

Floats = npt.NDArray[np.float64]


def moved(fell: int, tied: int, rose: int, size: float = 1.0) -> Floats:
    """Differences of one control by one metric, shape (n, 1, 1)."""
    return size * np.array([1.0] * fell + [0.0] * tied + [-1.0] * rose)[:, None, None]


def state(
    control: Floats, damage: Floats | None = None, *, attack: bool = False, scores_move: bool = True
) -> Verdict:
    noticed = [] if damage is None else [True] * damage.shape[1]
    (found,) = movements(control, damage, noticed)
    return control_state(found, attack=attack, scores_move=scores_move)[0]


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        (moved(0, 30, 0), STILL),
        (moved(2, 36, 2), STILL),
        (moved(0, 19, 0), NOT_TESTED),
        (moved(12, 0, 12), NOT_DECIDED),
        (moved(24, 4, 2), FALSE_ALARM),
        (moved(2, 4, 24), PREFERS_EDITS),
        (moved(24, 4, 2, 0.01), MOVES_A_LITTLE),
        (moved(2, 4, 24, 0.01), MOVES_A_LITTLE),
        (moved(24, 4, 2, 0.12), MOVES_A_LITTLE),
        # .11 in a text on average: more than a tenth by estimate, which is not shown.
        (moved(24, 4, 2, 0.15), NOT_DECIDED),
        (moved(24, 4, 2, 0.25), FALSE_ALARM),
        # Surely less than 65 %, however sure that it is more than 50 %.
        (moved(560, 0, 440), STILL),
    ],
)
def test_beside_damage_that_costs_a_point(control: Floats, expected: Verdict) -> None:
    """The damage falls in nine of ten texts, by .9 on average: a tenth of it is .09."""
    n = len(control)
    damage = moved(n - n // 10, 0, 0)
    damage = np.concatenate([damage, np.zeros((n - len(damage), 1, 1))])
    assert state(control, damage) is expected


def test_an_attack_is_raised_or_still() -> None:
    damage = moved(30, 0, 0)
    assert state(moved(2, 4, 24), damage, attack=True) is RAISED
    assert state(moved(2, 4, 24, 0.01), damage, attack=True) is MOVES_A_LITTLE
    assert state(moved(24, 4, 2), damage, attack=True) is STILL
    assert state(moved(15, 0, 15), damage, attack=True) is NOT_DECIDED


def test_a_run_in_which_no_score_moves_tests_no_control() -> None:
    assert state(moved(0, 30, 0), moved(0, 30, 0), scores_move=False) is NOT_TESTED


def test_without_damage_to_be_held_against_any_movement_counts() -> None:
    assert state(moved(24, 4, 2, 0.01)) is FALSE_ALARM
    assert state(moved(24, 4, 2, 0.01), moved(0, 30, 0)) is FALSE_ALARM


def test_the_metric_that_moves_most_for_its_damage_decides() -> None:
    """Of two metrics both fall always; the second by half of what its damage costs."""
    control = np.concatenate([moved(30, 0, 0, 0.01), moved(30, 0, 0, 0.5)], axis=2)
    (found,) = movements(control, np.ones((30, 1, 2)), [True])
    assert control_state(found) == (FALSE_ALARM, 1)


def test_what_moves_by_less_than_a_tenth_is_still_however_signs_fall() -> None:
    """Changes of 0 +- .02 beside damage of .3: signs alone would need hundreds of texts."""
    rng = np.random.default_rng(6)
    control = rng.normal(0, 0.02, (24, 1, 1))
    control -= control.mean()
    assert state(control, rng.normal(0.3, 0.1, (24, 1, 1))) is STILL
    assert state(control, np.full((24, 1, 1), 0.01)) is NOT_DECIDED


@pytest.mark.slow
def test_edits_that_cost_seven_per_cent_are_seldom_a_false_alarm() -> None:
    rng = np.random.default_rng(7)
    found = [state(rng.normal(0.021, 0.05, (24, 1, 1)), rng.normal(0.3, 0.1, (24, 1, 1))) for _ in range(60)]
    assert found.count(FALSE_ALARM) <= 3


def test_a_tenth_is_compared_by_scipys_t_test() -> None:
    rng = np.random.default_rng(8)
    control, damage = rng.normal(0.04, 0.05, (24, 1, 1)), rng.normal(0.3, 0.1, (24, 1, 1))
    (found,) = movements(control, damage, [True])
    less = (control - 0.1 * damage).ravel()
    assert np.exp(found.log_p_large) == pytest.approx(
        stats.ttest_1samp(less, 0, alternative="greater").pvalue
    )
    assert np.exp(found.log_p_small) == pytest.approx(stats.ttest_1samp(less, 0, alternative="less").pvalue)


@pytest.mark.parametrize("fell", [True, False])
def test_a_single_metric_that_moves_is_enough_among_four(fell: bool) -> None:
    rng = np.random.default_rng(4)
    control = rng.normal(size=(40, 1, 4))
    control[:, 0, 2] = rng.normal(1.5 if fell else -1.5, 1, 40)
    (found,) = movements(control, np.full((40, 1, 4), 2.0), [True])
    assert control_state(found) == (FALSE_ALARM if fell else PREFERS_EDITS, 2)


@pytest.mark.parametrize("metrics", [1, 4])
def test_a_metric_without_scores_is_left_out(metrics: int) -> None:
    control = np.full((30, 1, metrics), np.nan)
    (found,) = movements(control, np.ones((30, 1, metrics)), [True])
    assert control_state(found)[0] is NOT_TESTED
    control[:, 0, 0] = 0.0
    (found,) = movements(control, np.ones((30, 1, metrics)), [True])
    assert control_state(found)[0] is STILL
