"""Tests of two judges, accuracies over pairs, raters and corrected means against figures from outside."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dhp.core.errors import InputError
from dhp.plugins.human import swap_test as swapping
from dhp.plugins.human.corrected import misclassification_corrected_share, prediction_powered_mean
from dhp.plugins.human.pair_accuracy import pair_accuracy
from dhp.plugins.human.scores import rater_agreement
from dhp.plugins.human.self_preference import self_preference
from dhp.plugins.human.swap_test import swap_test
from dhp.plugins.human.williams import williams
from tests.plugins.human.tables import table


def test_williams_by_hand() -> None:
    """r12 = .7, r13 = .5, r23 = .6, n = 50: K = .32, numerator .2 sqrt(49 * 1.6), by hand."""
    k = 1 - 0.49 - 0.25 - 0.36 + 2 * 0.7 * 0.5 * 0.6
    t = 0.2 * math.sqrt(49 * 1.6) / math.sqrt(2 * k * 49 / 47 + 0.36 * 0.4**3)
    found = williams(0.7, 0.5, 0.6, 50)
    assert found.t == pytest.approx(t)
    assert found.t == pytest.approx(2.1314, abs=1e-4)
    assert (found.p_greater, found.p_two_sided) == pytest.approx((stats.t.sf(t, 47), 2 * stats.t.sf(t, 47)))
    turned = williams(0.5, 0.7, 0.6, 50)
    assert (turned.t, turned.p_two_sided) == pytest.approx((-t, found.p_two_sided))
    assert turned.p_greater == pytest.approx(1 - found.p_greater)
    assert williams(0.7, 0.7, 1.0, 50) is None
    assert williams(0.7, 0.5, 0.6, 3) is None


def test_swapping_tells_a_better_judge_and_not_equal_ones() -> None:
    rng = np.random.default_rng(1)
    human = rng.normal(size=(30, 5))
    good, bad, other = (human + rng.normal(0, s, human.shape) for s in (0.4, 2.5, 2.5))
    found = swap_test(human, good, bad, resamples=199)
    assert found.p_two_sided == found.p_greater == 1 / 200
    even = swap_test(human, bad, other, resamples=199)
    assert even.p_two_sided > 0.05
    assert swap_test(human, bad, bad, resamples=19) is not None
    assert swap_test(human, human * 0, bad, resamples=19) is None


def test_a_swap_is_the_difference_of_the_swapped_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums over coins equal correlations of judges that were really swapped."""
    rng = np.random.default_rng(7)
    human, a, b = rng.normal(size=(3, 20, 3))
    a += human
    coins = swapping._coins(60, 60, 0)
    za, zb = ((v - v.mean()) / v.std() for v in (a, b))
    drawn = []
    for coin in coins.reshape(60, 20, 3) > 0:
        one, other = np.where(coin, za, zb), np.where(coin, zb, za)
        drawn.append(
            stats.pearsonr(human.ravel(), one.ravel())[0] - stats.pearsonr(human.ravel(), other.ravel())[0]
        )
    found = swap_test(human, a, b, resamples=60)
    assert found.difference == pytest.approx(
        stats.pearsonr(human.ravel(), a.ravel())[0] - stats.pearsonr(human.ravel(), b.ravel())[0]
    )
    assert found.p_greater == (sum(d >= found.difference for d in drawn) + 1) / 61
    # A threshold that the draws straddle tells more than one that none reaches.
    monkeypatch.setattr(swapping, "_coins", lambda *_: np.ones((1, 60)))
    unswapped = swap_test(human, a, b, resamples=1)
    assert unswapped.p_greater == 1.0


def brute(human: np.ndarray, judge: np.ndarray, epsilon: float) -> float:
    right = total = 0
    for h, m in zip(human, judge, strict=True):
        for i in range(len(h)):
            for j in range(i):
                tie = abs(m[i] - m[j]) <= epsilon
                right += (h[i] == h[j] and tie) or ((h[i] - h[j]) * (m[i] - m[j]) > 0 and not tie)
                total += 1
    return right / total


@pytest.mark.parametrize("seed", range(3))
def test_ties_are_calibrated_as_by_trying_every_threshold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 5, (6, 5)).astype(float)
    judge = human + rng.normal(0, 1, human.shape).round(1)
    sizes = {abs(a - b) for m in judge for a in m for b in m}
    best = max(brute(human, judge, e) for e in [0, *sizes])
    found = pair_accuracy(human, judge)
    assert found.accuracy == pytest.approx(best)
    assert brute(human, judge, found.epsilon) == pytest.approx(best)
    assert found.pairs == 60


