"""Interim analyses: when may one stop before the data is all there, at an error rate that stays what it was?

Sources: Lan and DeMets 1983 (alpha spending), O'Brien and Fleming 1979, Armitage, McPherson and Rowe 1969 and
Jennison and Turnbull 2000 (computation, non-binding stopping for futility), Spiegelhalter, Freedman and
Blackburn 1986 (prediction).
"""

import math
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dhp.stats.design import Design

Floats = npt.NDArray[np.float64]
SHARES = (0.25, 0.5, 0.75, 1.0)
"""Of the examples, after which there is an interim analysis."""
ALPHA = 0.05
_NODES = 200  # of the integration; 100 give the same to ten digits
_FAR = 8.0  # standard deviations beyond which nothing is integrated


def interim_sizes(n: int) -> tuple[int, ...]:
    """How many of n examples each interim analysis has seen, rising to n; there are at most four."""
    if n < 1:
        raise ValueError(f"there must be an example, not {n}")
    return tuple(sorted({math.ceil(share * n) for share in SHARES}))


def spent(fraction: float, alpha: float = ALPHA) -> float:
    """Alpha spending of O'Brien and Fleming's type: the error up to a share of the examples in (0, 1].

    2 - 2 Phi(z / sqrt(fraction)), z being the upper alpha / 2 quantile: nearly nothing early, alpha at 1.
    """
    from scipy.special import ndtr, ndtri

    return float(2 * ndtr(ndtri(alpha / 2) / math.sqrt(fraction)))


@lru_cache
def boundaries(fractions: tuple[float, ...], alpha: float = ALPHA) -> tuple[float, ...]:
    """The boundary of each interim analysis: the largest one-sided p-value of its own that finds something.

    Under the null hypothesis some analysis reaches its boundary in `alpha` of cases, and no more whatever
    ends the run: exactly so for standardised sums of independent terms, nearly for signed-rank tests, and for
    what is combined of several as nearly as a single combination keeps its level.

    Parameters
    ----------
    fractions
        The share of the examples that each analysis has seen, rising within (0, 1].
    alpha
        Spent by the share 1, by `spent` before it; in (0, 1).

    Raises
    ------
    ValueError
        If a fraction does not rise or is out of range.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr

    steps = list(pairwise((0.0, *fractions)))
    if not steps or min(b - a for a, b in steps) <= 0 or fractions[-1] > 1:
        raise ValueError(f"fractions must rise within (0, 1], not {fractions}")
    at, mass, found = np.zeros(1), np.ones(1), []
    for so_far, fraction in steps:
        step = math.sqrt(fraction - so_far)
        due = spent(fraction, alpha) - (spent(so_far, alpha) if so_far else 0.0)

        def excess(limit: float) -> float:
            """Of the chance to pass `limit` now and no limit before, over what is due."""
            return float(mass @ ndtr((at - limit) / step)) - due  # noqa: B023  used up within the turn

        limit = float(brentq(excess, -_FAR, 40 * math.sqrt(fraction), xtol=1e-13))
        found.append(float(ndtr(-limit / math.sqrt(fraction))))
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        low = -_FAR * math.sqrt(fraction)
        half = (limit - low) / 2
        new = low + half * (nodes + 1)
        density = np.exp(-(((new[:, None] - at) / step) ** 2) / 2) / (step * math.sqrt(2 * math.pi))
        at, mass = new, half * weights * (density @ mass)
    return tuple(found)


def predicted_d(design: Design, size: int, rng: np.random.Generator, *, draws: int = 1000) -> Floats:
    """Draws of what D will be on `size` examples, given those seen, shape (draws, V); NaN where undefined.

    The examples seen stay, and further ones are drawn from a resample of them, which says how little they
    are. Two invented examples are among those drawn from: in one of them every score falls as far as any
    did, in the other all rise as far, so that what was not seen yet is not taken to be impossible.
    `size` is at least n.
    """
    x, n, further = design.differences, design.n, size - design.n
    if further < 0 or draws < 1:
        raise ValueError(f"size must be at least {n}, and draws at least 1, not {size} and {draws}")
    most = np.max(np.abs(x), axis=0, initial=0.0, where=~np.isnan(x))
    most[most == 0] = 1.0
    wider = replace(design, differences=np.concatenate([x, most[None], -most[None]]))
    resample = rng.integers(n + 2, size=(draws, n + 2))
    drawn = np.take_along_axis(resample, rng.integers(n + 2, size=(draws, further)), axis=1)
    cells = drawn + (n + 2) * np.arange(draws)[:, None]
    times = np.bincount(cells.ravel(), minlength=(n + 2) * draws).reshape(draws, n + 2).T
    times[:n] += 1
    return wider.sampled(times.astype(np.int32)).d


def settled_below(
    design: Design, size: int, line: float, rng: np.random.Generator, *, level: float = 0.95
) -> bool:
    """Whether the two-sided interval of D on `size` examples, given those seen, lies wholly below `line`.

    The design is of one variant; else as for `predicted_d`. To stop there never raises the error rate: it
    takes chances to find something away, and gives none.
    """
    d = predicted_d(design, size, rng)
    return float((~(d < line)).mean()) <= (1 - level) / 2
