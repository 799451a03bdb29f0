"""Confidence intervals from a bootstrap: percentile, BCa (Efron 1987) and centred ones."""

from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from dhp.stats.bootstrap import Bootstrap
from dhp.stats.design import Scores

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Kind = Literal["percentile", "bca", "centred"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_CONSTANT = 1e-12


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of each entry of a quantity, in the quantity's shape without the samples."""

    low: Floats
    """NaN, as `high`, where no interval is defined: with fewer than two pairs of scores in some test."""
    high: Floats
    bca: Bools
    """Whether the ends are BCa; else plain percentiles."""


def interval(found: Bootstrap, quantity: str, *, level: float = 0.95, kind: Kind | None = None) -> Interval:
    """A two-sided bootstrap interval of one field of `Scores`, such as `d_avg`.

    As D is convex in the scores, resamples of it lie above the data, for which `bca` corrects too far
    (coverage: `docs/statistics.md`). Resamples in which the score is undefined do not count.

    Parameters
    ----------
    found
        Of `bootstrap`.
    quantity
        A field of `Scores`.
    level
        Nominal coverage, in (0, 1).
    kind
        `percentile`: quantiles of the resamples. `bca`: bias-corrected and accelerated (Efron 1987), the
        acceleration by the jackknife; percentiles where it is undefined: where no resample lies below the
        point or none above, or no single example moves the score. `centred`: percentiles moved so that the
        median of the resamples meets the point. Default: `centred` for discernment, `bca` for effects.

    Returns
    -------
    Interval
        None of discernment reaches below 0.

    Raises
    ------
    ValueError
        For an unknown quantity or kind, or a level out of range.
    """
    names = [field.name for field in fields(Scores)]
    if quantity not in names:
        raise ValueError(f"unknown quantity '{quantity}'; allowed: {', '.join(names)}")
    drawn, point, left_out = (getattr(s, quantity) for s in (found.resamples, found.point, found.left_out))
    of_d = quantity.startswith("d")
    ends_ = ends(drawn, point[0], left_out, level, kind or ("centred" if of_d else "bca"))
    return replace(ends_, low=np.maximum(ends_.low, 0.0)) if of_d else ends_


def ends(
    drawn: Floats, point: Floats, left_out: Floats, level: float, kind: Kind, *, discrete: bool = False
) -> Interval:
    """`interval` of any quantity: resamples (R, ...), the point (...), without each example (n, ...).

    Ends of a discrete one are values of resamples, never between two of them.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    if kind not in KINDS:
        raise ValueError(f"unknown kind '{kind}'; allowed: {', '.join(KINDS)}")
    shape = np.shape(point)
    low, high, bca = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, dtype=np.bool_)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    for at in np.ndindex(shape):
        values, without = drawn[:, *at], left_out[:, *at]
        values = values[~np.isnan(values)]
        if not values.size or np.isnan(without).any():
            continue
        adjusted = _bca(values, float(np.asarray(point)[at]), without, tails) if kind == "bca" else None
        bca[at] = adjusted is not None
        at_tails = tails if adjusted is None else adjusted
        if kind == "centred":
            values = values + (np.asarray(point)[at] - np.median(values))
        low[at], high[at] = (
            np.quantile(values, at_tails, method="inverted_cdf")
            if discrete
            else np.quantile(values, at_tails)
        )
    return Interval(low, high, bca)


def _bca(values: Floats, point: float, left_out: Floats, tails: Floats) -> Floats | None:
    """The quantiles to take instead of `tails`, or None where they are undefined."""
    from scipy.special import ndtr, ndtri

    margin = _CONSTANT * max(abs(point), 1.0)  # resamples like the data may differ from them by rounding
    share = ((values < point - margin).mean() + (values <= point + margin).mean()) / 2
    pulls = left_out.mean() - left_out
    if not 0 < share < 1 or np.abs(pulls).max() <= margin:
        return None
    acceleration = (pulls**3).sum() / (6 * (pulls**2).sum() ** 1.5)
    bias = ndtri(share)
    moved = bias + ndtri(tails)
    scale = 1 - acceleration * moved
    if (scale <= 0).any():
        return None
    adjusted: Floats = ndtr(bias + moved / scale)
    return adjusted
