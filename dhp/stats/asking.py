"""When to ask a person: what still goes wrong if the texts nearest to the mark go to one.

Texts are taken in the order of how near the judge puts them to the mark, good and damaged texts half and
half. The cut is chosen on one half of the examples and used on the other, in turn, so that no text decides on
itself. A person is taken to be right.

`_texts` lays out distances, outcomes and weights. `_figures` halves the examples, finds the cuts of each half
(`_cuts`) and counts what they leave in the other (`_applied`). `asked_curve` does so for the data and for
bootstrap samples of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, cluster_index

FEWEST = 60
"""Examples below which nothing is said: the cut of another half is too uncertain. Chosen."""
_RESAMPLES = 200
"""Bootstrap samples. With so many the intervals held the truth in 92 to 96.5 % (`scripts/certainty.py`)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a share of texts that go to a person leaves, each a share of texts in [0, 1]."""

    share: float
    """Texts asked about, good and damaged ones half and half."""
    passing: float
    """Damaged texts that still pass."""
    passing_ci: tuple[float, float]
    """Its 95 % limits."""
    failing: float
    """Good texts that still fail."""
    gain: tuple[float, float, float]
    """By how much fewer damaged texts pass than if as many texts were drawn by lot, and its 95 % limits."""
    good: float
    """Good texts that go to a person."""
    damaged: float
    """Damaged texts that go to a person."""
    of_passing: float
    """Texts that pass and go to a person, of all that pass."""


@dataclass(frozen=True, slots=True)
class _Texts:
    """Texts of examples, the original and V copies: shapes (n, 1 + V)."""

    near: Floats
    """Distance from the mark; infinite for a text that nobody is asked about, NaN for none."""
    passes: Floats
    """1, or 0, also for a text that is missing."""
    weight: Floats
    """1 for originals, 1 / copies for copies; 0 for a text that is missing."""

    def of(self, examples: npt.NDArray[np.int64]) -> "_Texts":
        """The texts of these examples, of which one may be there several times."""
        return _Texts(self.near[examples], self.passes[examples], self.weight[examples])


def asked_curve(
    near: npt.ArrayLike,
    passes: npt.ArrayLike,
    shares: Sequence[float],
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
    *,
    only_passing: bool = False,
) -> list[Asked]:
    """What is left for each share of texts that go to a person, the nearest to the mark first.

    Parameters
    ----------
    near : shape (n, 1 + V)
        Distance of each text from the mark, the original first; NaN if it has no score.
    passes : shape (n, 1 + V)
        Whether it passes: 1, 0, or NaN.
    shares
        Of all texts, in [0, 1].
    rng
        Draws halves and resamples.
    clusters : shape (n,), optional
        Integers; clusters are resampled and split as a whole.
    only_passing
        Ask only about texts that pass; those by lot are then drawn of these, too.

    Returns
    -------
    list of Asked
        One for each share; limits of the gain are percentiles of 200 bootstrap samples, each with halves and
        cuts of its own.
    """
    texts = _texts(near, passes, only_passing)
    index = cluster_index(clusters, len(texts.near))
    groups = range(int(index.max()) + 1)
    members = [np.flatnonzero(index == group) for group in groups]
    figures = _figures(texts, members, shares, rng)
    samples = []
    for _ in range(_RESAMPLES):
        drawn = [members[group] for group in rng.integers(len(members), size=len(members))]
        samples.append(_figures(texts, drawn, shares, rng))
    low, high = np.nanpercentile(np.array(samples), [2.5, 97.5], axis=0)  # each (shares, figures)
    # Resamples of no event hold none either: the limit is then that of Clopper and Pearson (1934).
    high[:, 0] = np.maximum(high[:, 0], 1 - 0.025 ** (1 / len(members)))
    asked: list[Asked] = []
    for i, share in enumerate(shares):
        passing, failing, gain, good, damaged, of_passing = figures[i].tolist()
        asked.append(
            Asked(
                share,
                passing=passing,
                passing_ci=(float(low[i, 0]), float(high[i, 0])),
                failing=failing,
                gain=(gain, float(low[i, 2]), float(high[i, 2])),
                good=good,
                damaged=damaged,
                of_passing=of_passing,
            )
        )
    return asked


def _texts(near: npt.ArrayLike, passes: npt.ArrayLike, only_passing: bool) -> _Texts:
    """The texts of the examples that have an original and a copy; all others have a weight of 0."""
    distance, up = np.array(near, dtype=np.float64), np.asarray(passes, dtype=np.float64)
    present = ~np.isnan(distance) & ~np.isnan(up)
    present &= present[:, :1] & present[:, 1:].any(axis=1, keepdims=True)
    copies = np.maximum(present[:, 1:].sum(axis=1, keepdims=True), 1).astype(np.float64)
    of_copies = np.broadcast_to(1 / copies, up[:, 1:].shape)
    weight = np.asarray(np.where(present, np.hstack([np.ones_like(copies), of_copies]), 0.0))
    distance = distance.round(9)  # means of samples differ in the last bits
    distance[~present | (only_passing & (up != 1))] = np.inf
    return _Texts(distance, np.where(present, up, 0.0), weight)


def _figures(
    texts: _Texts, members: Sequence[npt.NDArray[np.int64]], shares: Sequence[float], rng: np.random.Generator
) -> Floats:
    """Passing, failing, gain, good, damaged, of passing: shape (shares, 6), the mean over both halves."""
    order = rng.permutation(len(members))
    middle = len(members) // 2
    first = texts.of(np.concatenate([members[group] for group in order[:middle]]))
    second = texts.of(np.concatenate([members[group] for group in order[middle:]]))
    # Cuts come from the other half: those of the same texts would leave fewer errors than others do.
    one = _applied(first, _cuts(second, shares), shares)
    other = _applied(second, _cuts(first, shares), shares)
    of_first, of_second = first.weight.sum(), second.weight.sum()
    return np.asarray((one * of_first + other * of_second) / (of_first + of_second))


def _cuts(texts: _Texts, shares: Sequence[float]) -> list[tuple[float, float]]:
    """Of each share the largest distance that is asked about, and the share of texts at that distance."""
    distance, weight = texts.near.ravel(), texts.weight.ravel()
    order = np.argsort(distance, kind="stable")
    distance, weight = distance[order], weight[order]
    reached = weight.cumsum()
    cuts = []
    for share in shares:
        if share <= 0:
            cuts.append((-1.0, 0.0))  # nobody, however near texts of the other half are
            continue
        wanted = share * reached[-1]
        place = min(int(np.searchsorted(reached, wanted - 1e-12)), distance.size - 1)
        cut = distance[place]
        if not np.isfinite(cut):  # fewer texts pass than could be asked about
            cuts.append((float(np.finfo(np.float64).max), 1.0))
            continue
        # Scores are few, so many texts may lie at one distance: of these the part that is still wanted.
        start, stop = np.searchsorted(distance, cut), np.searchsorted(distance, cut, side="right")
        before = reached[start - 1] if start else 0.0
        part = (wanted - before) / weight[start:stop].sum()
        cuts.append((float(cut), float(np.clip(part, 0, 1))))
    return cuts


def _applied(texts: _Texts, cuts: Sequence[tuple[float, float]], shares: Sequence[float]) -> Floats:
    """The figures of `_figures` for texts whose cuts are given, shape (shares, 6)."""
    rows = []
    good, bad = texts.weight[:, 0], texts.weight[:, 1:]
    good_passes, bad_passes = texts.passes[:, 0], texts.passes[:, 1:]
    passed = texts.weight * texts.passes
    could_be_asked = (texts.weight * np.isfinite(texts.near)).sum()
    for (cut, part), share in zip(cuts, shares, strict=True):
        asked = np.where(texts.near < cut, 1.0, np.where(texts.near == cut, part, 0.0))
        asked_by_lot = min(share * texts.weight.sum() / max(could_be_asked, 1e-12), 1.0)
        passing = (bad * bad_passes * (1 - asked[:, 1:])).sum() / bad.sum()
        passing_by_lot = (bad * bad_passes).sum() / bad.sum() * (1 - asked_by_lot)
        failing = (good * (1 - good_passes) * (1 - asked[:, 0])).sum() / good.sum()
        good_asked = (good * asked[:, 0]).sum() / good.sum()
        bad_asked = (bad * asked[:, 1:]).sum() / bad.sum()
        passed_asked = (passed * asked).sum() / max(passed.sum(), 1e-12)
        rows.append((passing, failing, passing_by_lot - passing, good_asked, bad_asked, passed_asked))
    return np.array(rows)
