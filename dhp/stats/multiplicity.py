"""Adjusted p-values of several tests, in log space."""

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats, Ints


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
    logs = _checked(log_p)
    there, order = _sorted(logs)
    k = order.size
    raised = logs[there][order] + np.log(np.arange(k, 0, -1))
    return _back(logs, there, order, np.maximum.accumulate(raised))


def _checked(log_p: npt.ArrayLike) -> Floats:
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
