"""The way of a probe: texts, ratings of each of them as often as needed, figures.

Texts of all probes are rated in one pass; those that measure stability are rated in further passes. The
figures are computed once all passes are there.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from dhp.core.errors import InputError
from dhp.core.progress import Progress, progress_of
from dhp.core.records import ORIGINAL, Candidate
from dhp.core.seeding import text_hash
from dhp.core.signature import protocol_name
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.ratings import checked_ratings, judge_estimates
from dhp.judge.unreadable import readable
from dhp.llm.cached_model import RequestContext, taken
from dhp.llm.estimate import Estimate
from dhp.llm.limits import Usage
from dhp.perturb.builder import Builder, Data, found_datasets, with_own_task
from dhp.perturb.llm.model import open_perturb_model, perturbing_estimates
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.registry import find_perturbers
from dhp.perturb.settings import Choice
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
from dhp.plugins.probes.texts import DOSES, item_order, layout, probe_suite, without_lower_doses
from dhp.run import JudgesSpec
from dhp.stats.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "dhp.probes/1"


@dataclass(frozen=True)
class ProbeSpec(JudgesSpec):
    """What `probed` is asked."""

    dataset: Data = None
    """Texts: a name, a file, a table in memory, a `Dataset`, or several of them; default: the bundled set."""
    _: KW_ONLY
    choice: Choice = field(default_factory=Choice)
    """Which of these texts, and the perturb model that paraphrases."""
    chosen: ProbeChoice = field(default_factory=ProbeChoice)
    """Which probes, and what they count."""


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


@dataclass(frozen=True, slots=True)
class Probed:
    """All results with what they were made of."""

    results: Sequence[ProbeResult]
    parts: Sequence[PerturbedDataset]
    ratings: "pd.DataFrame"
    """One row a rating, as a run holds them, and `repeat`: how often the text was rated before."""

    def to_json(self) -> dict[str, Any]:
        """The content of `probes.json`."""
        return {"schema": SCHEMA, "results": [each.to_json() for each in self.results]}


def probed(spec: ProbeSpec) -> Probed:
    """Probe judges: degrade nothing but what calibration and stability count, rate, compute figures.

    Raises what `dhp.run` raises.
    """
    return spec.settings.filled(partial(_probed, spec))


def _probed(spec: ProbeSpec, context: RequestContext) -> Probed:
    import pandas as pd

    judges = _pointwise(spec.judges(context))
    with progress_of(spec.progress) as show:
        parts = _texts(spec, context, show)
        rated = []
        for part in parts:
            for judge, task in _ready(judges, part):
                rated.append((judge, part, task, _rated(judge, part, task, spec.chosen, show)))
    # Only here, so that the pending requests of all judges and datasets are collected in one go.
    context.stop_if_waiting()

    results, tables = [], []
    for judge, part, task, table in rated:
        results.append(_result(judge, part, task, table, spec.chosen))
        tables.append(table.assign(model=judge.model, protocol=judge.protocol, dataset=part.dataset.name))
    return Probed(results, parts, pd.concat(tables, ignore_index=True))


def estimates(spec: ProbeSpec) -> list[Estimate]:
    """What `probed` would take of language models, at most, asking nothing."""
    context = spec.settings.context()
    judges = _pointwise(spec.judges(context))
    with progress_of(spec.progress) as show:
        parts = _texts(spec, context, show, dry=True)
    estimates_made = perturbing_estimates(parts, spec.choice, spec.settings, context)
    for part in parts:
        texts = [*chain(*_passes(part.candidates(), spec.chosen))]
        estimated = judge_estimates(judges, part.dataset.name, texts, part.dataset.task)
        # Layouts are controls by their level, but here they are what is asked for, no extra.
        estimates_made += [replace(each, controls=0.0) for each in estimated]
    return estimates_made


def _pointwise(judges: Sequence[Judge]) -> Sequence[Judge]:
    for judge in judges:
        if judge.compare:
            name = protocol_name(judge.protocol)
            raise InputError(f"`protocol` {name}: compares texts; must be a pointwise one, which scores them")
    return judges


def _texts(
    spec: ProbeSpec, context: RequestContext, progress: Progress | None, *, dry: bool = False
) -> list[PerturbedDataset]:
    """Each dataset with the texts of its probes."""
    names = spec.chosen.names
    suite = probe_suite(names, spec.chosen.damage)
    choice = with_own_task(spec.dataset, spec.choice, spec.metrics)
    chosen, _ = found_datasets(spec.dataset, choice, spec.seed)
    # Ready-made pairs of a set are damage of its own: probes make their texts from the originals.
    datasets = [replace(each, suite=suite, pair_variants=(), pairs=()) for each in chosen]

    perturb_model = choice.perturb_model
    if perturb_model and "invariance" not in names:
        raise InputError("`perturb_model`: is for the paraphrases of the probe invariance; leave it out")
    model = open_perturb_model(perturb_model, spec.settings, context) if perturb_model else None
    perturbers = (layout, item_order) if "invariance" in names else ()
    registry = find_perturbers(perturbers, [suite])
    build = Builder(perturbers, registry, spec.seed, model, {}, None, dry, progress)
    build.check(datasets, None)
    made = []
    for part in build.all(datasets):
        made.append(without_lower_doses(part).judged_by(spec.metrics))
    context.stop_if_waiting()
    return made


def _ready(judges: Sequence[Judge], part: PerturbedDataset) -> Iterator[tuple[Judge, Task]]:
    """The judges with the metrics by which they rate, prepared for the texts."""
    texts, task = part.candidates(), part.dataset.task
    for judge in judges:
        judged_task = judge.own_task(task, texts)
        judge.prepare(texts, judged_task)
        if judge.cached_model:
            # What was paid under this name was paid by this probe before it was stopped.
            identity = json.dumps([judge.identity, part.identity], sort_keys=True, default=str)
            judge.cached_model.run = text_hash(identity)
        yield judge, judged_task


def _passes(texts: Sequence[Candidate], chosen: ProbeChoice) -> Iterator[list[Candidate]]:
    """All texts, then again and again those that are to be rated more often."""
    most = max((chosen.passes(text.variant) for text in texts), default=0)
    for repeat in range(most):
        again = [text for text in texts if chosen.passes(text.variant) > repeat]
        # The number of the pass is part of a request: else the first answer would be taken from the store.
        yield [replace(text, repeat=repeat) for text in again]


def _rated(
    judge: Judge, part: PerturbedDataset, task: Task, chosen: ProbeChoice, progress: Progress | None
) -> "pd.DataFrame":
    """The ratings of all texts of a dataset, each as often as the probes need it, sorted."""
    import pandas as pd

    passes = [*_passes(part.candidates(), chosen)]  # ratings of a pass are told apart by its number
    total = sum(map(len, passes)) * len(task.metrics) * judge.samples
    shown = _shown(judge, part.dataset.name, total, progress)
    rows: list[tuple[object, ...]] = []
    for repeat, texts in enumerate(passes):
        ratings = checked_ratings(judge, texts, task)
        if repeat == 0:  # stops if the first answers cannot be read
            ratings = readable(ratings, judge, task, part.dataset.name)
        for r in ratings:
            place = (r.example, r.variant, r.metric, repeat, r.sample)
            rows.append((*place, r.score, r.status, r.raw, r.rule))
            shown(len(rows))
    places = ["example", "variant", "metric", "repeat", "sample"]
    table = pd.DataFrame(rows, columns=[*places, "score", "status", "raw", "rule"])
    return table.sort_values(places, ignore_index=True)


def _shown(judge: Judge, dataset: str, total: int, progress: Progress | None) -> Callable[[int], None]:
    model = judge.cached_model
    before = replace(model.session_usage) if model else Usage()

    def show(done: int) -> None:
        if progress:
            progress(f"{judge.model} on {dataset}", done, total, model.spent(before) if model else "")

    return show


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
        self._tables = dict(iter(means.groupby(["variant", "repeat"])))

        self.spans = np.array([m.scale.max - m.scale.min for m in task.metrics])
        self.lows = np.array([m.scale.min for m in task.metrics])

        # Numbers of clusters; an example without one is a cluster of its own.
        clusters = part.dataset.clusters
        names = [clusters.get(example, example) for example in self.examples]
        self.clusters = np.unique(names, return_inverse=True)[1] if clusters else None

        passes = range(chosen.passes(ORIGINAL))
        self.originals = np.stack([self.of(ORIGINAL, repeat) for repeat in passes])
        """Scores of the original, asked again and again, shape (R, n, M)."""

    def of(self, variant: str, repeat: int = 0) -> Floats:
        """Scores of a variant in one pass, shape (n, M); NaN without a score."""
        table_of = self._tables.get((variant, repeat))
        if table_of is None:
            return np.full((len(self.examples), len(self.metrics)), np.nan)
        table = table_of.pivot(index="example", columns="metric", values="score")
        scores: Floats = table.reindex(index=self.examples, columns=self.metrics).to_numpy(dtype=np.float64)
        return scores


def _result(
    judge: Judge, part: PerturbedDataset, task: Task, table: "pd.DataFrame", chosen: ProbeChoice
) -> ProbeResult:
    scores = _Scores(table, part, task, chosen)
    left_out = _left_out(part)
    calibrated = "calibration" in chosen.names
    usage, cost = taken(judge.cached_model)
    return ProbeResult(
        model=judge.model,
        protocol=judge.protocol,
        dataset=part.dataset.name,
        n=len(part.dataset.examples),
        ratings={str(k): int(v) for k, v in table["status"].value_counts().items()},
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


_NO_MODEL = "a language model writes them, and none is named"


def _left_out(part: PerturbedDataset) -> dict[str, str]:
    """Variant that no text has -> why."""
    made = {text.variant for text in part.texts if text.text is not None}
    reasons = dict.fromkeys(part.left_out, _NO_MODEL)
    for text in part.texts:
        if text.variant not in made:
            reasons[text.variant] = text.reason or ""
    return reasons


def _invariance(
    scores: _Scores, part: PerturbedDataset, left_out: Mapping[str, str], chosen: ProbeChoice
) -> dict[str, Moves]:
    # What a change costs is compared with damage, which only calibration has rated.
    counted = DOSES if "calibration" in chosen.names else ()
    damage = [scores.of(f"{chosen.damage}.k{k}") for k in counted]
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
    by_dose = np.stack([scores.of(ORIGINAL), *(scores.of(f"{damage}.k{k}") for k in DOSES)])
    return calibration((0, *DOSES), by_dose, scores.originals, scores.spans, scores.lows, scores.clusters)


def _points(table: "pd.DataFrame", task: Task) -> dict[str, dict[str, float]]:
    """Metric -> shares of the points of its scale among all single scores."""
    points = {}
    for metric in task.metrics:
        scores = table.loc[table["metric"] == metric.name, "score"].to_numpy(float)
        points[metric.name] = points_used(scores, metric.scale.min, metric.scale.max)
    return points


def _stability(scores: _Scores, chosen: ProbeChoice) -> Stability:
    copy = f"{chosen.damage}.k{STABILITY_DOSE}"
    damaged = np.stack([scores.of(copy, repeat) for repeat in range(chosen.repeats)])
    return stability(scores.originals[: chosen.repeats], damaged, scores.spans, scores.clusters)
