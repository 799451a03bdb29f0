"""Shift of level: how much higher or lower a judge scores the same texts than in an earlier run.

Detection does not see it: a judge that scores everything 0.4 lower notices the same damage. A shift is read
off intervals that hold for all metrics and results together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dhp.core.errors import InputError
from dhp.runs.compare import judge_scores
from dhp.runs.gate_findings import Finding, State, result_name, would_decide
from dhp.runs.reader import RunResult
from dhp.stats.arrays import Floats, Ints
from dhp.stats.compare import JudgeScores
from dhp.stats.examples_needed import examples_to_separate
from dhp.stats.influences import mean_influences, student_interval


@dataclass(frozen=True, slots=True)
class LevelShift:
    """The shift of one metric."""

    metric: str
    """Name of the metric."""
    points: float | None
    """Mean score in the run less that in the earlier run, in points of the metric's scale, on the texts that
    both scored; each example counts once. None if there is no such text."""
    ci: tuple[float, float] | None
    """Student's interval over examples, or over clusters of them; None for fewer than two."""
    n: int
    """Number of examples."""


def alike(new: RunResult, old: RunResult) -> bool:
    """Whether scores of both are grades on the same scale."""
    # Preferences between two texts are tested by sign flips: they are no grades.
    if "sign-flip" in (new.result.statistics, old.result.statistics):
        return False
    return new.result.signed.metrics == old.result.signed.metrics


def level_shifts(new: RunResult, old: RunResult, intervals: int) -> list[LevelShift]:
    """The shift of each metric between two runs of a judge on the same examples.

    Both results have ratings of the same original and degraded texts. `intervals` is the number of intervals
    that are to hold together at 95 % (Bonferroni).
    """
    variants = [row.variant for row in new.result.variants]
    (mine, theirs), clusters = judge_scores([new, old], variants)
    change = _of_all_texts(mine) - _of_all_texts(theirs)
    shifts = []
    for m, metric in enumerate(new.ratings.metrics):
        shifts.append(_shift_of(metric, change[..., m], clusters, intervals))
    return shifts


def _of_all_texts(judge: JudgeScores) -> Floats:
    """Scores of originals and copies, shape (examples, texts, metrics)."""
    return np.concatenate([judge.original[:, None], judge.degraded], axis=1)


def _shift_of(metric: str, change: Floats, clusters: Ints | None, intervals: int) -> LevelShift:
    """From changes of shape (examples, texts), NaN if a text lacks a score."""
    texts = (~np.isnan(change)).sum(axis=1)
    # An example without a score would divide by 0; on the next line it becomes NaN.
    of_examples = np.nansum(change, axis=1) / np.maximum(texts, 1)
    mean = mean_influences(np.where(texts > 0, of_examples, np.nan))
    n = int(mean.defined.sum())
    if not n:
        return LevelShift(metric, None, None, 0)
    low, high = map(float, student_interval(mean, clusters, 1 - 0.05 / intervals))
    return LevelShift(metric, float(mean.value), None if np.isnan(low) else (low, high), n)


def level_shifts_of(pairs: Sequence[tuple[RunResult, RunResult]]) -> dict[str, tuple[LevelShift, ...]]:
    """The shifts of all results whose scores are on one scale in both runs."""
    comparable = [(new, old) for new, old in pairs if alike(new, old)]
    # Of many levels one would move by chance: their intervals are to hold together.
    intervals = sum(len(new.ratings.metrics) for new, _ in comparable)
    shifts = {}
    for new, old in comparable:
        shifts[result_name(new.result)] = tuple(level_shifts(new, old, intervals))
    return shifts


def check_scales(pairs: Sequence[tuple[RunResult, RunResult]], against: str) -> None:
    """Raise `InputError` if the scores of some results are not on one scale in both runs."""
    for new, old in pairs:
        if not alike(new, old):
            raise InputError(
                f"{against}: {result_name(new.result)}: `max_shift` compares scores; allowed: judges "
                "that rate texts, by metrics of the same scales and definitions"
            )


def shifted_levels(shifts: Mapping[str, Sequence[LevelShift]], allowed: float) -> Iterator[Finding]:
    """Of each result whether its levels stayed within the limit, by the metric that decides it."""
    intervals = sum(map(len, shifts.values()))
    held = []  # of each result that stayed within: the largest shift, name, words
    for name, each in shifts.items():
        states: dict[State, list[tuple[float, str]]] = {}  # with the size of each shift
        for shift in each:
            state, words = _within(shift, allowed, intervals)
            states.setdefault(state, []).append((abs(shift.points or 0.0), words))
        worst: State = "met"
        if "not met" in states:
            worst = "not met"
        elif "undecided" in states:
            worst = "undecided"
        # The largest shift in the worst state.
        size, words = max(states[worst])
        if worst == "met":
            held.append((size, name, words))
            continue
        others = len(states[worst]) - 1
        more = f", and {others} more metric{'s' if others > 1 else ''}" if others else ""
        yield Finding(worst, name, f"{words}{more}")
    if held:
        _, name, words = max(held)
        yield Finding("met", name, words)


def _within(shift: LevelShift, allowed: float, intervals: int) -> tuple[State, str]:
    """Whether a level stayed within the limit, and in words."""
    if shift.points is None or shift.ci is None:
        return "not met", f"shift of {shift.metric} is undefined, fewer than two examples have scores"
    # Noise of floating point beside a limit decides nothing: 0.30000000000000004 is within 0.3.
    value, low, high = round(shift.points, 9), round(shift.ci[0], 9), round(shift.ci[1], 9)
    words = f"level of {_shift(shift)}"
    if low > allowed or high < -allowed:
        return "not met", f"{words}, more than {allowed:g}"
    if -allowed <= low and high <= allowed:
        return "met", f"{words}, within {allowed:g}"

    # How many texts would tell the shift from the limit that it is nearer to.
    line = allowed if value > 0 else -allowed
    errors = NormalDist().inv_cdf(1 - 0.025 / intervals)  # standard errors from a shift to its limits, about
    n = examples_to_separate(shift.n, value, low, high, line, (errors, errors))
    return "undecided", f"{words} may or may not be within {allowed:g}, {would_decide(n)}"


def moved_levels(shifts: Mapping[str, Sequence[LevelShift]]) -> str:
    """The metric whose level moved farthest; if none did, how far one may have."""
    moved: list[tuple[str, LevelShift]] = []
    reach: list[float] = []  # how far each known level may have moved
    for name, of_result in shifts.items():
        for shift in of_result:
            if shift.ci is None:
                continue
            low, high = shift.ci
            reach.append(max(abs(low), abs(high)))
            if low > 0 or high < 0:
                moved.append((name, shift))
    if not reach:
        return "shift of level unknown"
    if not moved:
        return f"no level moved, by {max(reach):.2f} points at most"
    name, farthest = max(moved, key=lambda each: abs(each[1].points or 0.0))
    where = f"{name}: " if len(shifts) > 1 else ""
    more = f", and {len(moved) - 1} more of {len(reach)} metrics" if len(moved) > 1 else ""
    return f"level of the same texts moved: {where}{_shift(farthest)}{more}"


def _shift(shift: LevelShift) -> str:
    """A shift with its interval: `coherence -0.40 points (-0.48 to -0.32)`."""
    # The `z` makes 0.00 of a -0.00 that rounding left.
    ends = "" if shift.ci is None else " ({:+z.2f} to {:+z.2f})".format(*shift.ci)
    return f"{shift.metric} {shift.points:+z.2f} points{ends}"
