"""Staircases: which dose is asked about next, and what the answers say of T75."""

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from dhp.stats.psychometric import curve
from dhp.stats.staircase import Staircase, searched, staircase

DOSES = np.array([1.0, 2, 3, 4, 6, 8, 12, 16, 24, 32])


def asked(t75: float, answers: int, seed: int = 1, batch: int = 1) -> Staircase:
    """After so many answers of a judge with this threshold."""
    rng, state = np.random.default_rng(seed), staircase(DOSES)
    while state.answers < answers:
        for dose in state.next_doses(batch):
            fell = rng.random() < curve(dose, t75, 1.0, 0.02)
            state = state.updated(dose, float(fell))
    return state


def test_before_the_first_answer_lapses_are_rare_and_powers_near_one() -> None:
    state = staircase(DOSES)
    lapses = np.array([0, 0.06, 0.12, 0.18, 0.24, 0.26, 0.32, 0.4, 0.5])
    powers = np.exp(np.linspace(math.log(0.5), math.log(3), 5))
    prior = np.exp(state.log_posterior[0] - state.log_posterior.max()).reshape(5, lapses.size)
    assert prior[2] / prior[2, 0] == pytest.approx((1 - lapses) ** 8)
    assert state.reaches.tolist() == 5 * (lapses < 0.25).tolist()
    of_power = stats.norm.pdf(np.log(powers), 0, 0.5)
    assert prior[:, 0] / prior[2, 0] == pytest.approx(of_power / of_power[2])


def test_the_posterior_is_prior_times_likelihood() -> None:
    state = staircase(DOSES).updated(4, 1).updated(8, 1).updated(8, 0.5)
    p, prior = state.detection, np.exp(staircase(DOSES).log_posterior)
    at4, at8 = p[3], p[5]
    weight = prior * at4 * at8 * np.sqrt(at8 * (1 - at8))
    share = weight[:, state.reaches].sum(axis=1) / weight.sum()
    median = np.interp(0.5, share.cumsum() - share / 2, np.log(state.thresholds))
    assert state.t75()[0] == pytest.approx(math.exp(median))
    assert state.answers == 3


def test_after_a_search_it_is_the_posterior_of_its_answers() -> None:
    state, rows, rng = staircase(DOSES), [], np.random.default_rng(4)
    for dose in rng.choice(DOSES, 40):
        fell = rng.choice([1.0, 0.0, -1.0])
        rows.append(np.where(dose == DOSES, fell, np.nan))
        state = state.updated(dose, (1 + fell) / 2)
    found = searched(DOSES, np.array(rows)[:, :, None])
    assert found.fitted == pytest.approx((state.t75()[0], state.t75()[1], state.t75()[2]))
    counts = (~np.isnan(np.array(rows))).sum(axis=0)
    assert found.pairs.tolist() == counts.tolist()


def test_a_search_without_an_answer_that_moves_is_undefined() -> None:
    found = searched(DOSES, np.zeros((3, DOSES.size, 2)))
    assert np.isnan([found.fitted[0], found.power]).all()
    assert found.detection.tolist() == [0.5] * DOSES.size


def test_the_chosen_dose_leaves_the_least_entropy_on_average() -> None:
    """By going through every dose and both answers."""
    state = asked(6.0, 12)
    weight = np.exp(state.log_posterior)
    joint = weight / weight.sum()

    def entropy(updated: Staircase) -> float:
        of = np.exp(updated.log_posterior - updated.log_posterior.max())
        return float(stats.entropy([*of[:, state.reaches].sum(axis=1), of[:, ~state.reaches].sum()]))

    expected = []
    for i, dose in enumerate(DOSES):
        chance = float((state.detection[i] * joint).sum())
        fell, rose = (entropy(state.updated(float(dose), score)) for score in (1.0, 0.0))
        expected.append(chance * fell + (1 - chance) * rose)
    assert state.next_doses() == [DOSES[int(np.argmin(expected))]]


