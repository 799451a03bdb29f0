"""The pairs of texts in which two judges differ."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dhp.runs.reader import RunResult
from dhp.stats.arrays import Floats

_DIGITS = 9
"""Decimals of a mean difference. Beyond them floating point alone tells scores apart: 0.1 + 0.2 from 0.3."""


@dataclass(frozen=True, slots=True)
class ChangedPair:
    """A text and its degraded copy, as two judges scored them."""

    example: str
    first: tuple[float, float]
    """Mean score over the metrics of the original and of the copy, by the first judge."""
    second: tuple[float, float]

    @property
    def newly(self) -> bool:
        """Whether the score fell by the second judge, and not by the first."""
        return self.second[0] > self.second[1]

    @property
    def apart(self) -> float:
        """How far the drops of the two judges lie apart."""
        return abs((self.first[0] - self.first[1]) - (self.second[0] - self.second[1]))


@dataclass(frozen=True, slots=True)
class ChangedKind:
    """A variant in whose pairs two judges differ."""

    variant: str
    n: int
    """Pairs that both judges scored."""
    pairs: Sequence[ChangedPair]
    """Those newly noticed first; of each the clearest first."""

    @property
    def newly(self) -> int:
        """Pairs whose score fell by the second judge only."""
        return sum(pair.newly for pair in self.pairs)

    @property
    def no_longer(self) -> int:
        """Pairs whose score fell by the first judge only."""
        return len(self.pairs) - self.newly


def changed_kinds(first: RunResult, second: RunResult) -> dict[str, ChangedKind]:
    """Variant -> the pairs whose score fell by one of two judges only, for all variants that both rated.

    A score fell if the mean over the metrics that both texts have is lower for the degraded one. Controls
    and attacks are among the variants.
    """
    common = sorted({*first.ratings.examples} & {*second.ratings.examples})
    rated_by_both = {*first.ratings.variants} & {*second.ratings.variants}
    names = []
    for row in (*first.result.variants, *first.result.probes):
        if row.variant in rated_by_both:
            names.append(row.variant)

    one, other = _scores(first, names, common), _scores(second, names, common)
    return {name: _changed(name, common, one[:, v], other[:, v]) for v, name in enumerate(names)}


def _scores(rated: RunResult, variants: Sequence[str], examples: Sequence[str]) -> Floats:
    """Mean score of originals and copies over the metrics of both, shape (examples, variants, 2)."""
    rows = np.isin(rated.ratings.examples, examples)
    drops = rated.ratings.difference_table(variants, rated.ratings.metrics)[rows]
    # The original's score again beside each variant, in the shape of the drops.
    originals = np.broadcast_to(rated.ratings.score_tables(variants)[0][rows][:, None], drops.shape)

    # A metric counts where both texts have a score by it; a text without any has NaN, by a count of NaN.
    known = ~np.isnan(drops)
    count = np.where(known.any(axis=2), known.sum(axis=2), np.nan)
    original = np.where(known, originals, 0).sum(axis=2) / count
    drop = np.where(known, drops, 0).sum(axis=2) / count
    return np.stack([original, original - np.round(drop, _DIGITS)], axis=2)


def _changed(variant: str, examples: Sequence[str], one: Floats, other: Floats) -> ChangedKind:
    """The pairs of one variant; the scores of each judge have the shape (examples, 2)."""
    drop, other_drop = one[:, 0] - one[:, 1], other[:, 0] - other[:, 1]
    known = ~np.isnan(drop) & ~np.isnan(other_drop)
    # Exactly one of the two judges lowered the score.
    differ = known & ((drop > 0) != (other_drop > 0))
    pairs = []
    for e in np.flatnonzero(differ).tolist():
        pairs.append(ChangedPair(examples[e], (one[e, 0], one[e, 1]), (other[e, 0], other[e, 1])))
    # False sorts before True: newly noticed pairs come first.
    pairs.sort(key=lambda pair: (not pair.newly, -pair.apart))
    return ChangedKind(variant, int(known.sum()), pairs)
