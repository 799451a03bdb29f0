"""Damage against harmless edits.

A judge may lower its score a little for any edit. So a damaged copy is compared with the harmlessly edited
copy of the same text: did it score lower than that? 50 % says that the judge takes the damage for one edit
more. How far either copy lies below the original does not matter, nor does the unit of the scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, checked_table
from dhp.stats.defaults import RESAMPLES
from dhp.stats.detection import FEWEST_PAIRS, detection
from dhp.stats.flips import flip_log_p


@dataclass(frozen=True, slots=True)
class BelowEdits:
    """V kinds of damage against harmless edits; NaN if fewer than five texts have both copies."""

    value: Floats
    """Share of the texts whose damaged copy scored lower than the harmlessly edited one, ties half, by the
    metric that tells them apart best, in [0, 1], shape (V,). Of several controls the one with the
    largest p-value."""
    log_p: Floats
    """Natural logs of the p-values that the share is one half for all metrics, against more; (V,)."""


def below_edits(
    tables: Sequence[npt.ArrayLike],
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
) -> BelowEdits:
    """Compare damaged copies with the harmlessly edited copies of the same texts.

    Parameters
    ----------
    tables : each of shape (n, V, M)
        One or more: for each control, score of the harmlessly edited copy minus score of the damaged one, NaN
        if either is missing. Equal scores must differ by exactly 0.
    clusters : shape (n,), optional
        Integers; examples with the same one belong together.
    resamples
        As for `flip_log_p`, which is the test.

    Raises
    ------
    ValueError
        If shapes do not fit or a difference is infinite.
    """
    kinds = []
    for table in tables:
        x = checked_table(table)
        seen = detection(x, ["all"] * x.shape[1], clusters)
        figures = np.stack([seen.value, flip_log_p(x, clusters, resamples=resamples)[0]])
        kinds.append(np.where(seen.pairs.max(axis=1) >= FEWEST_PAIRS, figures, np.nan))
    of_controls = np.stack(kinds)
    largest = np.where(np.isnan(of_controls[:, 1]), -np.inf, of_controls[:, 1]).argmax(axis=0)
    return BelowEdits(*of_controls[largest, :, np.arange(of_controls.shape[2])].T)
