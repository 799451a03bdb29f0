"""Combined and adjusted p-values against Wilson's tables, the paper, definitions and simulation."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import landau

from dhp.stats.combination import COMBINATIONS, combined
from dhp.stats.defaults import DEFAULT_COMBINATION, Combination
from dhp.stats.discernment import discernment, holm, level_average, minimum

probabilities = st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=6)


def combine(
    log_p: npt.ArrayLike, weights: npt.ArrayLike | None = None, combination: Combination = DEFAULT_COMBINATION
) -> float:
    """The combined log p of the metrics of one variant."""
    rows = None if weights is None else np.asarray(weights, dtype=np.float64)[None]
    return float(combined(np.asarray(log_p, dtype=np.float64)[None], rows, combination)[0])


def logs(*p: float) -> np.ndarray:
    return np.log(np.array(p))


@given(probabilities)
def test_hmp_is_the_harmonic_mean(p: list[float]) -> None:
    assert math.exp(combine(logs(*p), None, "hmp")) == pytest.approx(len(p) / sum(1 / x for x in p), rel=1e-9)


@given(probabilities)
def test_printed_lacks_the_factor_m(p: list[float]) -> None:
    assert math.exp(combine(logs(*p), None, "printed")) == pytest.approx(1 / sum(1 / x for x in p), rel=1e-9)


@given(probabilities, st.data())
def test_weights_of_experts(p: list[float], data: st.DataObject) -> None:
    votes = data.draw(st.lists(st.integers(0, 9), min_size=len(p), max_size=len(p)).filter(any))
    weights = [v / sum(votes) for v in votes]
    expected = 1 / sum(w / x for w, x in zip(weights, p, strict=True))
    for combination in ("hmp", "printed"):
        assert math.exp(combine(logs(*p), weights, combination)) == pytest.approx(expected, rel=1e-9)  # type: ignore[arg-type]


# Wilson (2019), table 1: significance thresholds of the harmonic mean p-value for L tests.
@pytest.mark.parametrize(
    ("tests", "alpha", "threshold"),
    [(10, 0.05, 0.040), (100, 0.05, 0.036), (1000, 0.05, 0.034), (10, 0.01, 0.0094), (100, 0.01, 0.0092)],
)
def test_asymptotic_meets_wilsons_thresholds(tests: int, alpha: float, threshold: float) -> None:
    combined = combine(np.full(tests, math.log(threshold)), None, "hmp-asymptotic")
    assert math.exp(combined) == pytest.approx(alpha, rel=0.02)


# Wilson (2019), eq. 4: a Landau distribution with location log L + 0.874 and scale pi / 2.
@pytest.mark.parametrize("weights", [[0.5, 0.5], [0.5, 0.5, 0.0], [1 / 3] * 3])
@pytest.mark.parametrize("p", [0.05, 0.001])
def test_asymptotic_is_wilsons_landau_distribution_of_the_metrics_with_weight(
    weights: list[float], p: float
) -> None:
    tests = np.count_nonzero(weights)
    truth = landau.sf(1 / p, math.log(tests) + 0.874, math.pi / 2)
    found = combine(np.full(len(weights), math.log(p)), weights, "hmp-asymptotic")
    assert math.exp(found) == pytest.approx(truth, rel=1e-3)
    assert truth > 1.005 * p, "the harmonic mean itself is another"


@pytest.mark.slow
def test_asymptotic_holds_its_level_where_hmp_is_slightly_liberal() -> None:
    p = np.random.default_rng(5).random((20_000, 4))
    rates = {c: np.mean([combine(np.log(row), None, c) <= math.log(0.05) for row in p]) for c in COMBINATIONS}
    assert rates["hmp-asymptotic"] == pytest.approx(0.05, abs=0.006)
    assert 0.05 < rates["hmp"] < 0.07
    assert rates["printed"] == pytest.approx(0.296, abs=0.01)


def test_printed_gives_a_score_to_a_judge_that_noticed_nothing() -> None:
    assert discernment(combine(np.zeros(4), None, "printed")) == pytest.approx(0.46, abs=0.005)
    assert discernment(combine(np.zeros(4))) == 0.0


@pytest.mark.parametrize("metrics", [1, 2, 3, 4])
def test_asymptotic_keeps_what_needs_no_correction(metrics: int) -> None:
    assert combine(np.zeros(metrics), None, "hmp-asymptotic") == 0.0
    one_counts = [1.0] + [0.0] * (metrics - 1)
    assert combine(np.full(metrics, -3.0), one_counts, "hmp-asymptotic") == pytest.approx(-3.0)


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_never_underflows(combination: str) -> None:
    combined = combine(np.array([-5000.0, -2.0]), None, combination)  # type: ignore[arg-type]
    assert combined == pytest.approx(-5000 + (math.log(2) if combination != "printed" else 0), abs=1e-6)


def test_unknown_combination_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown combination"):
        combine([-1.0], None, "fisher")  # type: ignore[arg-type]


@pytest.mark.parametrize(("p", "d"), [(0.05, 1), (0.0025, 2), (1.0, 0), (0.05**0.5, 0.5)])
def test_discernment(p: float, d: float) -> None:
    assert discernment(math.log(p)) == pytest.approx(d)


def test_levels_weigh_the_same_and_degrees_count() -> None:
    scores = [1.0, 3.0, 5.0, 0.0, 1.0]
    assert level_average(scores, ["c", "c", "w", "s", "s"]) == pytest.approx((2 + 5 + 0.5) / 3)
    assert minimum(scores) == (0.0, 3)


@pytest.mark.parametrize(
    ("scores", "first"),
    [
        ([2.0, 1.0, 1.0], 1),
        ([1.0, 1.0, 1.0], 0),
        ([0.3, 0.1 + 0.2, 0.5], 0),
        ([0.1 + 0.2, 0.3, 0.5], 0),
        ([1e-17, 0.0, 0.0], 0),
        ([1e-6, 0.0, 1.0], 1),
    ],
)
def test_the_first_of_the_smallest_is_the_minimum(scores: list[float], first: int) -> None:
    """Scores that differ by rounding alone are the same."""
    assert minimum(scores) == (min(scores), first)


def test_an_undefined_score_is_in_no_average_and_leaves_no_minimum() -> None:
    assert level_average([1.0, math.nan, 3.0], ["a", "b", "a"]) == 2
    assert math.isnan(level_average([math.nan], ["a"]))
    assert math.isnan(minimum([1.0, math.nan])[0])
    with pytest.raises(ValueError, match="levels must be 2 names"):
        level_average([1.0, 2.0], ["a"])


@pytest.mark.parametrize("weights", [None, [0.8, 0.1, 0.1, 0.0], [0.4, 0.3, 0.2, 0.1]])
def test_the_asymptotic_p_is_never_below_the_harmonic_mean_and_grows_with_it(
    weights: list[float] | None,
) -> None:
    """Its limit distribution knows no largest harmonic mean, so that alone it would give 0.7 for p = 1."""
    logs = np.log(np.linspace(0.01, 1, 200))[:, None] * np.ones(4)
    found = [combine(row, weights, "hmp-asymptotic") for row in logs]
    means = [combine(row, weights, "hmp") for row in logs]
    assert (np.diff(found) > 0).all()
    assert all(p >= mean for p, mean in zip(found, means, strict=True))
    assert found[-1] == pytest.approx(0, abs=1e-9)


tiny_probabilities = st.lists(st.floats(1e-300, 1.0), min_size=1, max_size=12)


def test_holm_hand_worked() -> None:
    # 4 * .01, 3 * .02, then 2 * .03 = .06 = the one before, then 1 * .2
    assert np.exp(holm(np.log([0.03, 0.01, 0.2, 0.02]))) == pytest.approx([0.06, 0.04, 0.2, 0.06])


@given(tiny_probabilities, st.floats(0.001, 0.999))
def test_holm_rejects_what_its_step_down_procedure_rejects(p: list[float], level: float) -> None:
    rejected: set[int] = set()
    for step, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[i] > level / (len(p) - step):
            break
        rejected.add(i)
    found = holm(np.log(p))
    assert all(found[i] <= math.log(level) + 1e-12 for i in rejected)
    assert all(found[i] >= math.log(level) - 1e-12 for i in range(len(p)) if i not in rejected)


def test_far_tails_undefined_tests_and_order() -> None:
    logs = np.array([-5000.0, math.nan, -4000.0, -1.0])
    found = holm(logs)
    assert math.isnan(found[1])
    assert found[0] == pytest.approx(-5000 + math.log(3))
    assert holm(logs[::-1])[::-1] == pytest.approx(found, nan_ok=True)
    assert holm(logs[[0, 2, 3]]) == pytest.approx(found[[0, 2, 3]])
    assert holm([]).size == 0


@pytest.mark.parametrize("bad", [0.1, [0.1], [[-1.0]]])
def test_bad_values_are_refused(bad: object) -> None:
    with pytest.raises(ValueError, match="log_p must"):
        holm(bad)  # type: ignore[arg-type]
