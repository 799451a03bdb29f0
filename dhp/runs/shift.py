"""Shift of a judge's level: how much higher or lower it scores the same texts than in an earlier run."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dhp.runs.compare import judge_scores
from dhp.runs.reader import RunResult
from dhp.stats.arrays import Floats, Ints
from dhp.stats.influences import Influences, student_interval


@dataclass(frozen=True, slots=True)
class LevelShift:
    """The shift of one metric."""

    metric: str
    """Name of the metric."""
    points: float | None
    """Mean score in the run less that in the earlier run, in points of the metric's scale, on the texts that
    both scored; each example counts once. None where there is no such text."""
    ci: tuple[float, float] | None
    """Student's interval over examples, or over clusters of them; None for fewer than two."""
    n: int
    """Number of examples."""


def alike(new: RunResult, old: RunResult) -> bool:
    """Whether scores of both are grades on the same scale."""
    graded = all(each.result.statistics != "sign-flip" for each in (new, old))
    return graded and new.result.signed.metrics == old.result.signed.metrics


def level_shifts(new: RunResult, old: RunResult, intervals: int) -> list[LevelShift]:
    """The shift of each metric between two runs of a judge on the same examples.

    Parameters
    ----------
    new, old
        Results with ratings, of the same original and degraded texts.
    intervals
        Number of intervals that are to hold together at 95 % (Bonferroni).
    """
    variants = [row.variant for row in new.result.variants]
    (mine, theirs), clusters = judge_scores(new.result.dataset, [new, old], variants)
    change = np.concatenate([mine.original[:, None], mine.degraded], axis=1)
    change -= np.concatenate([theirs.original[:, None], theirs.degraded], axis=1)
    metrics = new.ratings.metrics
    return [_shift(name, change[..., m], clusters, intervals) for m, name in enumerate(metrics)]


def _shift(metric: str, change: Floats, clusters: Ints | None, intervals: int) -> LevelShift:
    """From changes of shape (examples, texts), NaN where a text lacks a score."""
    texts = (~np.isnan(change)).sum(axis=1)
    there = texts > 0
    n = int(there.sum())
    if not n:
        return LevelShift(metric, None, None, 0)
    mean = np.where(there, np.nansum(change, axis=1) / np.maximum(texts, 1), 0.0)
    value = float(mean[there].mean())
    influence = np.where(there, mean - value, 0.0) / n
    figure = Influences(np.array(value), influence, there, np.array(1.0))
    low, high = (float(end) for end in student_interval(figure, clusters, 1 - 0.05 / intervals))
    return LevelShift(metric, value, None if np.isnan(low) else (low, high), n)


def deviate(intervals: int) -> float:
    """Standard errors from a shift to its limits, about; `intervals` as for `level_shifts`."""
    return NormalDist().inv_cdf(1 - 0.025 / intervals)
