"""Statistics of verdicts between two texts, each pair asked in both orders."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats


@dataclass(frozen=True, slots=True)
class PositionBias:
    """How far the order of the texts decides."""

    share: float
    """Share of pairs whose verdict flips with the order."""
    toward_first: float | None
    """Of the pairs that flip, the share that prefers the text shown first; None where none flips."""
    ci: tuple[float, float]
    """Clopper and Pearson's exact 95 % interval of `share`."""
    p: float
    """Two-sided exact binomial test that flips prefer neither place; 1 where none flips."""
    flips: int
    n: int


def sign_flip_log_p(scores: npt.ArrayLike) -> float:
    """One-sided exact sign-flip test that scores lie above zero.

    Parameters
    ----------
    scores : shape (pairs,)
        Multiples of 1/2, positive in favour of the alternative. Zeros carry no sign and change nothing.

    Returns
    -------
    float
        Natural logarithm of P(sum of flipped scores >= observed sum); 0 where all are zero.

    Raises
    ------
    ValueError
        For scores that are not multiples of 1/2, or NaN.
    """
    halves = 2 * np.asarray(scores, dtype=float)
    steps = np.rint(halves)
    if not np.allclose(halves, steps, rtol=0, atol=1e-9):
        raise ValueError("scores must be multiples of 1/2")
    sizes = np.abs(steps[steps != 0]).astype(int)
    if not len(sizes):
        return 0.0
    total, observed = int(sizes.sum()), int(steps.sum())
    # In log space: the distribution of the sum of positive sizes, (observed + total) / 2 of it or more.
    log_counts = np.full(total + 1, -math.inf)
    log_counts[0] = 0.0
    for size in sizes:
        shifted = np.full(total + 1, -math.inf)
        shifted[size:] = log_counts[: total + 1 - size]
        log_counts = np.logaddexp(log_counts, shifted)
    tail = log_counts[(observed + total) // 2 :]
    return min(0.0, float(np.logaddexp.reduce(tail)) - len(sizes) * math.log(2))


def position_bias(as_given: npt.ArrayLike, swapped: npt.ArrayLike) -> PositionBias | None:
    """How often the verdict follows the place of a text.

    Parameters
    ----------
    as_given, swapped : shape (pairs,)
        1 where the first text of the pair won, -1 where the second won, 0 for a tie, NaN where there is no
        verdict; in both arrays the texts are meant, not their places. In `swapped` the second is shown first.

    Returns
    -------
    PositionBias or None
        None where no pair has both verdicts.
    """
    from scipy.stats import beta, binomtest

    a, b = (np.asarray(v, dtype=float) for v in (as_given, swapped))
    both = ~(np.isnan(a) | np.isnan(b))
    a, b = a[both], b[both]
    n = len(a)
    if not n:
        return None
    first, second = int(((a > 0) & (b < 0)).sum()), int(((a < 0) & (b > 0)).sum())
    flips = first + second
    low = float(beta.ppf(0.025, flips, n - flips + 1)) if flips else 0.0
    high = float(beta.ppf(0.975, flips + 1, n - flips)) if flips < n else 1.0
    p = float(binomtest(first, flips).pvalue) if flips else 1.0
    return PositionBias(flips / n, first / flips if flips else None, (low, high), p, flips, n)


def bradley_terry(wins: npt.ArrayLike, *, prior: float = 0.5, tolerance: float = 1e-10) -> Floats:
    """Strengths of players by the Bradley-Terry model (Bradley and Terry 1952; Hunter 2004).

    Parameters
    ----------
    wins : shape (players, players)
        `wins[i, j]`: how often i beat j; a tie is half a win for both.
    prior
        Wins and losses of each pair that are added, so that a player who never lost has a finite strength.
    tolerance
        Largest change of a strength at which the iteration ends.

    Returns
    -------
    shape (players,)
        Natural logarithms of the strengths, mean 0.

    Raises
    ------
    ValueError
        For a table that is not square, or has negative or NaN entries.
    """
    won = np.array(wins, dtype=float)
    if won.ndim != 2 or won.shape[0] != won.shape[1] or not (won >= 0).all():
        raise ValueError("wins must be a square table of counts")
    off_diagonal = ~np.eye(len(won), dtype=bool)
    won = np.where(off_diagonal, won + prior, 0.0)
    met = won + won.T
    strength = np.ones(len(won))
    for _ in range(10_000):
        pace = met / (strength[:, None] + strength[None, :])
        new = won.sum(axis=1) / np.maximum(pace.sum(axis=1), 1e-300) if len(won) > 1 else strength
        new = new / np.exp(np.log(new).mean())
        done = np.abs(np.log(new) - np.log(strength)).max(initial=0) < tolerance
        strength = new
        if done:
            break
    logs: Floats = np.log(strength)
    return logs
