"""Both errors of a judge over all marks of its scale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dhp.core.seeding import key_digest
from dhp.core.specs import Metric, Scale
from dhp.stats.arrays import Floats
from dhp.stats.pass_mark import sweep

if TYPE_CHECKING:
    from dhp.analysis.ratings import RatingsArray


_FEWEST_MARKS = 2


_MOST_MARKS = 50
"""Marks at which both shares are shown."""


@dataclass(frozen=True, slots=True)
class MarkSweep:
    """What would pass and fail at each mark of a scale."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = {"extra": "forbid", "allow_inf_nan": False}

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
    of = {m.name: m for m in known}
    metrics = [of.get(name) for name in ratings.metrics]
    low_is_good = {bool(metric and metric.lower_is_better) for metric in metrics}
    alike = len(low_is_good) == 1 == len({repr(scales.get(name)) for name in ratings.metrics})
    labelled = any(metric and metric.labels for metric in metrics)
    if not alike or labelled or not variants or np.isnan(original).all():
        return None
    scale = scales.get(ratings.metrics[0])
    marks = _candidates(original, degraded, scale)
    if len(marks) < _FEWEST_MARKS:
        return None
    rng = np.random.default_rng(int.from_bytes(key_digest(ratings.digest, "pass mark")))
    passing, silent, best, elsewhere = sweep(
        original, degraded, marks, rng, ratings.clusters, ratings.unread_tables(variants)
    )
    quiet = silent[best][~np.isnan(silent[best])]
    turned = scale is not None and low_is_good == {True}
    shown = [scale.min + scale.max - mark for mark in marks] if scale and turned else marks
    order = slice(None, None, -1 if turned else 1)
    return MarkSweep(
        marks=tuple(shown[order]),
        fails=_defined(np.round(1 - passing[order, 0] - silent[order, 0], 12)),
        passes={name: _defined(passing[order, 1 + v]) for v, name in enumerate(variants)},
        best=shown[best],
        elsewhere=None if np.isnan(elsewhere).any() else elsewhere,
        no_score=(float(quiet[1:].mean()), float(quiet[0])) if quiet.size > 1 else (0.0, 0.0),
    )


def _defined(shares: Floats) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(share) else share for share in shares.tolist())


def _candidates(original: Floats, degraded: Floats, scale: Scale | None) -> list[float]:
    """The whole numbers of a short scale; else the scores themselves, or some of them."""
    if scale and float(scale.min).is_integer() and scale.max - scale.min in range(1, 21):
        return [scale.min + step for step in range(int(scale.max - scale.min) + 1)]
    scores = np.concatenate([original.ravel(), degraded.ravel()])
    different = np.unique(scores[~np.isnan(scores)])
    if len(different) > _MOST_MARKS:
        different = different[np.linspace(0, len(different) - 1, _MOST_MARKS).round().astype(int)]
    return [float(score) for score in different]
