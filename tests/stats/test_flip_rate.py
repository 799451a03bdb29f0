"""How often a verdict changes: worked by hand, against scipy, and simulated."""

import numpy as np
import pytest
from scipy.stats import binomtest

from dhp.stats.judge_habits import flip_rate


def test_a_table_worked_by_hand() -> None:
    """Of three answers 0, 1, 2 or 3 pass: two differ in 0, 2/3, 2/3, 0 of the pairs."""
    scores = np.array([[1, 1, 1], [1, 1, 5], [1, 5, 5], [5, 5, 5], [np.nan, np.nan, 5]])
    found = flip_rate(scores, 3, np.arange(5))
    assert found is not None
    assert (found.value, found.n) == (pytest.approx(1 / 3), 4)


def test_of_two_answers_the_interval_is_wilsons() -> None:
    scores = np.repeat([[1.0, 5], [5, 5]], [60, 240], axis=0)
    found = flip_rate(scores, 3, np.arange(300))
    expected = binomtest(60, 300).proportion_ci(method="wilson")
    assert found is not None
    assert found.ci == pytest.approx((expected.low, expected.high), abs=0.002)


def test_copies_of_texts_say_nothing_new() -> None:
    scores = np.repeat([[1.0, 5], [5, 5]], [12, 28], axis=0)
    alone = flip_rate(scores, 3, np.arange(40))
    copied = flip_rate(np.repeat(scores, 5, axis=0), 3, np.repeat(np.arange(40), 5))
    assert alone is not None
    assert copied is not None
    assert copied.ci[1] - copied.ci[0] > 0.85 * (alone.ci[1] - alone.ci[0])


def test_one_answer_a_text_shows_nothing() -> None:
    assert flip_rate(np.array([[1.0], [5.0]]), 3, np.arange(2)) is None


def test_the_interval_covers_the_rate_of_a_judge_that_throws_dice() -> None:
    """Each text passes with a probability p of its own, uniform: two answers differ in 1/3."""
    rng, held, runs = np.random.default_rng(0), 0, 400
    for _ in range(runs):
        scores = (rng.random((40, 3)) < rng.random((40, 1))).astype(float)
        found = flip_rate(scores, 0.5, np.arange(40))
        assert found is not None
        held += found.ci[0] <= 1 / 3 <= found.ci[1]
    assert 0.91 < held / runs < 0.99
