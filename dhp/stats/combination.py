"""P-values of metrics, combined: the harmonic mean (Wilson 2019), or the equation of the DHP paper."""

from typing import get_args

import numpy as np

from dhp.stats.arrays import Floats
from dhp.stats.defaults import Combination

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
        `joint`: as `hmp-asymptotic` here, as p-values alone do not tell how metrics depend; see
        `dhp.stats.discernment`.

    Returns
    -------
    shape (..., V)
        Natural logs of the combined p-values, <= 0; NaN if the p-value of any metric is.

    Raises
    ------
    ValueError
        For an unknown combination.
    """
    if combination not in COMBINATIONS:
        raise ValueError(f"unknown combination '{combination}'; allowed: {', '.join(COMBINATIONS)}")
    m = log_p.shape[-1]
    equal = 1.0 if combination == "printed" else 1 / m
    w = np.full(log_p.shape[-2:], equal)
    if weights is not None:
        w = np.where(np.isnan(weights), equal, weights)
    with np.errstate(divide="ignore"):
        parts = np.log(w) - log_p
    # The logarithm of a sum of exponentials. The largest is taken out, so that none overflows.
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
    turned = several & (logs >= -30)  # beyond it the tail is 1/x to 11 digits, as is the mean
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
