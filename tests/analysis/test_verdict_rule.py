"""The verdict: each rule on a planted table, its error rates, and the examples that would decide."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.analysis.verdict_rule import verdicts
from dhp.core.verdicts import AS_HARMLESS_EDITS, FAINT, MISSED, NOTICED, PREFERRED, UNDECIDED, Verdict
from dhp.stats.detection import detection
from dhp.stats.flips import flip_log_p

Floats = npt.NDArray[np.float64]


def kind(fell: int, tied: int, rose: int) -> Floats:
    return np.array([1.0] * fell + [0.0] * tied + [-1.0] * rose)[:, None, None]


def said(x: Floats, floor: float = 0.6, **more: object) -> list[Verdict]:
    return verdicts(detection(x, ["a"] * x.shape[1]), flip_log_p(x), floor=floor, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((80, 0, 20), NOTICED),
        ((20, 80, 0), NOTICED),
        ((63, 0, 37), FAINT),  # shown, but 55 % is not ruled out
        ((10, 90, 0), FAINT),
        ((560, 0, 440), FAINT),  # surely below the floor
        ((250, 0, 250), MISSED),
        ((0, 100, 0), MISSED),
        ((20, 0, 80), PREFERRED),
        ((55, 0, 45), UNDECIDED),
        ((4, 0, 0), UNDECIDED),
        ((5, 0, 0), FAINT),  # p = 1 / 32, but the lower limit of a share of 100 % of five is 55 %
    ],
)
def test_each_word(counts: tuple[int, int, int], expected: Verdict) -> None:
    assert said(kind(*counts)) == [expected]


def test_the_floor_moves_the_size_that_is_asked_for() -> None:
    x = kind(68, 0, 32)
    assert [said(x, floor)[0] for floor in (0.55, 0.6, 0.9)] == [NOTICED, NOTICED, FAINT]


def test_damage_must_be_told_from_harmless_edits() -> None:
    x = np.repeat(kind(80, 0, 20), 3, axis=1)
    below = np.log(np.array([0.001, 0.4, math.nan]))
    assert said(x, below_edits=below) == [NOTICED, AS_HARMLESS_EDITS, NOTICED]
    assert said(kind(55, 0, 45), below_edits=np.zeros(1)) == [UNDECIDED]


def test_kinds_share_the_error_of_what_is_shown() -> None:
    """15 of 20 fell (p = .02): shown alone, not beside eleven kinds that show nothing."""
    x, nothing = kind(16, 0, 4), np.repeat(kind(10, 0, 10), 11, axis=1)
    assert said(x) == [NOTICED]
    assert said(np.concatenate([x, nothing], axis=1))[0] is UNDECIDED
    assert said(np.concatenate([x, np.repeat(kind(20, 0, 0), 11, axis=1)], axis=1))[0] is NOTICED
    assert said(x, together=12) == [UNDECIDED]


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.sampled_from([1, 4]), st.sampled_from([0.6, 0.75]))
def test_no_verdict_contradicts_the_figures_beside_it(seed: int, n: int, metrics: int, floor: float) -> None:
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet([1, 1, 1], 6)
    x = np.stack([rng.choice([1.0, 0, -1], (n, metrics), p=each) for each in chances], axis=1)
    found = detection(x, ["a"] * 6)
    words = verdicts(found, flip_log_p(x, resamples=999), floor=floor)
    for word, value, low, high in zip(words, found.value, found.low, found.high, strict=True):
        assert word is not NOTICED or (value > 0.5 and low > 0.5 and high >= floor)
        assert word is not FAINT or value > 0.5
        assert word is not MISSED or high < floor
        assert word is not PREFERRED or high < 0.5


def shares(truth: list[float], n: int, metrics: int, runs: int) -> Floats:
    """Share of runs in which each kind, a third of its scores tied, is noticed; runs of kinds missed last."""
    rng = np.random.default_rng([n, metrics, int(1000 * truth[0])])
    fell = np.array(truth) - 1 / 6
    count = np.zeros((runs, len(truth) + 1))
    for run in range(runs):
        draws = rng.random((n, len(truth), 1 if metrics == 1 else 4))
        x = np.where(draws < fell[:, None], 1.0, np.where(draws < fell[:, None] + 1 / 3, 0.0, -1.0))
        words = verdicts(detection(x, ["a"] * len(truth)), flip_log_p(x, resamples=999))
        count[run, :-1] = [word is NOTICED for word in words]
        count[run, -1] = MISSED in words
    return count


@pytest.mark.slow
@pytest.mark.parametrize("metrics", [1, 4])
@pytest.mark.parametrize("n", [13, 24, 100])
def test_errors_are_kept_beside_kinds_that_are_seen(metrics: int, n: int) -> None:
    """Any of six blind kinds in 5 % of runs at most, one at 55 % in 8 %; two errors of the runs more."""
    blind = shares([0.5] * 6 + [0.8] * 6, n, metrics, 60)
    assert blind[:, :6].any(axis=1).mean() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 60)
    assert shares([0.55] * 6 + [0.8] * 6, n, metrics, 60)[:, :6].mean() <= 0.08
    assert shares([0.6] * 12, n, metrics, 60)[:, -1].mean() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 60)
