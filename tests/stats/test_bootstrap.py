"""The paired bootstrap against loops over scipy, exact enumeration, and simulation."""

import math
from dataclasses import fields
from itertools import product

import numpy as np
import pytest
from scipy import stats as scipy_stats

from dhp.stats.bootstrap import bootstrap, discernment_at_n
from dhp.stats.combine import COMBINATIONS, combine, combined
from dhp.stats.design import Design, Scores
from dhp.stats.discernment import discernment
from dhp.stats.effects import effect
from dhp.stats.intervals import ends, interval
from dhp.stats.wilcoxon.resampled import Grid, draws, subsets
from dhp.stats.wilcoxon.signed_rank import signed_rank

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
    """D of each variant, D_avg and D_min of one resample, by the plain functions."""
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
def test_every_resample_is_what_a_loop_gives(method: str, n: int, missing: float) -> None:
    x = scores(n, missing=missing)
    found = bootstrap(Design.of(x, LEVELS, method=method), rng(3), resamples=40).resamples  # type: ignore[arg-type]
    times = np.concatenate(list(draws(n, n, 40, rng(3))), axis=1)
    for i, one in enumerate(times.T):
        if (~np.isnan(np.repeat(x, one, axis=0))).any(axis=0).all():
            got = [*found.d[i], found.d_avg[i], found.d_min[i]]
            assert got == pytest.approx(looped(x, one, method), rel=1e-9, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 13, 14, 50, 51, 100])
def test_paper_p_values_equal_scipy(n: int) -> None:
    x = scores(n)[:, 0, 0]
    times = next(draws(n, n, 1 if n <= 13 else 20, rng()))  # scipy permutes few ones slowly
    found = np.exp(Grid.of(x).tests(times).outcomes("scipy")[0])
    for p, one in zip(found, times.T, strict=True):
        if (drawn := np.repeat(x, one)).any():
            assert p == pytest.approx(scipy_stats.wilcoxon(drawn, alternative="greater").pvalue, rel=1e-12)


def test_two_examples_by_enumeration() -> None:
    """Of two examples the four resamples are known: twice either, or both of them in either order."""
    x = np.array([3.0, -1.0]).reshape(2, 1, 1)
    found = bootstrap(Design.of(x, ["a"]), rng(), resamples=4000).resamples
    by_draw = [discernment(signed_rank(pair).log_p) for pair in product([3.0, -1.0], repeat=2)]
    values, counts = np.unique(found.d_avg.round(9), return_counts=True)
    expected, weights = np.unique(np.round(by_draw, 9), return_counts=True)
    assert values == pytest.approx(expected)
    assert counts / 4000 == pytest.approx(weights / 4, abs=0.03)


def test_point_and_jackknife_are_the_plain_statistics() -> None:
    x = scores(25, missing=0.1)
    found = bootstrap(Design.of(x, LEVELS), rng(), resamples=2)
    everything = np.ones(25, dtype=np.int64)
    assert [*found.point.d[0], found.point.d_avg[0], found.point.d_min[0]] == pytest.approx(
        looped(x, everything, "exact")
    )
    for i in range(25):
        times = everything - (np.arange(25) == i)
        got = [*found.left_out.d[i], found.left_out.d_avg[i], found.left_out.d_min[i]]
        assert got == pytest.approx(looped(x, times, "exact"), rel=1e-9)
    sizes = [effect(column[~np.isnan(column)]).rank_biserial for column in x[:, 0].T]
    assert found.point.effects[0, 0] == pytest.approx(sizes)
    assert found.point.effect[0, 0] == pytest.approx(np.mean(sizes))


def test_jackknife_of_many_distinct_scores_is_interpolated_closely() -> None:
    d = rng(4).normal(0.3, 1, 400)
    found = Grid.of(d).left_out("exact")[0]
    exact = [signed_rank(np.delete(d, i)).log_p for i in range(0, 400, 7)]
    assert found[::7] == pytest.approx(exact, abs=5e-3)


def test_one_resample_serves_all_variants_and_metrics() -> None:
    x = scores()
    found = bootstrap(Design.of(x[:, [0, 0, 0]][:, :, [0, 0]], LEVELS), rng(), resamples=50).resamples
    assert (found.d == found.d[:, :1]).all()
    assert found.d_avg == pytest.approx(found.d_min)


def test_weights_move_only_the_weighted_scores() -> None:
    x, w = scores(), [[1.0, 0.0], [0.25, 0.75], [math.nan, math.nan]]
    plain, found = (bootstrap(Design.of(x, LEVELS, weights), rng(), resamples=20) for weights in (None, w))
    assert (found.resamples.d == plain.resamples.d).all()
    assert (plain.resamples.d_ew == plain.resamples.d).all()
    first = bootstrap(Design.of(x[:, :, :1], LEVELS), rng(), resamples=20)
    assert found.resamples.d_ew[:, 0] == pytest.approx(first.resamples.d[:, 0])
    assert found.resamples.d_ew[:, 2] == pytest.approx(plain.resamples.d[:, 2])
    assert found.point.effect_ew[0, 1] == pytest.approx(found.point.effects[0, 1] @ [0.25, 0.75])


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


