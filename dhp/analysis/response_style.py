"""Use of the scales by a judge: response style and halo."""

from collections.abc import Mapping, Sequence

import numpy as np

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.result_parts import ResponseStyle
from dhp.core.specs import Scale
from dhp.stats.arrays import Floats
from dhp.stats.judge_habits import rank_correlations, spread, style_names

SIDES = ("originals", "degraded")


def response_styles(
    ratings: RatingsArray, variants: Sequence[str], scales: Mapping[str, Scale] | None
) -> dict[str, ResponseStyle]:
    """Metric -> distribution of the mean scores of originals and of degraded texts, and what it is called."""
    found = {}
    originals, degraded = (_scores(ratings, each) for each in (None, variants))
    for m, metric in enumerate(ratings.metrics):
        good, bad = spread(originals[:, m]), spread(degraded[:, m])
        if good is None or bad is None:
            continue
        scale = (scales or {}).get(metric)
        words = None if scale is None else style_names(good, bad, scale.min, scale.max)
        found[metric] = ResponseStyle(good, bad, words)
    return found


def halo(ratings: RatingsArray, variants: Sequence[str]) -> dict[str, dict[str, dict[str, float | None]]]:
    """Side -> metric -> metric -> Spearman's correlation of their scores over texts.

    Metrics that always move together say one thing several times. None where a metric is constant or fewer
    than three texts have both; empty for a single metric.
    """
    if len(ratings.metrics) < 2:
        return {}
    sides = zip(SIDES, (None, variants), strict=True)
    return {side: _named(rank_correlations(_scores(ratings, each)), ratings.metrics) for side, each in sides}


def _scores(ratings: RatingsArray, variants: Sequence[str] | None) -> Floats:
    """Mean scores of the originals, or of these variants, shape (texts, metrics)."""
    there = [v for v in variants or () if v in ratings.variants]
    places = [0] if variants is None else [1 + ratings.variants.index(v) for v in there]
    return np.moveaxis(ratings.means[places], 1, 2).reshape(-1, len(ratings.metrics))


def _named(table: Floats, names: Sequence[str]) -> dict[str, dict[str, float | None]]:
    return {
        one: {
            other: float(value) if np.isfinite(value) else None
            for other, value in zip(names, row, strict=True)
        }
        for one, row in zip(names, table, strict=True)
    }


def shared_styles(judged: Sequence[RatingsArray], variants: Sequence[str]) -> dict[str, Floats]:
    """Side -> Spearman's correlation of every two judges over texts, the mean over metrics, shape (K, K).

    Judges are correlated on the examples, variants and metrics that all have; NaN where no metric defines it.
    High on originals as well means that they share a style, not only that both see damage.
    """
    variants = [v for v in variants if all(v in g.variants for g in judged)]
    metrics = [m for m in judged[0].metrics if all(m in g.metrics for g in judged)]
    examples = [e for e in judged[0].examples if all(e in set(g.examples) for g in judged)]
    found = {}
    for side, each in zip(SIDES, (None, variants), strict=True):
        tables = []
        for metric in metrics:
            columns = [_column(ratings, each, metric, examples) for ratings in judged]
            tables.append(rank_correlations(np.column_stack(columns)))
        stacked = np.array(tables)
        there = ~np.isnan(stacked)
        total = np.where(there, stacked, 0.0).sum(axis=0)
        found[side] = np.where(there.any(axis=0), total / np.maximum(there.sum(axis=0), 1), np.nan)
    return found


def _column(
    ratings: RatingsArray, variants: Sequence[str] | None, metric: str, examples: Sequence[str]
) -> Floats:
    """Mean scores text by text, variant by variant."""
    place = {name: i for i, name in enumerate(ratings.examples)}
    chosen = [place[e] for e in examples]
    rows = [0] if variants is None else [1 + ratings.variants.index(v) for v in variants]
    return ratings.means[rows, ratings.metrics.index(metric)][:, chosen].ravel()
