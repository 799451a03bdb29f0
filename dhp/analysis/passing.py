"""What passes at a pass mark: damaged texts that still pass, good texts that fail."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dhp.stats.arrays import Floats
from dhp.stats.pass_mark import independent_texts, passes, share

if TYPE_CHECKING:
    from dhp.analysis.ratings import RatingsArray

_ERROR = 0.025
"""Of each limit of a 95 % interval."""


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
    independent: float | None = None
    """Independent texts that would tell as much: `n` without clusters; None for texts of one cluster."""

    def log_p_above(self, line: float) -> float:
        """Natural log of the p-value that the true share is `line` or less, in (0, 1); one-sided, exact."""
        from scipy.special import betainc

        if self.independent is None or self.ci[0] <= line:
            return 0.0  # the interval holds the line
        ones = self.share * self.independent
        return float(np.log(max(betainc(ones, self.independent - ones + 1, line), np.finfo(float).tiny)))

    def needed(self, most: float) -> int:
        """Texts like these of which none may pass to show that no more than `most` do, in (0, 1)."""
        independent = math.log(_ERROR) / math.log(1 - most)
        return math.ceil(independent * self.n / (self.independent or 1.0) - 1e-9)


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
    size = independent_texts(outcomes, ratings.clusters)
    return PassShare(value, (low, high), n, None if np.isnan(size) else size) if n else None