@pytest.mark.parametrize("t75", [6.0, *(pytest.param(t75, marks=pytest.mark.slow) for t75 in (2.5, 14.0))])
def test_it_converges_and_asks_near_the_threshold(t75: float) -> None:
    found = [asked(t75, 60, seed).t75() for seed in range(12)]
    errors = [math.log(one[0] / t75) for one in found]
    assert abs(np.mean(errors)) < 0.15
    assert np.sqrt(np.mean(np.square(errors))) < 0.45
    assert sum(one[1] <= t75 <= one[2] for one in found) >= 9
    assert t75 / 3 < asked(t75, 60).next_doses()[0] < t75 * 4


def test_of_a_symmetric_posterior_the_median_is_the_mean() -> None:
    state = staircase(DOSES)
    logs = np.log(state.thresholds)
    bell = np.broadcast_to((-20 * (logs - logs[logs.size // 2]) ** 2)[:, None], state.log_posterior.shape)
    found = replace(state, log_posterior=bell, moved=True).t75(level=1e-9)
    assert (found[1], found[2]) == pytest.approx((found[0], found[0]), rel=1e-3)


@pytest.mark.slow
def test_a_batch_is_not_one_dose_only() -> None:
    state = asked(6.0, 20)
    doses = state.next_doses(12)
    assert doses[0] == state.next_doses()[0]
    assert len(set(doses)) > 1
    assert set(doses) <= set(DOSES.tolist())
    errors = [math.log(asked(6.0, 64, seed, batch=8).t75()[0] / 6) for seed in range(10)]
    assert np.sqrt(np.mean(np.square(errors))) < 0.45


def test_beyond_the_doses_it_says_so() -> None:
    state = staircase(DOSES)
    for _ in range(60):
        state = state.updated(1.0, 1.0)
    assert state.t75()[0] == state.t75()[1] == 0
    state = staircase(DOSES)
    for i in range(60):
        state = state.updated(32.0, float(i % 2))
    assert state.t75()[0] == state.t75()[2] == math.inf


@pytest.mark.slow
@pytest.mark.parametrize("answers", [40, 160])
def test_a_judge_that_ends_at_74_per_cent_may_never_reach_it(answers: int) -> None:
    """Of 20 such searches at most three may say that it is surely reached."""
    highest = []
    for seed in range(20):
        rng, state = np.random.default_rng(seed), staircase(DOSES)
        while state.answers < answers:
            for dose in state.next_doses(16):
                state = state.updated(dose, float(rng.random() < curve(dose, 2.0, 1.0, 0.26)))
        highest.append(state.t75()[2])
    assert sum(math.isinf(high) for high in highest) >= 17


def test_a_threshold_at_the_smallest_dose_is_that_dose() -> None:
    state = staircase(DOSES)
    near = np.isclose(state.thresholds, 1.0)
    certain = state.log_posterior + np.where(near[:, None] & state.reaches, 0.0, -1e9)
    told = replace(state, thresholds=np.where(near, 1.0, state.thresholds), log_posterior=certain, moved=True)
    assert told.t75()[0] == 1.0


def test_undefined_until_something_moves() -> None:
    state = staircase(DOSES).updated(4.0, 0.5)
    assert np.isnan([state.t75()[0], state.t75()[1], state.t75()[2]]).all()
    assert state.updated(4.0, 1.0).t75()[0] > 0


@pytest.mark.parametrize("doses", [[], [2, 1]])
def test_bad_input(doses: npt.ArrayLike) -> None:
    with pytest.raises(ValueError, match="positive and increasing"):
        staircase(doses)


def test_bad_answers() -> None:
    state = staircase(DOSES)
    for dose, score in ((5.0, 1.0), (4.0, 1.5), (4.0, math.nan)):
        with pytest.raises(ValueError, match="dose must be one of"):
            state.updated(dose, score)
    with pytest.raises(ValueError, match="level must be"):
        state.t75(1.0)
