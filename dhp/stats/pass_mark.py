"""What passes at a mark: the score from which a user lets a text through.

A judge may score every damaged text below its original and still let most of them through. So for a mark two
shares are counted: damaged texts that pass, and good texts that fail. A text passes if it reaches the mark by
every metric that has one. Scores are on scales on which higher is better.

Intervals are those of `dhp.stats.bounds`: without clusters the exact ones of Clopper and Pearson (1934).

`passes` and `no_score` say what becomes of each text at given marks; `share` and `shares_at_mark` count them.
`sweep` counts at every mark and finds the best one, which it tries out on halves of the examples
(`_elsewhere`). `same_share` carries a mark over to another judge.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats, cluster_index, cluster_sums, level_shares
from dhp.stats.bounds import mean_interval
from dhp.stats.effective_size import effective_size
from dhp.stats.influences import Influences, cluster_size, mean_influences, weighted

_HALVES = 200
"""Random splits into halves; chosen."""
_MOST_SPLIT = 2_000
"""Clusters that are split; of more, the first ones. Chosen: their means are known well enough."""


def passes(scores: npt.ArrayLike, marks: npt.ArrayLike) -> Floats:
    """Whether texts pass: 1, 0, or NaN if missing scores could decide it.

    Parameters
    ----------
    scores : shape (..., M)
        Scores by M metrics, NaN if missing.
    marks : shape (M,)
        The mark of each metric; NaN for a metric that does not count. At least one must count.

    Returns
    -------
    shape (...)
        A text fails by one score below its mark, whatever else is missing.
    """
    x, mark = np.asarray(scores, dtype=np.float64), np.asarray(marks, dtype=np.float64)
    counts = ~np.isnan(mark)
    if not counts.any():
        raise ValueError("no metric has a mark")
    # Means of samples differ from what they should be in the last bits: 3.6999999999999997 reaches 3.7.
    below = (x < mark - 1e-9 * np.maximum(1.0, np.abs(mark))) & counts
    missing = (np.isnan(x) & counts).any(axis=-1)
    return np.where(below.any(axis=-1), 0.0, np.where(missing, np.nan, 1.0))


def no_score(scores: npt.ArrayLike, unread: npt.ArrayLike, marks: npt.ArrayLike) -> Bools:
    """Whether a text is on no side of its marks as the judge gave it no score; shapes as for `passes`.

    `unread` says which scores are missing for that reason. A text with a score that is missing for another
    one, as the call failed, is not there.
    """
    silent = np.asarray(unread, dtype=np.bool_)
    if not silent.any():
        return np.zeros(silent.shape[:-1], dtype=np.bool_)
    counts = ~np.isnan(np.asarray(marks, dtype=np.float64))
    unknown = np.isnan(np.asarray(scores, dtype=np.float64)) & ~silent
    return np.asarray(np.isnan(passes(scores, marks)) & ~(unknown & counts).any(axis=-1))


def share(outcomes: npt.ArrayLike, clusters: npt.ArrayLike | None = None) -> tuple[float, float, float]:
    """The share of ones among outcomes of 0, 1 and NaN, of shape (n,), and its limits; NaN without any.

    `clusters`, of shape (n,), are integers; texts of one cluster are not taken for independent.
    """
    x = np.asarray(outcomes, dtype=np.float64)
    figure = mean_influences(x)
    low, high = mean_interval(figure, clusters)
    if np.isnan(low) and not np.isnan(x).all():  # a single cluster says nothing of others
        return float(figure.value), 0.0, 1.0
    return float(figure.value), float(low), float(high)


def shares_at_mark(
    fails: npt.ArrayLike, passing: npt.ArrayLike, levels: Sequence[str]
) -> tuple[Influences, Influences]:
    """Damaged texts that pass and originals that fail, with each example's influence on both shares.

    Parameters
    ----------
    fails : shape (n,)
        Whether originals fail: 1, 0, or NaN for those that do not count.
    passing : shape (n, V)
        Whether damaged texts pass.
    levels : V names
        The level of each kind of damage.

    Returns
    -------
    damaged_pass, good_fail : of shape (1,)
        The mean over levels of the mean over the kinds of a level, as detection is averaged, and the share;
        NaN without a text. Differences of two judges follow by `dhp.stats.swap` if what one of them lacks is
        NaN for both.
    """
    outcomes = np.column_stack([np.asarray(fails, dtype=np.float64), np.asarray(passing, dtype=np.float64)])
    present = ~np.isnan(outcomes)
    counts = np.maximum(present.sum(axis=0), 1)
    value = np.where(present.any(axis=0), np.where(present, outcomes, 0.0).sum(axis=0) / counts, np.nan)
    influence = np.where(present, outcomes - value, 0.0) / counts
    texts = Influences(
        value[:, None], influence[:, :, None], present[:, :, None], np.ones((outcomes.shape[1], 1))
    )
    # Two weighted sums of the columns: the mean over levels of all but the first, and the first alone.
    _, of_kinds = level_shares(levels, np.asarray(present[:, 1:].any(axis=0)))
    coefficients = np.zeros((2, outcomes.shape[1], 1))
    coefficients[0, 1:, 0] = of_kinds[-1]
    coefficients[1, 0, 0] = 1.0 if present[:, 0].any() else np.nan
    both = weighted(texts, coefficients)
    return both.part(slice(1)), both.part(slice(1, 2))


def independent_texts(outcomes: npt.ArrayLike, clusters: npt.ArrayLike | None = None) -> float:
    """How many independent texts tell as much as these outcomes; parameters as for `share`.

    NaN without an outcome, and with several from one cluster.
    """
    figure = mean_influences(outcomes)
    n = figure.defined.sum()
    variance, groups = figure.variance(clusters)
    size = cluster_size(figure.defined, clusters)
    return float(effective_size(n, figure.value * (1 - figure.value), variance, groups, cluster_size=size))


def sweep(
    original: npt.ArrayLike,
    degraded: npt.ArrayLike,
    marks: Sequence[float],
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
    unread: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> tuple[Floats, Floats, int, tuple[float, float]]:
    """What passes at each of T marks, the same one for every metric.

    Parameters
    ----------
    original : shape (n, M)
        Scores of the originals, NaN if missing.
    degraded : shape (n, V, M)
        Scores of the damaged copies.
    marks
        In rising order, at least one.
    rng
        Draws the halves.
    clusters : shape (n,), optional
        Integers; a cluster is never split.
    unread : arrays of the shapes of both scores, optional
        Which scores are missing as the judge gave none.

    Returns
    -------
    passing : shape (T, 1 + V)
        Share of the originals that pass, then of the damaged texts of each kind; NaN without a text.
    silent : shape (T, 1 + V)
        Share of the texts that got no score.
    best : int
        The mark with the smallest sum of errors, the mean over the kinds of damage taken: damaged texts that
        pass, originals that fail, and either without a score. Of equal ones the middle one.
    elsewhere : two floats
        Damaged texts that are not stopped and originals that do not pass at the mark that one half of the
        examples chooses, counted on the other half; NaN with fewer than four clusters.
    """
    good, bad = np.asarray(original, dtype=np.float64), np.asarray(degraded, dtype=np.float64)
    texts = np.concatenate([good[:, None], bad], axis=1)
    unread_texts = np.zeros(texts.shape, dtype=np.bool_)
    if unread is not None:
        unread_texts[:, 0], unread_texts[:, 1:] = unread
    index = cluster_index(clusters, len(good))
    shape = (len(marks), int(index.max()) + 1, texts.shape[1])
    ones, silent, sizes = np.empty(shape), np.empty(shape), np.empty(shape)
    for t, mark in enumerate(marks):
        ones[t], silent[t], sizes[t] = _counts(texts, unread_texts, mark, index)
    total = sizes.sum(axis=1)
    # A damaged text without a score is not stopped, an original without one does not pass: both are errors.
    not_right = ones.copy()
    not_right[..., 1:] += silent[..., 1:]
    elsewhere = _elsewhere(not_right[:, :_MOST_SPLIT], sizes[:, :_MOST_SPLIT], rng)
    best = int(_best(_ratio(not_right.sum(axis=1), total)))
    return _ratio(ones.sum(axis=1), total), _ratio(silent.sum(axis=1), total), best, elsewhere


def _counts(
    texts: Floats, unread: Bools, mark: float, index: npt.NDArray[np.int64]
) -> tuple[Floats, Floats, Floats]:
    """Texts that pass, that got no score, and in all, of each cluster; each (clusters, 1 + V).

    From scores and what was left unread, both (n, 1 + V, M): of the originals, then of each kind.
    """
    marks = np.full(texts.shape[-1], mark)
    outcomes, silent = passes(texts, marks), no_score(texts, unread, marks)
    present = ~np.isnan(outcomes) | silent
    passed = np.where(np.isnan(outcomes), 0.0, outcomes)
    return (
        cluster_sums(passed, index),
        cluster_sums(silent.astype(np.float64), index),
        cluster_sums(present.astype(np.float64), index),
    )


def _ratio(ones: Floats, sizes: Floats) -> Floats:
    """Shares; NaN of nothing."""
    return np.asarray(ones / np.where(sizes > 0, sizes, np.nan))


def _errors(shares: Floats) -> tuple[Floats, Floats]:
    """Mean share of the kinds that passes, and share of the originals that fails, from (..., 1 + V)."""
    kinds: Bools = ~np.isnan(shares[..., 1:])
    passing = np.where(kinds, shares[..., 1:], 0.0).sum(axis=-1) / np.maximum(kinds.sum(axis=-1), 1)
    return np.where(kinds.any(axis=-1), passing, np.nan), 1 - shares[..., 0]


def _best(shares: Floats) -> npt.NDArray[np.int64]:
    """The mark with the fewest errors, of equal ones the middle one, from (..., T, 1 + V)."""
    passing, failing = _errors(shares)
    total = np.where(np.isnan(passing + failing), np.inf, passing + failing)
    lowest = total <= total.min(axis=-1, keepdims=True) + 1e-12
    middle = lowest.sum(axis=-1, keepdims=True) // 2 + 1  # the second of two, the second of three
    return np.asarray((lowest.cumsum(axis=-1) == middle).argmax(axis=-1))


def _elsewhere(ones: Floats, sizes: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """What the mark chosen on one half does on the other, the mean over random halves of the clusters."""
    groups = ones.shape[1]
    if groups < 4:
        return np.nan, np.nan
    halves = np.zeros((_HALVES, groups))
    for half in halves:
        half[rng.permutation(groups)[: groups // 2]] = 1
    # One small product for each mark: faster than one large product of reordered counts.
    passed = np.moveaxis(halves @ ones, 0, 1)  # (halves, T, 1 + V)
    present = np.moveaxis(halves @ sizes, 0, 1)
    chosen = _best(_ratio(passed, present))
    passed_of_others, others = ones.sum(axis=1) - passed, sizes.sum(axis=1) - present
    drawn = np.arange(_HALVES)
    shares = _ratio(passed_of_others[drawn, chosen], others[drawn, chosen])
    passing, failing = np.nanmean(_errors(shares), axis=1)
    return float(passing), float(failing)


def same_share(old: npt.ArrayLike, mark: float, new: npt.ArrayLike) -> float:
    """The mark on another judge's scale that lets the same share of texts through.

    Parameters
    ----------
    old, new : shape (n,)
        Scores of the same texts by both judges, NaN if missing: such a text does not count.
    mark
        On the scale of the old judge.

    Returns
    -------
    float
        A score of the new judge: the one at which the share that passes is nearest, of equally near ones the
        stricter; NaN without a text.
    """
    a, b = np.asarray(old, dtype=np.float64), np.asarray(new, dtype=np.float64)
    both = ~np.isnan(a) & ~np.isnan(b)
    if not both.any():
        return float("nan")
    wanted = passes(a[both][:, None], [mark]).mean()
    candidates = np.unique(b[both])[::-1]  # the strictest first, so that it is taken of equally near ones
    reached = np.empty(candidates.size)
    for place, candidate in enumerate(candidates):
        reached[place] = passes(b[both][:, None], [candidate]).mean()
    return float(candidates[np.abs(reached - wanted).argmin()])
