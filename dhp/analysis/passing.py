"""What passes at a pass mark: damaged texts that still pass, good texts that fail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dhp.stats.arrays import Floats
from dhp.stats.pass_mark import passes, share

if TYPE_CHECKING:
    from dhp.analysis.ratings import RatingsArray


@dataclass(frozen=True, slots=True)
class PassShare:
    """A share of texts, with its exact 95 % interval."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = {"extra": "forbid", "allow_inf_nan": False}

    share: float
    """In [0, 1]."""
    ci: tuple[float, float]
    """95 % confidence limits (Clopper and Pearson 1934), which respect clusters."""
    n: int
    """Texts that could be decided."""


@dataclass(frozen=True, slots=True)
class AtMark:
    """What passes and fails at the user's mark."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = {"extra": "forbid", "allow_inf_nan": False}

    mark: str
    """The mark as users write it: `7`, `pass`, `coherence 4, fluency 3`."""
    marks: dict[str, float]
    """Metric -> its mark among stored scores, where higher is better; a text passes by all of them."""
    fails: PassShare | None
    """Originals that fail; None without one that could be decided."""


def pass_shares(
    ratings: "RatingsArray", variants: Sequence[str], marks: Mapping[str, float]
) -> tuple[PassShare | None, dict[str, PassShare | None]]:
    """Originals that fail, and of each variant the texts that pass; None if no text could be decided."""
    row = [marks.get(metric, np.nan) for metric in ratings.metrics]
    original, degraded = ratings.score_tables(variants)
    outcomes = passes(degraded, row)
    passing = {name: _share(outcomes[:, v], ratings) for v, name in enumerate(variants)}
    return _share(1 - passes(original, row), ratings), passing


def _share(outcomes: Floats, ratings: "RatingsArray") -> PassShare | None:
    value, low, high = share(outcomes, ratings.clusters)
    n = int((~np.isnan(outcomes)).sum())
    return PassShare(value, (low, high), n) if n else None
