"""Measure what silence does to the figures: answers without a score as ties, or left out with their pairs.

A judge rates twelve kinds of damage, of which it detects six at 50 %, three at 80 % and three at 95 %, and
leaves a share of its answers unread: of all texts at random, of damaged texts or of originals alone, or of
the damaged texts in which it does not see the damage (`hard`, as thinking takes up the tokens where a case is
hard). With ties detection is 50 % plus half of the share of pairs that are seen and read: the planted truth.

Run it from anywhere: python scripts/silence.py --runs 150 --n 24
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
from coverage import METRICS, judged
from scipy.special import ndtr

from dhp.analysis.verdict_rule import verdicts
from dhp.core.verdicts import NOTICED
from dhp.stats.detection import detection
from dhp.stats.flips import flip_log_p

Floats = npt.NDArray[np.float64]
TRUTH = np.repeat([0.5, 0.8, 0.95], [6, 3, 3])
WHERE = ("either", "damaged", "originals", "hard")
"""Which answers are silent."""
SHARES = (0.0, 0.1, 0.3, 0.48, 0.7, 1.0)
SIZES = (5, 24, 50, 100, 400)
FLIPS = 2000


@dataclass(frozen=True)
class Cell:
    """A judge, and how it keeps silent."""

    shape: str
    metrics: int
    n: int
    where: str
    share: float

    def __str__(self) -> str:
        return f"{self.shape:11} x {self.metrics} N = {self.n:3} {self.share:4.0%} {self.where:9}"


def rated(cell: Cell, rng: np.random.Generator) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Differences (n, kinds, metrics), and which lack a score; metrics that move alike do so together."""
    n, kinds = cell.n, len(TRUTH)
    each = cell.metrics if cell.shape == "independent" else 1
    # Kinds of one text are seen together with a correlation of 0.5, as in `judged`.
    latent = (rng.normal(size=(n, 1, each)) + rng.normal(size=(n, kinds, each))) / np.sqrt(2)
    seen = ndtr(latent) < (2 * TRUTH - 1)[:, None]
    fall, noise = (
        judged(cell.shape, np.full(kinds, truth), 0.2, "whole", n, cell.metrics, rng) for truth in (1.0, 0.5)
    )
    original, damaged = (rng.random((n, k, each)) < cell.share for k in (1, kinds))
    unread = {
        "either": original | damaged,
        "damaged": damaged,
        "originals": np.broadcast_to(original, damaged.shape),
        "hard": damaged & ~seen,
    }[cell.where]
    return np.where(seen, fall, noise), np.broadcast_to(unread, fall.shape)


def detected(cell: Cell) -> Floats:
    """The true detection of each kind, what is silent counted as a tie."""
    if cell.where == "hard":  # what is not seen counts half, by chance or as a tie
        return TRUTH
    lost = 1 - (1 - cell.share) ** (2 if cell.where == "either" else 1)
    return np.asarray(0.5 + (TRUTH - 0.5) * (1 - lost))


def said(cell: Cell, runs: int) -> str:
    """What is said in many runs, in %."""
    rng = np.random.default_rng([cell.n, cell.metrics, int(100 * cell.share), WHERE.index(cell.where)])
    truth, held, held_mean = detected(cell), [], []
    words: dict[str, list[Floats]] = {"ties": [], "left out": []}
    figures: dict[str, list[Floats]] = {"ties": [], "left out": []}
    for _ in range(runs):
        x, unread = rated(cell, rng)
        for rule, value in (("ties", 0.0), ("left out", np.nan)):
            table = np.where(unread, value, x)
            found = detection(table, ["all"] * len(TRUTH))
            word = verdicts(found, flip_log_p(table, resamples=FLIPS))
            words[rule].append(np.array([each is NOTICED for each in word], dtype=float))
            figures[rule].append(found.value)
            if rule == "ties":
                held.append((found.low <= truth) & (truth <= found.high))
                _, low, high = found.average
                held_mean.append(low <= truth.mean() <= high)
    shown = [f"{rule} {_three(_mean(figures[rule]))}; {_noticed(np.array(words[rule]))}" for rule in words]
    errors = _mean(figures["ties"]) - truth
    return (
        f"{_three(truth)}; {'; '.join(shown)}; {100 * np.mean(held):.1f} "
        f"({100 * np.mean(held, axis=0).min():.1f}), {100 * np.mean(held_mean):.1f}; "
        f"{100 * errors[TRUTH == 0.5].mean():+.1f} {100 * errors[TRUTH > 0.5].mean():+.1f}"
    )


def _mean(figures: list[Floats]) -> Floats:
    """The mean figure of each kind over the runs in which it has one."""
    known = ~np.isnan(figures)
    return np.asarray(np.nansum(figures, axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan))


def _three(of_kinds: Floats) -> str:
    """The mean over the kinds of each true detection."""
    return "/".join(f"{100 * of_kinds[t == TRUTH].mean():.0f}" for t in (0.5, 0.8, 0.95))


def _noticed(noticed: Floats) -> str:
    """Runs with any blind kind noticed, and kinds of 80 and of 95 %, from (runs, kinds)."""
    of = [noticed[:, t == TRUTH].mean() for t in (0.8, 0.95)]
    return " ".join(f"{100 * share:.1f}" for share in (noticed[:, TRUTH == 0.5].any(axis=1).mean(), *of))


def cells(sizes: Sequence[int], shares: Sequence[float], where: Sequence[str]) -> Iterator[Cell]:
    """Every judge with every silence; without any, once."""
    for (shape, metrics), n in product((("halo", 1), ("halo", METRICS), ("independent", METRICS)), sizes):
        for share in shares:
            for place in where if share else where[:1]:
                yield Cell(shape, metrics, n, place, share)


def main() -> None:
    """Print a line for each cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=150)
    parser.add_argument("--n", type=int, nargs="*", default=SIZES, help="examples")
    parser.add_argument(
        "--share", type=float, nargs="*", default=SHARES, help="of the answers that are silent"
    )
    parser.add_argument("--where", nargs="*", choices=WHERE, default=WHERE)
    chosen = parser.parse_args()
    print(
        "true detection of kinds at 50/80/95 % with ties; then with ties, and with pairs left out: the mean"
    )
    print(
        "figures, in % of runs any blind kind noticed, of kinds at 80 and 95 % noticed; then intervals with"
    )
    print(
        "ties that hold (of the lowest kind), of the run's mean; mean error of blind and seen kinds in points"
    )
    for cell in cells(chosen.n, chosen.share, chosen.where):
        print(f"{cell}: {said(cell, chosen.runs)}", flush=True)


if __name__ == "__main__":
    main()
