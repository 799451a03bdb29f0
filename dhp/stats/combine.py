"""One p-value out of the metrics' p-values, in log space."""

import math
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

Combination = Literal["hmp", "printed", "hmp-asymptotic"]
COMBINATIONS: tuple[Combination, ...] = get_args(Combination)


def combine(
    log_p: npt.ArrayLike, weights: npt.ArrayLike | None = None, combination: Combination = "hmp"
) -> float:
    """Combine the p-values of M metrics of one variant.

    Parameters
    ----------
    log_p : shape (M,)
        Natural logs of the p-values, each <= 0.
    weights : shape (M,), optional
        Non-negative, summing to 1; the expert weights of the metrics. Default: 1/M each.
    combination
        `hmp`: the harmonic mean p-value 1 / sum(w / p) (Wilson 2019).
        `printed`: the equation as the DHP paper prints it, 1 / sum(1 / p), which without weights lacks
        the factor M; with weights it equals `hmp`.
        `hmp-asymptotic`: `hmp` turned into an asymptotically exact p-value by the Landau distribution
        (Wilson 2019, eq. 4); a single p-value stays as it is, and all p = 1 give 1.

    Returns
    -------
    float
        Natural log of the combined p-value, <= 0.

    Raises
    ------
    ValueError
        If shapes differ, a log p is positive or not a number, or the weights do not sum to 1.
    """
    logs = np.asarray(log_p, dtype=np.float64)
    if logs.ndim != 1 or logs.size == 0 or not (logs <= 0).all():
        raise ValueError("log_p must have shape (M,) with M >= 1 and no value above 0")
    w = np.full(logs.size, 1 / logs.size) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != logs.shape or not (w >= 0).all() or abs(w.sum() - 1) > 1e-6:
        raise ValueError(f"weights must have shape {logs.shape}, be non-negative and sum to 1")
    if combination not in COMBINATIONS:
        raise ValueError(f"unknown combination '{combination}'; allowed: {', '.join(COMBINATIONS)}")
    logs, w = logs[w > 0], w[w > 0]
    if combination == "printed" and weights is None:
        w = np.ones(logs.size)
    combined = min(-_log_sum(np.log(w) - logs), 0.0)
    if combination == "hmp-asymptotic" and w.size > 1 and combined < 0:
        return _landau_log_tail(combined, w)
    return combined


def _log_sum(logs: npt.NDArray[np.float64]) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def _landau_log_tail(log_hmp: float, weights: npt.NDArray[np.float64]) -> float:
    """log P(X >= 1/hmp) for the weighted mean X of inverse p-values under the null hypothesis."""
    if -log_hmp > 30:  # there the tail is 1/x to 11 digits
        return log_hmp
    from scipy.stats import landau

    # The entropy of the weights is log M for M equal ones.
    entropy = -float(weights @ np.log(weights))
    location = entropy + 1 - float(np.euler_gamma) + math.log(math.pi / 2)
    return min(float(np.log(landau.sf(math.exp(-log_hmp), location, math.pi / 2))), 0.0)