def test_the_order_of_variants_and_metrics_does_not_matter_and_seeds_do() -> None:
    x = scores()
    found, again, other = (bootstrap(Design.of(x, LEVELS), rng(s), resamples=30).resamples for s in (1, 1, 2))
    turned = bootstrap(Design.of(x[:, ::-1, ::-1], LEVELS[::-1]), rng(1), resamples=30).resamples
    assert found.d_avg.tolist() == again.d_avg.tolist() != other.d_avg.tolist()
    assert turned.d_avg == pytest.approx(found.d_avg)
    assert turned.effects[:, ::-1, ::-1] == pytest.approx(found.effects)


def test_the_order_of_examples_does_not_matter_to_what_is_no_draw() -> None:
    found, turned = (bootstrap(Design.of(x, LEVELS), rng(), resamples=2) for x in (scores(), scores()[::-1]))
    assert turned.point.d_avg == pytest.approx(found.point.d_avg)
    assert turned.left_out.d_avg[::-1] == pytest.approx(found.left_out.d_avg)


def test_a_variant_without_scores_is_undefined_and_left_out_of_the_averages() -> None:
    x = scores()
    x[:, 1, 0] = math.nan
    found = bootstrap(Design.of(x, LEVELS), rng(), resamples=30)
    without = bootstrap(Design.of(x[:, [0, 2]], ["character", "word"]), rng(), resamples=30)
    assert np.isnan(found.resamples.d[:, 1]).all()
    assert found.resamples.d_avg == pytest.approx(without.resamples.d_avg)
    ends_of = interval(found, "d")
    assert np.isnan(ends_of.low).tolist() == [False, True, False]


@pytest.mark.parametrize("quantity", NAMES)
def test_nothing_but_missing_scores_is_undefined(quantity: str) -> None:
    found = bootstrap(Design.of(np.full((5, 3, 2), math.nan), LEVELS), rng(), resamples=10)
    assert np.isnan(getattr(found.point, quantity)).all()
    assert np.isnan(interval(found, quantity).low).all()
    assert np.isnan(
        getattr(discernment_at_n(Design.of(np.full((5, 3, 2), math.nan), LEVELS), rng()), quantity)
    ).all()


def test_one_example_or_one_pair_has_no_interval() -> None:
    one = bootstrap(Design.of(scores(1), LEVELS), rng(), resamples=20)
    assert np.isfinite(one.point.d_avg).all()
    assert math.isnan(interval(one, "d_avg").low)
    x = scores()
    x[1:, 0, 0] = math.nan
    found = bootstrap(Design.of(x, LEVELS), rng(), resamples=200)
    assert np.isnan(interval(found, "d").high).tolist() == [True, False, False]
    assert np.isnan(interval(found, "d_avg").high)


def test_constant_scores_fall_back_to_percentiles() -> None:
    for value in (0.0, 2.0):
        found = bootstrap(Design.of(np.full((20, 3, 2), value), LEVELS), rng(), resamples=50)
        ends_of = interval(found, "d_avg")
        assert not ends_of.bca
        assert ends_of.low == pytest.approx(found.point.d_avg[0]) == ends_of.high
        assert found.point.effect_avg == [value > 0]


def test_bca_equals_scipy_on_its_own_resamples() -> None:
    x = scores(40)[:, :1, :1]

    def statistic(index: np.ndarray) -> float:
        return discernment(signed_rank(x[index.astype(int), 0, 0]).log_p)

    for kind, name in (("bca", "BCa"), ("percentile", "percentile")):
        theirs = scipy_stats.bootstrap(
            (np.arange(40),), statistic, vectorized=False, n_resamples=500, method=name, rng=rng(5)
        )
        design = Design.of(x, ["a"], combination="hmp")
        ours = ends(
            theirs.bootstrap_distribution,
            np.asarray(statistic(np.arange(40))),
            design.without_each().d_avg,
            0.95,
            kind,  # type: ignore[arg-type]
        )
        assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), rel=1e-6)
        assert bool(ours.bca) == (kind == "bca")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_intervals_cover_the_effect_of_a_simulated_judge(kind: str) -> None:
    """Without ties the correlation of the population is 2 P(X + X' > 0) - 1 for n large."""
    shift, n, simulations = 0.4, 50, 200
    truth = 2 * scipy_stats.norm.cdf(math.sqrt(2) * shift) - 1
    generator, covered = rng(8), 0
    for _ in range(simulations):
        x = generator.normal(shift, 1, (n, 1, 1))
        found = bootstrap(Design.of(x, ["a"], method="scipy"), generator, resamples=300)
        ends_of = interval(found, "effect_avg", kind=kind)  # type: ignore[arg-type]
        covered += bool(ends_of.low <= truth <= ends_of.high)
    assert 0.89 <= covered / simulations <= 0.99


