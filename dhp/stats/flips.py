"""Is the judge blind to a kind of damage? Tested by sign flips of whole examples.

If damage changes nothing, original and copy of an example may be swapped, the scores of all metrics together
(with clusters: of all examples of a cluster). The statistic is the largest standardised signed-rank sum of
the metrics (Wilcoxon 1945), so no metric needs to be chosen beforehand, and the test is exact under any
dependence of the metrics (Westfall and Young 1993; Pesarin and Salmaso 2010). Of one metric the patterns are
counted out.
"""

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats, Ints, checked_table, cluster_index, cluster_sums
from dhp.stats.defaults import RESAMPLES
from dhp.stats.sign_flips import SignPatterns, flip_p, flipped_sums, sign_flips
from dhp.stats.wilcoxon import signed_rank, signed_ranks

_COLUMNS = 256
"""Tests whose flipped sums are in memory at a time, at least those of one kind."""


def flip_log_p(
    differences: npt.ArrayLike, clusters: npt.ArrayLike | None = None, *, resamples: int = RESAMPLES
) -> tuple[Floats, Floats]:
    """Natural logs of the p-values of V kinds of damage: did scores fall, and did they rise?

    Parameters
    ----------
    differences : shape (n, V, M)
        Original minus degraded by M metrics, NaN if a score is missing. Values must lie on their exact
        grid, as for `signed_rank`.
    clusters : shape (n,), optional
        Integers; examples with the same one are flipped together.
    resamples
        Sign patterns, at least 1, which are the same for the same number of clusters with a pair; all of them
        if they are no more. p is then at least 1 / (resamples + 1).

    Returns
    -------
    fell, rose : shape (V,)
        At most 0. `fell` is small if the metric that sees the damage best fell more than by chance, `rose`
        if even that metric rose. 0 if no score moves; of one metric also in the direction in which it
        does not tend.

    Raises
    ------
    ValueError
        If the shapes do not fit, a difference is infinite or `resamples` is below 1.
    """
    x = checked_table(differences)
    if x.shape[2] == 1:
        return _counted_out(x[:, :, 0], clusters)
    index = cluster_index(clusters, len(x))
    log_p = np.zeros((2, x.shape[1]))
    # A cluster without a pair of a kind has no part in its test: texts of other kinds do not change its p.
    present = cluster_sums(np.any(~np.isnan(x), axis=2).astype(np.float64), index) > 0
    patterns, pattern_of = np.unique(present, axis=1, return_inverse=True)
    some = max(1, _COLUMNS // x.shape[2])
    # Kinds with pairs in the same clusters have the same sign patterns, which are drawn once for them.
    for number, taking_part in enumerate(patterns.T):
        alike = np.flatnonzero(pattern_of.ravel() == number)
        if not taking_part.any():  # kinds without a pair: p = 1
            continue
        signs, exact = sign_flips(int(taking_part.sum()), resamples, np.random.default_rng(0))
        for start in range(0, alike.size, some):
            kinds = alike[start : start + some]
            log_p[:, kinds] = _flipped(x[:, kinds], index, taking_part, signs, exact)
    return log_p[0], log_p[1]


def _flipped(
    differences: Floats, index: Ints, taking_part: Bools, signs: SignPatterns, exact: bool
) -> Floats:
    """Natural logs of the p-values in both directions, (2, V), of kinds with pairs in the same clusters."""
    ranks = signed_ranks(differences)
    shares = cluster_sums(ranks.reshape(len(ranks), -1), index)[taking_part]
    scale = np.sqrt((shares**2).sum(axis=0))
    shares = np.where(scale > 0, shares / np.where(scale > 0, scale, 1.0), 0.0)
    still = (scale == 0).reshape(ranks.shape[1:])
    observed = _best(shares.sum(axis=0)[None], still)[0]
    flipped = _best(flipped_sums(signs, shares), still)
    fell = flip_p(observed, flipped, exact)
    rose = flip_p(-observed, -flipped, exact)
    return np.where(still.all(axis=1), 0.0, np.log(np.stack([fell, rose])))


def _best(sums: Floats, still: npt.NDArray[np.bool_]) -> Floats:
    """The largest sum of the metrics that move, from sums (R, V M); shape (R, V), 0 if none moves."""
    by_metric = np.where(still, -np.inf, sums.reshape(len(sums), *still.shape))
    return np.where(still.all(axis=1), 0.0, by_metric.max(axis=2))


def _counted_out(differences: Floats, clusters: npt.ArrayLike | None) -> tuple[Floats, Floats]:
    """`flip_log_p` of one metric, from shape (n, V), by the exact distribution of the signed-rank sum."""
    fell, rose = np.zeros(differences.shape[1]), np.zeros(differences.shape[1])
    index = None if clusters is None else cluster_index(clusters, len(differences))
    tends = signed_ranks(differences).sum(axis=0)
    for v in np.flatnonzero(tends):
        defined = ~np.isnan(differences[:, v])
        groups = None if index is None else index[defined]
        drops = differences[defined, v]
        if tends[v] > 0:
            fell[v] = signed_rank(drops, clusters=groups)
        else:
            rose[v] = signed_rank(-drops, clusters=groups)
    return fell, rose
