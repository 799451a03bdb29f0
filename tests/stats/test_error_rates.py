"""Error rates count texts by hand; dependent texts count for less."""

import numpy as np
import pytest

from dhp.stats.judge_habits import error_rates


def test_independent_texts_count_as_they_are() -> None:
    good = np.array([[5, 4, 3, 5, np.nan]])
    bad = np.array([[1, 4, 2, np.nan, 5]])
    found = error_rates(good, bad, 4)
    assert found is not None
    assert found.sensitivity == pytest.approx((3, 4))
    assert found.specificity == pytest.approx((2, 4))


def test_copies_of_a_text_add_nothing() -> None:
    once = np.array([[5, 4, 3, 5, 1, 2.0]])
    one, many = (error_rates(rows, rows, 4) for rows in (once, np.repeat(once, 9, axis=0)))
    assert one is not None
    assert many is not None
    assert many.sensitivity == pytest.approx(one.sensitivity)
    assert many.specificity == pytest.approx(one.specificity)


def test_rates_without_spread_count_examples() -> None:
    found = error_rates(np.full((3, 7), 5.0), np.full((2, 7), 1.0), 4)
    assert found is not None
    assert (found.sensitivity, found.specificity) == ((7, 7), (7, 7))


def test_no_texts_have_no_rates() -> None:
    assert error_rates(np.full((1, 3), np.nan), np.ones((1, 3)), 1) is None
    assert error_rates(np.ones((1, 3)), np.empty((0, 3)), 1) is None
