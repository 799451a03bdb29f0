"""Harmless edits: truths that are planted, exact tests of scipy, invariances."""

import math

import numpy as np
import numpy.typing as npt
import pytest

from dhp.stats.below_edits import below_edits
from dhp.stats.controls import movements

Floats = npt.NDArray[np.float64]


def test_without_a_pair() -> None:
    x = np.full((9, 2, 2), math.nan)
    x[:, 1, 0] = 1.0
    found = below_edits([x])
    assert math.isnan(found.log_p[0])
    assert math.isnan(found.value[0])
    assert found.value[1] == 1.0
    assert found.log_p[1] == pytest.approx(math.log(1 / 2**9))


@pytest.mark.parametrize("n", [24, 100])
def test_a_hair_below_the_original_hides_no_damage(n: int) -> None:
    """A reward model: harmless edits cost .001, typos 1. Both copies are below the original in every text."""
    rng = np.random.default_rng(n)
    quality = rng.normal(size=n)
    edited = quality - 0.001 + rng.normal(0, 0.0002, n)
    damaged = quality - 1 + rng.normal(0, 0.2, n)
    found = below_edits([(edited - damaged)[:, None, None]])
    assert found.value[0] == 1.0
    assert found.log_p[0] < math.log(0.001)


@pytest.mark.slow
def test_what_is_a_harmless_edit_is_not_told_from_one() -> None:
    """Both copies fall in 80 % of the texts: told apart in 5 % of runs at 5 %."""
    rng = np.random.default_rng(5)
    drops = (rng.random((2, 30, 1000, 1)) < 0.8) * 1.0
    found = below_edits([drops[1] - drops[0]])
    assert (found.log_p <= math.log(0.05)).mean() < 0.06
    assert found.value.mean() == pytest.approx(0.5, abs=0.01)


def test_of_several_controls_the_one_that_comes_nearest() -> None:
    rng = np.random.default_rng(6)
    near, far = rng.normal(0.3, 1, (40, 3, 2)), rng.normal(2, 1, (40, 3, 2))
    both, alone = below_edits([far, near]), below_edits([near])
    assert both.value.tolist() == alone.value.tolist()
    assert both.log_p.tolist() == alone.log_p.tolist()


def noisy(drop: float, n: int, kinds: int, rng: np.random.Generator) -> Floats:
    return rng.normal(drop, 1, (n, kinds, 1))


def test_a_hair_is_a_small_share_of_the_mildest_noticed_damage() -> None:
    rng = np.random.default_rng(8)
    hair = 0.001 + rng.normal(0, 0.0002, (40, 1, 1))
    damage = np.concatenate([noisy(0.0, 40, 1, rng), noisy(3.0, 40, 1, rng), noisy(1.5, 40, 1, rng)], axis=1)
    (found,) = movements(hair, damage, [False, True, True])
    assert found.log_p[0] < math.log(0.001)
    assert found.against.tolist() == [2]
    assert found.share[0] == pytest.approx(hair.mean() / damage[:, 2].mean())
    assert found.seen.value[0] == 1.0


def test_each_metric_is_held_against_damage_that_it_notices() -> None:
    """The second metric is blind to the first kind: its small drop there is no measure."""
    rng = np.random.default_rng(9)
    damage = np.zeros((60, 2, 2))
    damage[:, 0, 0], damage[:, 1, 0] = rng.normal(1, 1, 60), rng.normal(4, 1, 60)
    damage[:, 0, 1], damage[:, 1, 1] = rng.normal(0.05, 1, 60), rng.normal(2, 1, 60)
    (found,) = movements(rng.normal(1, 1, (60, 1, 2)), damage, [True, True])
    assert found.against.tolist() == [0, 1]


def test_where_no_damage_is_noticed_the_kind_that_costs_most_stands_in() -> None:
    rng = np.random.default_rng(10)
    damage = np.concatenate([noisy(0.2, 40, 1, rng), noisy(0.6, 40, 1, rng)], axis=1)
    (found,) = movements(noisy(2.0, 40, 1, rng), damage, [False, False])
    assert found.against.tolist() == [1]
    (alone,) = movements(noisy(2.0, 40, 1, rng))
    assert (alone.against.tolist(), alone.share.tolist()) == ([-1], [math.inf])


def test_upward_movement_counts_as_movement() -> None:
    rng = np.random.default_rng(11)
    up = noisy(-2.0, 40, 1, rng)
    (found,) = movements(up, noisy(2.0, 40, 1, rng), [True])
    assert found.log_p[0] < math.log(0.001)
    assert found.seen.value[0] < 0.2
    assert 0.5 < found.share[0] < 2


def test_a_control_of_other_texts_than_the_damage_is_as_large_as_it_is() -> None:
    """29 texts have the control, 39 others the damage; it costs as much as that, upwards, or a hair."""
    rng = np.random.default_rng(12)
    damage, control = np.full((2, 68, 1, 1), math.nan)
    damage[:39] = noisy(2.0, 39, 1, rng)
    control[39:] = noisy(-2.0, 29, 1, rng)
    (found,) = movements(control, damage, [True])
    assert found.log_p_large[0] < math.log(0.001)
    assert found.log_p_small[0] > math.log(0.9)
    (hair,) = movements(control / 1000, damage, [True])
    assert hair.log_p_small[0] < math.log(0.001)
    assert hair.log_p_large[0] > math.log(0.9)


def test_a_control_that_moves_nothing_and_one_without_pairs() -> None:
    nothing, missing = movements(np.stack([np.zeros((30, 2)), np.full((30, 2), math.nan)], axis=1))
    assert nothing.log_p.tolist() == [0, 0]
    assert np.isnan(missing.log_p).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", [13, 100])
def test_scores_that_are_blind_to_edits_move_in_one_run_of_twenty(n: int) -> None:
    """Four metrics, either direction."""
    rng = np.random.default_rng(12)
    runs = movements(rng.normal(size=(n, 600, 1)) + rng.normal(0, 1, (n, 600, 4)))
    moved = [bool((each.log_p <= math.log(0.05)).any()) for each in runs]
    assert np.mean(moved) == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / 600))
