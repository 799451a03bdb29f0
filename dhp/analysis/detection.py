"""From ratings to detection, the headline: by metric, variant, level and run, with confidence limits."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.result_parts import Ends, RunDetection, VariantResult
from dhp.core.records import PROBES
from dhp.stats.arrays import Floats
from dhp.stats.auroc import auroc_influences, standardised_drop_influences
from dhp.stats.design import Design
from dhp.stats.detection import Detection, Estimate, detection
from dhp.stats.discernment import discernment
from dhp.stats.failures import worst_case_bounds
from dhp.stats.influences import wilson_interval
from dhp.stats.layout import metric_weights
from dhp.stats.selection import Selected
from dhp.stats.verdict import FEWEST_PAIRS
from dhp.stats.wilcoxon.signed_rank import Method, signed_rank

LEVEL = 0.95
NOTHING = RunDetection(None, None, None, {"avg": None, "min": None}, {}, {})
"""Where no variant was rated."""


def with_detection(
    ratings: RatingsArray, rows: Sequence[VariantResult], design: Design
) -> tuple[list[VariantResult], RunDetection]:
    """The rows of `design_of` these ratings with detection, AUROC and standardised drop, and that of all.

    In a run that stops early the limits are at a level that is shared between the interim analyses.
    """
    names = [row.variant for row in rows]
    interim = None if set(design.levels) <= set(PROBES) else ratings.interim
    level = LEVEL if interim is None else 1 - (1 - LEVEL) / interim.analyses
    differences = ratings.difference_table(names, ratings.metrics)
    found = detection(differences, design.levels, design.weights, ratings.clusters, level, FEWEST_PAIRS)
    original, degraded = ratings.score_tables(names)
    area = auroc_influences(original, degraded)
    curve = Estimate(area.value, *wilson_interval(area, ratings.clusters, level))
    drops = standardised_drop_influences(original, degraded).value
    bounds = _bounds(ratings, names, differences, design)
    filled = [
        replace(
            row,
            metrics={
                metric: replace(
                    cell,
                    detection=defined(found.metrics.value[v, m]),
                    detection_ci=_ends(found.metrics, (v, m)),
                    auroc=defined(curve.value[v, m]),
                    auroc_ci=_ends(curve, (v, m)),
                    standardised_drop=defined(drops[v, m]),
                )
                for m, (metric, cell) in enumerate(row.metrics.items())
            },
            detection=defined(found.variants.value[v]),
            detection_ci=_ends(found.variants, (v,)),
            detection_bounds=bounds[v],
            saturated=_saturated(row, design, v),
            **_best(found, v, ratings.metrics),
        )
        for v, row in enumerate(rows)
    ]
    return filled, _of_run(found, names)


def pairs(row: VariantResult) -> int:
    """The most pairs that a metric has."""
    return max((cell.n for cell in row.metrics.values()), default=0)


def defined(value: float) -> float | None:
    """None for NaN."""
    return None if math.isnan(value) else float(value)


def _ends(found: Estimate | Selected, at: tuple[int, ...]) -> Ends:
    low, high = float(found.low[at]), float(found.high[at])
    return None if math.isnan(low) or math.isnan(high) else (low, high)


def _best(found: Detection, v: int, metrics: Sequence[str]) -> dict[str, Any]:
    """Of several best metrics the first by name, whatever their order."""
    best = found.best_metric
    if best.index[v] < 0:
        return {}
    tied = found.metrics.value[v] >= best.value[v] - 1e-12
    return {
        "best_metric": min(metric for metric, is_best in zip(metrics, tied, strict=True) if is_best),
        "best_detection": float(best.value[v]),
        "best_detection_ci": _ends(best, (v,)),
    }


def _of_run(found: Detection, names: Sequence[str]) -> RunDetection:
    lowest, place = found.minimum, int(found.minimum.index)
    levels = range(len(found.level_names))
    return RunDetection(
        avg=defined(float(found.average.value)),
        min=defined(float(lowest.value)),
        min_variant=None if place < 0 else names[place],
        ci={"avg": _ends(found.average, ()), "min": _ends(lowest, ())},
        levels={found.level_names[i]: defined(found.levels.value[i]) for i in levels},
        levels_ci={found.level_names[i]: _ends(found.levels, (i,)) for i in levels},
    )


def _bounds(ratings: RatingsArray, names: Sequence[str], differences: Floats, design: Design) -> list[Ends]:
    """Worst-case bounds of each variant, over the examples that it was asked about."""
    _, v, m = differences.shape
    weights = metric_weights(design.weights, v, m)
    bounds: list[Ends] = []
    for place, name in enumerate(names):
        asked = ratings.asked_about(name)
        mine = differences[asked, place]
        if not len(mine) or not np.isnan(mine).any():
            bounds.append(None)
            continue
        low, high = (float(weights[place] @ each) for each in worst_case_bounds(mine))
        bounds.append((low, high))
    return bounds


def _saturated(row: VariantResult, design: Design, v: int) -> bool | None:
    if row.d is None or not pairs(row):
        return None
    independent = pairs(row)
    if design.clusters is not None and design.method != "scipy":
        there = ~np.isnan(design.differences[:, v])
        independent = max(np.unique(design.clusters[mine]).size for mine in there.T)
    return row.d >= _ceiling(independent, design.method) / 2


@cache
def _ceiling(n: int, method: Method) -> float:
    """D of a metric of which all of n scores fell."""
    return discernment(signed_rank(np.ones(n), method).log_p)
