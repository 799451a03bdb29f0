"""Effect sizes against hand-worked cases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.stats.effects import effect
from dhp.stats.wilcoxon.signed_rank import signed_rank


def test_hand_worked() -> None:
    # ranks of 0, 0, 1, 2, 2, 4 are 1.5, 1.5, 3, 4.5, 4.5, 6; positive: 3 + 4.5 + 6 = 13.5, negative: 4.5
    result = effect([1, -2, 2, 4, 0, 0])
    assert result.rank_biserial == pytest.approx((13.5 - 4.5) / 21)
    assert (result.fell, result.tied, result.rose) == pytest.approx((3 / 6, 2 / 6, 1 / 6))
    assert result.mean_drop == pytest.approx(5 / 6)


def test_nothing_moved() -> None:
    result = effect([0.0, 0.0])
    assert (result.rank_biserial, result.tied, result.mean_drop) == (0.0, 1.0, 0.0)


def test_few_scores_that_move_are_a_small_effect() -> None:
    assert effect([1.0] * 24).rank_biserial == 1
    assert effect([-0.01] + [0.0] * 23).rank_biserial == pytest.approx(-24 / 300)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=60))
def test_follows_from_the_rank_sum(differences: list[int]) -> None:
    """Each zero raises all other ranks by one."""
    test, n = signed_rank(differences), len(differences)
    m, fell = test.n_nonzero, sum(d > 0 for d in differences)
    drops, rises = test.statistic + (n - m) * fell, m * (m + 1) / 2 - test.statistic + (n - m) * (m - fell)
    found = effect(differences).rank_biserial
    assert found == pytest.approx((drops - rises) / (n * (n + 1) / 2))
    assert effect([-d for d in differences]).rank_biserial == pytest.approx(-found)
    assert abs(found) <= 1
