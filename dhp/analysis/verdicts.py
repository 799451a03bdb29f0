"""Verdicts over the variants of a result: noticed, missed or undecided, and whether controls were passed."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dhp.analysis.detection import pairs
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.result_parts import VariantResult
from dhp.stats.discernment import LOG_ALPHA
from dhp.stats.failures import failure_p
from dhp.stats.multiplicity import benjamini_yekutieli, holm
from dhp.stats.verdict import examples_to_decide, verdict


def with_verdicts(
    rows: Sequence[VariantResult], n: int, floor: float, controls: float = 0.0
) -> list[VariantResult]:
    """The rows with adjusted p-values and verdicts.

    Parameters
    ----------
    rows
        Variants that are tested together.
    n
        Examples of the run.
    floor, controls
        As for `dhp.stats.verdict.verdict`.
    """
    logs = np.array([math.nan if row.d is None else row.d * LOG_ALPHA for row in rows])
    by_holm, by = holm(logs), benjamini_yekutieli(logs)
    tests = int((~np.isnan(logs)).sum())
    return [
        _judged(row, float(logs[v]), float(by_holm[v]), float(by[v]), tests, n, floor, controls)
        for v, row in enumerate(rows)
    ]


def _judged(
    row: VariantResult,
    log_p: float,
    log_holm: float,
    log_by: float,
    tests: int,
    n: int,
    floor: float,
    controls: float,
) -> VariantResult:
    value = math.nan if row.detection is None else row.detection
    ends = row.detection_ci or (math.nan, math.nan)
    found = verdict(log_holm, value, ends[1], pairs(row), floor=floor, controls=controls)
    further = None
    if found == "undecided":
        further = examples_to_decide(n, log_p, tests, value, ends, floor=floor, controls=controls)
    return replace(
        row,
        p_holm=None if math.isnan(log_holm) else math.exp(log_holm),
        p_by=None if math.isnan(log_by) else math.exp(log_by),
        verdict=found,
        n_to_decide=further,
    )


def strongest(controls: Sequence[VariantResult]) -> float:
    """The largest detection of a control that was noticed; 0 where none was."""
    return max((row.detection or 0.0 for row in controls if row.verdict == "noticed"), default=0.0)


def controls_passed(controls: Sequence[VariantResult]) -> bool | None:
    """Whether no control was noticed; None without a control that is defined."""
    there = [row for row in controls if row.detection is not None]
    return None if not there else all(row.verdict != "noticed" for row in there)


def false_alarms(controls: Sequence[VariantResult]) -> float:
    """Mean detection of the controls, where a psychometric curve starts; 0.5 without any."""
    found = [row.detection for row in controls if row.detection is not None]
    return sum(found) / len(found) if found else 0.5


def failure_warnings(ratings: RatingsArray, rows: Sequence[VariantResult]) -> list[str]:
    """Variants of which more, or fewer, ratings have no score than of the originals (Holm over variants)."""
    found = {}
    for row in rows:
        failed = ratings.failed(row.variant)
        if failed is not None and failed.any():
            found[row.variant] = (failed.mean(axis=1), math.log(float(failure_p(*failed))))
    adjusted = holm(np.array([log_p for _, log_p in found.values()]))
    return [
        f"{name}: {after:.0%} of the examples have a rating without a score, of the originals {before:.0%}: "
        "failures follow the damage, see the bounds of detection"
        for (name, ((before, after), _)), log_p in zip(found.items(), adjusted.tolist(), strict=True)
        if log_p <= math.log(0.05)
    ]
