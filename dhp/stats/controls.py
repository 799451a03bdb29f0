"""Harmless edits: what damage does beyond them.

A judge may lower its score a little for any edit. So a damaged copy is compared with the harmlessly edited
copy of the same text: did it score lower than that? 50 % says that the judge takes the damage for one edit
more. How far either copy lies below the original does not matter, nor does the unit of the scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import (
    Floats,
    checked_table,
    cluster_index,
    cluster_sums,
    flip_p,
    flipped_sums,
    sign_flips,
)
from dhp.stats.defaults import RESAMPLES
from dhp.stats.detection import FEWEST_PAIRS, detection


@dataclass(frozen=True, slots=True)
class BelowEdits:
    """V kinds of damage against harmless edits; NaN where fewer than five texts have both copies."""

    value: Floats
    """Share of the texts of which the damaged copy scored lower than the harmlessly edited one, ties half, by
    the metric that tells them apart best, in [0, 1], shape (V,). Of several controls the one with the
    largest p-value."""
    low: Floats
    """Limits of the share, shape (V,)."""
    high: Floats
    log_p: Floats
    """Natural logs of the p-values that the share is one half for all metrics, against more; (V,)."""


def below_edits(tables: Sequence[npt.ArrayLike], clusters: npt.ArrayLike | None = None) -> BelowEdits:
    """Compare damaged copies with the harmlessly edited copies of the same texts.

    Parameters
    ----------
    tables : each of shape (n, V, M)
        One or more: for each control, score of the harmlessly edited copy minus score of the damaged one, NaN
        where either is missing. Equal scores must differ by exactly 0.
    clusters : shape (n,), optional
        Integers; examples with the same one belong together.

    Raises
    ------
    ValueError
        If shapes do not fit or a difference is infinite.
    """
    found = []
    for table in tables:
        x = checked_table(table)
        seen = detection(x, ["all"] * x.shape[1], clusters)
        figures = np.stack([seen.value, seen.low, seen.high, fell_log_p(x, clusters)])
        found.append(np.where(seen.pairs.max(axis=1) >= FEWEST_PAIRS, figures, np.nan))
    every = np.stack(found)
    largest = np.where(np.isnan(every[:, 3]), -np.inf, every[:, 3]).argmax(axis=0)
    return BelowEdits(*every[largest, :, np.arange(every.shape[2])].T)


def fell_log_p(differences: npt.ArrayLike, clusters: npt.ArrayLike | None = None) -> Floats:
    """Natural logs of the p-values that a judge is blind to each kind of damage, against falling scores.

    If it is blind, the scores of the two texts of a pair may be swapped, those of all metrics and of all
    examples of a cluster together. The statistic is the largest over the metrics of the net number of scores
    that fell, in standard errors; its distribution is that of the swaps themselves, so nothing is assumed of
    how metrics depend.

    Parameters
    ----------
    differences : shape (n, V, M)
        First text minus second, NaN where a score is missing.
    clusters : shape (n,), optional
        Integers; examples with the same one are swapped together.

    Returns
    -------
    shape (V,)
        At most 0; 0 where no score moved, NaN without a pair. At least log(1 / 10001) where not all swaps are
        counted out.

    Raises
    ------
    ValueError
        If the shape is another or a difference is infinite.
    """
    x = checked_table(differences)
    shares = cluster_sums(np.nan_to_num(np.sign(x)).reshape(len(x), -1), cluster_index(clusters, len(x)))
    error = np.sqrt((shares**2).sum(axis=0))
    scale = np.where(error > 0, error, 1.0)
    signs, exact = sign_flips(len(shares), RESAMPLES, np.random.default_rng(0))
    observed, flipped = (
        (sums / scale).reshape(-1, *x.shape[1:]).max(axis=2)
        for sums in (shares.sum(axis=0), flipped_sums(signs, shares))
    )
    without = np.isnan(x).all(axis=(0, 2))
    return np.log(flip_p(np.where(without, np.nan, observed[0]), flipped, exact))
