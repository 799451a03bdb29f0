"""The result of a probe: the figures of one judge on one dataset, from its ratings.

`result_of` puts mean scores into arrays (`_Scores`: examples and metrics of each variant and pass) and hands
them to the functions of `dhp.plugins.probes.statistics`, one for each probe.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dhp.core.records import ORIGINAL
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.llm.cached_model import taken
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.plugins.probes.options import STABILITY_DOSE, ProbeChoice
from dhp.plugins.probes.statistics import (
    Calibration,
    Moves,
    Rise,
    Stability,
    calibration,
    moves,
    points_used,
    rise,
    stability,
)
from dhp.plugins.probes.suite import DOSES
from dhp.stats.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

_NO_MODEL = "a language model writes them, and none is named"


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The figures of one judge on one dataset; a probe that was not asked for has none."""

    model: str
    protocol: str
    dataset: str
    n: int
    ratings: Mapping[str, int]
    """Ratings by status."""
    damage: str
    repeats: int
    invariance: Mapping[str, Moves]
    """Change -> its figures; empty if it was not probed."""
    left_out: Mapping[str, str]
    """Variant that no text has -> why."""
    verbosity: Rise | None
    calibration: Calibration | None
    points: Mapping[str, Mapping[str, float]]
    """Metric -> point of its scale -> share of all scores; empty without calibration."""
    stability: Stability | None
    usage: Mapping[str, int]
    """Paid calls and tokens of the language model; empty if none is asked."""
    cost: float | None

    def to_json(self) -> dict[str, Any]:
        """As `probes.json` holds it."""
        return asdict(self)


class _Scores:
    """The mean scores of one judge on one dataset as arrays."""

    def __init__(
        self, table: "pd.DataFrame", part: PerturbedDataset, task: Task, chosen: ProbeChoice
    ) -> None:
        self.metrics = [metric.name for metric in task.metrics]
        self.examples = sorted(example.id for example in part.dataset.examples)

        # Means over samples, as a run takes them; looked up by variant and pass.
        scored = table[table["status"] == "scored"]
        means = scored.groupby(["variant", "repeat", "example", "metric"], as_index=False)["score"].mean()
        # Iterated, a group is its key and its rows.
        self._tables = dict(iter(means.groupby(["variant", "repeat"])))

        self.lows = np.array([metric.scale.min for metric in task.metrics])
        highs = np.array([metric.scale.max for metric in task.metrics])
        self.spans = highs - self.lows

        self.clusters = None
        clusters = part.dataset.clusters
        if clusters:  # numbers in place of names; an example without a cluster is one of its own
            names = [clusters.get(example, example) for example in self.examples]
            _, self.clusters = np.unique(names, return_inverse=True)

        passes = range(chosen.passes(ORIGINAL))
        self.originals = np.stack([self.of(ORIGINAL, repeat) for repeat in passes])
        """Scores of the original, asked again and again, shape (R, n, M)."""

    def of(self, variant: str, repeat: int = 0) -> Floats:
        """Scores of a variant in one pass, shape (n, M); NaN without a score."""
        table_of = self._tables.get((variant, repeat))
        if table_of is None:
            return np.full((len(self.examples), len(self.metrics)), np.nan)
        table = table_of.pivot(index="example", columns="metric", values="score")
        # Brings all variants into the same order, with NaN for what has no score.
        scores: Floats = table.reindex(index=self.examples, columns=self.metrics).to_numpy(dtype=np.float64)
        return scores


def result_of(
    judge: Judge, part: PerturbedDataset, task: Task, table: "pd.DataFrame", chosen: ProbeChoice
) -> ProbeResult:
    """The figures of a judge from its ratings of a dataset, a row for each."""
    scores = _Scores(table, part, task, chosen)
    left_out = _left_out(part)
    calibrated = "calibration" in chosen.names
    usage, cost = taken(judge.cached_model)
    statuses = {str(status): int(count) for status, count in table["status"].value_counts().items()}
    return ProbeResult(
        model=judge.model,
        protocol=judge.protocol,
        dataset=part.dataset.name,
        n=len(part.dataset.examples),
        ratings=statuses,
        damage=chosen.damage,
        repeats=chosen.repeats,
        invariance=_invariance(scores, part, left_out, chosen),
        left_out=left_out,
        verbosity=_verbosity(scores) if "verbosity" in chosen.names else None,
        calibration=_calibration(scores, chosen.damage) if calibrated else None,
        points=_points(table, task) if calibrated else {},
        stability=_stability(scores, chosen) if "stability" in chosen.names else None,
        usage=usage,
        cost=cost,
    )


def _left_out(part: PerturbedDataset) -> dict[str, str]:
    """Variant that no text has -> why."""
    made = {text.variant for text in part.texts if text.text is not None}
    reasons = dict.fromkeys(part.left_out, _NO_MODEL)
    for text in part.texts:
        if text.variant not in made:
            reasons[text.variant] = text.reason or ""  # that of the last example
    return reasons


def _invariance(
    scores: _Scores, part: PerturbedDataset, left_out: Mapping[str, str], chosen: ProbeChoice
) -> dict[str, Moves]:
    # What a change costs is compared with damage, which only calibration has rated.
    damage = []
    if "calibration" in chosen.names:
        damage = [scores.of(f"{chosen.damage}.k{k}") for k in DOSES]
    by_change = {}
    for variant in part.variants:
        if variant.level == "control" and variant.name not in left_out:
            changed = scores.of(variant.name)
            by_change[variant.name] = moves(scores.originals, changed, scores.spans, scores.clusters, damage)
    return by_change


def _verbosity(scores: _Scores) -> Rise:
    padded = {k: scores.of(f"padding.k{k}") for k in DOSES}
    return rise(scores.originals, padded, scores.spans, scores.clusters)


def _calibration(scores: _Scores, damage: str) -> Calibration:
    by_dose = [scores.of(ORIGINAL)]
    for k in DOSES:
        by_dose.append(scores.of(f"{damage}.k{k}"))
    return calibration(
        (0, *DOSES), np.stack(by_dose), scores.originals, scores.spans, scores.lows, scores.clusters
    )


def _points(table: "pd.DataFrame", task: Task) -> dict[str, dict[str, float]]:
    """Metric -> shares of the points of its scale among all single scores."""
    points = {}
    for metric in task.metrics:
        # No means over samples, which may lie between two points.
        scores = table.loc[table["metric"] == metric.name, "score"].to_numpy(float)
        points[metric.name] = points_used(scores, metric.scale.min, metric.scale.max)
    return points


def _stability(scores: _Scores, chosen: ProbeChoice) -> Stability:
    copy = f"{chosen.damage}.k{STABILITY_DOSE}"
    damaged = np.stack([scores.of(copy, repeat) for repeat in range(chosen.repeats)])
    # The original may have been rated more often than its copy, for the noise.
    return stability(scores.originals[: chosen.repeats], damaged, scores.spans, scores.clusters)
