"""Detection curves and thresholds: hand-worked cases, exact tails as truth, coverage by simulation."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from dhp.stats.design import Design
from dhp.stats.discernment import discernment
from dhp.stats.dose_response import dose_tests, threshold, threshold_interval
from dhp.stats.effects import effect
from dhp.stats.wilcoxon.signed_rank import signed_rank
from tests.stats.test_combine import combine
from tests.stats.test_tails import tails_of

DOSES = [1, 2, 4, 8]
LEVELS = ["k1", "k2", "k4", "k8"]
Floats = npt.NDArray[np.float64]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def falling(n: int = 30, seed: int = 1) -> Floats:
    """Scores of two metrics that fall more with each of the four doses."""
    drop = np.array([0.0, 0.2, 0.8, 2.0])[:, None]
    return np.round(rng(seed).normal(drop, 1.0, (n, 4, 2)), 1)


@pytest.mark.parametrize(
    ("d", "expected"),
    [
        ([0.0, 0.5, 1.5, 3.0], math.sqrt(8)),  # half-way between 2 and 4 on a log scale
        ([0.0, 0.0, 0.0, 4.0], 4 * 2**0.25),
        ([0.0, 1.0, 2.0, 3.0], 2.0),  # reaches 1 at a dose
        ([1.0, 2.0, 3.0, 4.0], 1.0),  # "at most 1"
        ([0.1, 0.2, 0.3, 0.9], math.inf),
        ([0.0, 1.2, 0.4, 2.8], 4 * 2 ** (0.2 / 2.0)),  # 1.2 and 0.4 pool to 0.8
        ([3.0, 0.0, 0.0, 0.0], math.inf),  # all pool to 0.75
        ([0.0, math.nan, 2.0, 3.0], 2.0),  # half-way from 1 to 4
        ([math.nan, 1.5, 2.0, 3.0], 2.0),  # the first dose at which D is defined
    ],
)
def test_hand_worked_thresholds(d: list[float], expected: float) -> None:
    assert threshold(DOSES, d) == pytest.approx(expected)


def test_undefined_at_all_doses_is_nan() -> None:
    assert math.isnan(threshold(DOSES, [math.nan] * 4))


@given(st.lists(st.floats(0, 20), min_size=4, max_size=4), st.integers(0, 3), st.floats(0, 10))
def test_a_higher_d_never_raises_the_threshold(d: list[float], at: int, more: float) -> None:
    higher = [*d[:at], d[at] + more, *d[at + 1 :]]
    assert threshold(DOSES, higher) <= threshold(DOSES, d) * (1 + 1e-9)


@given(st.lists(st.floats(0, 20), min_size=4, max_size=4), st.floats(0.01, 100))
def test_the_threshold_goes_with_the_unit_of_the_dose(d: list[float], unit: float) -> None:
    assert threshold([unit * dose for dose in DOSES], d) == pytest.approx(unit * threshold(DOSES, d))


def test_doses_are_tested_by_the_known_statistics() -> None:
    x = falling()
    x[:5, 1, 0] = math.nan
    found = dose_tests(Design.of(x, LEVELS, combination="hmp"))
    for dose in range(4):
        columns = [x[:, dose, metric] for metric in range(2)]
        columns = [c[~np.isnan(c)] for c in columns]
        logs = [signed_rank(c).log_p for c in columns]
        assert found.d[dose].tolist() == [discernment(log_p) for log_p in logs]
        assert found.combined[dose] == pytest.approx(discernment(combine(logs, None, "hmp")))
        assert found.rank_biserial[dose].tolist() == [effect(c).rank_biserial for c in columns]
        assert found.fell[dose].tolist() == [effect(c).fell for c in columns]
    assert found.pairs.tolist() == [[30, 30], [25, 30], [30, 30], [30, 30]]


def test_a_dose_without_pairs_is_undefined() -> None:
    x = falling()
    x[:, 2, 0] = math.nan
    found = dose_tests(Design.of(x, LEVELS))
    assert np.isnan(found.d).tolist() == [[False, False], [False, False], [True, False], [False, False]]
    assert np.isnan(found.combined).tolist() == [False, False, True, False]
    assert math.isnan(found.rank_biserial[2, 0])
    assert math.isnan(found.fell[2, 0])
    assert found.pairs[2, 0] == 0


def test_nothing_rated_has_an_undefined_interval() -> None:
    x = falling()
    x[:, :, 0] = math.nan
    found = threshold_interval(DOSES, Design.of(x, LEVELS), rng(), resamples=20)
    assert np.isnan(found.metrics[0]).all()
    assert np.isnan(found.combined).all()
    assert np.isfinite(found.metrics[1]).any()


def test_constant_scores_are_never_noticed() -> None:
    found = dose_tests(Design.of(np.zeros((20, 4, 2)), LEVELS))
    assert not found.d.any()
    assert not found.combined.any()
    intervals = threshold_interval(DOSES, Design.of(np.zeros((20, 4, 2)), LEVELS), rng(), resamples=20)
    assert np.isposinf(intervals.metrics).all()
    assert np.isposinf(intervals.combined).all()


def test_one_example_is_never_enough() -> None:
    x = np.arange(1.0, 5.0).reshape(1, 4, 1)
    assert dose_tests(Design.of(x, LEVELS)).d[:, 0] == pytest.approx(math.log(0.5) / math.log(0.05))
    assert np.isposinf(threshold_interval(DOSES, Design.of(x, LEVELS), rng(), resamples=20).metrics).all()


def test_a_judge_that_always_notices_is_censored_at_the_first_dose() -> None:
    intervals = threshold_interval(DOSES, Design.of(np.ones((20, 4, 2)), LEVELS), rng(), resamples=50)
    assert intervals.combined.tolist() == [1.0, 1.0]


def test_the_same_generator_gives_the_same_interval() -> None:
    first, again, other = (
        threshold_interval(DOSES, Design.of(falling(), LEVELS), rng(seed), resamples=200)
        for seed in (3, 3, 4)
    )
    assert first.metrics.tolist() == again.metrics.tolist()
    assert first.combined.tolist() == again.combined.tolist()
    assert first.metrics.tolist() != other.metrics.tolist()


def test_intervals_hold_the_point_and_grow_with_the_level() -> None:
    x = falling(n=60)
    point = threshold(DOSES, dose_tests(Design.of(x, LEVELS)).combined)
    narrow, wide = (
        threshold_interval(DOSES, Design.of(x, LEVELS), rng(), level=level).combined for level in (0.5, 0.95)
    )
    assert wide[0] < narrow[0] <= point <= narrow[1] < wide[1]


def test_metrics_of_one_example_stay_together() -> None:
    x = falling()
    pair = np.repeat(x[:, :, :1], 2, axis=2)
    twins = threshold_interval(DOSES, Design.of(pair, LEVELS, combination="hmp"), rng(), resamples=100)
    assert twins.metrics[0].tolist() == twins.metrics[1].tolist() == twins.combined.tolist()


def resampled_tests(d: Floats, resamples: int) -> tuple[Floats, Floats, list[Floats]]:
    """Sizes of the groups and positive counts of resamples of `d`, and the resamples themselves."""
    magnitudes = np.unique(np.abs(d[d != 0]))
    drawn = [rng(7).choice(d, d.size) if i else d for i in range(resamples)]
    sizes = np.array([[(np.abs(r) == v).sum() for v in magnitudes] for r in drawn], dtype=np.float64)
    positive = np.array([[(r == v).sum() for v in magnitudes] for r in drawn], dtype=np.float64)
    return sizes, positive, drawn


def close_in_d(log_p: float, exact: float) -> bool:
    d, truth = log_p / math.log(0.05), exact / math.log(0.05)
    return abs(d - truth) <= max(0.1, 0.08 * truth)


grids = st.one_of(
    st.lists(st.integers(-2, 4), min_size=1, max_size=150),
    st.lists(st.integers(-20, 40), min_size=1, max_size=150),
    st.lists(st.sampled_from([-1, 1, 1, 1, 0, 5]), min_size=1, max_size=150),
).filter(any)


@pytest.mark.slow
@given(grids)
def test_resampled_tails_agree_with_the_exact_test(differences: list[int]) -> None:
    sizes, positive, drawn = resampled_tests(np.array(differences, dtype=np.float64), 2)
    for log_p, sample in zip(tails_of(sizes, positive), drawn, strict=True):
        assert close_in_d(log_p, signed_rank(sample).log_p)


@pytest.mark.parametrize("shift", [-0.3, 0.0, 0.15, 0.4, 1.0, 3.0])
def test_resampled_tails_of_scores_without_ties_are_almost_exact(shift: float) -> None:
    for n in (17, 40, 100):
        d = rng(n).normal(shift, 1.0, n)
        sizes, positive, _ = resampled_tests(d, 1)
        exact = signed_rank(d).log_p / math.log(0.05)
        assert tails_of(sizes, positive)[0] / math.log(0.05) == pytest.approx(exact, abs=0.03, rel=0.01)


def test_tails_of_all_positive_and_of_no_differences_are_exact() -> None:
    sizes = np.array([[60.0, 60.0], [120.0, 80.0], [0.0, 0.0], [40.0, 0.0]])
    positive = np.array([[60.0, 60.0], [0.0, 0.0], [0.0, 0.0], [40.0, 0.0]])
    assert tails_of(sizes, positive) == pytest.approx([-120 * math.log(2), 0, 0, -40 * math.log(2)])


def test_tails_of_thousands_of_nearly_perfect_scores_stay_finite() -> None:
    d = np.arange(1.0, 3001.0) * np.where(np.arange(3000) < 3, -1, 1)
    sizes, positive = np.ones((1, 3000)), (d > 0)[None].astype(np.float64)
    with np.errstate(all="raise", under="ignore"):
        log_p = tails_of(sizes, positive)[0]
    assert close_in_d(log_p, signed_rank(d).log_p)


@pytest.mark.slow
def test_intervals_cover_the_threshold_of_a_simulated_judge() -> None:
    """Scores that fall by a known amount per doubling, with noise that examples share across doses.

    The threshold in question is that of the expected W+ at each dose, which is known for normal noise.
    """
    n, simulations, doses = 30, 150, 2.0 ** np.arange(6)
    drop = 0.3 * np.arange(6) - 0.3
    pairs_positive = scipy_stats.norm.cdf(math.sqrt(2) * drop)
    expected = n * scipy_stats.norm.cdf(drop) + n * (n - 1) / 2 * pairs_positive
    z = (expected - n * (n + 1) / 4) / math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    truth = threshold(doses, scipy_stats.norm.logsf(z) / math.log(0.05))
    generator = rng(11)
    covered = below = 0
    for _ in range(simulations):
        noise = generator.normal(0, 0.6, (n, 1)) + generator.normal(0, 0.8, (n, 6))
        x = np.round(drop + noise, 1)[:, :, None]
        low, high = threshold_interval(doses, Design.of(x, ["k"] * 6), generator, resamples=150).combined
        covered += low <= truth <= high
        below += truth < low
    assert 0.9 <= covered / simulations <= 0.98
    assert 0.2 < below / (simulations - covered) < 0.8  # it misses on both sides


@pytest.mark.parametrize("doses", [[0, 1, 2, 4], [2, 1, 4, 8], [1, 1, 2, 4], [1, 2, math.inf, 4], []])
def test_bad_doses_are_refused(doses: list[float]) -> None:
    with pytest.raises(ValueError, match="doses must"):
        threshold(doses, [0.0] * len(doses))
    with pytest.raises(ValueError, match="doses must"):
        threshold_interval(doses, Design.of(falling(), LEVELS), rng())


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"d must have shape \(4,\)"):
        threshold(DOSES, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"doses must have shape \(4,\)"):
        threshold_interval([1, 2], Design.of(falling(), LEVELS), rng())
    for wrong in ({"resamples": 0}, {"level": 1.0}):
        with pytest.raises(ValueError, match="resamples must"):
            threshold_interval(DOSES, Design.of(falling(), LEVELS), rng(), **wrong)  # type: ignore[arg-type]
