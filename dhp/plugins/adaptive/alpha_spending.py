"""Interim analyses with a controlled error rate.

Sources: Lan and DeMets 1983 (alpha spending), O'Brien and Fleming 1979, Armitage, McPherson and Rowe 1969 and
Jennison and Turnbull 2000 (computation, repeated p-values).
"""

import math
from functools import cache, lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats

SHARES = (0.25, 0.5, 0.75, 1.0)
"""Shares of the examples after which there is an interim analysis."""
ALPHA = 0.05
_NODES = 200  # of the integration; 100 give the same to ten digits
_FAR = 8.0  # standard deviations beyond which nothing is integrated
_LEVELS = (-5.5, 2.5, 41)  # normal deviates of the levels between which repeated p-values are interpolated


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
    what is combined of several as nearly as a single combination keeps its level. The fractions are the
    shares of the examples that each analysis has seen, rising within (0, 1], else `ValueError`. `alpha`, in
    (0, 1), is spent by the share 1, by `spent` before it.
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
            """Probability to pass `limit` now and no limit before, minus the error rate to spend."""
            return float(mass @ ndtr((at - limit) / step)) - due  # noqa: B023  used up within the turn

        limit = float(brentq(excess, -_FAR, 40 * math.sqrt(fraction), xtol=1e-13))
        found.append(float(ndtr(-limit / math.sqrt(fraction))))
        nodes, weights = _gauss()
        low = -_FAR * math.sqrt(fraction)
        half = (limit - low) / 2
        new = low + half * (nodes + 1)
        density = np.exp(-(((new[:, None] - at) / step) ** 2) / 2) / (step * math.sqrt(2 * math.pi))
        at, mass = new, half * weights * (density @ mass)
    return tuple(found)


def repeated_log_p(log_p: npt.ArrayLike, fractions: tuple[float, ...], number: int) -> Floats:
    """Repeated p-values: what a p-value of one analysis is worth where there are several.

    The smallest level at which that analysis would meet its boundary (Jennison and Turnbull 2000, section
    9.2). The smallest over all analyses is at most a with probability a under the null hypothesis, for every
    a, whatever ends the run, so that it can be adjusted further, by Holm's method for one. `log_p` are
    natural logs of one-sided p-values of analysis `number`, from 1, of any shape; NaN stays NaN. The result
    is at least `log_p` and at most 0, interpolated between levels, exact at 0.05.
    """
    from scipy.special import log_ndtr, ndtri_exp

    logs = np.asarray(log_p, dtype=np.float64)
    own, overall = _deviates(fractions)
    with np.errstate(invalid="ignore"):
        deviate = ndtri_exp(logs)
        # Beyond the table all that was spent before is nothing beside what is spent now.
        beyond = math.log(2) + log_ndtr(ndtri_exp(logs - math.log(2)) * math.sqrt(fractions[number - 1]))
        within = log_ndtr(np.interp(deviate, own[:, number - 1], overall, right=math.inf))
    found = np.where(deviate < own[0, number - 1], beyond, within)
    return np.asarray(np.where(np.isnan(logs), np.nan, np.clip(found, logs, 0.0)))


@cache
def _gauss() -> tuple[Floats, Floats]:
    """Nodes and weights of the integration over [-1, 1]."""
    return np.polynomial.legendre.leggauss(_NODES)


@lru_cache
def _deviates(fractions: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Normal deviates of the boundaries of each analysis, shape (levels, analyses), and of the levels."""
    from scipy.special import ndtr, ndtri

    at = np.sort(np.append(np.linspace(*_LEVELS), ndtri(ALPHA)))
    return np.array([ndtri(boundaries(fractions, float(ndtr(z)))) for z in at]), at
