"""Level and power of the rule of `dhp improve`, with planted judges.

Scores of a judge on text t with damage k fall, tie or rise by a latent value, the sum of what the text, the
pair of text and damage, the judge on the text, and chance add. All judges share the first two. Kinds are
detected in 52 to 95 % of the pairs; changes move the latent values by what gives the planted gain. As many
changes are tried as `dhp improve` has, of which the first has the gain and the others none.

    python scripts/improvements.py --runs 300 --n 50 100 --gain 0 5 9
"""

import argparse
from functools import cache
from itertools import product

import numpy as np
from scipy.special import ndtr

from dhp.plugins.improve.changes import known_changes
from dhp.plugins.improve.race import LOOKS, Gain, race
from dhp.stats.influences import Influences
from dhp.stats.swap import swap

_SHARES = {"text": 0.2, "pair": 0.2, "judge": 0.1, "chance": 0.5}
"""Shares of the variance of the latent values."""
_TIED = 0.3
"""Half the width of the latent values that are ties."""
KINDS = np.linspace(0.52, 0.95, 12)
"""Detection of the kinds by the judge as it was."""


def detection_of(shift: np.ndarray) -> np.ndarray:
    """Detection of kinds whose latent values have these means."""
    return (ndtr(shift - _TIED) + ndtr(shift + _TIED)) / 2


def shift_of(detected: np.ndarray) -> np.ndarray:
    """Means of the latent values of kinds that are detected so often."""
    grid = np.linspace(-4, 4, 4001)
    return np.interp(detected, detection_of(grid), grid)


class Planted:
    """Judges called 0 (as it was), 1, 2, ... with planted gains, on n texts."""

    def __init__(self, n: int, gains: list[float], rng: np.random.Generator) -> None:
        sizes = {"text": (n, 1, 1), "pair": (n, KINDS.size, 1), "judge": (n, 1, len(gains) + 1)}
        sizes["chance"] = (n, KINDS.size, len(gains) + 1)
        latent = sum(np.sqrt(share) * rng.normal(size=sizes[name]) for name, share in _SHARES.items())
        moves = np.array([moves_of(gain) for gain in [0.0, *gains]])
        latent = latent + moves.T[None]
        self._fell = np.where(latent > _TIED, 1.0, np.where(latent < -_TIED, -1.0, 0.0))
        self._rng = rng

    def gain(self, first: str, second: str, texts: slice, resamples: int) -> Gain:
        """The second judge against the first on some texts, by detection over all kinds."""
        old, new = (self._detection(int(judge), texts) for judge in (first, second))
        found = swap(new, old, self._rng, resamples=resamples)
        difference, p = float(new.value[0] - old.value[0]), float(found.p[0])
        return Gain(difference, float(found.low[0]), float(found.high[0]), p)

    def _detection(self, judge: int, texts: slice) -> Influences:
        """The mean over the kinds, which are of one level; shape (1,)."""
        outcomes = (1 + self._fell[texts, :, judge]).mean(axis=1, keepdims=True) / 2
        value, tests = outcomes.mean(axis=0), np.array([float(KINDS.size)])
        return Influences(value, (outcomes - value) / len(outcomes), np.ones(outcomes.shape, bool), tests)


@cache
def moves_of(gain: float) -> np.ndarray:
    """Means of the latent values of each kind, moved alike, so that mean detection is higher by `gain`."""
    before, steps = shift_of(KINDS), np.linspace(0, 3, 2001)
    raised = [detection_of(before + step).mean() - KINDS.mean() for step in steps]
    return before + np.interp(gain, raised, steps)


def share(count: int, of: int) -> str:
    """A share with its 95 % interval."""
    from scipy.stats import binomtest

    low, high = binomtest(count, of).proportion_ci()
    return f"{100 * count / of:5.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def simulate(n: int, gain: float, runs: int, seed: int, resamples: int) -> None:
    """Print how often each outcome comes, and by how much a confirmed gain of the planted change is too high.

    `gain` is a share.
    """
    half, others = n // 2, len(known_changes().changes) - 1
    gains = [gain, *others * [0.0]]
    names = [str(k) for k in range(1, len(gains) + 1)]
    recommended = dropped = saved = 0
    confirmed = []
    for run in range(runs):
        rng = np.random.default_rng([seed, n, run])
        planted = Planted(n, gains, rng)

        def compared(first: str, second: str, look: int, planted: Planted = planted) -> Gain:
            return planted.gain(first, second, slice(0, round(LOOKS[look] * half)), resamples)

        found = race("0", names, compared)
        dropped += "1" in found.dropped
        saved += sum(1 - LOOKS[look] for look in found.dropped.values())
        if not found.best:
            continue
        on_new_texts = planted.gain("0", found.best, slice(half, n), resamples)
        recommended += on_new_texts.helps
        if on_new_texts.helps and found.best == "1":
            confirmed.append(on_new_texts.difference)
    print(f"N = {n}, planted gain of one of {len(names)} changes {100 * gain:g} points, {runs} runs")
    print(f"  something is recommended  {share(recommended, runs)}")
    if gain > 0:
        print(f"  the planted one is        {share(len(confirmed), runs)}")
        print(f"  it is dropped early       {share(dropped, runs)}")
    if gain > 0 and confirmed:
        print(f"  its gain, if confirmed    {100 * np.mean(confirmed):5.1f} points on average")
    print(f"  ratings of changes saved  {100 * saved / runs / len(names):5.1f} %", flush=True)


def main() -> None:
    """Read the options and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--n", nargs="*", type=int, default=[24, 50, 100, 200])
    parser.add_argument(
        "--gain", nargs="*", type=float, default=[0, 5, 7, 9], help="of the first change, in points"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resamples", type=int, default=999)
    asked = parser.parse_args()
    for n, gain in product(asked.n, asked.gain):
        simulate(n, gain / 100, asked.runs, asked.seed, asked.resamples)


if __name__ == "__main__":
    main()
