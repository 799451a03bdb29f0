"""T75 of examples that have few of the doses."""

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from dhp.stats.few_doses import Posterior, few_doses, posterior
from dhp.stats.psychometric import curve

DOSES = np.array([1.0, 2, 3, 4, 6, 8, 12, 16, 24, 32])
NOTHING = np.zeros(DOSES.size)


def at(counts: dict[float, float]) -> npt.NDArray[np.float64]:
    """A count at each dose."""
    return np.array([counts.get(dose, 0.0) for dose in DOSES])


def drawn(t75: float, answers: int, seed: int, lapse: float = 0.02) -> Posterior:
    """After so many outcomes at doses drawn at random."""
    rng = np.random.default_rng(seed)
    doses = rng.choice(DOSES, answers)
    pairs, fell = NOTHING.copy(), NOTHING.copy()
    for dose in doses:
        pairs[dose == DOSES] += 1
        fell[dose == DOSES] += rng.random() < curve(dose, t75, 1.0, lapse)
    return posterior(DOSES, pairs, fell)


def test_before_the_first_outcome_lapses_are_rare_and_powers_near_one() -> None:
    state = posterior(DOSES, NOTHING, NOTHING)
    lapses = np.array([0, 0.06, 0.12, 0.18, 0.24, 0.26, 0.32, 0.4, 0.5])
    powers = np.exp(np.linspace(math.log(0.5), math.log(3), 5))
    prior = state.weight[0].reshape(5, lapses.size)
    assert prior[2] / prior[2, 0] == pytest.approx((1 - lapses) ** 8)
    assert state.reaches.tolist() == 5 * (lapses < 0.25).tolist()
    of_power = stats.norm.pdf(np.log(powers), 0, 0.5)
    assert prior[:, 0] / prior[2, 0] == pytest.approx(of_power / of_power[2])


def test_the_posterior_is_prior_times_likelihood() -> None:
    """Of a fall at dose 4, a fall and a tie at dose 8, with the curve of each power and lapse rate."""
    state = posterior(DOSES, at({4: 1, 8: 2}), at({4: 1, 8: 1.5}))
    prior = posterior(DOSES, NOTHING, NOTHING).weight
    lapses = [0, 0.06, 0.12, 0.18, 0.24, 0.26, 0.32, 0.4, 0.5]
    expected = np.empty(prior.shape)
    for i, threshold in enumerate(state.thresholds):
        for j, power in enumerate(np.exp(np.linspace(math.log(0.5), math.log(3), 5))):
            for k, lapse in enumerate(lapses):
                p4, p8 = (min(float(curve(dose, threshold, power, lapse)), 0.999) for dose in (4.0, 8.0))
                column = j * len(lapses) + k
                expected[i, column] = prior[i, column] * p4 * p8 * math.sqrt(p8 * (1 - p8))
    assert state.weight == pytest.approx(expected / expected.sum())
    share = state.weight[:, state.reaches].sum(axis=1)
    median = np.interp(0.5, share.cumsum() - share / 2, np.log(state.thresholds))
    assert state.t75()[0] == pytest.approx(math.exp(median))


def test_examples_with_few_doses_are_counted_by_dose() -> None:
    rng, rows = np.random.default_rng(4), []
    pairs, fell = NOTHING.copy(), NOTHING.copy()
    for dose in rng.choice(DOSES, 40):
        moved = rng.choice([1.0, 0.0, -1.0])
        rows.append(np.where(dose == DOSES, moved, np.nan))
        pairs += dose == DOSES
        fell += (dose == DOSES) * (1 + moved) / 2
    found = few_doses(DOSES, np.array(rows)[:, :, None])
    assert found.fitted == pytest.approx(posterior(DOSES, pairs, fell).t75())
    assert found.pairs.tolist() == pairs.tolist()


def test_without_an_outcome_that_moves_it_is_undefined() -> None:
    found = few_doses(DOSES, np.zeros((3, DOSES.size, 2)))
    assert np.isnan([found.fitted[0], found.power]).all()
    assert found.detection.tolist() == [0.5] * DOSES.size


@pytest.mark.parametrize("t75", [6.0, 14.0])
def test_it_converges(t75: float) -> None:
    found = [drawn(t75, 120, seed).t75() for seed in range(12)]
    errors = [math.log(value / t75) for value, _, _ in found]
    assert abs(np.mean(errors)) < 0.2
    assert np.sqrt(np.mean(np.square(errors))) < 0.45
    assert sum(low <= t75 <= high for _, low, high in found) >= 9


def test_of_a_symmetric_posterior_the_median_is_the_middle() -> None:
    state = posterior(DOSES, NOTHING, NOTHING)
    logs = np.log(state.thresholds)
    middle = logs[logs.size // 2]
    bell = np.exp(-20 * (logs - middle) ** 2)[:, None] * state.reaches
    found = replace(state, weight=bell / bell.sum()).t75()
    assert found[0] == pytest.approx(math.exp(middle), rel=1e-3)
    limits = middle + np.array([-1.96, 1.96]) / math.sqrt(40)
    half_a_step = (logs[1] - logs[0]) / 2
    assert np.log(found[1:]) == pytest.approx(limits, abs=half_a_step)


def test_beyond_the_doses_it_says_so() -> None:
    low = posterior(DOSES, at({1: 60}), at({1: 60})).t75()
    assert low[0] == low[1] == 0
    high = posterior(DOSES, at({32: 60}), at({32: 30})).t75()
    assert high[0] == high[2] == math.inf


@pytest.mark.parametrize("answers", [40, 160])
def test_a_judge_that_ends_at_74_per_cent_may_never_reach_it(answers: int) -> None:
    """Of 20 such judges at most three may be said to reach it surely."""
    highest = [drawn(2.0, answers, seed, lapse=0.26).t75()[2] for seed in range(20)]
    assert sum(math.isinf(high) for high in highest) >= 17


def test_a_threshold_at_the_smallest_dose_is_that_dose() -> None:
    state = posterior(DOSES, NOTHING, NOTHING)
    near = np.isclose(state.thresholds, 1.0)
    certain = near[:, None] * state.reaches / state.reaches.sum()
    told = replace(state, thresholds=np.where(near, 1.0, state.thresholds), weight=certain)
    assert told.t75()[0] == 1.0


@pytest.mark.parametrize("doses", [[], [2, 1]])
def test_bad_doses(doses: list[float]) -> None:
    with pytest.raises(ValueError, match="positive and increasing"):
        posterior(doses, np.zeros(len(doses)), np.zeros(len(doses)))
