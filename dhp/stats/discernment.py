"""Discernment scores from combined p-values (Wang et al. 2025, DHP Benchmark)."""

import math
from collections.abc import Mapping, Sequence

LOG_ALPHA = math.log(0.05)


def discernment(log_p: float) -> float:
    """D = log base 0.05 of a combined p-value, given as natural log; D >= 1 means p <= 0.05. In [0, inf)."""
    if not log_p <= 0:
        raise ValueError(f"log_p must be at most 0, not {log_p}")
    return log_p / LOG_ALPHA + 0.0


def level_average(scores: Mapping[str, float], levels: Mapping[str, str]) -> float:
    """D_avg: the mean over levels of the mean D within each level.

    `scores` maps variant -> D, `levels` maps variant -> level. Degrees count as variants of their own.
    Raises `ValueError` if there is no score.
    """
    if not scores:
        raise ValueError("there is no score to average")
    by_level: dict[str, list[float]] = {}
    for variant, score in scores.items():
        by_level.setdefault(levels[variant], []).append(score)
    return _mean([_mean(values) for values in by_level.values()])


def minimum(scores: Mapping[str, float]) -> tuple[float, str]:
    """D_min and the variant that gives it, the first on a tie. Raises `ValueError` if there is no score."""
    if not scores:
        raise ValueError("there is no score to take the minimum of")
    variant = min(scores, key=lambda name: scores[name])
    return scores[variant], variant


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
