"""Number of examples that a judge needs, from a pilot run or a detection.

Each source becomes a population of differences for each kind of damage: the examples of a pilot, or points of
a model with the stated detection. Runs are drawn from it and judged as real
ones are; the share that is `noticed` is the power. A curve over growing numbers of examples tells how many
are needed.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dhp.content.catalog import variant_name
from dhp.core.checks import check_number
from dhp.core.errors import InputError
from dhp.core.options import near_keywords
from dhp.core.progress import Progress, counted, numbered, progress_of
from dhp.core.seeding import key_digest
from dhp.core.verdicts import Verdict
from dhp.plugins.power.curve import NeededExamples, power_curve, power_interval
from dhp.plugins.power.population import most_tied, outcomes
from dhp.plugins.power.question import LIMIT, Question
from dhp.plugins.power.simulation import simulated_power
from dhp.runs.reader import RunResult, read_run
from dhp.stats.arrays import Floats
from dhp.stats.defaults import FLOOR
from dhp.stats.detection import detection_influences

_PILOT_LIMIT = 1_000
"""Examples beyond which a pilot gives no number. Chosen: it rates too few examples to tell a weak effect from
none. A detection that is stated is exact, so its numbers go on to `LIMIT`."""
_CHANCES = (0.8, 0.9)
"""To notice damage: the usual ones of a power analysis."""
_KINDS = 12
"""Judged together, if no pilot says how many."""
_MOST_METRICS = 50
"""Chosen: it bounds the dimensions that are simulated."""
_FIRST_RUNS = 100
"""Simulated at the limit, to see whether smaller numbers are worth a look. Chosen."""
_SHOWN = 12
"""Variants in a `repr`. Chosen."""


@dataclass(frozen=True, slots=True)
class VariantPower:
    """One kind of damage; without figures if it has no pair. Intervals: 95 %, of the simulation."""

    variant: str
    """Name of the variant."""
    verdict: Verdict | None
    """Verdict of the pilot; None without one."""
    detection: float | None
    """Detection in the pilot, else by the metric that sees it best, in [0, 1]."""
    reachable: bool = False
    """Whether more examples help: the best metric of all that can be drawn is at the floor or above."""
    miss: float | None = None
    """The chance that it is not noticed with the n examples asked about."""
    miss_ci: tuple[float, float] | None = None
    """Confidence limits of `miss`."""
    n_80: NeededExamples | None = None
    """Number of examples for `noticed` with a probability of 80 %."""
    n_90: NeededExamples | None = None
    """Number of examples for `noticed` with a probability of 90 %."""


@dataclass(frozen=True, slots=True)
class PowerAnalysis:
    """Power for the verdict `noticed`."""

    source: str
    """Source of the detection, in words."""
    pilot: int | None
    """Number of examples of the pilot; None without one."""
    n: int
    """Examples for which `miss` speaks."""
    limit: int
    """Examples beyond which no number is given."""
    runs: int
    """Simulated at each number of examples."""
    kinds: int
    """Kinds of damage that are judged together and share the error of their intervals."""
    floor: float
    """Detection from which damage counts as noticed; below it no number of examples is enough."""
    variants: tuple[VariantPower, ...]
    """One row per variant, or for each way in which the metrics may depend on each other."""
    range_80: tuple[int, int] | None = None
    """Examples for `noticed` with a probability of 80 %, from independent metrics to such that move alike;
    None for a pilot, one metric, a known correlation, or if there is no such number."""

    def __repr__(self) -> str:
        shown = []
        for row in self.variants[:_SHOWN]:
            needed = row.n_80.n if row.n_80 else None
            shown.append(f"{row.variant} {needed}")
        if len(self.variants) > _SHOWN:
            shown.append(f"and {len(self.variants) - _SHOWN} more")
        return f"PowerAnalysis({self.source}; examples for 80 %: {', '.join(shown)})"

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values; figures that are undefined or beyond the limit are None."""
        return asdict(self)


def power_of_detection(
    detection: float,
    question: Question | None = None,
    *,
    metrics: int = 4,
    correlation: float | None = None,
    tied: float = 0.0,
) -> PowerAnalysis:
    """Power for a given detection under the model of `dhp.plugins.power.population.outcomes`.

    Every metric has this detection, in per cent; scores that do not move, `tied`, are in per cent, too, and
    at most what the detection leaves room for. Nobody knows how metrics depend on each other before there are
    ratings, so of several metrics there are two rows: independent ones, and such that all move alike; or
    one, if they correlate by a `correlation` in [0, 1). Raises `InputError` for a value outside these ranges.
    """
    question = question or Question()
    check_number("detection", detection, percent=True, ge=0, le=100)
    check_number("metrics", metrics, int, ge=1, le=_MOST_METRICS)
    if correlation is not None and not 0 <= correlation < 1:
        raise InputError(f"correlation: {correlation:g}; must be 0 or more, less than 1")
    check_number("tied", tied, percent=True, ge=0, le=100 * most_tied(detection / 100))
    kinds = question.kinds or _KINDS
    rows = []
    for name, columns, dependence in _dependences(metrics, correlation):
        population = outcomes(detection / 100, columns, dependence, tied / 100)
        row = _variant(name, population, question, kinds, FLOOR, LIMIT)
        rows.append(replace(row, detection=detection / 100))
    source = f"detection of {detection:g} %, {_metrics(metrics)}, {tied:g} % of the scores tie"
    return PowerAnalysis(
        source=source,
        pilot=None,
        n=question.n,
        limit=LIMIT,
        runs=question.runs,
        kinds=kinds,
        floor=FLOOR,
        variants=tuple(rows),
        range_80=_range(rows),
    )


