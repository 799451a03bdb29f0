"""Detection and verdicts by metric, kind of damage and run, with confidence limits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.result_parts import Cell, Ends, RunDetection, VariantResult
from dhp.stats.arrays import Floats
from dhp.stats.auroc import auroc_influences, standardised_drop_influences
from dhp.stats.design import Design
from dhp.stats.detection import (
    ALPHA,
    ControlState,
    Detection,
    control_state,
    detection,
    examples_to_decide,
    verdict,
)
from dhp.stats.discernment import holm
from dhp.stats.influences import wilson_interval
from dhp.stats.judge_habits import failure_p


@dataclass(frozen=True, slots=True)
class _Figures:
    """Figures of V variants and M metrics, shape (V, M), with limits; NaN where undefined."""

    area: Floats
    low: Floats
    high: Floats
    drops: Floats


def judged_kinds(
    ratings: RatingsArray,
    rows: Sequence[VariantResult],
    design: Design,
    controls: Sequence[str],
    floor: float,
) -> tuple[list[VariantResult], RunDetection]:
    """The rows of `design_of` these ratings with detection and verdict, and the detection of the run.

    Parameters
    ----------
    ratings, rows, design
        What was rated, the kinds of damage that are judged together, and how they are tested.
    controls
        Names of the harmless edits that the damage is compared with.
    floor
        As for `dhp.stats.detection.verdict`.
    """
    names = [row.variant for row in rows]
    differences = ratings.difference_table(names, ratings.metrics)
    harmless = ratings.difference_table(controls, ratings.metrics) if controls else None
    alpha, together = ALPHA, None
    if ratings.interim is not None:
        # The same at each interim analysis, so that a kind that was resolved stays so.
        alpha, together = ALPHA / ratings.interim.analyses, len(names)
    found = detection(
        differences, design.levels, ratings.clusters, controls=harmless, alpha=alpha, together=together
    )
    filled = _filled(ratings, rows, found)
    return [_with_verdict(row, ratings, found, v, floor) for v, row in enumerate(filled)], _of_run(
        found, names
    )


def judged_probes(
    ratings: RatingsArray,
    rows: Sequence[VariantResult],
    design: Design,
    floor: float,
    *,
    attacks: bool = False,
) -> list[VariantResult]:
    """Rows of controls, or of attacks, with detection and state.

    Of an attack the metric is named that it raised most, and detection is that metric's: the figures of the
    share of scores that rose, mirrored.
    """
    differences = ratings.difference_table([row.variant for row in rows], ratings.metrics)
    found = detection(-differences if attacks else differences, design.levels, ratings.clusters)
    alarm: ControlState = "raised" if attacks else "false alarm"
    states = []
    for v, row in enumerate(_filled(ratings, rows, found)):
        value, low, high = _kind(found, v)
        state = control_state(value, low, high, row.n, floor=floor, alarm=alarm)
        states.append(replace(row, verdict=state))
    return [_mirrored(row) for row in states] if attacks else states


def defined(value: float) -> float | None:
    """The value, or None for NaN."""
    return None if math.isnan(value) else float(value)


def failure_warnings(ratings: RatingsArray, rows: Sequence[VariantResult]) -> list[str]:
    """Variants of which more, or fewer, ratings have no score than of the originals (Holm over variants)."""
    found = {}
    for row in rows:
        failed = ratings.failed(row.variant)
        if failed is not None and failed.any():
            found[row.variant] = (failed.mean(axis=1), math.log(float(failure_p(*failed))))
    adjusted = holm(np.array([log_p for _, log_p in found.values()]))
    return [
        f"{name}: {after:.0%} of the degraded texts lack a score, but {before:.0%} of the originals: "
        "failures depend on the damage, and detection leaves these examples out"
        for (name, ((before, after), _)), log_p in zip(found.items(), adjusted.tolist(), strict=True)
        if log_p <= math.log(0.05)
    ]


def _filled(
    ratings: RatingsArray, rows: Sequence[VariantResult], detection: Detection
) -> list[VariantResult]:
    """The rows with detection, AUROC and standardised drop."""
    original, degraded = ratings.score_tables([row.variant for row in rows])
    area = auroc_influences(original, degraded)
    drops = standardised_drop_influences(original, degraded).value
    figures = _Figures(area.value, *wilson_interval(area, ratings.clusters), drops)
    filled = []
    for v, row in enumerate(rows):
        metrics = {
            metric: _cell(cell, detection, figures, (v, m))
            for m, (metric, cell) in enumerate(row.metrics.items())
        }
        value, low, high = _kind(detection, v)
        best = None if math.isnan(value) else _best(detection, v, ratings.metrics)
        ends = _ends(low, high)
        pairs = int(detection.pairs[v].max())
        filled.append(
            replace(
                row, metrics=metrics, detection=defined(value), detection_ci=ends, best_metric=best, n=pairs
            )
        )
    return filled


def _cell(cell: Cell, detection: Detection, figures: _Figures, at: tuple[int, int]) -> Cell:
    return replace(
        cell,
        fell=defined(detection.fell[at]),
        tied=defined(detection.tied[at]),
        rose=defined(detection.rose[at]),
        detection=defined(detection.metrics.value[at]),
        detection_ci=_ends(detection.metrics.low[at], detection.metrics.high[at]),
        auroc=defined(figures.area[at]),
        auroc_ci=_ends(figures.low[at], figures.high[at]),
        standardised_drop=defined(figures.drops[at]),
    )


def _best(detection: Detection, v: int, metrics: Sequence[str]) -> str:
    """The best metric; of several the first by name, whatever their order."""
    values = detection.metrics.value[v]
    return min(
        metric for metric, value in zip(metrics, values, strict=True) if value >= np.nanmax(values) - 1e-12
    )


def _with_verdict(
    row: VariantResult, ratings: RatingsArray, detection: Detection, v: int, floor: float
) -> VariantResult:
    value, low, high = _kind(detection, v)
    said = verdict(value, low, high, row.n, floor=floor, above_controls=float(detection.above_controls[v]))
    more = None
    if said == "undecided":
        deviates = float(detection.deviates[0][v]), detection.deviates[1]
        more = examples_to_decide(len(ratings.examples), value, low, high, deviates, floor=floor)
    return replace(row, verdict=said, n_to_decide=more)


def _kind(detection: Detection, v: int) -> tuple[float, float, float]:
    return float(detection.kinds.value[v]), float(detection.kinds.low[v]), float(detection.kinds.high[v])


def _mirrored(row: VariantResult) -> VariantResult:
    """Figures of the shares that rose as those of the shares that fell."""

    def turned(value: float | None) -> float | None:
        return None if value is None else 1 - value

    def swapped(ends: Ends) -> Ends:
        return None if ends is None else (1 - ends[1], 1 - ends[0])

    metrics = {
        name: replace(
            cell,
            fell=cell.rose,
            rose=cell.fell,
            detection=turned(cell.detection),
            detection_ci=swapped(cell.detection_ci),
        )
        for name, cell in row.metrics.items()
    }
    return replace(
        row, metrics=metrics, detection=turned(row.detection), detection_ci=swapped(row.detection_ci)
    )


def _ends(low: float, high: float) -> Ends:
    return None if math.isnan(low) or math.isnan(high) else (float(low), float(high))


def _of_run(detection: Detection, names: Sequence[str]) -> RunDetection:
    average, lowest = detection.average, detection.lowest
    value, low, high = (math.nan,) * 3 if lowest < 0 else _kind(detection, lowest)
    return RunDetection(
        avg=defined(float(average.value)),
        min=defined(value),
        min_variant=None if lowest < 0 else names[lowest],
        ci={"avg": _ends(float(average.low), float(average.high)), "min": _ends(low, high)},
    )
