"""Measure what adaptive doses save: the error of T75 of a staircase and of a fixed grid, by number of calls.

A simulated judge rates originals and copies whose quality falls with the dose; examples differ in quality and
in how much a dose hurts them. The grid asks about every dose of 100 examples; the staircase about as many
pairs as a third of these calls allow, calls for originals included, in batches. For one metric the interval
of a bootstrap over the same answers is measured, too.

Run it from anywhere: python scripts/staircase.py
"""

import argparse
import math

import numpy as np
import numpy.typing as npt

from dhp.stats.psychometric import fit, psychometric
from dhp.stats.staircase import staircase

Floats = npt.NDArray[np.float64]
GRID = 2.0 ** np.arange(7)
CANDIDATES = np.unique(np.round(2 ** np.arange(0, 6.01, 0.25)))
EXAMPLES = 100
DROPS = {"weak": 0.9, "middling": 2.5, "strong": 8.0}
"""Points by which a dose of 32 lowers a text on average."""
FORMS = {"one metric, whole scores": (1, 1), "four metrics, means of five": (4, 5)}
"""Metrics and samples."""
SHARED = 0.5
"""Correlation of the noise of the metrics of one text."""


def scores(n: int, drop: float, form: tuple[int, int], doses: Floats, rng: np.random.Generator) -> Floats:
    """Share of the metrics that fell, ties counting half, of n examples at each dose; shape (n, doses)."""
    metrics, samples = form
    quality, hurt = rng.normal(3.7, 0.6, n), np.exp(0.3 * rng.normal(size=n))

    def rated(mean: Floats) -> Floats:
        size = (samples, *mean.shape)
        noise = math.sqrt(SHARED) * rng.normal(size=(*size, 1))
        noise = noise + math.sqrt(1 - SHARED) * rng.normal(size=(*size, metrics))
        return np.clip(np.round(mean[..., None] + 0.8 * noise), 1, 5).sum(axis=0)

    original = rated(quality[:, None])
    copies = rated(quality[:, None] - drop * hurt[:, None] * doses / 32)
    return np.asarray(((1 + np.sign(original - copies)) / 2).mean(axis=2))


def threshold(drop: float, form: tuple[int, int], size: int, rng: np.random.Generator) -> float:
    """The true T75, by bisection on so many examples."""
    low, high = 0.05, 400.0
    for _ in range(14):
        middle = math.sqrt(low * high)
        found = np.mean([scores(size, drop, form, np.array([middle]), rng).mean() for _ in range(4)])
        low, high = (middle, high) if found < 0.75 else (low, middle)
    return math.sqrt(low * high)


def by_grid(drop: float, form: tuple[int, int], rng: np.random.Generator) -> float:
    """Log of T75 from the fixed grid."""
    sums = scores(EXAMPLES, drop, form, GRID, rng).sum(axis=0)
    found = fit(GRID, sums[None], np.full((1, GRID.size), float(EXAMPLES)))[0][0]
    return math.log(min(max(found, GRID[0] / 2), GRID[-1] * 2))


def by_staircase(
    drop: float, form: tuple[int, int], calls: int, batch: int, rng: np.random.Generator
) -> tuple[float, ...]:
    """Log of T75 and its limits from a staircase over the examples in turn, within a number of calls.

    Then the limits of a bootstrap over these examples; NaN for several metrics.
    """
    answers = scores(EXAMPLES, drop, form, CANDIDATES, rng)
    state, copies = staircase(CANDIDATES), 0
    differences = np.full((EXAMPLES, CANDIDATES.size, 1), np.nan)
    while (left := calls - copies - min(copies, EXAMPLES)) > 1:
        for dose in state.next_doses(min(batch, left)):
            if copies + 1 + min(copies + 1, EXAMPLES) <= calls:
                at = int(np.flatnonzero(dose == CANDIDATES)[0])
                score = float(answers[copies % EXAMPLES, at])
                state = state.updated(dose, score)
                differences[copies % EXAMPLES, at] = 2 * score - 1
                copies += 1
    value, low, high = state.t75()
    limits = (math.nan, math.nan)
    if form == (1, 1):
        limits = psychometric(CANDIDATES, differences, rng, resamples=300).fitted[1:]
    return math.log(min(max(value, GRID[0] / 2), GRID[-1] * 2)), low, high, *limits


def main() -> None:
    """Print one line a judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--batch", type=int, default=8, help="judgements asked for at once")
    parser.add_argument("--calls", type=int, default=EXAMPLES * (GRID.size + 1) // 3)
    parser.add_argument("--true", type=int, default=50_000, help="examples of which the true T75 is")
    args = parser.parse_args()
    print(
        f"{args.runs} runs; grid {EXAMPLES * (GRID.size + 1)} calls, staircase {args.calls}: error of log T75"
    )
    ratios = []
    for strength, drop in DROPS.items():
        for name, form in FORMS.items():
            rng = np.random.default_rng(1)
            truth = threshold(drop, form, args.true, rng)
            grid = np.array([by_grid(drop, form, rng) for _ in range(args.runs)]) - math.log(truth)
            found = np.array(
                [by_staircase(drop, form, args.calls, args.batch, rng) for _ in range(args.runs)]
            )
            held = ((found[:, 1] <= truth) & (truth <= found[:, 2])).mean()
            by_bootstrap = ((found[:, 3] <= truth) & (truth <= found[:, 4])).mean()
            beside = f", that of a bootstrap {by_bootstrap:.1%}" if form == (1, 1) else ""
            errors = [math.sqrt(float((e**2).mean())) for e in (grid, found[:, 0] - math.log(truth))]
            ratios.append(errors[1] / errors[0])
            print(
                f"{strength:9} {name:28} T75 {truth:5.2f}  grid {errors[0]:.3f}  staircase {errors[1]:.3f}"
                f"  ratio {ratios[-1]:.2f}  its 95 % interval holds {held:.1%}{beside}",
                flush=True,
            )
    print(f"mean ratio {np.mean(ratios):.2f}")


if __name__ == "__main__":
    main()