def _range(rows: Sequence[VariantPower]) -> tuple[int, int] | None:
    """The least and the largest number for 80 %, if there are several rows and all have one."""
    numbers = []
    for row in rows:
        if row.n_80 is None or row.n_80.n is None:
            return None
        numbers.append(row.n_80.n)
    if len(numbers) < 2:
        return None
    return min(numbers), max(numbers)


def _dependences(metrics: int, correlation: float | None) -> list[tuple[str, int, float]]:
    """Name, number of metrics to simulate and their correlation; metrics that move alike are as one."""
    if metrics == 1:
        return [("one metric", 1, 0.0)]
    if correlation is not None:
        return [(f"metrics that correlate by {correlation:g}", metrics, correlation)]
    return [("independent metrics", metrics, 0.0), ("metrics that move alike", 1, 0.0)]


@near_keywords
def power(
    *runs: str | Path, question: Question | None = None, progress: Progress | bool | None = True
) -> list[PowerAnalysis]:
    """How many examples it takes to notice the damage of pilot runs; as `dhp power RUN...`.

    The examples of a pilot stand for all that a longer run would draw, and the floor is that of the run.
    `question` says what is to be known of each kind, by default with 100 examples.
    Raises `InputError` for a folder that holds no run, and a pilot of one example.
    """
    question = question or Question()
    pilots: list[RunResult] = []
    for folder in runs:
        pilots += read_run(folder).rated
    analyses = []
    with progress_of(progress) as show:
        for place, rated in enumerate(pilots, 1):
            analyses.append(_of_pilot(rated, question, numbered(show, place, len(pilots))))
    return analyses


def _of_pilot(rated: RunResult, question: Question, progress: Progress | None) -> PowerAnalysis:
    result, ratings = rated.result, rated.ratings
    name = f"{rated.place}: {result.model} on {result.dataset}"
    n = len(ratings.examples)
    if n < 2:
        raise InputError(f"{name}: a pilot of one example tells nothing about others; must be 2 or more")
    variants = [row.variant for row in result.variants]
    table = ratings.difference_table(variants, ratings.metrics)
    judged = [row for row in result.variants if row.n > 0]
    kinds = question.kinds or max(1, len(judged))
    rows = []
    shown = f"simulating {result.model} on {result.dataset}"
    for row in counted(progress, shown, result.variants, lambda row: variant_name(row.variant)):
        pairs = table[:, variants.index(row.variant)]
        analysis = _variant(row.variant, pairs, question, kinds, result.floor, _PILOT_LIMIT)
        rows.append(replace(analysis, verdict=row.verdict, detection=row.detection))
    source = f"{name}, pilot of {n} examples that stand for all others, {_metrics(len(ratings.metrics))}"
    return PowerAnalysis(
        source=source,
        pilot=n,
        n=question.n,
        limit=_PILOT_LIMIT,
        runs=question.runs,
        kinds=kinds,
        floor=result.floor,
        variants=tuple(rows),
    )


def _variant(
    name: str, population: Floats, question: Question, kinds: int, floor: float, limit: int
) -> VariantPower:
    """Power in a population of shape (P, M)."""
    seen = detection_influences(population).value
    if np.isnan(seen).all():
        return VariantPower(name, None, None)
    best = float(np.nanmax(seen))
    rng = np.random.default_rng(int.from_bytes(key_digest(question.seed, "power", name)))

    def simulated(n: int, runs: int) -> float:
        return simulated_power(population, n, rng, runs=runs, together=kinds, floor=floor)

    at_n = simulated(question.n, question.runs)
    low, high = power_interval(at_n, question.runs)
    n_80 = n_90 = NeededExamples(None, None, None)
    reachable = best >= floor
    if reachable:
        # A curve takes many simulations: it is not begun if even the largest number is surely too small.
        _, most = power_interval(simulated(limit, _FIRST_RUNS), _FIRST_RUNS)
        if most >= min(_CHANCES):
            curve = power_curve(lambda n: simulated(n, question.runs), max(_CHANCES), limit, question.runs)
            n_80, n_90 = curve.needed(_CHANCES[0]), curve.needed(_CHANCES[1])
    return VariantPower(
        variant=name,
        verdict=None,
        detection=best,
        reachable=reachable,
        miss=1 - at_n,
        miss_ci=(1 - high, 1 - low),  # what the power lacks, so its limits change places
        n_80=n_80,
        n_90=n_90,
    )


def _metrics(metrics: int) -> str:
    return "1 metric" if metrics == 1 else f"{metrics} metrics"
