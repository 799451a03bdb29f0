"""Looks at the data before it is all there: when may one stop, at an error rate that stays what it was?

Sources: Lan and DeMets 1983 (spending), O'Brien and Fleming 1979, Armitage, McPherson and Rowe 1969 and
Jennison and Turnbull 2000 (computation, non-binding stopping for futility), Spiegelhalter, Freedman and
Blackburn 1986 (prediction).
"""

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dhp.stats.bootstrap import checked, make_design
from dhp.stats.combine import DEFAULT_COMBINATION, Combination
from dhp.stats.wilcoxon.signed_rank import Method

Floats = npt.NDArray[np.float64]
LOOKS = (0.25, 0.5, 0.75, 1.0)
"""The shares of the examples after which one looks."""
ALPHA = 0.05
_NODES = 200  # of the integration; 100 give the same to ten digits
_FAR = 8.0  # standard deviations beyond which nothing is integrated


def look_sizes(n: int) -> tuple[int, ...]:
    """How many of n examples each look has seen, rising to n; fewer looks than `LOOKS` below 4 examples."""
    if n < 1:
        raise ValueError(f"there must be an example, not {n}")
    return tuple(sorted({math.ceil(share * n) for share in LOOKS}))


def spent(fraction: float, alpha: float = ALPHA) -> float:
    """The error that may be spent up to a share of the examples in (0, 1], of O'Brien and Fleming's type.

    2 - 2 Phi(z / sqrt(fraction)), z being the upper alpha / 2 quantile: nearly nothing early, alpha at 1.
    """
    from scipy.special import ndtr, ndtri

    return float(2 * ndtr(ndtri(alpha / 2) / math.sqrt(fraction)))


@lru_cache
def boundaries(fractions: tuple[float, ...], alpha: float = ALPHA) -> tuple[float, ...]:
    """The line of each look: the largest p-value, one-sided and of this look alone, that finds something.

    Under the null hypothesis some look reaches its line in `alpha` of cases, and no more whatever ends the
    looking: exactly so for standardised sums of independent terms, nearly for signed-rank tests, and for what
    is combined of several as nearly as a single combination keeps its level.

    Parameters
    ----------
    fractions
        The share of the examples that each look has seen, rising within (0, 1].
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
    at, mass, lines = np.zeros(1), np.ones(1), []
    for so_far, fraction in steps:
        step = math.sqrt(fraction - so_far)
        due = spent(fraction, alpha) - (spent(so_far, alpha) if so_far else 0.0)

        def excess(limit: float) -> float:
            """Of the chance to pass `limit` now and no limit before, over what is due."""
            return float(mass @ ndtr((at - limit) / step)) - due  # noqa: B023  used up within the turn

        limit = float(brentq(excess, -_FAR, 40 * math.sqrt(fraction), xtol=1e-13))
        lines.append(float(ndtr(-limit / math.sqrt(fraction))))
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        low = -_FAR * math.sqrt(fraction)
        half = (limit - low) / 2
        new = low + half * (nodes + 1)
        density = np.exp(-(((new[:, None] - at) / step) ** 2) / 2) / (step * math.sqrt(2 * math.pi))
        at, mass = new, half * weights * (density @ mass)
    return tuple(lines)


def predicted_d(
    differences: npt.ArrayLike,
    size: int,
    rng: np.random.Generator,
    *,
    method: Method = "exact",
    combination: Combination = DEFAULT_COMBINATION,
    draws: int = 1000,
) -> Floats:
    """Draws of what D will be on `size` examples, given those seen, shape (draws, V); NaN where undefined.

    The examples seen stay, and further ones are drawn from a resample of them, which says how little they
    are. Two invented examples are among those drawn from: in one of them every score falls as far as any
    did, in the other all rise as far, so that what was not seen yet is not taken to be impossible.
    Differences of shape (n, V, M), method and combination are as for `bootstrap`; `size` is at least n.
    """
    x = checked(differences)
    n, further = len(x), size - len(x)
    if further < 0 or draws < 1:
        raise ValueError(f"size must be at least {n}, and draws at least 1, not {size} and {draws}")
    most = np.max(np.abs(x), axis=0, initial=0.0, where=~np.isnan(x))
    most[most == 0] = 1.0
    design = make_design(
        np.concatenate([x, most[None], -most[None]]), ["all"] * x.shape[1], None, method, combination
    )
    resample = rng.integers(n + 2, size=(draws, n + 2))
    drawn = np.take_along_axis(resample, rng.integers(n + 2, size=(draws, further)), axis=1)
    cells = drawn + (n + 2) * np.arange(draws)[:, None]
    times = np.bincount(cells.ravel(), minlength=(n + 2) * draws).reshape(draws, n + 2).T
    times[:n] += 1
    return design.sampled(times.astype(np.int32)).d


def settled_below(
    differences: npt.ArrayLike,
    size: int,
    line: float,
    rng: np.random.Generator,
    *,
    method: Method = "exact",
    combination: Combination = DEFAULT_COMBINATION,
    level: float = 0.95,
) -> bool:
    """Whether the two-sided interval of D on `size` examples, given those seen, lies wholly below `line`.

    Of one variant, shape (n, 1, M); else as for `predicted_d`. To stop there never raises the error rate: it
    takes chances to find something away, and gives none.
    """
    d = predicted_d(differences, size, rng, method=method, combination=combination)
    return float((~(d < line)).mean()) <= (1 - level) / 2
