"""The ratings of one judge on one dataset as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dhp.analysis.interim import InterimAnalyses
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
    variants: tuple[str, ...]
    """Names of the variants without the original, in order of appearance."""
    metrics: tuple[str, ...]
    means: Floats
    """Mean score, shape (1 + variants, metrics, examples), the original first; NaN where there is none."""
    samples: dict[str, Floats]
    """Metric -> single scores, shape (texts with a score, samples), NaN where one is missing."""
    asked: Bools
    """Whether there is any row, scored or failed; same shape."""
    interim: InterimAnalyses | None
    """Interim analyses of a run that stops rating variants once they are resolved; else None."""
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
    masses: int = 0
    """Rows of which it is the mean."""
    clusters: Ints | None = None
    """Cluster of each example, for the examples sorted by name, shape (examples,); None where the examples
    are independent."""
    cluster_names: dict[str, str] | None = None
    """Example -> its cluster, where the table has that column."""
    columns: frozenset[str] = frozenset()
    """Names of the columns that the table of ratings had."""

    @property
    def digest(self) -> str:
        """A hash of what the figures depend on; the order of the rows is no part of it."""
        names = (self.variants, self.metrics, self.examples)
        variants, metrics, examples = (np.argsort(list(each)) for each in names)
        means = self.means[np.ix_(np.append(0, 1 + variants), metrics, examples)]
        course = b"" if self.interim is None else self.interim.course.encode()
        groups = b"" if self.clusters is None else self.clusters.tobytes()
        return text_hash(repr([sorted(each) for each in names]).encode() + means.tobytes() + course + groups)

    @property
    def size(self) -> str:
        """The number of examples, for signatures."""
        return str(len(self.examples)) if self.interim is None else self.interim.size

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
        """Number of examples about which nothing was asked under this variant."""
        if variant not in self.variants:
            return len(self.examples)
        reached = len(self.examples) if self.interim is None else self.interim.reached(variant)
        return reached - int(self.asked_about(variant).sum())

    def missing(self, variant: str, metric: str) -> int:
        """Number of pairs that lack a score, of those about which the variant was asked at all."""
        if variant not in self.variants:
            return 0
        wanted = self.asked[1 + self.variants.index(variant), self.metrics.index(metric)]
        return int((wanted & np.isnan(self.differences(variant, metric))).sum())

    def asked_about(self, variant: str) -> Bools:
        """Whether anything was asked about a variant, shape (examples,), sorted by name."""
        if variant not in self.variants:
            return np.zeros(len(self.examples), dtype=np.bool_)
        asked = self.asked[1 + self.variants.index(variant)].any(axis=0)
        return np.asarray(asked[np.argsort(self.examples)])

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
        """Scores of originals (examples, metrics) and of variants (examples, variants, metrics), by name.

        NaN all over for a variant that was not rated.
        """
        order = np.argsort(self.examples)
        degraded = np.full((len(order), len(variants), len(self.metrics)), np.nan)
        for v, name in enumerate(variants):
            if name in self.variants:
                degraded[:, v] = self.means[1 + self.variants.index(name)].T[order]
        return self.means[0].T[order], degraded

    def difference_table(self, variants: Sequence[str], metrics: Sequence[str], ties: bool = True) -> Floats:
        """`differences`, shape (examples, variants, metrics), for resampling: examples sorted by name.

        NaN all over for a variant that was not rated.
        """
        table = np.full((len(self.examples), len(variants), len(metrics)), np.nan)
        order = np.argsort(self.examples)
        for v, name in enumerate(variants):
            if name in self.variants:
                for m, metric in enumerate(metrics):
                    table[:, v, m] = self.differences(name, metric, ties)[order]
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
