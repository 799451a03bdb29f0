"""Several judges as one: ranks, figures together, the smallest set that passes, gains on held-out halves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.stats.jury import held_out_gains, jury_figures, order_of_gain, smallest_jury, text_ranks


def judge(falls: list[int], n: int = 8) -> np.ndarray:
    """Ranks of a judge whose scores fall in the first so many of n pairs of each version, and tie else."""
    scores = np.full((1 + len(falls), 1, n), 4.0)
    for version, number in enumerate(falls, 1):
        scores[version, 0, :number] = 2.0
    return text_ranks(scores)


def test_ranks_are_scipys_and_free_of_the_scale() -> None:
    scores = np.array([[[1.0, 2.0, 2.0]], [[5.0, 4.0, np.nan]]])
    assert text_ranks(scores) == pytest.approx(
        np.array([[0.0, 0.375, 0.375], [1.0, 0.75, np.nan]]), nan_ok=True
    )
    assert text_ranks(scores) == pytest.approx(text_ranks(np.exp(scores)), nan_ok=True)


def test_two_judges_with_different_blind_spots_see_all_together() -> None:
    ranks = np.stack([judge([8, 0, 0]), judge([0, 8, 0]), judge([8, 8, 8])])
    damage, controls = [1, 2], [3]
    alone = [jury_figures(ranks, [j], damage, controls) for j in range(3)]
    assert alone[0].detection.tolist() == [1.0, 0.5]
    assert alone[1].detection.tolist() == [0.5, 1.0]
    assert alone[2].false_alarms.tolist() == [1.0]
    found = smallest_jury(ranks, [1, 1, 1], damage, controls, floor=0.75, most_alarms=0.05)
    assert found == (0, 1), "the third sees both kinds alone, but punishes the control"
    assert smallest_jury(ranks, [1, 1, 1], damage, [], floor=0.75, most_alarms=0.05) == (2,)
    assert smallest_jury(ranks[:1], [1], damage, controls, floor=0.75, most_alarms=0.05) is None


def test_what_has_no_pair_does_not_count() -> None:
    ranks = np.stack([judge([8, 8, 0])])
    ranks[:, 2] = np.nan
    figures = jury_figures(ranks, [0], [1, 2], [3])
    assert np.isnan(figures.detection[1])
    assert figures.passes(0.75, 0.05)
    ranks[:, 1] = np.nan
    assert not jury_figures(ranks, [0], [1, 2], [3]).passes(0.75, 0.05), "no damage at all"


def test_of_sets_of_one_size_the_cheapest_is_taken() -> None:
    ranks = np.stack([judge([8, 8]), judge([7, 8])])
    assert smallest_jury(ranks, [5, 1], [1, 2], [], floor=0.75, most_alarms=1) == (1,)
    assert smallest_jury(ranks, [1, 1], [1, 2], [], floor=0.75, most_alarms=1) == (0,)


def test_the_judge_that_lifts_the_lowest_detection_comes_first() -> None:
    ranks = np.stack([judge([8, 0]), judge([6, 6]), judge([0, 8])])
    assert order_of_gain(ranks, [1, 2])[0] == 1


def test_a_judge_that_prefers_the_damage_detects_none_of_it() -> None:
    scores = np.array([[[4.0, 4, 4]], [[5.0, 5, 5]]])
    assert jury_figures(text_ranks(scores)[None], [0], [1], []).detection.tolist() == [0.0]


def test_held_out_examples_do_not_choose() -> None:
    rng = np.random.default_rng(3)
    ranks = np.stack([text_ranks(rng.normal([[[0.0]], [[-0.5]]], 1.0, (2, 1, 12))) for _ in "abcd"])
    gains = held_out_gains(ranks, [1], np.random.default_rng(1), splits=20)
    drawn = np.random.default_rng(1)
    for found in gains:
        mixed = drawn.permutation(12)
        first = order_of_gain(ranks, [1], mixed[:6])[0]
        assert found[0] == jury_figures(ranks, [first], [1], [], mixed[6:]).lowest


def test_gains_add_up_to_what_all_judges_see_on_the_held_out_half() -> None:
    rng = np.random.default_rng(7)
    ranks = np.stack([text_ranks(rng.normal([[[0.0]], [[-0.5]], [[-1.0]]], 1.0, (3, 1, 40))) for _ in "abc"])
    gains = held_out_gains(ranks, [1, 2], np.random.default_rng(1), splits=20)
    mixed = np.random.default_rng(1).permutation(40)
    assert gains[0].sum() == pytest.approx(jury_figures(ranks, [0, 1, 2], [1, 2], [], mixed[20:]).lowest)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_copies_of_one_judge_are_that_judge(seed: int, copies: int) -> None:
    rng = np.random.default_rng(seed)
    one = text_ranks(rng.integers(1, 6, (3, 2, 12)).astype(float))
    ranks = np.stack([one] * copies)
    alone, together = (jury_figures(ranks, members, [1, 2], []) for members in ([0], range(copies)))
    assert together.detection == pytest.approx(alone.detection)
