"""Figures of the probes against tables worked by hand, scipy and simulation."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import somersd

from dhp.plugins.probes.statistics import (
    MARGIN,
    Figure,
    calibration,
    compared_with_zero,
    moves,
    points_used,
    rise,
    stability,
    with_interval,
)
from dhp.stats.influences import mean_influences

NAN = np.nan
FOUR = np.array([4.0])
"""The length of a scale from 1 to 5."""
ONE = np.array([1.0])


def column(*scores: float) -> np.ndarray:
    """Scores of one metric, shape (n, 1)."""
    return np.array(scores)[:, None]


def test_moves_by_hand() -> None:
    originals = np.stack([column(3, 3, 4, 5), column(3, 4, 4, 5)])
    changed = column(3, 5, 2, NAN)
    found = moves(originals, changed, FOUR)
    # The last example has no changed text and counts nowhere. Against both repetitions: 0 0, 2 1, -2 -2.
    assert found.moved.value == pytest.approx(4 / 6)
    assert found.size == pytest.approx((0 + 0 + 2 + 1 + 2 + 2) / 6 / 4)
    assert found.change.value == pytest.approx((0 + 0 + 2 + 1 - 2 - 2) / 6 / 4)
    assert [found.again.value, found.again_size] == pytest.approx([1 / 3, 1 / 3 / 4])
    assert (found.moved.n, found.state) == (3, "not tested")


def test_a_change_without_any_effect_is_still_and_one_that_always_moves_is_seen() -> None:
    same = np.tile(column(*[1, 2, 3, 4, 5] * 5), (2, 1, 1))
    assert moves(same, same[0], FOUR).state == "still"
    moved = moves(same, same[0] - 1, FOUR)
    assert (moved.state, moved.moved.value, moved.change.value) == ("false alarm", 1.0, -0.25)
    slightly = moves(same, same[0] - 0.01, FOUR)
    assert (slightly.state, slightly.moved.value) == ("moves a little", 1.0)
    assert slightly.share == pytest.approx(0.01 / 0.4)  # a tenth of the scale
    beside = moves(same, same[0] - 0.01, FOUR, damage=[same[0] - 2, same[0] - 0.05])
    assert (beside.state, beside.share) == ("false alarm", pytest.approx(0.2))
    assert moves(same, same[0] + 1, FOUR).state == "prefers edits"
    assert moves(same, same[0], FOUR, damage=[same[0]]).state == "not tested"


def test_a_shift_is_seen_where_noise_moves_every_score() -> None:
    rng = np.random.default_rng(5)
    noisy = rng.normal(3, 0.5, (3, 60, 1))
    lifted = moves(noisy[:2], noisy[2] + 0.5, FOUR)
    assert (lifted.moved.value, lifted.again.value, lifted.state) == (1.0, 1.0, "prefers edits")
    assert moves(noisy[:2], noisy[2], FOUR).state in ("still", "not decided")


def test_what_floating_point_alone_moves_is_no_move() -> None:
    sums = np.tile(column(0.1 + 0.2, 0.3), (2, 1, 1))
    assert moves(sums, column(0.3, 0.1 + 0.2), ONE).moved.value == 0


def test_rise_by_hand() -> None:
    originals = np.stack([column(3, 3, 3, 3), column(3, 3, 2, 4)])
    found = rise(originals, {1: column(3, 4, 3, 3), 2: column(4, 4, 2, NAN)}, FOUR)
    one, two = found.doses
    assert [one.k, one.rose.value, one.fell.value] == pytest.approx([1, 3 / 8, 1 / 8])
    assert [two.rose.value, two.fell.value, two.net.n] == pytest.approx([4 / 6, 1 / 6, 3])
    assert two.change == pytest.approx((1 + 1 + 1 + 1 - 1 + 0) / 6 / 4)
    assert found.net.value == pytest.approx((2 + 3) / 14)
    assert (found.again.rose.value, found.again.fell.value) == (0.25, 0.25)


def test_the_right_order_is_somers_d() -> None:
    """scipy's D is (pairs in order - pairs against it) / pairs that differ in dose, which are all."""
    rng = np.random.default_rng(1)
    doses = (0, 1, 2, 4, 8)
    scores = rng.integers(1, 6, (5, 30, 1)).astype(float)
    found = calibration(doses, scores, scores[[0, 0]], FOUR, ONE)
    d = np.mean([somersd(doses, -scores[:, e, 0]).statistic for e in range(30)])
    assert found.order.value == pytest.approx((d + 1) / 2)
    against = [scores[j, e, 0] > scores[i, e, 0] for e in range(30) for i, j in combinations(range(5), 2)]
    assert found.reversed.value == pytest.approx(np.mean(against))
    assert found.means[2] == pytest.approx((scores[2].mean() - 1) / 4)


def curve(*by_dose: float, n: int = 20) -> str:
    """The state of a judge that scores each dose in this way."""
    scores = np.stack([column(*[score] * n) for score in by_dose])
    found = calibration((0, 1, 2, 4, 8)[: len(by_dose)], scores, scores[[0, 0]], FOUR, ONE)
    return found.state + "".join(f" {k}" for k in found.rises_at)


