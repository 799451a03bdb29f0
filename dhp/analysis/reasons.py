"""A judge's reasons against its verdicts: damage that it saw, and damage that its reason names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dhp.analysis.passing import outcomes_at
from dhp.core.rating_forms import BY_CHANCE, NAMED
from dhp.stats.arrays import Bools, Floats

if TYPE_CHECKING:
    from dhp.analysis.ratings import RatingsArray

_STRICT: Mapping[str, str | bool] = {"extra": "forbid", "allow_inf_nan": False}


@dataclass(frozen=True, slots=True)
class Named:
    """Damaged texts by verdict and reason, in numbers of texts."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = _STRICT

    seen_named: int
    """Seen, and the reason names what was changed."""
    seen_only: int
    """Seen, and the reason does not name it."""
    named_only: int
    """Named, and yet not seen: it passes the mark, or without one its score did not fall."""
    neither: int
    """Neither seen nor named."""
    by_chance: float | None
    """Share of the texts of which the reason about the undamaged original would name the change, too; None if
    there are no such reasons."""

    @property
    def texts(self) -> int:
        """All of them."""
        return self.seen_named + self.seen_only + self.named_only + self.neither

    @property
    def seen(self) -> int:
        """Those that were seen."""
        return self.seen_named + self.seen_only


def together(parts: Sequence[Named]) -> Named:
    """All texts of some kinds of damage, or data sets."""
    beside = [(part.by_chance, part.texts) for part in parts if part.by_chance is not None]
    texts = sum(count for _, count in beside)
    return Named(
        sum(part.seen_named for part in parts),
        sum(part.seen_only for part in parts),
        sum(part.named_only for part in parts),
        sum(part.neither for part in parts),
        sum(share * count for share, count in beside) / texts if texts else None,
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
            metrics = [m for m in ratings.metrics if m in marks] if marks else [best]
            named = _of_kind(ratings, variant, metrics, marks)
            if named.texts:
                reasons[variant] = named
    return reasons


def _of_kind(
    ratings: "RatingsArray", variant: str, metrics: Sequence[str], marks: Mapping[str, float]
) -> Named:
    row, places = 1 + ratings.variants.index(variant), [ratings.metrics.index(name) for name in metrics]
    shares = ratings.stated[NAMED][row, places]
    named: Bools = np.asarray((shares >= 0.5).any(axis=0))  # of several samples most, of several metrics one
    unread = ratings.unread[row, places].all(axis=0)
    known = ~np.isnan(shares).all(axis=0) | unread
    seen: Bools = np.asarray(ratings.differences(variant, metrics[0]) > 0)
    if marks:
        seen = np.asarray(outcomes_at(ratings, [variant], marks).passing[:, 0] == 0)
    chance = ratings.stated.get(BY_CHANCE)
    beside = np.full(shares.shape, np.nan) if chance is None else chance[row, places]
    by_chance = np.where(np.isnan(beside).all(axis=0), np.nan, (beside >= 0.5).any(axis=0))
    return _counted(seen[known], named[known], by_chance[known])


def _counted(seen: Bools, named: Bools, by_chance: Floats) -> Named:
    present = ~np.isnan(by_chance)
    return Named(
        int((seen & named).sum()),
        int((seen & ~named).sum()),
        int((~seen & named).sum()),
        int((~seen & ~named).sum()),
        float(by_chance[present].mean()) if present.any() else None,
    )
