"""The ratings of one judge on one dataset as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dhp.analysis.schedules import COMPLETE, Course
from dhp.core.seeding import text_hash
from dhp.stats.arrays import Bools, Floats, Ints, rounding_error, with_ties


@dataclass(frozen=True, slots=True)
class RatingsArray:
    """The ratings of one (model, protocol, dataset)."""

    place: str
    """Source of the ratings, for error messages."""
    model: str
    protocol: str
    dataset: str
    examples: tuple[str, ...]
    """Names of the examples, sorted."""
    variants: tuple[str, ...]
    """Names of the variants without the original, in order of appearance."""
    metrics: tuple[str, ...]
    means: Floats
    """Mean score, shape (1 + variants, metrics, examples), the original first; NaN where there is none."""
    samples: dict[str, Floats]
    """Metric -> single scores, shape (texts with a score, samples), NaN where one is missing."""
    asked: Bools
    """Whether there is any row, scored or failed; same shape."""
    levels: dict[str, str] | None
    """variant -> level, where the table has that column."""
    counts: dict[str, int]
    """Rows asked, and rows by status."""
    failures: dict[str, int]
    """The reasons of failed rows, the most frequent first, where the table holds them."""
    rules: dict[str, int]
    """Scored rows by the rule that read the score, where the table says it."""
    missing_mass: float | None
    """Mean of that column, where there is one."""
    course: Course = COMPLETE
    """How they came about."""
    incomplete: frozenset[str] | None = None
    """Variants of which some text could not be made; None where that is unknown. Only these have examples to
    which they are not applicable."""
    masses: int = 0
    """Rows of which it is the mean."""
    clusters: Ints | None = None
    """Cluster of each example, shape (examples,); None where the examples are independent."""
    cluster_names: dict[str, str] | None = None
    """Example -> its cluster, where the table has that column."""
    columns: frozenset[str] = frozenset()
    """Names of the columns that the table of ratings had."""

    @property
    def digest(self) -> str:
        """A hash of what the figures depend on; the order of the rows is no part of it."""
        names = (self.variants, self.metrics, self.examples)
        variants, metrics = (np.argsort(list(each)) for each in names[:2])
        means = self.means[np.append(0, 1 + variants)][:, metrics]
        course = self.course.text.encode()
        groups = b"" if self.clusters is None else self.clusters.tobytes()
        return text_hash(repr([sorted(each) for each in names]).encode() + means.tobytes() + course + groups)

    @property
    def size(self) -> str:
        """The number of examples, for signatures."""
        return self.course.size(len(self.examples))

    @property
    def repeated(self) -> tuple[int, int]:
        """Texts and metrics with more scores than most have, and how many of these have different scores."""
        texts = different = 0
        for scores in self.samples.values():
            if not scores.size:
                continue
            counts = (~np.isnan(scores)).sum(axis=1)
            several = scores[counts > np.bincount(counts).argmax()]
            texts += len(several)
            different += sum(np.nanmin(several, axis=1) < np.nanmax(several, axis=1))
        return texts, int(different)

    def not_applicable(self, variant: str) -> int:
        """Number of examples that have no text in this variant, of those that it got."""
        if variant not in self.variants:
            return len(self.examples)
        if self.incomplete is not None and variant not in self.incomplete:
            return 0
        reached = self.course.reached(variant, len(self.examples))
        return reached - int(self.asked_about(variant).sum())

    def stopped_at(self, variant: str) -> int | None:
        """Number of examples after which rating of a variant stopped; None where it could get all."""
        reached = self.course.reached(variant, len(self.examples))
        return reached if reached < len(self.examples) else None

    def missing(self, variant: str, metric: str) -> int:
        """Number of pairs that lack a score, of those about which the variant was asked at all."""
        if variant not in self.variants:
            return 0
        wanted = self.asked[1 + self.variants.index(variant), self.metrics.index(metric)]
        return int((wanted & np.isnan(self.differences(variant, metric))).sum())

    def asked_about(self, variant: str) -> Bools:
        """Whether anything was asked about a variant, shape (examples,)."""
        if variant not in self.variants:
            return np.zeros(len(self.examples), dtype=np.bool_)
        return np.asarray(self.asked[1 + self.variants.index(variant)].any(axis=0))

    def failed(self, variant: str) -> Bools | None:
        """Whether a metric lacks a score, of the original and the variant, shape (2, examples asked about).

        None for a variant that was not rated.
        """
        if variant not in self.variants:
            return None
        places = [0, 1 + self.variants.index(variant)]
        lacking = np.any(self.asked[places] & np.isnan(self.means[places]), axis=1)
        return np.asarray(lacking[:, np.any(self.asked[places[1]], axis=0)])

    def score_tables(self, variants: Sequence[str]) -> tuple[Floats, Floats]:
        """Scores of originals (examples, metrics) and of variants (examples, variants, metrics).

        NaN all over for a variant that was not rated.
        """
        degraded = np.full((len(self.examples), len(variants), len(self.metrics)), np.nan)
        for v, name in enumerate(variants):
            if name in self.variants:
                degraded[:, v] = self.means[1 + self.variants.index(name)].T
        return self.means[0].T, degraded

    def difference_table(self, variants: Sequence[str], metrics: Sequence[str], ties: bool = True) -> Floats:
        """`differences`, shape (examples, variants, metrics).

        NaN all over for a variant that was not rated.
        """
        table = np.full((len(self.examples), len(variants), len(metrics)), np.nan)
        for v, name in enumerate(variants):
            if name in self.variants:
                for m, metric in enumerate(metrics):
                    table[:, v, m] = self.differences(name, metric, ties)
        return table

    def differences(self, variant: str, metric: str, ties: bool = True) -> Floats:
        """Original minus a rated variant, shape (examples,); NaN where a score is missing.

        At the precision of the scores: those that floating point alone tells apart are equal, other than in
        differences without `ties`, as published.
        """
        m = self.metrics.index(metric)
        original, degraded = self.means[0, m], self.means[1 + self.variants.index(variant), m]
        difference: Floats = original - degraded
        if not ties:
            return difference
        size, scores = np.maximum(np.abs(original), np.abs(degraded)), self.samples[metric]
        if scores.shape[1] > 1 and (scores < 0).any():  # a mean may be smaller than what it was made of
            size = np.full_like(size, np.nanmax(np.abs(scores)))
        return with_ties(difference, rounding_error(size, scores.shape[1]))
