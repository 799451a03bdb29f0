"""The whole chain, examples to results: the only module that knows all stages."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from dhp.analysis.analyze import analyze_group
from dhp.analysis.config import AnalysisConfig, ResolvedConfig, takes_old_keywords
from dhp.analysis.ratings import groups
from dhp.analysis.results import Result, Results
from dhp.analysis.sequential import example_looks, resolved
from dhp.core.errors import InputError
from dhp.core.protocol_spec import Protocol
from dhp.core.records import ORIGINAL, PROBES, STOPPED, Candidate, Rating, Variant
from dhp.core.seeding import text_hash
from dhp.core.signature import Signature
from dhp.core.specs import Task
from dhp.judge.api import Judge, PlainJudge
from dhp.judge.check import checked_ratings
from dhp.judge.factory import find_judges
from dhp.llm.estimate import Estimate, estimate_requests
from dhp.llm.settings import ModelSettings
from dhp.llm.usage import Usage
from dhp.loaders.dataset import Dataset
from dhp.perturb.build import Progress, build_texts, perturbing_estimates
from dhp.perturb.choice import Choice
from dhp.perturb.perturbed_dataset import PerturbedDataset, with_metrics
from dhp.report.page import html_report
from dhp.runs.reader import read_run
from dhp.runs.writer import RunFolder

if TYPE_CHECKING:
    import pandas as pd

_SECONDS_BETWEEN_SHOWS = 0.2


class Way(TypedDict, total=False):
    """How language models are asked; keywords of `run` and `estimate`."""

    protocol: str | Protocol | Sequence[str | Protocol]
    prompt_files: Sequence[str]
    metrics: Sequence[str]
    settings: ModelSettings
    seed: int
    analysis: AnalysisConfig


@takes_old_keywords("weights", "statistics", "combination", "resamples", "stop_when_resolved")
def run(
    model: str | PlainJudge | Sequence[str | PlainJudge] = "baseline/surface",
    dataset: str | Dataset | Sequence[str | Dataset] | None = None,
    *,
    protocol: str | Protocol | Sequence[str | Protocol] = "dhp",
    prompt_files: Sequence[str] = (),
    metrics: Sequence[str] = (),
    settings: ModelSettings = ModelSettings(),
    seed: int = 0,
    analysis: AnalysisConfig = AnalysisConfig(),
    out: str | Path | RunFolder | None = None,
    progress: Progress | None = None,
    **choice: Unpack[Choice],
) -> Results:
    """Degrade, judge and analyse: the benchmark as one call.

    Parameters
    ----------
    model
        `provider/name`, a `Judge`, or several of them.
    dataset
        Whose texts: a name, a file, a `Dataset`, or several of them; default: the bundled set.
    protocol
        How language models are asked: a name, a file, `dhp.protocol(...)`, or several of them.
    prompt_files
        Published prompts to use as they are: files, folders or `METRIC=FILE`.
    metrics
        Those of the task to judge by; default: all.
    settings
        How language models are reached, how hard they are worked, and what they may cost.
    seed
        Of every random choice.
    analysis
        Tests, combination, expert weights and intervals, and whether to stop early.
    out
        Folder to write the run to; None writes nothing.
    progress
        Called as `progress(what, done, total, cost)`.
    **choice
        Which texts of these, and how they are degraded: the fields of `dhp.Choice`.

    Raises
    ------
    InputError
        For anything wrong with these, in one line.
    StoppedEarly
        At a limit of `settings`, or when a server gives out; the same call goes on from there.
    """
    folder = RunFolder(Path(out)) if isinstance(out, str | Path) else out
    _check(settings, analysis, choice)
    context = settings.context()
    judges = find_judges(model, protocol, settings, context, prompt_files=prompt_files, seed=seed)
    resolve = partial(_resolved, analysis, metrics)
    made = build_texts(dataset, choice, seed, settings, context, progress=progress, check=resolve)
    configs = [resolve(p.dataset.task, p.variants) for p in made]
    perturbed = [p.judged_by(metrics) for p in made]
    return _carry_out(judges, perturbed, configs, seed, folder, progress)


def _carry_out(
    judges: Sequence[Judge],
    perturbed: Sequence[PerturbedDataset],
    configs: Sequence[ResolvedConfig],
    seed: int,
    folder: RunFolder | None,
    progress: Progress | None,
) -> Results:
    identity = _identity(judges, perturbed, configs, seed)
    if folder:
        folder.claim(identity, {p.dataset.name: p.usage for p in perturbed if p.usage})
    for judge in judges:
        if judge.cached_model:
            judge.cached_model.run = text_hash(json.dumps(identity, sort_keys=True))
    judged = [
        _judged(judge, part, config, seed, progress)
        for part, config in zip(perturbed, configs, strict=True)
        for judge in judges
    ]
    results = Results([result for _, result in judged])
    if folder:
        sets = [(p.dataset.name, p.variants, p.texts) for p in perturbed]
        folder.write_examples({p.dataset.name: p.dataset.examples for p in perturbed})
        folder.write(sets, [frame for frame, _ in judged], results)
        if shown := [each for part in perturbed for judge in judges for each in _shown(judge, part)]:
            folder.write_prompts(shown)
        for judge in judges:
            folder.write_steps(f"{judge.model} {judge.protocol}", judge.auto_steps)
        folder.write_steps("perturbations", {p.dataset.name: p.auto_steps for p in perturbed if p.auto_steps})
        folder.write_report(html_report(read_run(folder.path)))
    return results


@takes_old_keywords("stop_when_resolved")
def estimate(
    model: str | Sequence[str],
    dataset: str | Dataset | Sequence[str | Dataset] | None = None,
    *,
    protocol: str | Protocol | Sequence[str | Protocol] = "dhp",
    prompt_files: Sequence[str] = (),
    metrics: Sequence[str] = (),
    settings: ModelSettings = ModelSettings(),
    seed: int = 0,
    analysis: AnalysisConfig = AnalysisConfig(),
    **choice: Unpack[Choice],
) -> list[Estimate]:
    """What `run` would take of language models, at most, asking nothing; parameters and errors as there."""
    _check(settings, analysis, choice)
    context = settings.context()
    judges = find_judges(model, protocol, settings, context, prompt_files=prompt_files, seed=seed)
    made = build_texts(dataset, choice, seed, settings, context, dry=True)
    parts = [p.judged_by(metrics) for p in made]
    texts = perturbing_estimates(parts, choice.get("perturb_model"), settings, context)
    return texts + [
        estimate_requests(
            judge.cached_model,
            judge.protocol,
            part.dataset.name,
            judge.requests(part.candidates(), part.dataset.task),
        )
        for part in parts
        for judge in judges
        if judge.cached_model
    ]


def _check(settings: ModelSettings, analysis: AnalysisConfig, choice: Choice) -> None:
    for name, given, kind in (("settings", settings, ModelSettings), ("analysis", analysis, AnalysisConfig)):
        if not isinstance(given, kind):
            raise InputError(f"{name}: is a {type(given).__name__}; must be a dhp.{kind.__name__}")
    if analysis.stop_when_resolved and choice.get("doses"):
        raise InputError(
            "--doses: cannot be used with --stop-when-resolved, as curves need the same examples at each dose"
        )


def _resolved(
    analysis: AnalysisConfig, metrics: Sequence[str], task: Task, variants: Sequence[Variant]
) -> ResolvedConfig:
    perturbers = {v.perturber for v in variants if v.level not in PROBES}
    return analysis.resolve(task.task, perturbers, with_metrics(task, metrics).metric_names)


def _identity(
    judges: Sequence[Judge],
    perturbed: Sequence[PerturbedDataset],
    configs: Sequence[ResolvedConfig],
    seed: int,
) -> dict[str, object]:
    return {
        "seed": seed,
        "analysis": [config.label for config in configs],
        "models": [{"model": judge.model, "protocol": judge.protocol, **judge.settings} for judge in judges],
        "datasets": [p.identity for p in perturbed],
    }


def _judged(
    judge: Judge, part: PerturbedDataset, config: ResolvedConfig, seed: int, progress: Progress | None
) -> tuple["pd.DataFrame", Result]:
    """The ratings of one judge on one dataset, and what follows from them."""
    before = replace(judge.cached_model.usage) if judge.cached_model else Usage()
    frame = _rated(judge, part, config, seed, progress)
    (group,) = groups(frame)
    result = analyze_group(
        group,
        config,
        part.variants,
        left_out=part.left_out,
        levels="suite" if part.dataset.suite else "column",
        signature=_signature(part, group.size, config, judge),
        scales={m.name: m.scale for m in part.dataset.task.metrics},
    )
    if judge.cached_model:
        usage = judge.cached_model.usage.since(before)
        cost = usage.cost(judge.cached_model.context.budget.prices)
        result = replace(result, usage=usage.lasting, cost=cost)
    return frame, result


def _rated(
    judge: Judge, part: PerturbedDataset, config: ResolvedConfig, seed: int, progress: Progress | None
) -> "pd.DataFrame":
    """All ratings of one judge on one dataset as a table; what it left unrated is there as failed.

    In a run with looks, what was not asked is there as stopped.
    """
    ahead, task = part.candidates(), part.dataset.task
    per_text = len(task.metrics) * judge.samples
    total = len(ahead) * per_text
    what = f"{judge.model} on {part.dataset.name}"
    ratings: list[Rating] = []
    cached_model = judge.cached_model
    before = replace(cached_model.session_usage) if cached_model else Usage()

    def show() -> None:
        if progress:
            progress(what, len(ratings), total, cached_model.spent(before) if cached_model else "")

    if cached_model:
        what = f"{judge.model} ({judge.protocol.partition('@')[0]}) on {part.dataset.name}"
        cached_model.on_wait = show
    judge.prepare(ahead, task)
    shown = time.monotonic()
    examples = [e.id for e in part.dataset.examples]
    looks = example_looks(examples, seed, part.dataset.name) if config.interim else dict.fromkeys(examples, 1)
    for look in range(1, 1 + max(looks.values())):
        turn = [c for c in ahead if looks[c.example] == look]
        ahead = [c for c in ahead if looks[c.example] > look]
        for rating in checked_ratings(judge, turn, task) if turn else ():
            ratings.append(rating)
            if len(ratings) == total or time.monotonic() - shown > _SECONDS_BETWEEN_SHOWS:
                shown = time.monotonic()
                show()
        if ahead:
            ahead = _needed(ahead, _table(judge, part, ratings, looks), config)
            total = len(ratings) + len(ahead) * per_text
            show()
    return _table(judge, part, ratings, looks if config.interim else {})


def _needed(ahead: Sequence[Candidate], frame: "pd.DataFrame", config: ResolvedConfig) -> list[Candidate]:
    """The texts that are still to be rated: of variants that are not resolved, and the originals for them."""
    (group,) = groups(frame)
    variants = dict.fromkeys(c.variant for c in ahead if c.variant != ORIGINAL and c.level not in PROBES)
    done = resolved(group, list(variants), config)
    wanted = {c.example for c in ahead if c.variant not in {ORIGINAL, *done}}
    return [c for c in ahead if c.variant not in done and c.example in wanted]


def _table(
    judge: Judge, part: PerturbedDataset, ratings: Sequence[Rating], looks: Mapping[str, int]
) -> "pd.DataFrame":
    """The ratings in the order of the texts; with looks also their column, and what was not asked."""
    import pandas as pd

    candidates, metrics = part.candidates(), part.dataset.task.metric_names
    rows = list(ratings)
    if looks:
        rated = {(r.example, r.variant) for r in ratings}
        rows += [
            Rating(c.example, c.variant, metric, sample, None, STOPPED)
            for c in candidates
            if (c.example, c.variant) not in rated
            for metric in metrics
            for sample in range(judge.samples)
        ]
    texts = {(c.example, c.variant): place for place, c in enumerate(candidates)}
    rows.sort(key=lambda r: (texts[r.example, r.variant], metrics.index(r.metric), r.sample))
    columns = {f.name: [getattr(r, f.name) for r in rows] for f in fields(Rating)}
    levels = {v.name: v.level for v in part.variants}
    columns["level"] = [levels.get(variant) for variant in columns["variant"]]
    if looks:
        columns["look"] = [looks[example] for example in columns["example"]]
    return pd.DataFrame(columns).assign(model=judge.model, protocol=judge.protocol, dataset=part.dataset.name)


def _shown(judge: Judge, part: PerturbedDataset) -> list[dict[str, str]]:
    """The prompts about the first original of a dataset."""
    first = part.candidates()[0]
    about = {"model": judge.model, "protocol": judge.protocol, "dataset": part.dataset.name}
    return [{**about, "example": first.example, **each} for each in judge.prompts(first, part.dataset.task)]


def _signature(part: PerturbedDataset, size: str, config: ResolvedConfig, judge: Judge) -> Signature:
    identity = part.identity
    return Signature(
        dataset=f"{part.dataset.name}@{identity['data']}",
        n=size,
        suite=f"{part.suite}@{identity['perturbed']}",
        method=part.methods,
        metrics=f"{len(part.dataset.task.metrics)}@{identity['metrics']}",
        weights=config.signed_weights,
        statistics=config.signed_statistics,
        protocol=judge.protocol,
        seed=str(part.seed),
    )
