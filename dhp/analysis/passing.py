"""What passes at a pass mark: damaged texts that still pass, good texts that fail."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dhp.stats.arrays import Bools, Floats, Ints
from dhp.stats.pass_mark import independent_texts, no_score, passes, share

if TYPE_CHECKING:
    from dhp.analysis.ratings import RatingsArray


@dataclass(frozen=True, slots=True)
class PassShare:
    """A share of texts, with its exact 95 % interval."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = {"extra": "forbid", "allow_inf_nan": False}

    share: float
    """In [0, 1]."""
    ci: tuple[float, float]
    """95 % confidence limits (Clopper and Pearson 1934), which respect clusters: the upper one is that of
    `most`."""
    n: int
    """Texts that the judge answered about."""
    independent: float | None = None
    """Independent texts that would tell as much: `n` without clusters; None for texts of one cluster."""
    no_score: float = 0.0
    """Share of the texts that got no score, in [0, 1]; nobody knows on which side of the mark they are."""

    @property
    def most(self) -> float:
        """The share if what got no score belonged to it, too."""
        return self.share + self.no_score

    @property
    def rest(self) -> float:
        """The share on the other side of the mark: of damaged texts those that are stopped."""
        return 1 - self.most


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


@dataclass(frozen=True, slots=True)
class Outcomes:
    """On which side of their marks the texts of n examples are, of V kinds of damage."""

    fails: Floats
    """Whether originals fail, shape (n,): 1, 0, or NaN if nobody knows."""
    fails_silent: Bools
    """Whether that is so as the judge gave no score."""
    passing: Floats
    """Whether damaged texts pass, shape (n, V)."""
    passing_silent: Bools

    def counted(self, silent: float) -> tuple[Floats, Floats]:
        """`fails` and `passing` with this value for a text without a score."""
        return (
            np.where(self.fails_silent, silent, self.fails),
            np.where(self.passing_silent, silent, self.passing),
        )


def outcomes_at(ratings: "RatingsArray", variants: Sequence[str], marks: Mapping[str, float]) -> Outcomes:
    """What becomes of each text at the marks of metrics, of which there is one at least."""
    row = [marks.get(metric, np.nan) for metric in ratings.metrics]
    (good, bad), (unread, bad_unread) = ratings.score_tables(variants), ratings.unread_tables(variants)
    return Outcomes(
        1 - passes(good, row), no_score(good, unread, row), passes(bad, row), no_score(bad, bad_unread, row)
    )


def pass_shares(
    ratings: "RatingsArray", variants: Sequence[str], marks: Mapping[str, float]
) -> tuple[PassShare | None, dict[str, PassShare | None]]:
    """Originals that fail, and of each variant the texts that pass; None if no text was answered."""
    of = outcomes_at(ratings, variants, marks)
    passing = {
        name: share_of(of.passing[:, v], of.passing_silent[:, v], ratings.clusters)
        for v, name in enumerate(variants)
    }
    return share_of(of.fails, of.fails_silent, ratings.clusters), passing


def share_of(outcomes: Floats, silent: Bools, clusters: Ints | None) -> PassShare | None:
    """The share of ones; what got no score counts as none for the lower limit, as one for the upper."""
    least, most = (np.where(silent, value, outcomes) for value in (0.0, 1.0))
    n = int((~np.isnan(least)).sum())
    if not n:
        return None
    value, low, _ = share(least, clusters)
    _, _, high = share(most, clusters)
    size = independent_texts(least, clusters)
    independent = None if math.isnan(size) else size
    return PassShare(value, (low, high), n, independent, float(silent.sum() / n))
