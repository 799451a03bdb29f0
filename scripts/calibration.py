"""Measure how often the method errs, with judges whose sight is known.

`level`: how often a judge that sees nothing passes D = 1. `clusters`: level and power where examples depend
on each other.

Run it from anywhere: python scripts/calibration.py level
"""

import argparse
import itertools
import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

import dhp
from dhp.stats.combination import COMBINATIONS, combined
from dhp.stats.defaults import Combination
from dhp.stats.discernment import LOG_ALPHA, discern
from dhp.stats.wilcoxon import signed_rank

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Test = Callable[[Floats], float]

METRICS, VARIANTS = 4, 12
SAMPLES = {"whole scores": 1, "means of five": 5, "continuous": 0}
"""Whole ratings that make a score; 0: a single rating that nothing rounds."""
CORRELATIONS = (0.0, 0.5, 0.8)


def scores(
    samples: int,
    correlation: float,
    drops: Floats,
    n: int,
    rng: np.random.Generator,
    shift: Floats | float = 0.0,
) -> Floats:
    """Differences of one run, original less degraded, shape (n, variants, METRICS), on their exact grid.

    An example has a quality, N(3.5, 0.7), which a variant lowers by its drop. A rating is quality and noise,
    N(0, 0.8), correlated between the metrics of one text, rounded and cut to 1..5. All variants are compared
    with the same rating of the original. Means of samples are left as sums. Drops are of shape (variants,) or
    (variants, METRICS). Half of a shift, shape (n, 1, 1), raises originals, the other half lowers copies.
    """
    quality = rng.normal(3.5, 0.7, (n, 1, 1))

    def rated(mean: Floats) -> Floats:
        size = (max(samples, 1), *mean.shape[:2])
        shared, own = rng.normal(0, 0.8, (*size, 1)), rng.normal(0, 0.8, (*size, METRICS))
        ratings = mean + math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own
        return np.asarray((np.clip(np.round(ratings), 1, 5) if samples else ratings).sum(axis=0))

    return rated(quality + shift / 2) - rated(quality - shift / 2 - drops.reshape(len(drops), -1))


def exact(differences: Floats) -> float:
    """log p of one test of the preset `default`."""
    return signed_rank(differences, "exact")


def approximate(differences: Floats) -> float:
    """log p of one test of the preset `paper`."""
    return signed_rank(differences, "scipy")


TESTS: Mapping[str, Test] = {"default": exact, "paper": approximate}


def blind(
    samples: int, correlation: float, runs: int, n: int, variants: int, tests: Mapping[str, Test]
) -> dict[str, Floats]:
    """log p by each test of runs of a judge that sees nothing, shape (runs, variants, METRICS)."""
    found: dict[str, list[list[float]]] = {name: [] for name in tests}
    for run in range(runs):
        rng = np.random.default_rng([samples, int(100 * correlation), run])
        differences = scores(samples, correlation, np.zeros(variants), n, rng)
        for name, test in tests.items():
            found[name].append([test(column) for column in differences.reshape(n, -1).T])
    return {name: np.reshape(logs, (runs, variants, METRICS)) for name, logs in found.items()}


def noticed(logs: Floats, metrics: int, combination: Combination) -> Bools:
    """Whether D of the first so many metrics is 1 or more, for log p of shape (..., variants, METRICS)."""
    return np.asarray(combined(logs[..., :metrics], None, combination) / LOG_ALPHA >= 1)


def settings() -> Iterator[tuple[int, float]]:
    """(metrics, correlation) of each setting; a single metric correlates with nothing."""
    yield 1, 0.0
    yield from itertools.product(range(2, METRICS + 1), CORRELATIONS)


def band(runs: int, looks: int = 1, rate: float = 0.05) -> tuple[float, float]:
    """Where the share of so many runs falls in 95 % of cases, all of so many shares together (Bonferroni)."""
    tail = 0.05 / looks / 2
    return float(binom.ppf(tail, runs, rate)) / runs, float(binom.isf(tail, runs, rate)) / runs


