"""What controls do to scores.

Whether a control moves scores is tested in both directions by swaps of whole examples, for all metrics
together (the largest standardised signed-rank sum; Westfall and Young 1993, single step). How much it moves
them is its mean change as a share of what the mildest noticed damage costs by the same metric. Two one-sided
t-tests of the change against a tenth of that drop say whether it is small (Schuirmann 1987), and one whether
it is large.

`movements` is the way of each control: swaps (`_flipped`), the damage that it is held against (`_mildest`),
and the tests of its size (`_by_size`).
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats, Ints, checked_table, cluster_index, cluster_sums
from dhp.stats.defaults import RESAMPLES
from dhp.stats.detection import FEWEST_PAIRS, Detection, detection
from dhp.stats.influences import Influences, difference, mean_influences
from dhp.stats.sign_flips import flip_p, flipped_sums, sign_flips
from dhp.stats.wilcoxon import signed_ranks

LITTLE = 0.1
"""Share of what the mildest noticed damage costs, below which a change is small; chosen."""
_SMALLEST = 1e-300
"""P-value that stands for smaller ones, whose logarithm would be infinite."""


@dataclass(frozen=True, slots=True)
class Movement:
    """What one control does to the scores of M metrics; NaN if undefined."""

    seen: Detection
    """Detection of the control, computed as for a kind of damage."""
    log_p: Floats
    """Natural logs of two-sided p-values that no metric moves, adjusted for the number of metrics; (M,)."""
    fell: Bools
    """Whether a metric moves downwards, by its signed ranks; (M,)."""
    share: Floats
    """Mean change of the score in the direction in which the metric moves, as a share of the mean drop under
    the mildest damage that this metric notices; infinite if no damage lowers it. Shape (M,)."""
    against: Ints
    """Which kind of damage that is, shape (M,); -1 without any."""
    log_p_small: Floats
    """Natural logs of the p-values that the mean change, in either direction, is `LITTLE` of that drop or
    more. Shape (M,); NaN without such damage."""
    log_p_large: Floats
    """Natural logs of the p-values that the mean change, in the direction in which the metric moves, is
    `LITTLE` of that drop or less; (M,)."""


def movements(
    controls: npt.ArrayLike,
    damage: npt.ArrayLike | None = None,
    noticed: npt.ArrayLike = (),
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
) -> list[Movement]:
    """What each of C controls does, beside V kinds of damage.

    Damage that is noticed counts for the metrics by which its detection surely lies above 50 %. By a metric
    that notices none, the kind that costs it most stands in.

    Parameters
    ----------
    controls : shape (n, C, M)
        Original minus edited copy, NaN if a score is missing. Equal scores must differ by exactly 0.
    damage : shape (n, V, M), optional
        Original minus damaged copy.
    noticed : shape (V,)
        Whether each kind of damage is noticed.
    clusters : shape (n,), optional
        Integers; examples with the same one belong together.
    resamples
        Random swaps, at least 1; all of them are counted out instead if they are no more.

    Raises
    ------
    ValueError
        If shapes do not fit or a difference is infinite.
    """
    x = checked_table(controls)
    metrics = x.shape[2]
    reference, against = _mildest(damage, np.asarray(noticed, dtype=np.bool_), clusters, metrics)
    moves = []
    for c in range(x.shape[1]):
        differences = x[:, c]
        observed, flipped, exact = _flipped(signed_ranks(differences), clusters, resamples)
        furthest = np.abs(flipped).max(axis=1)[:, None]
        p = flip_p(np.abs(observed), np.broadcast_to(furthest, (len(furthest), metrics)), exact)
        direction = np.sign(observed)
        change = direction * _means(differences)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(reference > 0, np.maximum(change, 0.0) / reference, np.inf)
        seen = detection(x[:, [c]], ["all"], clusters)
        small, large = _by_size(differences, damage, against, direction, clusters)
        moves.append(
            Movement(
                seen=seen,
                log_p=np.where(seen.pairs[0] > 0, np.log(p), np.nan),
                fell=observed > 0,
                share=share,
                against=against,
                log_p_small=small,
                log_p_large=large,
            )
        )
    return moves


def _flipped(values: Floats, clusters: npt.ArrayLike | None, resamples: int) -> tuple[Floats, Floats, bool]:
    """Standardised sums of values (n, M): observed (M,), and under R sign flips (R, M); whether all patterns.

    Clusters in which nothing moves change no sum, and are not flipped.
    """
    shares = cluster_sums(values, cluster_index(clusters, len(values)))
    moving = (shares != 0).any(axis=1)
    shares = shares[moving] if moving.any() else shares[:1]
    error = np.sqrt((shares**2).sum(axis=0))
    shares = shares / np.where(error > 0, error, 1.0)
    signs, exact = sign_flips(len(shares), resamples, np.random.default_rng(0))
    return shares.sum(axis=0), flipped_sums(signs, shares), exact


def _by_size(
    change: Floats,
    damage: npt.ArrayLike | None,
    against: Ints,
    direction: Floats,
    clusters: npt.ArrayLike | None,
) -> tuple[Floats, Floats]:
    """`log_p_small` and `log_p_large` of a change (n, M).

    What is tested is the mean change less `LITTLE` of the mean drop (Fieller 1954), so that the drop is not
    taken for known. Both may be of the same texts or of others: a text counts in each mean it is part of.
    """
    small, large = np.full(change.shape[1], np.nan), np.full(change.shape[1], np.nan)
    drops = np.asarray(damage, dtype=np.float64)
    for m in np.flatnonzero(against >= 0):
        a_tenth = mean_influences(LITTLE * drops[:, against[m], m])
        fall, rise = mean_influences(change[:, m]), mean_influences(-change[:, m])
        moved = mean_influences(direction[m] * change[:, m])
        small[m] = max(
            _log_p_below_zero(difference(fall, a_tenth), clusters),
            _log_p_below_zero(difference(rise, a_tenth), clusters),
        )
        large[m] = _log_p_below_zero(difference(a_tenth, moved), clusters)
    return small, large


def _log_p_below_zero(figure: Influences, clusters: npt.ArrayLike | None) -> float:
    """Natural log of the p-value of Student's t-test that a figure is 0 or more; 0 if it cannot be tested."""
    from scipy.special import stdtr

    variance, groups = figure.variance(clusters)
    if not groups > 1 or np.isnan(figure.value):
        return 0.0
    if variance <= 0:
        return math.log(_SMALLEST) if figure.value < 0 else 0.0
    p = float(stdtr(groups - 1, figure.value / np.sqrt(variance)))
    return math.log(max(p, _SMALLEST))


def _mildest(
    damage: npt.ArrayLike | None, noticed: Bools, clusters: npt.ArrayLike | None, metrics: int
) -> tuple[Floats, Ints]:
    """The mean drop by each metric that a control is held against, 0 without any, and the kind; both (M,)."""
    if damage is None:
        return np.zeros(metrics), np.full(metrics, -1)
    x = checked_table(damage)
    drops, seen = _means(x), detection(x, ["all"] * x.shape[1], clusters)
    counted = (seen.pairs >= FEWEST_PAIRS) & (drops > 0)
    mild = counted & noticed[:, None] & (seen.metric_low > 0.5)
    least = np.where(mild, drops, np.inf).argmin(axis=0)
    most = np.where(counted, drops, -np.inf).argmax(axis=0)
    kind = np.where(mild.any(axis=0), least, most)
    some = counted.any(axis=0)
    return np.where(some, drops[kind, np.arange(metrics)], 0.0), np.where(some, kind, -1)


def _means(differences: Floats) -> Floats:
    """Means over the examples that have a pair, 0 without any."""
    defined = ~np.isnan(differences)
    return np.asarray(np.where(defined, differences, 0.0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1))
