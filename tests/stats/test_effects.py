"""Effect sizes against hand-worked cases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.stats import effect, signed_rank


def test_hand_worked() -> None:
    # ranks of 1, 2, 2, 4 are 1, 2.5, 2.5, 4; positive: 1 + 2.5 + 4 = 7.5, negative: 2.5
    result = effect([1, -2, 2, 4, 0, 0])
    assert result.rank_biserial == pytest.approx((7.5 - 2.5) / 10)
    assert (result.fell, result.tied, result.rose) == pytest.approx((3 / 6, 2 / 6, 1 / 6))
    assert result.mean_drop == pytest.approx(5 / 6)


def test_nothing_moved() -> None:
    result = effect([0.0, 0.0])
    assert (result.rank_biserial, result.tied, result.mean_drop) == (0.0, 1.0, 0.0)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=60).filter(any))
def test_follows_from_the_rank_sum(differences: list[int]) -> None:
    test = signed_rank(differences)
    total = test.n_nonzero * (test.n_nonzero + 1) / 2
    assert effect(differences).rank_biserial == pytest.approx(2 * test.statistic / total - 1)
    assert effect([-d for d in differences]).rank_biserial == pytest.approx(1 - 2 * test.statistic / total)
