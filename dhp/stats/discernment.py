"""Discernment scores from combined p-values, their mean over levels and their minimum (Wang et al. 2025)."""

import math
from collections.abc import Sequence
from typing import Literal, get_args, overload

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import (
    Bools,
    Floats,
    Ints,
    level_shares,
)

LOG_ALPHA = math.log(0.05)
_ROUNDING = 1e-9  # scores that differ by less are equal


@overload
def discernment(log_p: float) -> float: ...
@overload
def discernment(log_p: Floats) -> Floats: ...
def discernment(log_p: float | Floats) -> float | Floats:
    """D = log base 0.05 of combined p-values, given as natural logs; D >= 1 means p <= 0.05. In [0, inf).

    Of any shape; NaN (undefined) stays NaN. Raises `ValueError` for a log p above 0.
    """
    if np.any(np.asarray(log_p) > 0):
        raise ValueError(f"log_p must be at most 0, not {np.nanmax(log_p)}")
    return log_p / LOG_ALPHA + 0.0


def level_average(scores: npt.ArrayLike, levels: Sequence[str]) -> Floats:
    """D_avg: the mean over levels of the mean within each level. Degrees count as variants of their own.

    Parameters
    ----------
    scores : shape (..., V)
        Of V variants, V >= 1; an average over one that is NaN is NaN.
    levels : V names
        The level of each variant.

    Returns
    -------
    shape (...)
    """
    x = _checked(scores)
    _, shares = level_shares(levels, np.ones(x.shape[-1], dtype=np.bool_))
    average: Floats = x @ shares[-1]
    return average


def minimum(scores: npt.ArrayLike) -> tuple[Floats, Ints]:
    """D_min and the index of the variant that gives it, the first on a tie; NaN where any score is.

    Scores of shape (..., V), V >= 1; both results of shape (...). Scores that differ by rounding are tied.
    """
    x = _checked(scores)
    lowest: Floats = x.min(axis=-1)
    tied = ~(x > (lowest + _ROUNDING * np.maximum(np.abs(lowest), 1))[..., None])
    return lowest, tied.argmax(axis=-1)


def _checked(scores: npt.ArrayLike) -> Floats:
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim == 0 or x.shape[-1] == 0:
        raise ValueError("there is no score")
    return x


Combination = Literal["hmp", "printed", "hmp-asymptotic", "joint"]
DEFAULT_COMBINATION: Combination = "hmp-asymptotic"
COMBINATIONS: tuple[Combination, ...] = get_args(Combination)


def combined(log_p: Floats, weights: Floats | None, combination: Combination) -> Floats:
    """Combine the p-values of M metrics, of V variants each.

    Parameters
    ----------
    log_p : shape (..., V, M)
        Natural logs of the p-values, each <= 0.
    weights : shape (V, M)
        Non-negative, each row summing to 1; the expert weights of the metrics. A row of NaN, as None for all,
        gives 1/M each.
    combination
        `hmp`: the harmonic mean p-value 1 / sum(w / p) (Wilson 2019).
        `printed`: the equation as the DHP paper prints it, 1 / sum(1 / p), which without weights lacks
        the factor M; with weights it equals `hmp`.
        `hmp-asymptotic`: `hmp` turned into an asymptotically exact p-value by the Landau distribution
        (Wilson 2019, eq. 4), never below the harmonic mean itself; a single p-value stays as it is.
        `joint`: the same here, as p-values alone do not tell how metrics depend; see `dhp.stats.discernment`.

    Returns
    -------
    shape (..., V)
        Natural logs of the combined p-values, <= 0; NaN where the p-value of any metric is.

    Raises
    ------
    ValueError
        For an unknown combination.
    """
    if combination not in COMBINATIONS:
        raise ValueError(f"unknown combination '{combination}'; allowed: {', '.join(COMBINATIONS)}")
    m = log_p.shape[-1]
    equal = 1.0 if combination == "printed" else 1 / m
    w = np.full(log_p.shape[-2:], equal) if weights is None else np.where(np.isnan(weights), equal, weights)
    with np.errstate(divide="ignore"):
        parts = np.log(w) - log_p
    top = parts.max(axis=-1)
    logs: Floats = np.minimum(-(top + np.log(np.exp(parts - top[..., None]).sum(axis=-1))), 0.0)
    if combination in ("hmp-asymptotic", "joint") and m > 1:
        _make_asymptotic(logs, w)
    return logs


def _make_asymptotic(logs: Floats, weights: Floats) -> None:
    """Turn harmonic means, shape (..., variants), into p-values in place; see `combined`."""
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1)
    location = np.broadcast_to(entropy + 1 - np.euler_gamma + np.log(np.pi / 2), logs.shape)
    several = np.broadcast_to((weights > 0).sum(axis=-1) > 1, logs.shape)
    turned = several & (logs >= -30)  # beyond that the tail is 1/x to 11 digits
    tails = _landau_tail((np.exp(-logs[turned]) - location[turned]) / (np.pi / 2))
    logs[turned] = np.clip(np.log(tails), logs[turned], 0.0)


def _landau_tail(x: Floats) -> Floats:
    """The standard Landau distribution's probability above x."""
    try:
        from scipy.special._ufuncs import _landau_sf  # importing scipy.stats takes 0.7 s
    except ImportError:
        from scipy.stats import landau

        return np.asarray(landau.sf(x))
    return np.asarray(_landau_sf(x, 0, 1))


def holm(log_p: npt.ArrayLike) -> Floats:
    """Step-down adjustment; bounds the chance of any false rejection, whatever the dependence (Holm 1979).

    Parameters
    ----------
    log_p : shape (k,)
        Natural logs of p-values, each <= 0; NaN where a test is undefined: it stays NaN and does not count.

    Returns
    -------
    shape (k,)
        Natural logs of the adjusted p-values, <= 0: a test is rejected at level a where its own is <= log a.

    Raises
    ------
    ValueError
        If the shape is another or a log p is positive.
    """
    logs = _checked_logs(log_p)
    there, order = _sorted(logs)
    k = order.size
    raised = logs[there][order] + np.log(np.arange(k, 0, -1))
    return _back(logs, there, order, np.maximum.accumulate(raised))


def _checked_logs(log_p: npt.ArrayLike) -> Floats:
    logs = np.asarray(log_p, dtype=np.float64)
    if logs.ndim != 1 or (logs > 0).any():
        raise ValueError("log_p must have shape (k,) and no value above 0")
    return logs


def _sorted(logs: Floats) -> tuple[Bools, Ints]:
    """Which tests are defined, and their order by p."""
    there = ~np.isnan(logs)
    return there, np.argsort(logs[there], kind="stable")


def _back(logs: Floats, present: Bools, order: Ints, adjusted: Floats) -> Floats:
    """Adjusted values from the order of p back to that of the tests."""
    result = np.full(logs.shape, np.nan)
    result[np.flatnonzero(present)[order]] = np.minimum(adjusted, 0.0)
    return result
