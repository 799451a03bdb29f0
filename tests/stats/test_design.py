"""Designs and their samples against loops over scipy and the plain functions."""

import math
from dataclasses import fields
from itertools import product

import numpy as np
import pytest
from scipy import stats as scipy_stats

from dhp.stats.design import Design, Scores
from dhp.stats.discernment import COMBINATIONS, combined, discernment
from dhp.stats.wilcoxon.signed_rank import Grid, draws, signed_rank
from tests.stats.test_combine import combine

LEVELS = ["character", "word", "word"]
NAMES = [field.name for field in fields(Scores)]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def scores(n: int = 60, seed: int = 1, missing: float = 0.0) -> np.ndarray:
    """Whole differences of 3 variants and 2 metrics that share what an example has."""
    r = rng(seed)
    x = np.round(0.4 + r.normal(0, 0.7, (n, 1, 1)) + r.normal(0, 1.2, (n, 3, 2)) * [[0.5], [1], [1]])
    return np.where(r.random(x.shape) < missing, math.nan, x)


def looped(x: np.ndarray, times: np.ndarray, method: str, levels: list[str] = LEVELS) -> list[float]:
    """D of each variant, D_avg and D_min of one sample, by the plain functions."""
    drawn = np.repeat(x, times, axis=0)
    d = []
    for v in range(x.shape[1]):
        pairs = [column[~np.isnan(column)] for column in drawn[:, v].T]
        logs = [signed_rank(p, method).log_p for p in pairs]  # type: ignore[arg-type]
        d.append(discernment(combine(logs)))
    by_level = [np.mean([s for s, own in zip(d, levels, strict=True) if own == name]) for name in set(levels)]
    return [*d, float(np.mean(by_level)), min(d)]


@pytest.mark.parametrize("method", ["exact", "scipy"])
@pytest.mark.parametrize(("n", "missing"), [(4, 0.0), (12, 0.1), (14, 0.1), (30, 0.0), (60, 0.2)])
def test_every_sample_is_what_a_loop_gives(method: str, n: int, missing: float) -> None:
    x = scores(n, missing=missing)
    times = next(draws(n, n, 40, rng(3)))
    found = Design.of(x, LEVELS, method=method).sampled(times)[1]  # type: ignore[arg-type]
    for i, one in enumerate(times.T):
        if (~np.isnan(np.repeat(x, one, axis=0))).any(axis=0).all():
            got = [*found.d[i], found.d_avg[i], found.d_min[i]]
            assert got == pytest.approx(looped(x, one, method), rel=1e-9, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 13, 14, 50, 51, 100])
def test_paper_p_values_equal_scipy(n: int) -> None:
    x = scores(n)[:, 0, 0]
    times = next(draws(n, n, 1 if n <= 13 else 20, rng()))  # scipy permutes few ones slowly
    found = np.exp(Grid.of(x).tests(times).log_p("scipy"))
    for p, one in zip(found, times.T, strict=True):
        if (drawn := np.repeat(x, one)).any():
            assert p == pytest.approx(scipy_stats.wilcoxon(drawn, alternative="greater").pvalue, rel=1e-12)


@pytest.mark.parametrize(
    "x",
    [
        np.arange(-9.0, 21),  # a zero among 30: by scipy's normal approximation
        np.append(np.arange(2.0, 31), -1),  # none, and all differ: exact
        np.repeat([1.0, -2, 3], 10),  # all tied: approximated
        np.array([0.0, 1, -1, 2, 2, 3]),  # so few that all signs are tried
    ],
)
def test_paper_p_values_equal_scipy_with_and_without_ties(x: np.ndarray) -> None:
    once = Grid.of(x).tests(np.ones((x.size, 1), dtype=np.int32))
    truth = scipy_stats.wilcoxon(x, alternative="greater").pvalue
    assert np.exp(once.log_p("scipy")) == pytest.approx(truth, rel=1e-12)


def test_the_point_is_that_of_the_plain_functions() -> None:
    x = scores(25, missing=0.1)
    found = Design.of(x, LEVELS).point
    everything = np.ones(25, dtype=np.int64)
    assert [*found.d[0], found.d_avg[0], found.d_min[0]] == pytest.approx(looped(x, everything, "exact"))


