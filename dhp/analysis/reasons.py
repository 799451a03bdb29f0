"""A judge's reasons against its verdicts: damage that it saw, and damage that its reason names.

Whether a reason names the change is known by then (`dhp.analysis.named_change`). Here the texts of each kind
of damage are counted in a two-by-two table: seen or not, named or not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dhp.analysis.passing import outcomes_at
from dhp.analysis.record_values import STRICT
from dhp.core.rating_forms import BY_CHANCE, NAMED
from dhp.stats.arrays import Bools, Floats

if TYPE_CHECKING:
    from dhp.analysis.ratings import RatingsArray


@dataclass(frozen=True, slots=True)
class Named:
    """Damaged texts by verdict and reason, in numbers of texts."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    seen_named: int
    """Seen, and the reason names what was changed."""
    seen_only: int
    """Seen, and the reason does not name it."""
    named_only: int
    """Named, and yet not seen: it passes the mark, or without one its score did not fall."""
    neither: int
    """Neither seen nor named."""
    by_chance: float | None
    """Share of the texts whose change would be named by the reason about the undamaged original, too; None if
    there are no such reasons."""

    @property
    def texts(self) -> int:
        """All texts."""
        return self.seen_named + self.seen_only + self.named_only + self.neither

    @property
    def seen(self) -> int:
        """Texts whose damage was seen."""
        return self.seen_named + self.seen_only


def together(parts: Sequence[Named]) -> Named:
    """All texts of some kinds of damage, or data sets."""
    # The share by chance is weighed by texts, of the parts that have one.
    texts, by_chance = 0, 0.0
    for part in parts:
        if part.by_chance is not None:
            texts += part.texts
            by_chance += part.by_chance * part.texts
    return Named(
        sum(part.seen_named for part in parts),
        sum(part.seen_only for part in parts),
        sum(part.named_only for part in parts),
        sum(part.neither for part in parts),
        by_chance / texts if texts else None,
    )


def reasons_of(
    ratings: "RatingsArray", best_metrics: Mapping[str, str | None], marks: Mapping[str, float]
) -> dict[str, Named]:
    """Variant -> its texts by verdict and reason; empty if nothing says whether reasons name the change.

    `best_metrics` has the metric that sees each variant best: its verdict and reason count, or at marks those
    of all metrics that have one. A text that the judge left unread is neither seen nor named.
    """
    if NAMED not in ratings.stated:
        return {}
    reasons = {}
    for variant, best in best_metrics.items():
        if variant in ratings.variants and best is not None:
            metrics = [best]
            if marks:
                metrics = [name for name in ratings.metrics if name in marks]
            named = _of_kind(ratings, variant, metrics, marks)
            if named.texts:
                reasons[variant] = named
    return reasons


def _of_kind(
    ratings: "RatingsArray", variant: str, metrics: Sequence[str], marks: Mapping[str, float]
) -> Named:
    row = ratings.row(variant)
    places = [ratings.metrics.index(name) for name in metrics]
    if marks:
        # Seen is what fails the marks; NaN, of which nobody knows, equals nothing.
        seen = np.asarray(outcomes_at(ratings, [variant], marks).passing[:, 0] == 0)
    else:
        seen = np.asarray(ratings.differences(variant, metrics[0]) > 0)
    # Shares over samples, shape (metrics, examples): most samples of any metric must name the change.
    shares = ratings.stated[NAMED][row, places]
    named = np.asarray((shares >= 0.5).any(axis=0))
    unread = ratings.unread[row, places].all(axis=0)
    # A text without a reason is left out, unless the judge left it unread: that counts as neither.
    known = ~np.isnan(shares).all(axis=0) | unread
    by_chance = np.full(known.shape, np.nan)
    if BY_CHANCE in ratings.stated:
        # The same for the reason about the undamaged text: most of its samples, by any metric.
        beside = ratings.stated[BY_CHANCE][row, places]
        by_chance = np.where(np.isnan(beside).all(axis=0), np.nan, (beside >= 0.5).any(axis=0))
    return _counted(seen[known], named[known], by_chance[known])


def _counted(seen: Bools, named: Bools, by_chance: Floats) -> Named:
    present = ~np.isnan(by_chance)
    return Named(
        seen_named=int((seen & named).sum()),
        seen_only=int((seen & ~named).sum()),
        named_only=int((~seen & named).sum()),
        neither=int((~seen & ~named).sum()),
        by_chance=float(by_chance[present].mean()) if present.any() else None,
    )
