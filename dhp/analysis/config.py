"""Configuration of an analysis: the options of the user, resolved for one task.

`AnalysisConfig` holds what a user may say; its fields are options of the command line. `resolve` looks up the
weights and puts the pass mark on the scales of the metrics, which makes a `ResolvedConfig`.
"""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dhp.analysis.marks import PassMark, resolved_marks
from dhp.core.checks import Checked
from dhp.core.errors import InputError, suggest
from dhp.core.options import option
from dhp.stats.defaults import DEFAULT_COMBINATION, FLOOR, Combination

if TYPE_CHECKING:
    from dhp.core.specs import Metric, Weights
    from dhp.stats.wilcoxon import Method

Statistics = Literal["default", "paper", "sign-flip"]
METHODS: "Mapping[str, Method]" = {"default": "exact", "paper": "scipy", "sign-flip": "sign-flip"}
"""Preset -> how each metric is tested."""


def read_marks(typed: Sequence[str]) -> dict[str, str]:
    """What `--pass-mark` was given: metric -> its mark; a mark for all metrics has an empty name."""
    marks: dict[str, str] = {}
    for each in typed:
        # `coherence=4`; of `7` alone all but the mark is empty.
        metric, equals, mark = each.rpartition("=")
        without_metric = equals != "" and metric == ""
        # A mark for all metrics leaves nothing for another one to say.
        mixed = len(marks) > 0 and (metric == "" or "" in marks)
        if mark == "" or without_metric or metric in marks or mixed:
            raise ValueError(f"'{each}': allowed: one mark for all metrics, e.g. 7, or METRIC=MARK for each")
        marks[metric] = mark
    return marks


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisConfig(Checked):
    """How ratings are to be analysed.

    Raises
    ------
    InputError
        For an unknown name, or a floor out of range.

    Notes
    -----
    The statistics `default` are the exact Wilcoxon test and the harmonic mean p-value, made asymptotically
    exact (Wilson 2019); `paper` are scipy's Wilcoxon at its defaults and the combination as the DHP paper
    prints it; pairwise judges get `sign-flip`, the exact sign-flip test, by themselves.
    """

    statistics: Statistics = option(
        "Exact tests, or the formulas of the paper.", default="default", metavar="default|paper"
    )
    combination: Combination | None = option(
        "How p-values of metrics are combined: hmp, printed, hmp-asymptotic or joint; default: "
        "that of the statistics.",
        default=None,
        metavar="NAME",
    )
    weights: str | None = option(
        "Expert weights; default: design if they cover all perturbers and metrics, else uniform.",
        default=None,
        metavar="NAME|FILE.yaml",
    )
    floor: float = option(
        "Lowest detection at which damage counts as noticed.",
        default=100 * FLOOR,
        metavar="PERCENT",
        gt=50,
        le=100,
        percent=True,
    )
    pass_mark: PassMark = option(
        "Score from which you let a text through, or a label; of one metric METRIC=MARK (repeatable). "
        "Shows how many damaged texts still pass, and how many good ones fail.",
        default=None,
        metavar="MARK",
        repeatable=True,
        read=read_marks,
    )

    def named_combination(self) -> Combination:
        """That which was named, else that of the statistics."""
        default: Combination = "printed" if self.statistics == "paper" else DEFAULT_COMBINATION
        return self.combination or default

    def resolve(
        self,
        task: str | None,
        perturbers: Collection[str],
        metrics: Sequence[str],
        known: "Sequence[Metric]" = (),
    ) -> "ResolvedConfig":
        """What follows for a task, so far as it is known, with these perturbers and metrics.

        `known` are the metrics of the task with their scales. Raises `InputError` for weights that do not
        exist or do not fit, and for a pass mark that is not on a scale.
        """
        from dhp.content.catalog import DESIGN, read_weights

        name = self.weights
        if name is None:
            name = DESIGN
            design = read_weights(DESIGN)
            for perturber in perturbers:
                # One perturber without a row for just these metrics is enough: then all have equal weights.
                if set(design.row(task, perturber) or ()) != set(metrics):
                    name = "uniform"
        weights = read_weights(name)
        # Weights of a single task can mean no other one.
        if task is None and len(weights.tasks) == 1:
            (task,) = weights.tasks
        config = ResolvedConfig(
            statistics=self.statistics,
            combination=self.named_combination(),
            weights=name,
            floor=self.floor,
            pass_mark=self.pass_mark,
            marks=resolved_marks(self.pass_mark, metrics, known),
            known=tuple(known),
            expert_weights=weights,
            task=task,
        )
        for perturber in perturbers:
            config.weight_row(perturber, metrics)  # refuses weights that do not fit, before any work
        return config


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedConfig(AnalysisConfig):
    """How the ratings of one task are to be analysed: the configuration, with what its names stand for."""

    expert_weights: "Weights"
    task: str | None
    """The task whose rows of the weights apply; None if they have no rows."""
    marks: Mapping[str, float] = field(default_factory=dict)
    """Metric -> its pass mark among stored scores; see `resolved_marks`."""
    known: "tuple[Metric, ...]" = ()
    """The metrics of the task with their scales, as far as they are known."""

    @property
    def method(self) -> "Method":
        """Method of the tests."""
        return METHODS[self.statistics]

    @property
    def floor_share(self) -> float:
        """The floor in [0, 1]."""
        return self.floor / 100

    @property
    def signed_weights(self) -> str:
        """The part `weights` of signatures."""
        from dhp.core.seeding import text_hash

        weights = self.expert_weights
        # Sorted, so that a row counts the same wherever its file has it.
        content = json.dumps(weights.model_dump(mode="json"), sort_keys=True)
        return f"{weights.weights}.v{weights.version}@{text_hash(content)}"

    @property
    def signed_statistics(self) -> str:
        """The part `statistics` of signatures."""
        return f"{self.statistics}+{self.combination}"

    @property
    def label(self) -> str:
        """Label for manifests: all settings that the figures depend on."""
        return f"weights:{self.signed_weights}|statistics:{self.signed_statistics}|floor:{self.floor_share:g}"

    def weight_row(self, perturber: str, metrics: Sequence[str]) -> list[float] | None:
        """The weights of the metrics under a perturber, which sum to 1; None for equal weights.

        Raises `InputError` if the weights have no row for the perturber, or one for other metrics.
        """
        name = self.expert_weights.weights
        row = self.expert_weights.row(self.task, perturber)
        if row is None:
            if self.expert_weights.otherwise == "uniform":
                return None
            if self.task is None:
                raise InputError(
                    f"weights '{name}' hold several tasks; choose one by `suite`, or use `weights` uniform"
                )
            raise InputError(
                f"weights '{name}': no row for perturber '{perturber}' under task '{self.task}'; "
                f"allowed: `weights` uniform or a file with that row"
            )
        for metric in metrics:
            if metric not in row:
                raise InputError(f"weights '{name}': no weight for metric '{metric}'; {suggest(metric, row)}")
        of_metrics = [row[metric] for metric in metrics]
        if abs(math.fsum(of_metrics) - 1) > 1e-6:
            raise InputError(
                f"weights '{name}': row '{perturber}' gives weight to metrics without ratings; "
                f"allowed: ratings of {', '.join(row)}, or `weights` uniform"
            )
        return of_metrics