def test_alpha_and_ceiling_of_raters() -> None:
    """Three raters who each add noise of the items' own variance: reliability 1/2 each, 3/4 of the mean."""
    rng = np.random.default_rng(2)
    truth = rng.normal(size=(200, 10))
    ratings = (truth + rng.normal(size=(3, 200, 10))).round(1)
    found = rater_agreement(ratings)
    assert found.alpha == pytest.approx(0.5, abs=0.03)
    assert found.ceiling == pytest.approx(stats.pearsonr(truth.ravel(), ratings.mean(0).ravel())[0], abs=0.02)
    assert rater_agreement(ratings[:1]) is None


def test_prediction_powered_mean_covers_and_gains() -> None:
    rng = np.random.default_rng(4)
    held, widths = 0, []
    for _ in range(200):
        y = rng.normal(3, 1, 600)
        f = 0.5 * y + rng.normal(1, 0.3, 600)
        found = prediction_powered_mean(y[:60], f[:60], f[60:])
        held += found.ci[0] <= 3 <= found.ci[1]
        widths.append((found.ci[1] - found.ci[0]) / (2 * 1.96 * y[:60].std(ddof=1) / math.sqrt(60)))
    assert 0.91 < held / 200 < 0.985
    assert np.mean(widths) < 0.75


@pytest.mark.parametrize(("n", "more"), [(40, 500), (200, 1000), (50, 60)])
def test_prediction_powered_mean_as_in_ppi_python(n: int, more: int) -> None:
    """Both tune the weight, by variances that differ in their degrees of freedom."""
    ppi = pytest.importorskip("ppi_py", reason="the oracle is the package ppi-python")
    rng = np.random.default_rng(n)
    human = rng.normal(3, 1, n)
    judged, others = 0.6 * human + rng.normal(0, 0.5, n), rng.normal(1.8, 0.8, more)
    low, high = (float(end[0]) for end in ppi.ppi_mean_ci(human, judged, others, alpha=0.05))
    found = prediction_powered_mean(human, judged, others)
    assert found.ci == pytest.approx((low, high), abs=0.05 * (high - low))


def test_corrected_share_by_hand() -> None:
    """60 of 100 passed, sensitivity .9, specificity .8: (.6 + .8 - 1) / .7 = 4/7."""
    found = misclassification_corrected_share(60, 100, sensitivity=(90, 100), specificity=(80, 100))
    assert found.value == pytest.approx(4 / 7)
    assert found.ci[0] < 4 / 7 < found.ci[1]
    assert misclassification_corrected_share(6, 10, sensitivity=(5, 10), specificity=(5, 10)) is None


RNG = np.random.default_rng(3)
SYSTEMS = ("gpt-3", "gpt-4", "t5", "bart", "lead")


HUMAN = RNG.normal(size=(60, 5))


def scores(values: np.ndarray, model: str) -> pd.DataFrame:
    return table(values, systems=SYSTEMS, model=model)


def test_self_preference_is_found_where_it_is() -> None:
    fair = HUMAN + RNG.normal(0, 0.3, HUMAN.shape)
    partial = fair + np.array([1, 1, 0, 0, 0])
    ratings = pd.concat(
        [scores(fair, "openai/gpt-fair"), scores(partial, "openai/gpt-own"), scores(fair, "other")]
    )
    even, own = self_preference(ratings, table(HUMAN, systems=SYSTEMS), "GPT", resamples=199)
    assert even.ci[0] < 0 < even.ci[1]
    assert 0.5 < own.ci[0] < own.preference < own.ci[1]
    assert (own.systems, own.own_items, own.others) == (("gpt-3", "gpt-4"), 120, 180)


def test_faults() -> None:
    ratings = pd.concat([scores(HUMAN, "gpt"), scores(HUMAN, "lama")])
    with pytest.raises(InputError, match="no judge's name has 'claude' in it"):
        self_preference(ratings, table(HUMAN, systems=SYSTEMS), "claude")
    with pytest.raises(InputError, match="no system's name has 'lama' in it"):
        self_preference(ratings, table(HUMAN, systems=SYSTEMS), "lama")
