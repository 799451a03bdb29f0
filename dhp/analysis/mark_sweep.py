"""Both errors of a judge over all marks of its scale.

Without a mark of the user, a result says what would pass and fail at each one. Scores are stored so that
higher is better; marks are shown as users write them, on a scale where low is good the other way round.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dhp.analysis.record_values import STRICT, finite
from dhp.core.seeding import key_digest
from dhp.core.specs import Metric, Scale
from dhp.stats.arrays import Floats
from dhp.stats.pass_mark import sweep

if TYPE_CHECKING:
    from dhp.analysis.ratings import RatingsArray

_FEWEST_MARKS = 2
"""With fewer there is nothing to choose."""
_MOST_MARKS = 50
"""Marks at which both shares are shown; chosen: as many as a chart can tell apart."""
_LONGEST_SCALE = 20
"""Length of the longest scale on which each whole number is a mark; of others the scores that occur are."""


@dataclass(frozen=True, slots=True)
class MarkSweep:
    """What would pass and fail at each mark of a scale."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    marks: tuple[float, ...]
    """In rising order, as users write them; on a scale where low is good a text passes at or below a mark."""
    fails: tuple[float | None, ...]
    """Share of the originals that fail at each mark; None without an answer about any."""
    passes: dict[str, tuple[float | None, ...]]
    """Kind of damage -> share of its texts that pass at each mark."""
    best: float
    """The mark with the fewest errors on these texts, the mean over kinds taken: damaged texts that pass,
    originals that fail, and either without a score."""
    elsewhere: tuple[float, float] | None
    """Damaged texts that are not stopped and originals that do not pass if half of the texts choose the mark
    and the others are judged by it; None for fewer than four texts."""
    no_score: tuple[float, float] = (0.0, 0.0)
    """Share of the damaged texts, the mean over kinds, and of the originals that get no score at `best`."""


def mark_sweep(
    ratings: "RatingsArray", variants: Sequence[str], known: Sequence[Metric], scales: Mapping[str, Scale]
) -> MarkSweep | None:
    """Both shares over the marks of the scale; None if metrics have labels or different scales."""
    original, degraded = ratings.score_tables(variants)
    by_name = {metric.name: metric for metric in known}
    if not variants or np.isnan(original).all() or not _on_one_scale(ratings.metrics, by_name, scales):
        return None
    scale = scales.get(ratings.metrics[0])
    marks = _candidates(original, degraded, scale)
    if len(marks) < _FEWEST_MARKS:
        return None
    rng = np.random.default_rng(int.from_bytes(key_digest(ratings.digest, "pass mark")))
    passing, silent, best, elsewhere = sweep(
        original, degraded, marks, rng, ratings.clusters, ratings.unread_tables(variants)
    )
    # The first column is that of the originals, then the kinds; one of which no text was answered is NaN.
    at_best = silent[best][~np.isnan(silent[best])]
    no_score = (0.0, 0.0)
    if at_best.size > 1:
        no_score = (float(at_best[1:].mean()), float(at_best[0]))
    first = by_name.get(ratings.metrics[0])
    if scale is not None and first is not None and first.lower_is_better:
        # Stored scores were turned round; here marks go back to the numbers that users write.
        marks = [scale.min + scale.max - mark for mark in marks]
        best_mark = marks[best]
        marks.reverse()
        passing, silent = passing[::-1], silent[::-1]
    else:
        best_mark = marks[best]
    return MarkSweep(
        marks=tuple(marks),
        fails=_finite(np.round(1 - passing[:, 0] - silent[:, 0], 12)),
        passes={name: _finite(passing[:, 1 + v]) for v, name in enumerate(variants)},
        best=best_mark,
        elsewhere=None if np.isnan(elsewhere).any() else elsewhere,
        no_score=no_score,
    )


def _on_one_scale(metrics: Sequence[str], known: Mapping[str, Metric], scales: Mapping[str, Scale]) -> bool:
    """Whether one mark means the same by all metrics: none has labels, and their scales are alike."""
    kinds: set[tuple[bool, str]] = set()
    for name in metrics:
        metric = known.get(name)
        if metric is not None and metric.labels:
            return False
        low_is_good = metric is not None and metric.lower_is_better
        kinds.add((low_is_good, repr(scales.get(name))))
    return len(kinds) == 1


def _finite(shares: Floats) -> tuple[float | None, ...]:
    return tuple(finite(share) for share in shares)


def _candidates(original: Floats, degraded: Floats, scale: Scale | None) -> list[float]:
    """The whole numbers of a short scale; else the scores themselves, or some of them."""
    if scale is not None and float(scale.min).is_integer():
        length = scale.max - scale.min
        if length in range(1, _LONGEST_SCALE + 1):  # a whole number, too
            return [scale.min + step for step in range(int(length) + 1)]
    scores = np.concatenate([original.ravel(), degraded.ravel()])
    different = np.unique(scores[~np.isnan(scores)])
    if len(different) > _MOST_MARKS:
        # Places among the different scores, evenly apart, the lowest and the highest among them.
        evenly = np.linspace(0, len(different) - 1, _MOST_MARKS).round().astype(int)
        different = different[evenly]
    return [float(score) for score in different]
