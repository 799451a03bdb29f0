"""Tests of all metrics and variants at once against the plain functions."""

import math
from itertools import product

import numpy as np
import pytest

from dhp.stats.discernment import COMBINATIONS, combined, discern, discernment
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
    for i, v in product(range(50), range(2)):
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
