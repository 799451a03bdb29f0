"""Looks at the data: lines against published ones and against other ways to compute them, errors, savings."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from dhp.plugins.adaptive.early_stopping import SHARES, boundaries, interim_sizes, repeated_log_p, spent
from dhp.stats.discernment import combined
from dhp.stats.wilcoxon import signed_rank

RUNS = 1000
MOST = 64
"""Of 1,000 runs with a chance of 0.05 each, no more than so many find something in 97.7 % of cases."""


# Lan and DeMets 1983 and later tables: spending of O'Brien and Fleming's type, one-sided 0.025, equal steps.
@pytest.mark.parametrize(
    "published",
    [
        [1.9600],
        [2.9626, 1.9686],
        [3.7103, 2.5114, 1.9930],
        [4.3326, 2.9631, 2.3590, 2.0141],
        [4.8769, 3.3570, 2.6803, 2.2898, 2.0310],
    ],
)
def test_published_lines(published: list[float]) -> None:
    k = len(published)
    found = boundaries(tuple((i + 1) / k for i in range(k)), 0.025)
    assert norm.isf(found) == pytest.approx(published, abs=2e-4)


@pytest.mark.parametrize("fractions", [SHARES, (0.267, 0.5, 0.767, 1.0), (0.1, 0.9, 1.0), (0.5, 1.0)])
def test_each_analysis_spends_its_share_of_the_error(fractions: tuple[float, ...]) -> None:
    limits = norm.isf(boundaries(fractions))
    covariance = [[math.sqrt(min(a, b) / max(a, b)) for a in fractions] for b in fractions]
    for k in range(1, len(fractions) + 1):
        below = multivariate_normal.cdf(limits[:k], np.zeros(k), np.array(covariance)[:k, :k], abseps=1e-7)
        assert 1 - below == pytest.approx(spent(fractions[k - 1]), abs=1e-5)


@pytest.mark.parametrize("fractions", [(), (0.0, 1.0), (0.5, 0.5, 1.0), (0.6, 0.5), (0.5, 1.1)])
def test_fractions_that_do_not_rise_are_refused(fractions: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="fractions must rise"):
        boundaries(fractions)


@pytest.mark.parametrize(
    ("n", "sizes"), [(100, (25, 50, 75, 100)), (30, (8, 15, 23, 30)), (3, (1, 2, 3)), (1, (1,))]
)
def test_sizes_of_interim_analyses(n: int, sizes: tuple[int, ...]) -> None:
    assert interim_sizes(n) == sizes


def log_ps(differences: np.ndarray) -> np.ndarray:
    """Of one test a row."""
    return np.array([signed_rank(row) for row in differences])


def analysed(runs: int, n: int, metrics: int, drawn: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Whether each analysis reaches its boundary, shape (runs, analyses); metrics correlate by 0.5."""
    rng = np.random.default_rng(metrics * 1000 + n)
    shared = rng.normal(size=(runs, n, 1))
    x = drawn((shared + rng.normal(size=(runs, n, metrics))) / math.sqrt(2))
    sizes = interim_sizes(n)
    lines = np.log(boundaries(tuple(size / n for size in sizes)))
    logs = [
        combined(
            np.stack([log_ps(x[:, :size, m]) for m in range(metrics)], axis=-1)[:, None],
            None,
            "hmp-asymptotic",
        )
        for size in sizes
    ]
    return np.concatenate(logs, axis=1) <= lines


@pytest.mark.slow
@pytest.mark.parametrize("metrics", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize(
    "drawn", [lambda z: z, np.round, lambda z: np.round(0.6 * z)], ids=["continuous", "points", "mostly ties"]
)
def test_a_judge_that_notices_nothing_is_found_out_no_more_often_than_promised(
    metrics: int, n: int, drawn: Callable[[np.ndarray], np.ndarray]
) -> None:
    found = analysed(RUNS, n, metrics, drawn).any(axis=1)
    assert found.sum() <= MOST, "whatever ends the runs: some analysis reaches its boundary"


def test_what_is_there_is_found_early_and_hardly_less_often() -> None:
    strong = analysed(300, 100, 4, lambda z: np.round(z + 1.2))
    assert strong[:, 1].mean() > 0.99, "half the examples suffice"
    weak = analysed(RUNS, 100, 1, lambda z: z + 0.3)
    once = norm.sf(norm.isf(0.05) - 0.3 * math.sqrt(100) * math.sqrt(3 / math.pi))
    assert weak.any(axis=1).mean() == pytest.approx(once, abs=0.05)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("level", [1e-4, 0.05 / 12, 0.02, 0.05, 0.3])
def test_a_repeated_p_value_is_the_level_at_which_the_boundary_is_met(number: int, level: float) -> None:
    at_boundary = math.log(boundaries(SHARES, level)[number - 1])
    assert math.exp(repeated_log_p(at_boundary, SHARES, number)) == pytest.approx(level, rel=2e-3)


def test_repeated_p_values_far_out_and_without_several_analyses() -> None:
    logs = np.array([-1e5, -700.0, -30.0, -3.0, -0.5, -1e-3, 0.0, np.nan])
    for number in (1, 4):
        found = repeated_log_p(logs, SHARES, number)
        assert (np.diff(found[:-1]) >= 0).all()
        assert (found[:-1] >= logs[:-1]).all()
        assert np.isnan(found[-1])
        assert found[-2] == 0
    assert repeated_log_p(-30.0, SHARES, 1) == pytest.approx(-30 / 4, rel=0.2), "spent on a quarter so far"
    assert repeated_log_p(logs[:4], (1.0,), 1) == pytest.approx(logs[:4], rel=2e-3)


def test_repeated_p_values_hold_at_every_level_and_through_holm() -> None:
    rng = np.random.default_rng(5)
    walks = rng.normal(size=(20_000, 5, 4)).cumsum(axis=2) / np.sqrt([1, 2, 3, 4])
    logs = np.stack([repeated_log_p(norm.logsf(walks[..., k]), SHARES, k + 1) for k in range(4)], axis=-1)
    smallest = np.exp(logs.min(axis=-1))
    for level in (0.05, 0.01, 0.002):
        band = 4 * math.sqrt(level / smallest.size)
        assert (smallest <= level).mean() == pytest.approx(level, abs=band)
    by_bonferroni = (smallest.min(axis=1) <= 0.01).mean()
    assert by_bonferroni == pytest.approx(1 - 0.99**5, abs=4 * math.sqrt(0.05 / len(walks)))
