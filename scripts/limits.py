"""Measure whether limits hold: of clustered texts, and of the mean over the kinds of a run.

`clusters`: share of 95 % intervals of a share that hold the true one, and of limits that one event fewer
moves the wrong way. `run`: the same of a run's own figure, the distance to its lower limit, and how often
`gate --min-detection` is met at the true figure and seven points below. Outcomes are 0 or 1, from normal
variables that correlate within a cluster, or within an example.

Run it from anywhere: python scripts/limits.py clusters --runs 1500
"""

import argparse
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from dhp.stats.bounds import mean_interval
from dhp.stats.influences import Influences

Floats = npt.NDArray[np.float64]
CLUSTERED = ((24, 6), (42, 14), (100, 10), (100, 30))
"""Texts and clusters."""
SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.98)
LATENT = (0.0, 0.1, 0.3, 0.6)
KINDS = 12
TRUTHS = {
    "85-100": np.linspace(0.85, 1.0, KINDS),
    "all 95": np.full(KINDS, 0.95),
    "all 99": np.full(KINDS, 0.99),
    "50-95": np.linspace(0.5, 0.95, KINDS),
}
OF_KINDS = (0.1, 0.5, 0.9)
"""Correlation of the kinds of an example."""
BELOW = 0.07


def figures_of(outcomes: Floats, tests: int = 1) -> Influences:
    """One figure a run, from outcomes (n, runs)."""
    value = outcomes.mean(axis=0)
    shape = value.shape
    return Influences(
        value,
        (outcomes - value) / len(outcomes),
        np.ones(outcomes.shape, dtype=bool),
        np.full(shape, float(tests)),
    )


def clusters(chosen: argparse.Namespace) -> None:
    """Print coverage in each cell, and how often and how far one event fewer moves a limit the wrong way."""
    lowest = 1.0
    for (n, groups), latent in product(CLUSTERED, LATENT):
        index = np.arange(n) * groups // n
        rng = np.random.default_rng([n, groups, int(100 * latent), chosen.seed])
        held = []
        for share in SHARES:
            common = rng.normal(size=(groups, chosen.runs))[index]
            latents = np.sqrt(latent) * common + np.sqrt(1 - latent) * rng.normal(size=(n, chosen.runs))
            low, high = mean_interval(figures_of((latents < ndtri(share)).astype(float)), index)
            held.append(float(np.mean((low <= share) & (share <= high))))
        lowest = min(lowest, *held)
        cells = " ".join(f"{100 * each:.1f}" for each in held)
        print(f"{n} in {groups}, correlation {latent}: {cells}", flush=True)
    print(f"lowest {100 * lowest:.1f} %")
    for n, groups in CLUSTERED:
        steps = wrong_steps(n, groups, chosen.runs, np.random.default_rng([n, groups, chosen.seed]))
        print(
            f"{n} in {groups}: {np.mean(steps > 1e-9):.2%} of steps, at most {100 * steps.max():.2f} points"
        )


def wrong_steps(n: int, groups: int, runs: int, rng: np.random.Generator) -> Floats:
    """How far the upper limit of a share rises with one event fewer, 0 if it does not; shape (runs,)."""
    index = np.arange(n) * groups // n
    latent = rng.choice([0.0, 0.3, 0.6], size=runs)
    common = rng.normal(size=(groups, runs))[index]
    latents = np.sqrt(latent) * common + np.sqrt(1 - latent) * rng.normal(size=(n, runs))
    events = latents < np.quantile(latents, 0.5, axis=0) + rng.normal(-1.5, 1, size=runs)
    events[rng.integers(n, size=runs), np.arange(runs)] = True
    fewer = events.copy()
    order = np.where(events, rng.random(events.shape), -1.0).argmax(axis=0)
    fewer[order, np.arange(runs)] = False
    before, after = (mean_interval(figures_of(x.astype(float)), index)[1] for x in (events, fewer))
    return np.maximum(after - before, 0.0)


def run_limits(chosen: argparse.Namespace) -> None:
    """Print coverage of the interval of a run's figure, and what a gate makes of its lower limit."""
    print("% of intervals that hold, of lower limits that are too high; points from figure to lower limit;")
    print(f"% of gates met at the true figure and {100 * BELOW:.0f} points below")
    for n, (name, truth), rho in product(chosen.n, TRUTHS.items(), OF_KINDS):
        rng = np.random.default_rng([n, len(name), int(10 * rho), chosen.seed])
        value, low, high = of_runs(truth, rho, n, chosen.runs, rng)
        true = truth.mean()
        held = np.mean((low <= true) & (true <= high))
        print(
            f"N = {n:3} {name:7} rho {rho}: {100 * held:.1f} {100 * np.mean(low > true):.1f}; "
            f"{100 * np.mean(value - low):.1f}; {100 * np.mean(np.round(low, 3) >= np.round(true, 3)):.1f} "
            f"{100 * np.mean(np.round(low, 3) >= true - BELOW):.1f}",
            flush=True,
        )


def of_runs(
    truth: Floats, rho: float, n: int, runs: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Figure and limits of so many runs, each the mean over kinds that correlate within an example."""
    latents = np.sqrt(rho) * rng.normal(size=(n, runs, 1)) + np.sqrt(1 - rho) * rng.normal(
        size=(n, runs, len(truth))
    )
    outcomes = (latents < ndtri(truth)).astype(float)
    figures = figures_of(outcomes.mean(axis=2), len(truth))
    low, high = mean_interval(figures, squares=(outcomes**2).mean(axis=(0, 2)))
    return figures.value, low, high


PARTS = {"clusters": clusters, "run": run_limits}


def main() -> None:
    """Print one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--n", nargs="*", type=int, default=[24, 30, 50, 100])
    parser.add_argument("--seed", type=int, default=0, help="other runs of the same cells")
    args = parser.parse_args()
    PARTS[args.part](args)


if __name__ == "__main__":
    main()
