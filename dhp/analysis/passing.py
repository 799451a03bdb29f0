"""What passes at a pass mark: damaged texts that still pass, good texts that fail.

`outcomes_at` says of each text whether it passes, and whether that is unknown because the judge gave it no
score. `pass_shares` counts these by kind of damage, each share with its interval.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dhp.analysis.record_values import STRICT
from dhp.stats.arrays import Bools, Floats, Ints
from dhp.stats.pass_mark import independent_texts, no_score, passes, share

if TYPE_CHECKING:
    from dhp.analysis.ratings import RatingsArray


@dataclass(frozen=True, slots=True)
class PassShare:
    """A share of texts, with its exact 95 % interval."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

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

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

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
    """Whether nobody knows as the judge gave no score, shape (n,)."""
    passing: Floats
    """Whether damaged texts pass, shape (n, V): 1, 0, or NaN."""
    passing_silent: Bools
    """Whether nobody knows as the judge gave no score, shape (n, V)."""

    def counted(self, silent: float) -> tuple[Floats, Floats]:
        """`fails` and `passing` with this value for a text without a score."""
        return (
            np.where(self.fails_silent, silent, self.fails),
            np.where(self.passing_silent, silent, self.passing),
        )


def outcomes_at(ratings: "RatingsArray", variants: Sequence[str], marks: Mapping[str, float]) -> Outcomes:
    """On which side of the marks each text is; `marks` has one metric at least."""
    # NaN is no mark: a text passes by the metrics that have one.
    mark_of_each = [marks.get(metric, np.nan) for metric in ratings.metrics]
    originals, copies = ratings.score_tables(variants)
    unread_originals, unread_copies = ratings.unread_tables(variants)
    return Outcomes(
        fails=1 - passes(originals, mark_of_each),
        fails_silent=no_score(originals, unread_originals, mark_of_each),
        passing=passes(copies, mark_of_each),
        passing_silent=no_score(copies, unread_copies, mark_of_each),
    )


def pass_shares(
    ratings: "RatingsArray", variants: Sequence[str], marks: Mapping[str, float]
) -> tuple[PassShare | None, dict[str, PassShare | None]]:
    """Originals that fail, and of each variant the texts that pass; None if no text was answered."""
    outcomes = outcomes_at(ratings, variants, marks)
    fails = share_of(outcomes.fails, outcomes.fails_silent, ratings.clusters)
    passing: dict[str, PassShare | None] = {}
    for v, name in enumerate(variants):
        silent = outcomes.passing_silent[:, v]
        passing[name] = share_of(outcomes.passing[:, v], silent, ratings.clusters)
    return fails, passing


def share_of(outcomes: Floats, silent: Bools, clusters: Ints | None) -> PassShare | None:
    """The share of ones, None without a text; all arrays have shape (n,).

    Texts without a score (`silent`) count as zeros for the lower limit and as ones for the upper one.
    """
    # NaN stays where nobody asked or a call failed; these texts are not counted in `n`.
    least = np.where(silent, 0.0, outcomes)
    most = np.where(silent, 1.0, outcomes)
    n = int((~np.isnan(least)).sum())
    if n == 0:
        return None
    # The interval spans both guesses about texts without a score: its lower end counts them as zeros.
    value, low, _ = share(least, clusters)
    _, _, high = share(most, clusters)
    size = independent_texts(least, clusters)
    return PassShare(
        value,
        (low, high),
        n,
        independent=None if math.isnan(size) else size,
        no_score=float(silent.sum() / n),
    )
