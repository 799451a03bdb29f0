"""The way of a probe: texts, ratings of each of them as often as needed, figures.

`_texts` makes the texts of all probes. `_passes` says which of them are rated a first, second, third time:
all of them once, originals and what measures stability again. `_rated` has each pass rated and keeps a row
for each rating; `result.result_of` computes the figures once all passes are there.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError
from dhp.core.progress import Progress, progress_of
from dhp.core.records import Candidate
from dhp.core.seeding import text_hash
from dhp.core.signature import protocol_name
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.ratings import checked_ratings, judge_estimates
from dhp.judge.unreadable import readable
from dhp.llm.cached_model import RequestContext
from dhp.llm.estimate import Estimate
from dhp.llm.limits import Usage
from dhp.perturb.builder import Builder, Data, found_datasets, with_own_task
from dhp.perturb.llm.model import open_perturb_model, perturbing_estimates
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.registry import find_perturbers
from dhp.perturb.settings import Choice
from dhp.plugins.probes.options import ProbeChoice
from dhp.plugins.probes.perturbers import item_order, layout
from dhp.plugins.probes.result import ProbeResult, result_of
from dhp.plugins.probes.suite import probe_suite, without_lower_doses
from dhp.run import JudgesSpec

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
    """Probe judges: make the texts of the probes, have them rated, and compute the figures.

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
        results.append(result_of(judge, part, task, table, spec.chosen))
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
        texts: list[Candidate] = []
        for again in _passes(part.candidates(), spec.chosen):
            texts += again
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
    # No controls or attacks beside the suite, and no doses but those that it names.
    build = Builder(perturbers, registry, spec.seed, model, {}, None, dry, progress)
    build.check(datasets, None)
    parts = [without_lower_doses(part).judged_by(spec.metrics) for part in build.all(datasets)]
    context.stop_if_waiting()
    return parts


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

    passes = list(_passes(part.candidates(), chosen))
    texts_rated = sum(len(texts) for texts in passes)
    total = texts_rated * len(task.metrics) * judge.samples
    shown = _shown(judge, part.dataset.name, total, progress)
    rows: list[tuple[object, ...]] = []
    for repeat, texts in enumerate(passes):
        ratings = checked_ratings(judge, texts, task)
        if repeat == 0:  # stops if the first answers cannot be read
            ratings = readable(ratings, judge, task, part.dataset.name)
        for each in ratings:
            place = (each.example, each.variant, each.metric, repeat, each.sample)
            rows.append((*place, each.score, each.status, each.raw, each.rule))
            shown(len(rows))
    places = ["example", "variant", "metric", "repeat", "sample"]
    table = pd.DataFrame(rows, columns=[*places, "score", "status", "raw", "rule"])
    # Ratings may come in any order.
    return table.sort_values(places, ignore_index=True)


def _shown(judge: Judge, dataset: str, total: int, progress: Progress | None) -> Callable[[int], None]:
    """Shows how many ratings are done, and what they have cost so far."""
    model = judge.cached_model
    # A copy, as the usage itself is counted up.
    before = replace(model.session_usage) if model else Usage()

    def show(done: int) -> None:
        if progress:
            spent = model.spent(before) if model else ""
            progress(f"{judge.model} on {dataset}", done, total, spent)

    return show