def test_one_sample_serves_all_variants_and_metrics() -> None:
    x, times = scores(), next(draws(60, 60, 50, rng()))
    found = Design.of(x[:, [0, 0, 0]][:, :, [0, 0]], LEVELS).sampled(times)[1]
    assert (found.d == found.d[:, :1]).all()
    assert found.d_avg == pytest.approx(found.d_min)


def test_weights_move_only_the_weighted_scores() -> None:
    x, w = scores(), [[1.0, 0.0], [0.25, 0.75], [math.nan, math.nan]]
    plain, found = (Design.of(x, LEVELS, weights).point for weights in (None, w))
    assert (found.d == plain.d).all()
    assert (plain.d_ew == plain.d).all()
    first = Design.of(x[:, :, :1], LEVELS).point
    assert found.d_ew[:, 0] == pytest.approx(first.d[:, 0])
    assert found.d_ew[:, 2] == pytest.approx(plain.d[:, 2])


@pytest.mark.parametrize("combination", COMBINATIONS)
@pytest.mark.parametrize("weights", [None, [[0.7, 0.3, 0.0], [1.0, 0.0, 0.0]]])
def test_combination_of_many_is_that_of_one(combination: str, weights: list[list[float]] | None) -> None:
    logs = -(rng().exponential(4, (50, 2, 3)) ** 2)
    logs[0] = 0
    w = None if weights is None else np.array(weights)
    found = combined(logs, w, combination)  # type: ignore[arg-type]
    for i, v in product(range(50), range(2)):
        one = combine(logs[i, v], None if w is None else w[v], combination)  # type: ignore[arg-type]
        assert found[i, v] == pytest.approx(one, rel=1e-12, abs=1e-12)


def test_the_order_of_examples_variants_and_metrics_does_not_matter() -> None:
    x = scores()
    found = Design.of(x, LEVELS).point
    for turned in (Design.of(x[:, ::-1, ::-1], LEVELS[::-1]), Design.of(x[::-1], LEVELS)):
        assert turned.point.d_avg == pytest.approx(found.d_avg)


def test_a_variant_without_scores_is_undefined_and_left_out_of_the_averages() -> None:
    x = scores()
    x[:, 1, 0] = math.nan
    found = Design.of(x, LEVELS).point
    without = Design.of(x[:, [0, 2]], ["character", "word"]).point
    assert np.isnan(found.d).tolist() == [[False, True, False]]
    assert found.d_avg == pytest.approx(without.d_avg)


@pytest.mark.parametrize("quantity", NAMES)
def test_nothing_but_missing_scores_is_undefined(quantity: str) -> None:
    assert np.isnan(getattr(Design.of(np.full((5, 3, 2), math.nan), LEVELS).point, quantity)).all()


def test_draws() -> None:
    for times in draws(7, 30, 50, rng()):
        assert times.shape == (7, 50)
        assert (times.sum(axis=0) == 30).all()
    parts = [times.shape[1] for times in draws(1 << 19, 1, 5, rng())]
    assert parts == [2, 2, 1]


@pytest.mark.parametrize("shape", [(3,), (3, 4), (0, 3, 2), (3, 0, 2), (3, 3, 0)])
def test_bad_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="differences must"):
        Design.of(np.zeros(shape), LEVELS)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"levels": ["a"]}, "levels must be 3 names"),
        ({"levels": "abc"}, "levels must be 3 names"),
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
        Design.of(scores(), **{"levels": LEVELS, **wrong})  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="finite or NaN"):
        Design.of(np.full((3, 3, 2), math.inf), LEVELS)


def test_two_sided_tests_of_the_data() -> None:
    x = -np.abs(scores())
    assert (Design.of(x, LEVELS).point.d < 0.1).all()
    assert (Design.of(x, LEVELS, alternative="two-sided").point.d > 5).all()


def test_clusters_change_their_signs_together_but_as_published() -> None:
    x, clusters = scores(missing=0.1), np.arange(60) // 6
    alone, together = Design.of(x, LEVELS), Design.of(x, LEVELS, clusters=clusters)
    assert (together.point.d < alone.point.d).all()
    assert together.point.d.max() <= 10 * math.log(2) / math.log(20), "ten clusters, 1,024 sign patterns"
    paper = [Design.of(x, LEVELS, method="scipy", clusters=c).point.d.tolist() for c in (None, clusters)]
    assert paper[0] == paper[1]
