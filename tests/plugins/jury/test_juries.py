"""Several judges as one: ranks, figures together, the smallest set that passes, gains on held-out halves."""

import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.plugins.jury.juries import (
    JudgedTexts,
    held_out_gains,
    jury_figures,
    order_of_gain,
    smallest_jury,
    text_ranks,
)
from tests.cli.conftest import Run


def judge(falls: Sequence[int], n: int = 40) -> np.ndarray:
    """Ranks of a judge whose scores fall in the first so many of n pairs of each version, and tie else."""
    scores = np.full((1 + len(falls), 1, n), 4.0)
    for version, number in enumerate(falls, 1):
        scores[version, 0, :number] = 2.0
    return text_ranks(scores)


def texts(judges: Sequence[np.ndarray], kinds: int, harmless: Sequence[int] = ()) -> JudgedTexts:
    return JudgedTexts(np.stack(judges), list(range(1, kinds + 1)), ["a"] * kinds, harmless)


def test_ranks_are_scipys_and_free_of_the_scale() -> None:
    scores = np.array([[[1.0, 2.0, 2.0]], [[5.0, 4.0, np.nan]]])
    ranks = np.array([[[0.0, 0.375, 0.375]], [[1.0, 0.75, np.nan]]])
    assert text_ranks(scores) == pytest.approx(ranks, nan_ok=True)
    assert text_ranks(scores) == pytest.approx(text_ranks(np.exp(scores)), nan_ok=True)


def test_two_judges_that_miss_different_kinds_see_all_together() -> None:
    given = texts([judge([40, 0, 0]), judge([0, 40, 0]), judge([40, 40, 40])], 2, [3])
    alone = [jury_figures(given, [j]) for j in range(3)]
    assert alone[0].detection.tolist() == [1.0, 0.5]
    assert alone[0].verdicts == ("noticed", "missed")
    assert alone[1].verdicts == ("missed", "noticed")
    assert alone[2].controls == ("false alarm",)
    assert smallest_jury(given, [1, 1, 1]) == (0, 1), "the third sees both alone, but punishes the control"
    assert smallest_jury(texts([judge([40, 40])], 2), [1]) == (0,)
    assert smallest_jury(texts([judge([40, 0])], 2), [1]) is None


def test_what_has_no_pair_does_not_count() -> None:
    ranks = judge([40, 40])
    ranks[2] = np.nan
    figures = jury_figures(texts([ranks], 2), [0])
    assert np.isnan(figures.detection[1])
    assert figures.counted == (True, False)
    assert figures.passes
    ranks[1] = np.nan
    assert not jury_figures(texts([ranks], 2), [0]).passes, "no damage at all"


def test_of_sets_of_one_size_the_cheapest_is_taken() -> None:
    given = texts([judge([40, 40]), judge([38, 40])], 2)
    assert smallest_jury(given, [5, 1]) == (1,)
    assert smallest_jury(given, [1, 1]) == (0,)


def test_the_judge_that_lifts_the_lowest_detection_comes_first() -> None:
    assert order_of_gain(texts([judge([40, 0]), judge([30, 30]), judge([0, 40])], 2))[0] == 1


def test_a_judge_that_prefers_the_damage_detects_none_of_it() -> None:
    scores = np.array([[[4.0] * 30], [[5.0] * 30]])
    figures = jury_figures(texts([text_ranks(scores)], 1), [0])
    assert (figures.detection.tolist(), figures.verdicts) == ([0.0], ("preferred",))


def test_gains_add_up_to_what_all_judges_see_on_the_held_out_half() -> None:
    rng = np.random.default_rng(7)
    given = texts([text_ranks(rng.normal([[[0.0]], [[-0.5]], [[-1.0]]], 1.0, (3, 1, 40))) for _ in "abc"], 2)
    gains = held_out_gains(given, np.random.default_rng(1), splits=20)
    held = np.random.default_rng(1).permutation(40)[20:]
    drops = given.differences([0, 1, 2])[held][:, :, 0]
    assert gains[0].sum() == pytest.approx(((1 + np.sign(drops)) / 2).mean(axis=0).min())


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_copies_of_one_judge_are_that_judge(seed: int, copies: int) -> None:
    rng = np.random.default_rng(seed)
    one = text_ranks(rng.integers(1, 6, (3, 2, 12)).astype(float))
    given = texts([one] * copies, 2)
    alone, together = (jury_figures(given, members) for members in ([0], range(copies)))
    assert together.detection == pytest.approx(alone.detection)
    assert together.verdicts == alone.verdicts


ONE = ("--dataset", "mini/story_cloze", "--n", 12, "--controls")


@pytest.fixture
def runs(dhp: Run) -> tuple[str, str]:
    for judge, out in (("mock/ideal", "one"), ("mock/noisy", "two")):
        done = dhp("benchmark", "--model", judge, *ONE, "--out", out)
        assert done.code == 0, done.err
    return "one", "two"


@pytest.mark.slow
def test_a_jury_of_two_runs(dhp: Run, runs: tuple[str, str]) -> None:
    said = dhp("jury", *runs)
    assert said.code == 0, said.err
    assert "smallest jury: mock/ideal: noticed 6 of 6" in said.out
    (found,) = json.loads(dhp("jury", *runs, "--json").out)
    assert found["floor"] == 0.6
    assert found["chosen"]["judges"] == ["mock/ideal"]
    assert found["chosen"]["verdicts"] == found["alone"][0]["verdicts"]
    assert len(found["gains"]) == 2