def test_states_of_calibration() -> None:
    assert curve(5, 4, 3, 2, 1) == "falls"
    assert curve(5, 5, 5, 5, 1) == "falls"
    assert curve(4, 4, 4, 4, 4) == "flat"
    assert curve(5, 4, 2, 3, 1) == "not monotone 4"
    assert curve(1, 2, 3, 4, 5) == "not monotone 1 2 4 8"
    assert curve(5, 4, 2, 3, 1, n=4) == "undecided"


def test_points_by_hand() -> None:
    assert points_used([4, 4, 5, NAN, 3], 1, 5) == {"1": 0, "2": 0, "3": 0.25, "4": 0.5, "5": 0.25}
    tenths = points_used([0.0, 0.05, 1.0], 0, 1)
    assert [len(tenths), tenths["0 to 0.1"], tenths["0.9 to 1"]] == pytest.approx([10, 2 / 3, 1 / 3])
    assert len(points_used([3.5], 1, 5)) == 10


@given(arrays(float, 12, elements=st.integers(1, 5).map(float)))
def test_points_share_out_all_scores(scores: np.ndarray) -> None:
    found = points_used(scores, 1, 5)
    assert sum(found.values()) == pytest.approx(1)
    assert {point for point, own in found.items() if own} == {f"{score:g}" for score in scores}


def test_stability_by_hand() -> None:
    # Orders of the copy to the original in three runs: - - +, - 0 -, and one example with a gap.
    original = np.stack([column(3, 3, 3), column(3, 2, 3), column(2, 3, NAN)])
    damaged = np.stack([column(2, 2, 2), column(2, 2, 2), column(3, 2, 2)])
    found = stability(original, damaged, FOUR)
    # Flips: first example 2 of 3 pairs of runs, second none, third none of its only pair.
    assert found.flips.value == pytest.approx(2 / 7)
    assert found.changes.value == pytest.approx((2 + 2) / 7)
    # All scores of a text alike: of originals only a gap makes none; of copies the second and the third.
    assert found.identical.value == pytest.approx(2 / 5)
    assert found.flips.n == 3


def test_coin_flips_are_unstable_and_a_steady_judge_is_stable() -> None:
    rng = np.random.default_rng(2)
    coins = rng.normal(size=(5, 40, 1))
    assert stability(coins, rng.normal(size=(5, 40, 1)), FOUR).state == "unstable"
    steady = np.tile(rng.normal(size=(40, 1)), (5, 1, 1))
    assert stability(steady, steady - 1, FOUR).state == "stable"


def test_flips_are_the_probability_that_two_runs_disagree() -> None:
    """Scores normal around means d apart: P(flip) = 2 p (1 - p) with p = Phi(d / sqrt 2)."""
    from scipy.stats import norm

    rng = np.random.default_rng(3)
    original, damaged = rng.normal(0.5, 1, (6, 20_000, 1)), rng.normal(0, 1, (6, 20_000, 1))
    p = norm.cdf(0.5 / np.sqrt(2))
    found = stability(original, damaged, ONE)
    assert found.flips.value == pytest.approx(2 * p * (1 - p), abs=0.005)
    assert found.changes.value == pytest.approx(found.flips.value), "no ties"


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [(0.1, 0.5, "much"), (0.01, MARGIN - 0.01, "little"), (-0.1, 0.1, "none"), (-0.1, 0.5, "undecided")],
)
def test_words(low: float, high: float, word: str) -> None:
    assert compared_with_zero(Figure(0.0, (low, high), 20), ("much", "little", "none")) == word
    assert compared_with_zero(Figure(0.0, (low, high), 4), ("much", "little", "none")) == "undecided"


def test_shares_without_scores_are_undefined() -> None:
    assert with_interval(mean_influences(column(NAN, NAN))) == Figure(None, None, 0)
    assert with_interval(mean_influences(column(1.0, NAN))) == Figure(1.0, None, 1)


def test_examples_of_one_cluster_count_as_fewer() -> None:
    values = column(*[0.0, 1.0] * 10)
    alone, together = (with_interval(mean_influences(values), c) for c in (None, np.arange(20) % 2))
    assert together.ci[1] - together.ci[0] > alone.ci[1] - alone.ci[0]


@pytest.mark.slow
@pytest.mark.parametrize(("step", "metrics"), [(1.0, 1), (0.1, 4)])
def test_intervals_cover_and_a_noisy_judge_raises_no_alarm(step: float, metrics: int) -> None:
    """A judge with noise alone: intervals hold the truth, no difference, in about 95 of 100 simulations."""
    rng = np.random.default_rng(11)
    runs, spans = 600, np.full(metrics, 4.0)
    held, alarms = np.zeros(2), np.zeros(2)
    for _ in range(runs):
        meant = rng.uniform(2, 4, (24, metrics))
        shape = (7, *meant.shape)
        scores = np.clip(np.round((meant + rng.normal(0, 0.7, shape)) / step) * step, 1, 5)
        moved = moves(scores[:5], scores[5], spans)
        padded = rise(scores[:5], {1: scores[5], 2: scores[6]}, spans)
        for i, figures in enumerate([(moved.change,), (padded.net,)]):
            held[i] += all(f.ci is not None and f.ci[0] <= 0 <= f.ci[1] for f in figures)
        for i, state in enumerate([moved.state, padded.state]):
            alarms[i] += state.startswith(("moves", "false", "prefers", "rises"))
    assert (held / runs >= 0.92).all(), held / runs
    assert (alarms / runs <= 0.06).all(), alarms / runs
