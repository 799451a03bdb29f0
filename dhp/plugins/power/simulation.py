"""Power by simulation: how many examples a judge needs to notice damage.

It starts from a population: the differences of many examples, of which a run draws n.
"""

import numpy as np
import numpy.typing as npt

from dhp.analysis.verdict_rule import verdicts
from dhp.stats.arrays import Floats
from dhp.stats.defaults import FLOOR
from dhp.stats.detection import detection
from dhp.stats.flips import flip_log_p
from dhp.stats.wilcoxon import signed_ranks

_AT_ONCE = 1 << 18
"""Examples drawn at once, which bounds the memory of a simulation. Chosen."""
_FEW = 30
"""Examples up to which signs are flipped, as in a run; with more of them flips are close to normal."""
_FLIPS = 4096
"""Random flips of a run with few examples; a real run has `RESAMPLES`. Chosen."""
_NORMAL = 100_000
"""Values drawn of the normal distribution. Chosen."""


def simulated_power(
    population: npt.ArrayLike,
    n: int,
    rng: np.random.Generator,
    *,
    runs: int,
    together: int = 1,
    floor: float = FLOOR,
) -> float:
    """The share of simulated runs whose verdict is noticed: n examples drawn with replacement.

    Each is judged as a run is, without harmless edits: no verdict is `as harmless edits`.

    Parameters
    ----------
    population
        Differences of shape (P, M), original minus degraded, NaN if a score is missing; P is at least 2.
    n, runs
        Examples of a run, and how many runs; at least 1.
    rng
        Draws the examples.
    together, floor
        As for `verdicts`.

    Returns
    -------
    float
        In [0, 1]; its interval is `power_interval`.

    Raises
    ------
    ValueError
        If P is below 2, M is 0, a difference is infinite, or a value is out of range.
    """
    x = _checked(population)
    if n < 1 or runs < 1 or together < 1:
        raise ValueError(f"n, runs and together must be at least 1, not {n}, {runs} and {together}")
    # Many runs at once, as arrays of shape (examples, runs, metrics).
    noticed = 0
    most = max(1, _AT_ONCE // n)
    for start in range(0, runs, most):
        count = min(most, runs - start)
        drawn = x[rng.integers(len(x), size=(n, count))]
        detected = detection(drawn, ["run"] * count)
        words = verdicts(detected, _fell_log_p(drawn), floor=floor, together=together)
        noticed += len([word for word in words if word.is_noticed])
    return noticed / runs


def _fell_log_p(differences: Floats) -> tuple[Floats, Floats]:
    """The p-values of `flip_log_p`, above `_FEW` examples by the normal distribution that flips tend to."""
    if len(differences) <= _FEW:
        return flip_log_p(differences, resamples=_FLIPS)
    from scipy.special import log_ndtr

    _, runs, metrics = differences.shape
    ranks = signed_ranks(differences)
    scale = np.sqrt((ranks**2).sum(axis=0))
    standard = ranks / np.where(scale > 0, scale, 1.0)
    largest = np.where(scale > 0, standard.sum(axis=0), -np.inf).max(axis=1)
    if metrics == 1:
        log_p = log_ndtr(-np.maximum(largest, 0.0))
    else:
        # All runs are of one population, so the metrics of each depend on each other alike.
        together = np.einsum("nrm,nrk->mk", standard, standard) / runs
        normal = np.random.default_rng(0).multivariate_normal(np.zeros(metrics), together, _NORMAL)
        above = _NORMAL - np.searchsorted(np.sort(normal.max(axis=1)), largest)
        log_p = np.log((above + 1) / (_NORMAL + 1))
    return log_p, np.zeros(runs)


def _checked(population: npt.ArrayLike) -> Floats:
    """Differences of shape (P, M), P at least 2 and M at least 1, finite or NaN; else `ValueError`."""
    x = np.asarray(population, dtype=np.float64)
    if x.ndim != 2 or len(x) < 2 or x.shape[1] == 0 or np.isinf(x).any():
        raise ValueError(
            f"a population must have shape (P, M), P at least 2, and be finite or NaN, not {x.shape}"
        )
    return x