def error(passed: Bools) -> float:
    """1.96 standard errors of the share of (runs, variants), over runs: variants share their originals."""
    return float(1.96 * passed.mean(axis=1).std(ddof=1) / math.sqrt(len(passed)))


def outside(shares: list[float], ends: tuple[float, float]) -> str:
    """How many shares are below and above a band."""
    low, high = ends
    return f"{sum(s < low for s in shares)} below, {sum(s > high for s in shares)} above"


def percent(*shares: float) -> str:
    """As a range."""
    return " to ".join(f"{share:.1%}" for share in shares)


def level(runs: int, n: int) -> None:
    """Print the share of variants with D >= 1 where there is nothing to see."""
    looks = VARIANTS * len(SAMPLES) * len(list(settings()))
    one, every = band(runs), band(runs, looks)
    columns = [(test, c) for test, c in itertools.product(TESTS, COMBINATIONS) if c != "joint"]
    each: dict[tuple[str, str], list[float]] = {column: [] for column in columns}
    print(f"N = {n}, {runs} runs of {VARIANTS} variants: share with D >= 1 and 1.96 standard errors")
    print(f"{'':24}" + "".join(f"{' '.join(column):>24}" for column in columns))
    for name, samples in SAMPLES.items():
        found = {c: blind(samples, c, runs, n, VARIANTS, TESTS) for c in CORRELATIONS}
        for metrics, correlation in settings():
            line = f"{name:14} {metrics}  {correlation:<6}"
            for preset, combination in columns:
                passed = noticed(found[correlation][preset], metrics, combination)
                each[preset, combination] += passed.mean(axis=0).tolist()
                line += f"{f'{passed.mean():.2%} ± {error(passed):.2%}':>24}"
            print(line, flush=True)
    for column, shares in each.items():
        print(
            f"{' '.join(column)}: shares of the {looks} variants {percent(min(shares), max(shares))}; "
            f"band of one ({percent(*one)}): {outside(shares, one)}; "
            f"of all ({percent(*every)}): {outside(shares, every)}"
        )


def blind_pipeline(dataset: str, runs: int, statistics: str = "default") -> Bools:
    """Whether D >= 1, shape (runs, variants), in whole runs of `mock/blind`, each with a seed of its own."""
    analysis = dhp.AnalysisConfig(statistics=statistics)
    passed = []
    for seed in range(runs):
        (result,) = dhp.run("mock/blind?noise=1", dataset, seed=seed, analysis=analysis)
        passed.append([row.d >= 1 for row in result.variants])
    return np.array(passed)


def clusters(runs: int, n: int) -> None:
    """Print the share with D >= 1 where the differences of a cluster share a shift.

    Of the variance of a difference 31 % is the cluster's own (of whole scores: a little less).
    """
    spread = math.sqrt(0.31 / 0.69 * 2 * 0.8**2)
    print(f"N = {n}, {runs} runs, {METRICS} metrics that correlate by 0.5: share with D >= 1, by drop on all")
    for size, (kind, samples) in itertools.product((2, 4, 10), list(SAMPLES.items())[:2]):
        index = np.arange(n) // size
        wide = spread / math.sqrt(samples)
        passed = np.zeros((2, 2))
        for run, (at, drop) in itertools.product(range(runs), enumerate((0.0, 0.5))):
            rng = np.random.default_rng([samples, size, n, run, at, 3])
            shift = rng.normal(0, wide, index.max() + 1)[index, None, None]
            x = scores(samples, 0.5, np.array([drop]), n, rng, shift)
            passed[at] += [discern(x, clusters=clusters)[1][0] >= 1 for clusters in (None, index)]
        names = ("clusters ignored", "respected")
        said = (f"{name} {a / runs:.1%} / {b / runs:.1%}" for name, a, b in zip(names, *passed, strict=True))
        print(f"{n // size:3} clusters of {size:2}, {kind:14} nothing / 0.5: {', '.join(said)}", flush=True)


PARTS = {"level": level, "clusters": clusters}


def main() -> None:
    """Print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--n", type=int, default=100, help="examples of a run; bundled sets have their own")
    args = parser.parse_args()
    PARTS[args.part](args.runs, args.n)


if __name__ == "__main__":
    main()
