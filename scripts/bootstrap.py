"""Measure the tests of resamples: time, memory, and agreement with the tests one by one.

Such tests give the averages of D at a hundred examples and the intervals of the dose at which D passes 1.

Run it from anywhere: python scripts/bootstrap.py
"""

import argparse
import math
import resource
import time
from collections.abc import Callable

import numpy as np
import scipy.special  # the tests use it: not part of what is timed
import scipy.stats

from dhp.stats.combine import Combination
from dhp.stats.design import Design
from dhp.stats.wilcoxon.resampled import Grid, draws
from dhp.stats.wilcoxon.signed_rank import Method, signed_rank

LEVELS = ["character", "word", "sentence"] * 4
METRICS = 4


def judged(n: int, samples: int, rng: np.random.Generator) -> np.ndarray:
    """Differences of 12 variants and 4 metrics: sums of whole scores from 1 to 5, original less degraded.

    The drop grows with the variant from nothing to 1.1 points; many scores tie, many do not move.
    """
    drop = np.linspace(0, 1.1, 12)[:, None]
    quality = rng.normal(4, 0.6, (n, 1, 1))

    def asked(mean: np.ndarray) -> np.ndarray:
        noise = rng.normal(0, 0.6, (samples, n, 12, METRICS))
        return np.clip(np.round(mean + noise), 1, 5).sum(axis=0)

    return asked(quality) - asked(quality - drop)


def cpu(function: Callable[[], object]) -> float:
    """CPU seconds of a call, the least of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def megabytes() -> float:
    """Peak memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def paper_p_values(x: np.ndarray, resamples: int) -> list[np.ndarray]:
    """log p of all tests by scipy's rule."""
    parts = draws(len(x), len(x), resamples, np.random.default_rng(1))
    grids = [Grid.of(column) for column in x.reshape(len(x), -1).T]
    return [np.array([grid.tests(times).log_p("scipy") for grid in grids]) for times in parts]


def resampled(x: np.ndarray, resamples: int, method: Method, combination: Combination) -> None:
    """All scores of resamples."""
    design = Design.of(x, LEVELS, method=method, combination=combination)
    for times in draws(len(x), len(x), resamples, np.random.default_rng(1)):
        design.sampled(times)


def against_scipy(x: np.ndarray, resamples: int, fewer: int) -> None:
    """Print how the p-values of `paper` compare with scipy's, in time and value."""
    n, columns = len(x), x.reshape(len(x), -1)
    index = np.random.default_rng(1).integers(n, size=(resamples, n))
    ours = cpu(lambda: paper_p_values(x, resamples))
    found = np.exp(paper_p_values(x, resamples)[0])

    start = time.process_time()
    truth = [
        [scipy.stats.wilcoxon(column[i], alternative="greater").pvalue for i in index[:fewer]]
        for column in columns.T
    ]
    loop = (time.process_time() - start) * resamples / fewer
    worst = np.abs(found[:, :fewer] - truth).max()

    start = time.process_time()
    for column in columns.T:
        for chunk in np.split(index, 10):
            scipy.stats.wilcoxon(column[chunk], alternative="greater", axis=1)
    axis = time.process_time() - start
    print(f"paper, p-values of {resamples:,} resamples of 48 tests, N = {n}: {ours:.2f} s CPU (bar: 0.2)")
    print(f"  a loop over scipy.stats.wilcoxon: {loop:.0f} s, {loop / ours:.0f} times that (bar: 400)")
    print(f"  the same in chunks by axis=: {axis:.1f} s, {axis / ours:.0f} times that (bar: 12)")
    print(f"  largest difference of p from scipy's: {worst:.1e} (bar: 1e-12)")


def agreement(samples: int, n: int, resamples: int) -> None:
    """Print how far `default` is from the exact p of resamples, for p down to 1e-12."""
    x = judged(n, samples, np.random.default_rng(7)) if samples else None
    smooth = np.random.default_rng(7).normal(np.linspace(0, 0.8, 12)[:, None], 1, (n, 12, METRICS))
    columns = (smooth if x is None else x).reshape(n, -1)
    times = next(draws(n, n, resamples, np.random.default_rng(2)))
    errors = []
    for column in columns.T:
        found = Grid.of(column).tests(times).log_p("exact")
        for log_p, one in zip(found, times.T, strict=True):
            exact = signed_rank(np.repeat(column, one)).log_p
            if exact > math.log(1e-12):
                errors.append(abs(math.expm1(log_p - exact)))
    half, ninety, ninety_nine = np.quantile(errors, [0.5, 0.9, 0.99])
    kind = {0: "no ties", 1: "whole scores", 5: "means of five"}[samples]
    print(
        f"  {kind}, N = {n}: median {half:.1e}, 90% {ninety:.1e}, 99% {ninety_nine:.1e}, "
        f"largest {max(errors):.1e}; within 1%: {np.mean(np.array(errors) <= 0.01):.1%}"
    )


def main() -> None:
    """Print one line a figure."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    x = judged(100, 5, np.random.default_rng(0))
    before = megabytes()
    paper_p_values(x, 10_000)
    print(f"paper, p-values: {megabytes() - before:.0f} MB on top of {before:.0f} (bar: 150)")
    presets: tuple[tuple[Method, Combination], ...] = (("scipy", "printed"), ("exact", "hmp-asymptotic"))
    for preset in presets:
        for samples in (1, 5):
            y = judged(100, samples, np.random.default_rng(0))
            seconds = cpu(lambda y=y, p=preset: resampled(y, 10_000, *p))
            print(f"all scores, 10,000 resamples, {preset[0]}, {samples} samples: {seconds:.2f} s CPU")
    print(f"  peak memory of the process: {megabytes():.0f} MB")
    against_scipy(x, 10_000, 20)
    for preset in presets:
        for n, resamples in ((100, 2000), (1000, 2000), (10_000, 2000), (1000, 4000)):
            y = judged(n, 5, np.random.default_rng(0))
            start = time.process_time()
            resampled(y, resamples, *preset)
            seconds = time.process_time() - start
            print(f"{preset[0]}, N = {n:,}, {resamples:,} resamples: {seconds:.2f} s CPU")
    print("error of p under default, of resamples with p >= 1e-12:")
    for samples in (0, 1, 5):
        for n in (20, 50, 100, 200):
            agreement(samples, n, 20)


if __name__ == "__main__":
    main()
