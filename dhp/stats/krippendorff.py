"""Krippendorff's alpha."""

import numpy as np
import numpy.typing as npt


def krippendorff_alpha(ratings: npt.ArrayLike, *, nominal: bool = False) -> float | None:
    """Krippendorff's alpha: 1 for full agreement, 0 for no more than chance.

    Parameters
    ----------
    ratings : shape (raters, items)
        NaN if a rater did not rate an item. Items with fewer than two ratings do not count.
    nominal
        Ratings are names without an order; else they are interval-scaled.

    Returns
    -------
    float or None
        At most 1. None if no two ratings can differ: no item has two, or all ratings are equal.

    Notes
    -----
    alpha = 1 - D_o / D_e, the disagreement within items over that of all ratings (Krippendorff 2011,
    "Computing Krippendorff's alpha-reliability"). Nominal ratings become points, one axis a name: then both
    distances are squared ones, whose sum over pairs is n sum |x|^2 - |sum x|^2.
    """
    table = np.asarray(ratings, dtype=np.float64)
    defined = ~np.isnan(table)
    pairable = defined.sum(axis=0) > 1
    table, defined = table[:, pairable], defined[:, pairable]
    values = np.unique(table[defined])
    if len(values) < 2:
        return None
    # Shape (raters, items, axes): a number is its distance from the middle, which keeps squares small.
    points = table[..., None] == values if nominal else (table - values.mean())[..., None]
    points = np.where(defined[..., None], points, 0.0)
    counts = defined.sum(axis=0)
    squares = (points**2).sum(axis=(0, 2))
    sums = points.sum(axis=0)
    observed = ((counts * squares - (sums**2).sum(axis=1)) / (counts - 1)).sum()
    n = counts.sum()
    expected = (n * squares.sum() - (sums.sum(axis=0) ** 2).sum()) / (n - 1)
    return float(1 - observed / expected)
