"""How many examples a judge needs before D >= 1: from a pilot run, an effect, or a mock judge."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from dhp.analysis.config import METHODS
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.ratings_split import split_ratings
from dhp.content.catalog import read_task
from dhp.content.damage import variant_name
from dhp.core.errors import InputError, suggest
from dhp.core.progress import Progress, counted, numbered
from dhp.core.records import ORIGINAL, Candidate, Rating
from dhp.core.seeding import key_digest
from dhp.judge.judges.mock import MockJudge, mock_judge
from dhp.runs.reader import RunResult, read_run
from dhp.stats.arrays import Floats
from dhp.stats.combine import COMBINATIONS, DEFAULT_COMBINATION, Combination
from dhp.stats.effects import effect
from dhp.stats.power import Needed, largest_effect, power_curve, power_interval, shifted, simulated_power
from dhp.stats.wilcoxon.signed_rank import Method

_LIMIT = 5_000  # examples beyond which no number is given
_FEW_LIMIT = 1_000  # the same for pilots and mocks: too few are rated to tell a weak effect from none
_CHANCES = (0.8, 0.9)
_MOST_METRICS = 50
_MOCK = "mock/"
_MOCK_EXAMPLES = 10_000
_FIRST_RUNS = 100  # simulated at the limit, to see whether smaller numbers are worth a look
_DEGREES = ("minor", "major")
_SHOWN = 12  # variants in a `repr`


@dataclass(frozen=True, slots=True)
class VariantPower:
    """One variant; without figures where a metric has no pair at all. Intervals: 95 %, of the simulation."""

    variant: str
    """Its name."""
    d: float | None
    """D in the pilot; None where it is undefined or there is no pilot."""
    effect: float | None
    """Rank-biserial correlation of the metric most hurt, in [-1, 1]; where it is not above 0 no number of
    examples is enough."""
    miss: float | None = None
    """The chance that D stays below 1 with the n examples asked about."""
    miss_ci: tuple[float, float] | None = None
    """Limits of `miss`."""
    n_80: Needed | None = None
    """Examples for D >= 1 with a probability of 80 %."""
    n_90: Needed | None = None
    """The same with a probability of 90 %."""


@dataclass(frozen=True, slots=True)
class PowerAnalysis:
    """Power for D >= 1, the metrics weighing the same."""

    source: str
    """Where the effects come from, in words."""
    pilot: int | None
    """Examples of the pilot; None without one."""
    n: int
    """Examples for which `miss` speaks."""
    limit: int
    """Examples beyond which no number is given."""
    runs: int
    """Simulated at each number of examples."""
    combination: str
    """Of the metrics' p-values."""
    variants: tuple[VariantPower, ...]
    """One by one."""

    def __repr__(self) -> str:
        shown = [f"{row.variant} {row.n_80.n if row.n_80 else None}" for row in self.variants[:_SHOWN]]
        more = [f"and {len(self.variants) - _SHOWN} more"] if len(self.variants) > _SHOWN else []
        return f"PowerAnalysis({self.source}; examples for 80 %: {', '.join([*shown, *more])})"

    def to_json(self) -> dict[str, Any]:
        """As plain values; what is undefined, or beyond the limit, is None."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is to be known of every variant."""

    n: int = 100
    runs: int = 500
    """Runs to simulate at each number of examples."""
    combination: str | None = None
    """Of the metrics' p-values; default: the pilot's, else `hmp-asymptotic`."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.n <= _LIMIT:
            raise InputError(f"n is {self.n}; allowed: 1 to {_LIMIT:,}")
        if self.runs < 1:
            raise InputError(f"`runs`: {self.runs}; allowed: 1 or more")
        if self.combination is not None:
            _combination(self.combination)


def power_of_effect(
    size: float,
    question: Question | None = None,
    *,
    metrics: int = 4,
    correlation: float = 0.5,
    nonzero: float = 1.0,
) -> PowerAnalysis:
    """Power for a given effect under the model of `dhp.stats.power.shifted`: normal differences, shifted.

    Parameters
    ----------
    size
        Rank-biserial correlation of every metric, in (-1, 1]; at most q (2 - q) where a share q moves.
    question
        What is to be known.
    metrics, correlation, nonzero
        How many metrics there are, how far their differences correlate, in [0, 1), and the share of scores
        that move, in (0, 1].

    Raises
    ------
    InputError
        For a value outside these ranges.
    """
    question = question or Question()
    if not -1 < size <= 1:
        raise InputError(f"effect: {size:g}; allowed: more than -1, at most 1")
    _check_metrics(metrics)
    if not 0 <= correlation < 1:
        raise InputError(f"correlation: {correlation:g}; allowed: 0 or more, less than 1")
    if not 0 < nonzero <= 1:
        raise InputError(f"nonzero: {nonzero:g}; allowed: more than 0, at most 1")
    if not abs(size) <= (largest := largest_effect(nonzero)):
        raise InputError(
            f"effect: {size:g}; allowed: -{largest:g} to {largest:g}, where {nonzero:.0%} of the scores move"
        )
    population = shifted(size, metrics, correlation, nonzero)
    combination = _combination(question.combination or DEFAULT_COMBINATION)
    row = _variant(f"effect {size:g}", population, question, "exact", combination, _LIMIT)
    source = f"effect {size:g}, {_metrics(metrics)}"
    if metrics > 1:
        source += f" that correlate by {correlation:g}"
    source += f", {nonzero:.0%} of the scores move"
    return PowerAnalysis(
        source, None, question.n, _LIMIT, question.runs, combination, (replace(row, effect=size),)
    )


def power_of_runs(
    folders: Sequence[str | Path], question: Question | None = None, progress: Progress | None = None
) -> list[PowerAnalysis]:
    """Power for every variant of pilot runs, whose examples stand for all that a longer run would draw.

    Tests and combination are those of the run, unless the question names another combination. Raises
    `InputError` for a folder that holds no run, and a pilot of one example.
    """
    question = question or Question()
    pilots = [rated for folder in folders for rated in read_run(folder).rated]
    return [
        _of_pilot(rated, question, numbered(progress, place, len(pilots)))
        for place, rated in enumerate(pilots, 1)
    ]


def power_of_mock(
    model: str, question: Question | None = None, *, metrics: int = 4, progress: Progress | None = None
) -> PowerAnalysis:
    """Power of a mock judge on `damage.minor` and `damage.major`, and on perturbers that it has dials for.

    It rates 10,000 examples on so many metrics, from 1 to 5; the texts do not matter to it. Raises
    `InputError` for a judge that is no mock, and a dial that it does not have.
    """
    question = question or Question()
    _check_metrics(metrics)
    if not model.startswith(_MOCK):
        raise InputError(f"model '{model}': is no mock judge; allowed: mock/KIND?dial=value")
    judge = mock_judge(model, question.seed)
    own = judge.dials.sensitivities
    named = (v for key in own for v in ([key] if "." in key else [f"{key}.{d}" for d in _DEGREES]))
    variants = tuple(dict.fromkeys([*(f"damage.{d}" for d in _DEGREES), *named]))
    table = _rated(judge, variants, metrics).difference_table(variants, _metric_names(metrics))
    combination = _combination(question.combination or DEFAULT_COMBINATION)
    rows = [
        _variant(name, table[:, variants.index(name)], question, "exact", combination, _FEW_LIMIT)
        for name in counted(progress, f"simulating {model}", variants)
    ]
    source = f"{model}, {_metrics(metrics)}, {_MOCK_EXAMPLES:,} examples rated"
    return PowerAnalysis(source, None, question.n, _FEW_LIMIT, question.runs, combination, tuple(rows))


def _of_pilot(rated: RunResult, question: Question, progress: Progress | None) -> PowerAnalysis:
    result, ratings = rated.result, rated.ratings
    name = f"{rated.place}: {result.model} on {result.dataset}"
    n = len(ratings.examples)
    if n < 2:
        raise InputError(f"{name}: a pilot of one example tells nothing about others; allowed: 2 or more")
    variants = [v.variant for v in result.variants]
    table = ratings.difference_table(variants, ratings.metrics)
    method = METHODS[result.statistics]
    combination = _combination(question.combination or result.combination)
    rows = []
    shown = f"simulating {result.model} on {result.dataset}"
    for row in counted(progress, shown, result.variants, lambda row: variant_name(row.variant)):
        pairs = table[:, variants.index(row.variant)]
        if row.stopped_at is not None:  # it was not asked about further examples
            pairs = pairs[~np.isnan(pairs).all(axis=1)]
        found = _variant(row.variant, pairs, question, method, combination, _FEW_LIMIT)
        rows.append(replace(found, d=row.d))
    source = f"{name}, pilot of {n} examples that stand for all others, {_metrics(len(ratings.metrics))}"
    return PowerAnalysis(source, n, question.n, _FEW_LIMIT, question.runs, combination, tuple(rows))


def _variant(
    name: str,
    population: Floats,
    question: Question,
    method: Method,
    combination: Combination,
    limit: int,
) -> VariantPower:
    """Power in a population of shape (P, M)."""
    if np.isnan(population).all(axis=0).any():
        return VariantPower(name, None, None)
    rng = np.random.default_rng(int.from_bytes(key_digest(question.seed, "power", name)))

    def power(n: int, runs: int) -> float:
        return simulated_power(population, n, rng, runs=runs, method=method, combination=combination)

    at_n = power(question.n, question.runs)
    low, high = power_interval(at_n, question.runs)
    largest = max(effect(column[~np.isnan(column)]).rank_biserial for column in population.T)
    needed = [Needed(None, None, None) for _ in _CHANCES]
    if largest > 0 and power_interval(power(limit, _FIRST_RUNS), _FIRST_RUNS)[1] >= min(_CHANCES):
        curve = power_curve(lambda n: power(n, question.runs), max(_CHANCES), limit, question.runs)
        needed = [curve.needed(chance) for chance in _CHANCES]
    return VariantPower(name, None, largest, 1 - at_n, (1 - high, 1 - low), *needed)


def _rated(judge: MockJudge, variants: Sequence[str], metrics: int) -> RatingsArray:
    """What a mock judge says about many examples; no text is shown to it, and it takes no time."""
    import pandas as pd

    task = read_task("summarization")
    model_metric = task.metrics[0]
    names = _metric_names(metrics)
    task = task.model_copy(
        update={"metrics": [model_metric.model_copy(update={"name": name}) for name in names]}
    )
    candidates = [
        Candidate(str(i), variant, "", "") for i in range(_MOCK_EXAMPLES) for variant in (ORIGINAL, *variants)
    ]
    judge.dials = replace(judge.dials, latency=0.0)
    given = list(judge.rate(candidates, task))
    frame = pd.DataFrame({f.name: [getattr(r, f.name) for r in given] for f in fields(Rating)})
    (ratings,) = split_ratings(frame)
    return ratings


def _metric_names(metrics: int) -> list[str]:
    return [f"metric_{m + 1}" for m in range(metrics)]


def _metrics(metrics: int) -> str:
    return "1 metric" if metrics == 1 else f"{metrics} metrics"


def _check_metrics(metrics: int) -> None:
    if not 1 <= metrics <= _MOST_METRICS:
        raise InputError(f"metrics: {metrics}; allowed: 1 to {_MOST_METRICS}")


def _combination(name: str) -> Combination:
    for known in COMBINATIONS:
        if name == known:
            return known
    raise InputError(f"unknown combination '{name}'; {suggest(name, COMBINATIONS)}")
