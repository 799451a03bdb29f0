"""The ratings of one judge on one dataset as arrays, and what follows from them text by text.

All arrays have the originals first, then the variants; then metrics; then examples. `split_ratings` makes
them of a table (`dhp.analysis.split_ratings`). Statistics ask for differences or for tables of scores.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from dhp.core.records import ASKED_AGAIN, ORIGINAL
from dhp.core.seeding import text_hash
from dhp.stats.arrays import Bools, Floats, Ints, rounding_error, with_ties

T = TypeVar("T", np.float64, np.bool_)
UNKNOWN = "unknown"
"""Model, protocol or dataset of ratings that name none."""


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
    """Mean score, shape (1 + variants, metrics, examples), the original first; NaN if there is none."""
    samples: dict[str, Floats]
    """Metric -> single scores, shape (texts with a score, samples), NaN if one is missing."""
    asked: Bools
    """Whether there is any row, scored or failed; same shape."""
    unread: Bools
    """Whether the judge answered and no answer has a score; same shape."""
    answers: dict[str, tuple[float, int]]
    """`original` or variant -> answers with a score, and all answers; calls that failed are none. Comparisons
    count by orders: one with a verdict in one of two is read by half."""
    levels: dict[str, str] | None
    """variant -> level, if the table has that column."""
    counts: dict[str, int]
    """Rows asked, rows by status, and rows whose answer was asked for again."""
    causes: dict[str, int]
    """Why answers have no score -> how many, the commonest first."""
    failures: dict[str, int]
    """The reasons of failed rows, the most frequent first, if the table holds them."""
    rules: dict[str, int]
    """Scored rows by the rule that read the score, if the table says it."""
    missing_mass: float | None
    """Mean of that column, if there is one."""
    inapplicable: Mapping[str, int] | None = None
    """Variant -> number of examples that it does not apply to; None if only the ratings are known."""
    masses: int = 0
    """Number of rows behind `missing_mass`."""
    clusters: Ints | None = None
    """Cluster of each example, shape (examples,); None if the examples are independent."""
    cluster_names: dict[str, str] | None = None
    """Example -> its cluster, if the table has that column."""
    columns: frozenset[str] = frozenset()
    """Names of the columns that the table of ratings had."""
    shares: Mapping[str, Floats] = field(default_factory=dict)
    """Metric -> mean probability of each of evenly spaced points of its scale, the worst first, shape
    (1 + variants, examples, points); NaN if there is none."""
    stated: Mapping[str, Floats] = field(default_factory=dict)
    """`probability` (of passing), `confidence` (in the verdict), `named` and `named_by_chance` (what reasons
    name, see `dhp.analysis.named_change`) as far as the table has these columns: their means, shaped as
    `means`."""

    @property
    def digest(self) -> str:
        """A hash of what the figures depend on; the order of the rows is no part of it."""
        # Variants and metrics by name: otherwise the order of the rows would be part of the hash.
        texts = np.append(0, 1 + np.argsort(list(self.variants)))
        metrics = np.argsort(list(self.metrics))
        names = repr([sorted(self.variants), sorted(self.metrics), sorted(self.examples)])
        hashed = names.encode() + self.means[texts][:, metrics].tobytes()
        if self.clusters is not None:
            hashed += self.clusters.tobytes()
        if self.unread.any():
            hashed += self.unread[texts][:, metrics].tobytes()
        return text_hash(hashed)

    def row(self, variant: str) -> int:
        """The place of the original or of a rated variant on the first axis of `means`."""
        return 0 if variant == ORIGINAL else 1 + self.variants.index(variant)

    def read(self, texts: Iterable[str]) -> float | None:
        """Share of the answers about originals or variants that have a score; None without an answer."""
        read, answers = 0.0, 0
        for name in texts:
            of_text, number = self.answers.get(name, (0.0, 0))
            read += of_text
            answers += number
        return read / answers if answers else None

    def of_pairs_read(self) -> "RatingsArray":
        """These ratings as if nobody had asked for what was left unread: its pairs are no ties."""
        return replace(self, unread=np.zeros_like(self.unread))

    @property
    def size(self) -> str:
        """The number of examples, for signatures."""
        return str(len(self.examples))

    @property
    def repeated(self) -> tuple[int, int]:
        """Texts and metrics with more scores than most have, and how many of these have different scores."""
        texts, different = 0, 0
        for scores in self.samples.values():
            if not scores.size:
                continue
            counts = (~np.isnan(scores)).sum(axis=1)
            # The number of scores that most texts have; more than that is a row too many.
            usual = np.bincount(counts).argmax()
            # As many scores as most texts have are samples; what is more is a repetition.
            several = scores[counts > usual]
            texts += len(several)
            different += int((np.nanmin(several, axis=1) < np.nanmax(several, axis=1)).sum())
        return texts, different

    def not_applicable(self, variant: str) -> int:
        """Number of examples that this variant does not apply to; if unknown, of those not rated in it."""
        if self.inapplicable is not None:
            return self.inapplicable.get(variant, 0)
        if variant not in self.variants:
            return len(self.examples)
        rated = self.asked[self.row(variant)].any(axis=0)
        return len(self.examples) - int(rated.sum())

    def asked_about(self, variant: str, metric: str) -> Bools:
        """Whether there is any row of the variant, scored or failed, shape (examples,)."""
        if variant not in self.variants:
            return np.zeros(len(self.examples), dtype=np.bool_)
        return np.asarray(self.asked[self.row(variant), self.metrics.index(metric)])

    def ties_unread(self, variant: str, metric: str, *, of: str = ORIGINAL) -> Bools:
        """Whether a pair is a tie as the judge left a side unread, shape (examples,).

        A judge that did not say which text is worse has not seen it. A call that failed, or a text that was
        not asked about, says nothing of the judge: such a pair is left out.
        """
        if variant not in self.variants or not self.unread.any():
            return np.zeros(len(self.examples), dtype=np.bool_)
        sides = [self.row(of), self.row(variant)]
        m = self.metrics.index(metric)
        unread = self.unread[sides, m]
        answered = unread | ~np.isnan(self.means[sides, m])
        return np.asarray(unread.any(axis=0) & answered.all(axis=0))

    @property
    def unscored(self) -> dict[str, float]:
        """`original` or variant -> share without a score, among its texts and metrics asked about."""
        asked = self.asked.sum(axis=(1, 2)).tolist()
        lacking = (self.asked & np.isnan(self.means)).sum(axis=(1, 2)).tolist()
        shares: dict[str, float] = {}
        for text, name in enumerate((ORIGINAL, *self.variants)):
            if asked[text] > 0:
                shares[name] = lacking[text] / asked[text]
        return shares

    def failed(self, variant: str) -> Bools | None:
        """Whether a metric lacks a score, of the original and the variant, shape (2, examples asked about).

        None for a variant that was not rated.
        """
        if variant not in self.variants:
            return None
        row = self.row(variant)
        sides = [0, row]
        # One metric without a score is enough; shape (2, examples).
        lacking = np.any(self.asked[sides] & np.isnan(self.means[sides]), axis=1)
        asked_about = np.any(self.asked[row], axis=0)
        return np.asarray(lacking[:, asked_about])

    def score_tables(self, variants: Sequence[str]) -> tuple[Floats, Floats]:
        """Scores of originals (examples, metrics) and of variants (examples, variants, metrics).

        NaN all over for a variant that was not rated.
        """
        return self._by_example(self.means, variants, np.nan)

    def unread_tables(self, variants: Sequence[str]) -> tuple[Bools, Bools]:
        """Which of these scores are missing as the judge left them unread; shapes of `score_tables`."""
        return self._by_example(self.unread, variants, False)

    def _by_example(
        self, values: npt.NDArray[T], variants: Sequence[str], otherwise: float
    ) -> tuple[npt.NDArray[T], npt.NDArray[T]]:
        """An array shaped as `means` as two tables of examples: of the originals, and of variants."""
        shape = (len(self.examples), len(variants), len(self.metrics))
        degraded = np.full(shape, otherwise, dtype=values.dtype)
        for v, name in enumerate(variants):
            if name in self.variants:
                # From (metrics, examples) to (examples, metrics).
                degraded[:, v] = values[self.row(name)].T
        return values[0].T, degraded

    def difference_table(
        self, variants: Sequence[str], metrics: Sequence[str], ties: bool = True, *, of: str = ORIGINAL
    ) -> Floats:
        """`differences` of several variants and metrics, shape (examples, variants, metrics).

        NaN all over for a variant that was not rated.
        """
        table = np.full((len(self.examples), len(variants), len(metrics)), np.nan)
        for v, name in enumerate(variants):
            if name in self.variants:
                for m, metric in enumerate(metrics):
                    table[:, v, m] = self.differences(name, metric, ties, of=of)
        return table

    def differences(self, variant: str, metric: str, ties: bool = True, *, of: str = ORIGINAL) -> Floats:
        """Scores of the originals, or of another rated variant `of`, minus those of a rated variant.

        Shape (examples,): 0 for `ties_unread`, NaN for what is left out. Differences that floating point
        alone tells apart are made equal; without `ties` they stay as they are, as in the paper.
        """
        m = self.metrics.index(metric)
        original = self.means[self.row(of), m]
        degraded = self.means[self.row(variant), m]
        difference: Floats = np.where(self.ties_unread(variant, metric, of=of), 0.0, original - degraded)
        if not ties:
            return difference
        # The larger of both scores; where one is NaN the other, where both are NaN 0.
        size = np.nan_to_num(np.fmax(np.abs(original), np.abs(degraded)))
        scores = self.samples[metric]
        samples = scores.shape[1]
        # A mean of scores of both signs may be much smaller than these, and its rounding error is theirs.
        if samples > 1 and (scores < 0).any():
            size = np.full_like(size, np.nanmax(np.abs(scores)))
        return with_ties(difference, rounding_error(size, samples))


def without_score(counts: Mapping[str, int]) -> dict[str, int]:
    """Reason in words -> number of ratings that have no score for it; only reasons that occur."""
    reasons: dict[str, int] = {}
    for name, number in counts.items():
        if number > 0 and name not in ("asked", "scored", ASKED_AGAIN):
            reasons[name.replace("_", " ")] = number
    return reasons