def test_draws_and_subsets() -> None:
    for times in draws(7, 30, 50, rng()):
        assert times.shape == (7, 50)
        assert (times.sum(axis=0) == 30).all()
    for times in subsets(30, 7, 500, rng()):
        assert set(times.ravel()) == {0, 1}
        assert (times.sum(axis=0) == 7).all()
        assert times.mean(axis=1) == pytest.approx(7 / 30, abs=0.08)
    parts = [times.shape[1] for times in draws(1 << 19, 1, 5, rng())]
    assert parts == [2, 2, 1]


def test_d_at_the_size_at_hand_is_the_point() -> None:
    x = scores(50)
    found = discernment_at_n(Design.of(x, LEVELS), rng(), size=50, resamples=200)
    assert found.d_avg == pytest.approx(bootstrap(Design.of(x, LEVELS), rng(), resamples=1).point.d_avg)


@pytest.mark.slow
def test_d_at_a_standard_size_brings_sizes_together() -> None:
    small, large = scores(60, seed=2), scores(600, seed=3)
    up, down = (
        discernment_at_n(Design.of(x, LEVELS), rng(), size=100, resamples=200) for x in (small, large)
    )
    points = [bootstrap(Design.of(x, LEVELS), rng(), resamples=1).point.d_avg[0] for x in (small, large)]
    assert points[1] > 4 * points[0]
    assert down.d_avg[0] < 1.6 * up.d_avg[0]
    fresh = [
        bootstrap(Design.of(scores(100, seed=s), LEVELS), rng(), resamples=1).point.d_avg[0]
        for s in range(100, 140)
    ]
    assert down.d_avg[0] == pytest.approx(np.mean(fresh), rel=0.25)


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


def test_no_interval_of_discernment_reaches_below_zero() -> None:
    """Centring moves resamples, which lie above the data, below 0 where the judge notices next to nothing."""
    seen = 0
    for seed in range(8):
        found = bootstrap(Design.of(rng(seed).normal(0, 1, (40, 3, 2)), LEVELS), rng(), resamples=200)
        for quantity in ("d", "d_ew", "d_avg", "d_min", "d_avg_ew", "d_min_ew"):
            drawn, point = getattr(found.resamples, quantity), getattr(found.point, quantity)[0]
            lowest = np.quantile(drawn, 0.025, axis=0) + point - np.median(drawn, axis=0)
            seen += int((lowest < 0).sum())
            assert interval(found, quantity).low == pytest.approx(np.maximum(lowest, 0.0), abs=1e-12)
            assert (interval(found, quantity).low >= 0).all()
    assert seen > 20, "without a bound there would be such intervals"
    low = interval(bootstrap(Design.of(-np.ones((20, 1, 1)), ["a"]), rng(), resamples=50), "effect_avg").low
    assert low == -1, "effects do reach below"


def test_part_is_the_design_of_one_variant_and_some_examples() -> None:
    x, w = scores(missing=0.1), [[1.0, 0.0], [0.25, 0.75], [0.5, 0.5]]
    chosen = np.arange(60) < 30
    part = Design.of(x, LEVELS, w, method="scipy", combination="hmp").part(chosen, 1)
    alone = Design.of(x[:30, [1]], ["word"], [w[1]], method="scipy", combination="hmp")
    for name in NAMES:
        assert getattr(part.point, name).tolist() == getattr(alone.point, name).tolist()


def test_two_sided_tests_of_the_data() -> None:
    x = -np.abs(scores())
    assert (Design.of(x, LEVELS).point.d < 0.1).all()
    assert (Design.of(x, LEVELS, alternative="two-sided").point.d > 5).all()


def test_infinite_differences_and_bad_intervals_are_refused() -> None:
    with pytest.raises(ValueError, match="finite or NaN"):
        Design.of(np.full((3, 3, 2), math.inf), LEVELS)
    with pytest.raises(ValueError, match="size and resamples"):
        discernment_at_n(Design.of(scores(), LEVELS), rng(), size=0)
    with pytest.raises(ValueError, match="resamples must be at least 1"):
        bootstrap(Design.of(scores(), LEVELS), rng(), resamples=0)
    found = bootstrap(Design.of(scores(), LEVELS), rng(), resamples=10)
    for quantity, wrong in (("mean", {}), ("d_avg", {"level": 1.0}), ("d_avg", {"kind": "normal"})):
        with pytest.raises(ValueError, match=r"unknown quantity|level must|unknown kind"):
            interval(found, quantity, **wrong)  # type: ignore[arg-type]
