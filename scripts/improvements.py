"""Level and power of the rule of `dhp improve`, with planted judges.

Scores of a judge on text t with damage k fall, tie or rise by a latent value, the sum of what the text, the
pair of text and damage, the judge on the text, and chance add. All judges share the first two. Kinds are
detected in 52 to 95 % of the pairs; changes move the latent values by what gives the planted gain.

    python scripts/improvements.py --runs 1000 --n 100 --gain 9
"""

import argparse

import numpy as np

from dhp.plugins.improve.race import LOOKS, Gain, race
from dhp.stats.compare import JudgeScores, compare

_SHARES = {"text": 0.2, "pair": 0.2, "judge": 0.1, "chance": 0.5}
"""Shares of the variance of the latent values."""
_TIED = 0.3
"""Half the width of the latent values that are ties."""


def detection_of(shift: np.ndarray) -> np.ndarray:
    """Detection of kinds whose latent values have these means."""
    from scipy.stats import norm

    return (norm.cdf(shift - _TIED) + norm.cdf(shift + _TIED)) / 2


def shift_of(detected: np.ndarray) -> np.ndarray:
    """Means of the latent values of kinds that are detected so often."""
    grid = np.linspace(-4, 4, 4001)
    return np.interp(detected, detection_of(grid), grid)


class Planted:
    """Judges called 0 (as it was), 1, 2, ... with planted gains, on n texts."""

    def __init__(self, n: int, kinds: np.ndarray, gains: list[float], rng: np.random.Generator) -> None:
        sizes = {"text": (n, 1, 1), "pair": (n, kinds.size, 1), "judge": (n, 1, len(gains) + 1)}
        sizes["chance"] = (n, kinds.size, len(gains) + 1)
        latent = sum(np.sqrt(share) * rng.normal(size=sizes[name]) for name, share in _SHARES.items())
        moves = np.array([shift_of(_raised(kinds, gain)) for gain in [0.0, *gains]])
        latent = latent + moves.T[None]
        self._fell = np.where(latent > _TIED, 1.0, np.where(latent < -_TIED, -1.0, 0.0))
        self._rng = rng

    def gain(self, first: str, second: str, texts: slice, resamples: int) -> Gain:
        """The second judge against the first on some texts."""
        scores = []
        for judge in (int(first), int(second)):
            fell = self._fell[texts, :, judge, None]
            scores.append(JudgeScores(np.zeros((len(fell), 1)), -fell, fell))
        levels = ["all"] * self._fell.shape[1]
        found = compare(scores, levels, self._rng, quantities=["detection"], resamples=resamples)
        (pair,) = found["detection"].pairs
        return Gain(pair.difference, pair.low, pair.high, pair.p)


def _raised(kinds: np.ndarray, gain: float) -> np.ndarray:
    """Detections whose mean is higher by `gain`, those near the ceiling by less; 0.5 to 0.99."""
    if not gain:
        return kinds
    steps = np.linspace(-3, 3, 2001)
    raised = [detection_of(shift_of(kinds) + step).mean() - kinds.mean() for step in steps]
    return detection_of(shift_of(kinds) + np.interp(gain, raised, steps))


def share(count: int, of: int) -> str:
    """A share with its 95 % interval."""
    from scipy.stats import binomtest

    low, high = binomtest(count, of).proportion_ci()
    return f"{100 * count / of:5.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def simulate(n: int, gains: list[float], runs: int, seed: int, resamples: int) -> None:
    """Print how often each outcome comes, and the share of the ratings that dropping saves."""
    half, names = n // 2, [str(k) for k in range(1, len(gains) + 1)]
    best = str(int(np.argmax(gains)) + 1)
    right = recommended = dropped = saved = 0
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        planted = Planted(n, np.linspace(0.52, 0.95, 12), gains, rng)

        def compared(first: str, second: str, look: int, planted: Planted = planted) -> Gain:
            return planted.gain(first, second, slice(0, round(LOOKS[look] * half)), resamples)

        found = race("0", names, compared)
        dropped += best in found.dropped
        saved += sum(1 - LOOKS[look] for look in found.dropped.values())
        if found.best and planted.gain("0", found.best, slice(half, n), resamples).helps:
            recommended += 1
            right += found.best == best
    shown = ", ".join(f"{100 * gain:+g}" for gain in gains)
    print(f"N = {n}, planted gains {shown} points, {runs} runs")
    print(f"  something is recommended  {share(recommended, runs)}")
    if max(gains) > 0:
        print(f"  the planted best one is   {share(right, runs)}")
        print(f"  it is dropped early       {share(dropped, runs)}")
    print(f"  ratings of changes saved  {100 * saved / runs / len(gains):5.1f} %", flush=True)


def main() -> None:
    """Read the options and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument(
        "--gain", type=float, help="of the first of five changes, in points; default: several"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resamples", type=int, default=999)
    asked = parser.parse_args()
    cases = (
        [[asked.gain] + 4 * [0.0]]
        if asked.gain is not None
        else [
            5 * [0.0],
            [5.0, 0, 0, 0, 0],
            [7.0, 0, 0, 0, 0],
            [9.0, 0, 0, 0, 0],
            [9.0, 5.0, 0, 0, -5.0],
            [-10.0, -10.0, -5.0, -5.0, 0],
        ]
    )
    for gains in cases:
        simulate(asked.n, [gain / 100 for gain in gains], asked.runs, asked.seed, asked.resamples)


if __name__ == "__main__":
    main()
