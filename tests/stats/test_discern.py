"""Tests of all metrics and variants at once; sign flips of all metrics together against enumeration."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from dhp.stats.combination import COMBINATIONS, combined
from dhp.stats.discernment import discern, discernment, joint_log_p
from dhp.stats.wilcoxon import signed_rank
from tests.stats.test_combine import combine


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def scores(n: int = 60, seed: int = 1, missing: float = 0.0) -> np.ndarray:
    """Whole differences of 3 variants and 2 metrics that share what an example has."""
    r = rng(seed)
    x = np.round(0.4 + r.normal(0, 0.7, (n, 1, 1)) + r.normal(0, 1.2, (n, 3, 2)) * [[0.5], [1], [1]])
    return np.where(r.random(x.shape) < missing, math.nan, x)


def d(x: np.ndarray, weights: object = None, **settings: object) -> np.ndarray:
    """D of each variant."""
    return discern(x, weights, **settings)[1]  # type: ignore[arg-type]


def test_d_is_that_of_the_plain_functions() -> None:
    x = scores(25, missing=0.1)
    log_p, found, _ = discern(x)
    for v in range(3):
        logs = [signed_rank(column[~np.isnan(column)]) for column in x[:, v].T]
        assert log_p[v].tolist() == logs
        assert found[v] == pytest.approx(discernment(combine(logs)))


def test_weights_move_only_the_weighted_scores() -> None:
    x, w = scores(), [[1.0, 0.0], [0.25, 0.75], [math.nan, math.nan]]
    (_, plain, plain_ew), (_, same, weighted) = (discern(x, weights) for weights in (None, w))
    assert (same == plain).all()
    assert (plain_ew == plain).all()
    assert weighted[0] == pytest.approx(d(x[:, :, :1])[0])
    assert weighted[1] not in (plain[1], weighted[0])
    assert weighted[2] == pytest.approx(plain[2])


@pytest.mark.parametrize("combination", COMBINATIONS)
@pytest.mark.parametrize("weights", [None, [[0.7, 0.3, 0.0], [1.0, 0.0, 0.0]]])
def test_combination_of_many_is_that_of_one(combination: str, weights: list[list[float]] | None) -> None:
    logs = -(rng().exponential(4, (50, 2, 3)) ** 2)
    logs[0] = 0
    w = None if weights is None else np.array(weights)
    found = combined(logs, w, combination)  # type: ignore[arg-type]
    for i, v in itertools.product(range(50), range(2)):
        one = combine(logs[i, v], None if w is None else w[v], combination)  # type: ignore[arg-type]
        assert found[i, v] == pytest.approx(one, rel=1e-12, abs=1e-12)


def test_the_order_of_examples_variants_and_metrics_does_not_matter() -> None:
    x = scores()
    assert d(x[::-1, ::-1, ::-1]) == pytest.approx(d(x)[::-1])


def test_a_variant_of_which_a_metric_has_no_pair_is_undefined() -> None:
    x = scores()
    x[:, 1, 0] = math.nan
    log_p, found, _ = discern(x)
    assert np.isnan(log_p).tolist() == [[False, False], [True, False], [False, False]]
    assert np.isnan(found).tolist() == [False, True, False]
    assert all(np.isnan(each).all() for each in discern(np.full((5, 3, 2), math.nan)))


@pytest.mark.parametrize("shape", [(3,), (3, 4), (0, 3, 2), (3, 0, 2), (3, 3, 0)])
def test_bad_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="differences must"):
        discern(np.zeros(shape))


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"weights": [1.0, 0.0]}, r"weights must have shape \(3, 2\)"),
        ({"weights": [[0.5, 0.6]] * 3}, "sum to 1"),
        ({"weights": [[math.nan, 1.0]] * 3}, "sum to 1"),
        ({"method": "normal"}, "unknown method"),
        ({"combination": "fisher"}, "unknown combination"),
        ({"alternative": "less"}, "unknown alternative"),
    ],
)
def test_what_does_not_fit_is_refused(wrong: dict[str, object], match: str) -> None:
    with pytest.raises(ValueError, match=match) as error:
        discern(scores(), **wrong)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="finite or NaN"):
        discern(np.full((3, 3, 2), math.inf))


def test_two_sided_tests() -> None:
    x = -np.abs(scores())
    assert (d(x) < 0.1).all()
    assert (d(x, alternative="two-sided") > 5).all()


def test_clusters_change_their_signs_together_but_as_published() -> None:
    x, clusters = scores(missing=0.1), np.arange(60) // 6
    assert (d(x, clusters=clusters) < d(x)).all()
    assert d(x, clusters=clusters).max() <= 10 * math.log(2) / math.log(20), "ten clusters, 1,024 patterns"
    paper = [d(x, method="scipy", clusters=c).tolist() for c in (None, clusters)]
    assert paper[0] == paper[1]


NO_TAIL = np.zeros(1)


def statistic(x: np.ndarray) -> float:
    """Sum of 1 / p over the metrics, p by the normal distribution of the signed rank sum."""
    found = 0.0
    for column in x.T:
        moved = column[column != 0]
        ranks = rankdata(np.abs(moved))
        found += 1 / norm.sf((np.sign(moved) * ranks).sum() / math.sqrt((ranks**2).sum()))
    return found


def enumerated(x: np.ndarray, clusters: np.ndarray) -> float:
    flips = itertools.product((1, -1), repeat=len(set(clusters)))
    values = [statistic(x * np.array(signs)[clusters][:, None]) for signs in flips]
    return float(np.mean(np.array(values) >= statistic(x) * (1 - 1e-12)))


@pytest.mark.parametrize("clusters", [np.arange(8), np.array([0, 0, 1, 2, 2, 3, 4, 5])])
def test_it_is_the_share_of_all_swaps(clusters: np.ndarray) -> None:
    x = np.random.default_rng(3).integers(-2, 4, (8, 2)).astype(float)
    shares = np.array([x[clusters == c].sum() for c in set(clusters)])
    assert (shares != 0).any()
    found = joint_log_p(x[:, None], np.random.default_rng(0), clusters, tail=NO_TAIL)
    if len(set(clusters)) == 8:
        assert math.exp(found[0]) == pytest.approx(enumerated(x, clusters))
    else:
        assert enumerated(x, clusters) <= 1
        assert 1 / 64 <= math.exp(found[0]) <= 1


def test_one_example_that_moves_is_a_coin_flip() -> None:
    x = np.zeros((6, 1, 1))
    x[2] = 1.0
    for sign, p in ((1, 0.5), (-1, 1.0)):
        assert np.exp(joint_log_p(sign * x, np.random.default_rng(0), tail=NO_TAIL)) == pytest.approx([p])


def test_beyond_the_swaps_the_tail_takes_over() -> None:
    x = np.ones((200, 1, 3))
    rng = np.random.default_rng(0)
    assert joint_log_p(x, rng, tail=np.array([-70.0]), resamples=99)[0] == -70
    assert joint_log_p(x, rng, tail=NO_TAIL, resamples=99)[0] == pytest.approx(math.log(1 / 100))
    assert np.isnan(joint_log_p(np.full((9, 1, 1), math.nan), rng, tail=np.array([math.nan]))).all()
    assert joint_log_p(np.zeros((9, 1, 1)), rng, tail=NO_TAIL)[0] == 0


@pytest.mark.slow
def test_metrics_are_combined_by_it() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(-2, 4, (8, 2, 3)).astype(float)
    weights = np.array([[0.6, 0.3, 0.1], [np.nan] * 3])
    _, d, d_ew = discern(x, weights, combination="joint")
    for v in range(2):
        assert 0.05 ** d[v] == pytest.approx(enumerated(x[:, v], np.arange(8)))
    _, _, only = discern(x, np.array([[1.0, 0, 0], [0, 1.0, 0]]), combination="joint")
    for v in range(2):
        assert 0.05 ** only[v] == pytest.approx(enumerated(x[:, v, [v]], np.arange(8)))
    assert d_ew[0] != d[0]
    assert d_ew[1] == d[1]


def test_beyond_the_patterns_d_is_that_of_the_default_but_within_clusters() -> None:
    x = np.random.default_rng(4).normal(1.5, 1, (60, 1, 2))
    plain, joint = (discern(x, combination=c)[1] for c in ("hmp-asymptotic", "joint"))  # type: ignore[arg-type]
    assert joint == plain > 5
    paired = discern(x, combination="joint", clusters=np.arange(60) // 2)[1]
    assert 3 < paired < plain
    one = [discern(x[:, :, :1], combination=c)[1] for c in ("hmp-asymptotic", "joint")]  # type: ignore[arg-type]
    assert one[0] == one[1], "the exact test of one metric is a test by sign flips"


@pytest.mark.slow
def test_it_holds_its_level_within_clusters() -> None:
    """Ten clusters of five whose examples share a shift: 600 runs of 5 % stay within 3 to 7.2 %."""
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(10), 5)
    passed = {"clustered": 0, "ignored": 0}
    for _ in range(600):
        x = np.round(rng.normal(0, 1, (10, 1, 1))[clusters] + rng.normal(0, 1, (50, 1, 2)))
        passed["clustered"] += joint_log_p(x, rng, clusters, tail=NO_TAIL, resamples=199)[0] <= math.log(0.05)
        passed["ignored"] += joint_log_p(x, rng, tail=NO_TAIL, resamples=199)[0] <= math.log(0.05)
    assert 18 <= passed["clustered"] <= 43
    assert passed["ignored"] > 60
