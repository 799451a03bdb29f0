"""Steadiness of a judge: a published table, simulations, and what cannot be known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.stats.judge_habits import sample_consistency

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def test_the_published_table() -> None:
    """Shrout and Fleiss (1979), table 2: between-target mean square 11.24, within 6.26, ICC(1,1) = .17."""
    found = sample_consistency(SHROUT_FLEISS)
    assert found.within == pytest.approx(6.26, abs=0.005)
    assert found.between == pytest.approx((11.24 - 6.26) / 4, abs=0.005)
    assert found.icc == pytest.approx(0.17, abs=0.005)
    assert found.identical == 0


def test_planted_variances_are_found() -> None:
    rng = np.random.default_rng(3)
    texts = rng.normal(3, 1.5, (4000, 1))
    found = sample_consistency(texts + rng.normal(0, 0.8, (4000, 5)))
    assert found.within == pytest.approx(0.64, rel=0.05)
    assert found.between == pytest.approx(2.25, rel=0.06)
    assert found.icc == pytest.approx(2.25 / 2.89, abs=0.02)
    uneven = texts + rng.normal(0, 0.8, (4000, 5))
    uneven[rng.random(uneven.shape) < 0.4] = np.nan
    uneven = uneven[~np.isnan(uneven).all(axis=1)]
    assert sample_consistency(uneven).icc == pytest.approx(2.25 / 2.89, abs=0.02)


def test_a_judge_that_always_says_the_same_of_a_text() -> None:
    steady = sample_consistency([[4, 4, 4], [2, 2, 2], [5, 5, np.nan]])
    assert (steady.within, steady.icc, steady.identical) == (0, 1, 1)
    one_digit = sample_consistency(np.full((6, 3), 4.0))
    assert (one_digit.dominance, one_digit.entropy, one_digit.distinct) == (1, 0, 1)
    assert one_digit.icc is None


def test_spread_over_the_scale() -> None:
    found = sample_consistency([[1], [2], [3], [4], [4], [4], [4], [4]])
    assert found.dominance == 5 / 8
    assert found.entropy == pytest.approx(3 * math.log2(8) / 8 + 5 / 8 * math.log2(8 / 5))
    assert (found.within, found.between, found.icc, found.identical) == (None, None, None, None)


@given(st.lists(st.lists(st.integers(1, 5), min_size=3, max_size=3), min_size=2, max_size=8), st.randoms())
def test_order_does_not_matter(rows: list[list[int]], rng: object) -> None:
    found = sample_consistency(rows)
    turned = sample_consistency([row[::-1] for row in rows[::-1]])
    assert found.identical == turned.identical
    assert found.entropy == pytest.approx(turned.entropy)
    if found.icc is not None:
        assert -0.5 - 1e-9 <= found.icc <= 1
        assert turned.icc == pytest.approx(found.icc, abs=1e-9)


@pytest.mark.parametrize("scores", [[], [1.0, 2.0], [[np.nan, np.nan]], [[1.0, np.inf]]])
def test_what_are_no_scores_is_refused(scores: object) -> None:
    with pytest.raises(ValueError, match="scores must have shape"):
        sample_consistency(scores)  # type: ignore[arg-type]
