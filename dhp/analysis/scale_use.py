"""How a judge uses its scales: the spread of its scores, and whether its metrics say different things."""

from collections.abc import Mapping, Sequence

import numpy as np

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.record_values import finite
from dhp.analysis.results import ResponseStyle
from dhp.core.specs import Scale
from dhp.stats.arrays import Floats
from dhp.stats.metric_relations import correlations
from dhp.stats.spread import spread, style_names


def response_styles(
    ratings: RatingsArray, variants: Sequence[str], scales: Mapping[str, Scale] | None
) -> dict[str, ResponseStyle]:
    """Metric -> distribution of the mean scores of originals and of degraded texts, and what it is called."""
    styles: dict[str, ResponseStyle] = {}
    originals, degraded = _scores_of_originals(ratings), _scores_of_variants(ratings, variants)
    for m, metric in enumerate(ratings.metrics):
        good, bad = spread(originals[:, m]), spread(degraded[:, m])
        if good is None or bad is None:
            continue
        words = None
        if scales is not None and metric in scales:
            words = style_names(good, bad, scales[metric].min, scales[metric].max)
        styles[metric] = ResponseStyle(good, bad, words)
    return styles


def halo(ratings: RatingsArray, variants: Sequence[str]) -> dict[str, dict[str, dict[str, float | None]]]:
    """`originals` and `degraded` -> metric -> metric -> Spearman's correlation of their scores over texts.

    Metrics that always move together say one thing several times. None if a metric is constant or fewer
    than three texts have both; empty for a single metric.
    """
    if len(ratings.metrics) < 2:
        return {}
    return {
        "originals": _correlated(_scores_of_originals(ratings), ratings.metrics),
        "degraded": _correlated(_scores_of_variants(ratings, variants), ratings.metrics),
    }


def _scores_of_originals(ratings: RatingsArray) -> Floats:
    """Mean scores, shape (texts, metrics)."""
    return np.asarray(ratings.means[0].T)


def _scores_of_variants(ratings: RatingsArray, variants: Sequence[str]) -> Floats:
    """Mean scores of all texts of these variants, as far as they were rated, shape (texts, metrics)."""
    rows = [ratings.row(variant) for variant in variants if variant in ratings.variants]
    return np.moveaxis(ratings.means[rows], 1, 2).reshape(-1, len(ratings.metrics))


def _correlated(scores: Floats, metrics: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """Metric -> metric -> Spearman's correlation of two columns of scores."""
    table = correlations(scores, "spearman")
    by_metric: dict[str, dict[str, float | None]] = {}
    for metric, row in zip(metrics, table, strict=True):
        values = [finite(value) for value in row]
        by_metric[metric] = dict(zip(metrics, values, strict=True))
    return by_metric
