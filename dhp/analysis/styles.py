"""How judges score the same texts before and after damage: figure 2 of Wang et al. (2025), without humans."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.record_values import finite
from dhp.core.records import ORIGINAL
from dhp.stats.arrays import Floats, Ints
from dhp.stats.metric_relations import correlations

if TYPE_CHECKING:
    import pandas as pd

_DIGITS = 9
"""Digits of a mean over metrics, beyond which floating point alone tells scores apart."""


@dataclass(frozen=True, slots=True)
class SharedStyles:
    """Scores of K judges over the same texts, each score the mean over the metrics.

    Judges that correlate on originals and not on damaged texts, or the other way round, are the same judges:
    how far two agree depends on the texts and on how they use the scale, and is no measure of what they see.
    """

    variants: tuple[str, ...]
    """`original` first, then the damaged variants that all judges rated."""
    rho: Floats
    """Pearson's correlation of every two judges over the texts of a variant that both scored by all metrics,
    in [-1, 1], shape (variants, K, K); NaN if a judge gives all texts one score, or for fewer than three
    texts."""
    n: Ints
    """Number of texts behind each correlation, shape (variants, K, K)."""
    mean: Floats
    """Mean score of each judge, shape (variants, K); NaN without any."""

    @property
    def damaged(self) -> Floats:
        """Mean of `rho` over the damaged variants, shape (K, K); NaN if all are undefined."""
        return _mean(self.rho[1:])

    @property
    def mean_damaged(self) -> Floats:
        """Mean score over the damaged variants, shape (K,)."""
        return _mean(self.mean[1:])

    def to_json(self) -> dict[str, Any]:
        """The fields by name, as JSON values."""
        return {
            "variants": list(self.variants),
            "rho": _plain(self.rho),
            "n": self.n.tolist(),
            "mean": _plain(self.mean),
        }

    def to_frame(self, judges: Sequence[str]) -> "pd.DataFrame":
        """A row for each variant and pair of these K judges: variant, first, second, rho, n."""
        import pandas as pd

        rows = []
        for v, variant in enumerate(self.variants):
            for i, j in combinations(range(len(judges)), 2):
                rows.append((variant, judges[i], judges[j], self.rho[v, i, j], int(self.n[v, i, j])))
        return pd.DataFrame(rows, columns=["variant", "first", "second", "rho", "n"])


def shared_styles(judged: Sequence[RatingsArray], variants: Sequence[str]) -> SharedStyles:
    """Scores of two judges or more, on the examples, metrics and variants that all have."""
    common_variants, common_metrics = set(judged[0].variants), set(judged[0].metrics)
    common_examples = set(judged[0].examples)
    for ratings in judged[1:]:
        common_variants &= set(ratings.variants)
        common_metrics &= set(ratings.metrics)
        common_examples &= set(ratings.examples)
    # In the order that was asked for, and not in that of a set.
    common = [variant for variant in variants if variant in common_variants]
    metrics = [metric for metric in judged[0].metrics if metric in common_metrics]
    of_judges = [_scores(ratings, common, metrics, sorted(common_examples)) for ratings in judged]
    scores = np.stack(of_judges, axis=-1)  # (variants, examples, judges)
    defined = (~np.isnan(scores)).astype(np.int64)
    return SharedStyles(
        variants=(ORIGINAL, *common),
        rho=np.stack([correlations(columns, "pearson") for columns in scores]),
        # For each variant the product counts the texts that both of two judges scored.
        n=defined.swapaxes(1, 2) @ defined,
        mean=_mean(scores.swapaxes(0, 1)),
    )


def _scores(
    ratings: RatingsArray, variants: Sequence[str], metrics: Sequence[str], examples: Sequence[str]
) -> Floats:
    """Mean over the metrics, shape (1 + variants, examples), originals first; NaN if any has no score."""
    place = {name: i for i, name in enumerate(ratings.examples)}
    rows = [0] + [ratings.row(variant) for variant in variants]
    columns = [ratings.metrics.index(metric) for metric in metrics]
    # Judges may have further examples, and these at other places.
    chosen = [place[example] for example in examples]
    means: Floats = ratings.means[np.ix_(rows, columns, chosen)].mean(axis=1)
    return means.round(_DIGITS)


def _mean(values: Floats) -> Floats:
    """The mean over the first axis of what is defined; NaN if nothing is."""
    defined = ~np.isnan(values)
    total = np.where(defined, values, 0.0).sum(axis=0)
    means: Floats = np.where(defined.any(axis=0), total / np.maximum(defined.sum(axis=0), 1), np.nan)
    return means


def _plain(values: Floats) -> Any:
    """Nested lists, with None for NaN."""
    if values.ndim > 1:
        return [_plain(row) for row in values]
    return [finite(value) for value in values]
