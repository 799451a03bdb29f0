"""How ratings are to be analysed: names resolved to tests, combination and weights."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from dhp.content.catalog import read_weights
from dhp.core.errors import InputError, suggest
from dhp.core.seeding import text_hash
from dhp.core.signature import STOPPING
from dhp.core.specs import Weights
from dhp.stats.combine import COMBINATIONS, DEFAULT_COMBINATION, Combination
from dhp.stats.wilcoxon.signed_rank import Method

T = TypeVar("T")

Statistics = Literal["default", "paper"]
MOST_RESAMPLES = 100_000
STATISTICS: tuple[Statistics, ...] = get_args(Statistics)


@dataclass(frozen=True, slots=True)
class AnalysisConfig:
    """How ratings are to be analysed."""

    statistics: Statistics
    combination: Combination
    weights: Weights
    task: str | None
    """The task whose rows of the weights apply; None where they have no rows."""
    resamples: int | None
    """For intervals; None for none."""
    looks: bool = False
    """Whether variants get no further examples once they are resolved; see `dhp.analysis.sequential`."""

    @property
    def method(self) -> Method:
        """Of the tests."""
        return "scipy" if self.statistics == "paper" else "exact"

    @property
    def signed_weights(self) -> str:
        """The part `weights` of signatures."""
        return f"{self.weights.weights}.v{self.weights.version}@{text_hash(self.weights.model_dump_json())}"

    @property
    def signed_statistics(self) -> str:
        """The part `statistics` of signatures."""
        return f"{self.statistics}+{self.combination}{STOPPING * self.looks}"

    @property
    def label(self) -> str:
        """For manifests: all that the figures depend on."""
        return f"weights:{self.signed_weights}|statistics:{self.signed_statistics}|resamples:{self.resamples}"


def make_config(
    statistics: str,
    combination: str | None,
    weights: str | None,
    task: str | None,
    perturbers: Collection[str],
    metrics: Sequence[str],
    resamples: int | None = None,
    looks: bool = False,
) -> AnalysisConfig:
    """Resolve names to a plan; raises `InputError` for an unknown name or weights that do not fit."""
    if resamples is not None and not 1 <= resamples <= MOST_RESAMPLES:
        raise InputError(
            f"resamples: {resamples}; allowed: 1 to {MOST_RESAMPLES:,}, or none for no intervals"
        )
    preset = _one_of("statistics", statistics, STATISTICS)
    preset_combination: Combination = DEFAULT_COMBINATION if preset == "default" else "printed"
    chosen = _one_of("combination", preset_combination if combination is None else combination, COMBINATIONS)
    if looks and chosen == "printed":
        raise InputError(
            "--stop-when-resolved: the combination 'printed' finds too much by chance to stop by it; "
            "allowed: hmp, hmp-asymptotic"
        )
    if weights is None:
        design = read_weights("design")
        fits = all(set(design.row(task, p) or ()) == set(metrics) for p in perturbers)
        return AnalysisConfig(
            preset, chosen, design if fits else read_weights("uniform"), task, resamples, looks
        )
    read = read_weights(weights)
    if task is None and len(read.tasks) == 1:
        task = next(iter(read.tasks))
    plan = AnalysisConfig(preset, chosen, read, task, resamples, looks)
    for perturber in perturbers:
        weight_row(plan, perturber, metrics)
    return plan


def _one_of(kind: str, name: str, allowed: tuple[T, ...]) -> T:
    for known in allowed:
        if name == known:
            return known
    raise InputError(f"unknown {kind} '{name}'; {suggest(name, map(str, allowed))}")


def weight_row(plan: AnalysisConfig, perturber: str, metrics: Sequence[str]) -> list[float] | None:
    """The weights of the metrics under a perturber; None for equal weights."""
    name = plan.weights.weights
    row = plan.weights.row(plan.task, perturber)
    if row is None:
        if plan.weights.otherwise == "uniform":
            return None
        if plan.task is None:
            raise InputError(
                f"weights '{name}' hold several tasks; say which by --suite, or use --weights uniform"
            )
        raise InputError(
            f"weights '{name}': no row for perturber '{perturber}' under task '{plan.task}'; "
            f"allowed: --weights uniform or a file with that row"
        )
    for metric in metrics:
        if metric not in row:
            raise InputError(f"weights '{name}': no weight for metric '{metric}'; {suggest(metric, row)}")
    total = math.fsum(row[m] for m in metrics)
    if abs(total - 1) > 1e-6:
        raise InputError(
            f"weights '{name}': row '{perturber}' gives weight to metrics without ratings; "
            f"allowed: ratings of {', '.join(row)}, or --weights uniform"
        )
    return [row[m] for m in metrics]
