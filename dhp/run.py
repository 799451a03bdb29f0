"""The whole chain, examples to results, and ratings of given texts: the only module that knows all stages."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from dhp.analysis.analyze import analyze_ratings
from dhp.analysis.config import AnalysisConfig, ResolvedConfig, takes_old_keywords
from dhp.analysis.dose_response import with_length
from dhp.analysis.ratings_parts import merged_ratings
from dhp.analysis.results import Result, Results, without_absent
from dhp.content.own_task import with_metrics
from dhp.core.errors import InputError, Waiting
from dhp.core.pair_spec import Protocols
from dhp.core.progress import Progress, numbered, stage
from dhp.core.records import PROBES, Variant
from dhp.core.specs import Metric, Task
from dhp.core.terminal_progress import progress_of
from dhp.judge.adapters.settings import JudgeSettings
from dhp.judge.answer_room import with_room
from dhp.judge.api import Judge
from dhp.judge.factory import all_computed, find_judges
from dhp.judge.rate_texts import COLUMNS, judge_estimates, rate_texts
from dhp.llm.cached_model import RequestContext
from dhp.llm.estimate import Estimate
from dhp.llm.settings import ModelSettings
from dhp.llm.usage import Usage
from dhp.loaders.dataset import Dataset
from dhp.loaders.rated import RatedText, given_texts, rated_task
from dhp.perturb.build import build_texts
from dhp.perturb.candidates import original_of
from dhp.perturb.choice import Choice, with_own_task
from dhp.perturb.dose_suites import SEARCHED
from dhp.perturb.model_config import LOOKED_AT, perturbing_estimates
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.report.page import html_report
from dhp.runs.comparisons import of_comparisons, pointwise_only
from dhp.runs.rating import rate_dataset
from dhp.runs.reader import read_run
from dhp.runs.writer import RunFolder, run_name

if TYPE_CHECKING:
    import pandas as pd


class Way(TypedDict, total=False):
    """How language models are asked; keywords of `run` and `estimate`."""

    protocol: Protocols
    prompt_files: Sequence[str]
    metrics: Sequence[str | Metric]
    settings: ModelSettings
    judge_settings: JudgeSettings
    seed: int
    analysis: AnalysisConfig


@takes_old_keywords("weights", "statistics", "combination", "stop_when_resolved")
def run(
    model: object = "baseline/surface",
    dataset: str | Dataset | Sequence[str | Dataset] | None = None,
    *,
    protocol: Protocols = "dhp",
    prompt_files: Sequence[str] = (),
    metrics: Sequence[str | Metric] = (),
    settings: ModelSettings = ModelSettings(),
    judge_settings: JudgeSettings = JudgeSettings(),
    seed: int = 0,
    analysis: AnalysisConfig = AnalysisConfig(),
    out: str | Path | RunFolder | None = None,
    progress: Progress | bool | None = True,
    **choice: Unpack[Choice],
) -> Results:
    """Degrade, judge and analyse: the benchmark as one call.

    Parameters
    ----------
    model
        `provider/name`, `python:MODULE:OBJECT`, a `Judge`, a function, a framework's scorer, or several.
    dataset
        Whose texts: a name, a file, a `Dataset`, or several of them; default: the bundled set.
    protocol
        How language models are asked: a name, a file, `dhp.protocol(...)`, or several of them.
    prompt_files
        Prompts to use as they are: files, folders or `METRIC=FILE`. `{{slot}}` or `{slot}` takes a column.
    metrics
        Those of the task to judge by, default all, or of your own: `dhp.own_metric("usefulness", (1, 10))`.
    settings
        How language models are reached, how hard they are worked, and what they may cost.
    judge_settings
        What is said about a judge of your own: scale, threshold, version, what its parameters are given.
    seed
        Of every random choice.
    analysis
        Tests, combination, expert weights and intervals, and whether to stop early.
    out
        Folder to write the run to; None writes nothing.
    progress
        True shows it on terminals and in notebooks; a function is called as `f(what, done, total, cost)`.
    **choice
        Which texts of these, and how they are degraded: the fields of `dhp.Choice`.

    Raises
    ------
    InputError, StoppedEarly
        For anything wrong with these; at a limit of `settings`, or when a server gives out (resumable).
    """
    _check(settings, analysis, choice)
    folder, context = RunFolder(Path(out)) if isinstance(out, str | Path) else out, settings.context()
    find = partial(find_judges, prompt_files=prompt_files, seed=seed, by_metric=bool(metrics))
    judges = find(model, protocol, settings, context, judge_settings=judge_settings)
    check = partial(_check_asked, judges, metrics, resolve := partial(_resolved, analysis))
    if folder:
        folder.check({"seed": seed, "models": [judge.identity for judge in judges]})
    choice = with_own_task(dataset, _with_controls(_with_doses(choice, analysis), model), metrics)
    with progress_of(progress) as show:
        made = build_texts(dataset, choice, seed, settings, context, progress=show, check=check)
        return _carry_out(judges, [p.judged_by(metrics) for p in made], resolve, seed, folder, show, context)


def _check_asked(
    judges: Sequence[Judge],
    metrics: Sequence[str | Metric],
    resolve: Callable[[Task, Sequence[Variant]], ResolvedConfig],
    dataset: Dataset,
    variants: Sequence[Variant],
) -> None:
    """Raise `InputError` for metrics, weights, prompts and servers, before a dataset is degraded."""
    resolve(task := with_metrics(dataset.task, metrics), variants)
    originals = [original_of(example, task) for example in dataset.examples[:LOOKED_AT]]
    for judge in judges:
        judge.prompts(originals[0], task)
        if judge.cached_model:
            judge.cached_model.check_server(judge.requests(originals, task))


def _carry_out(
    judges: Sequence[Judge],
    perturbed: Sequence[PerturbedDataset],
    resolve: Callable[[Task, Sequence[Variant]], ResolvedConfig],
    seed: int,
    folder: RunFolder | None,
    progress: Progress | None,
    context: RequestContext,
) -> Results:
    configs = [resolve(p.dataset.task, p.variants) for p in perturbed]
    name = run_name(_identity(judges, perturbed, configs, seed))
    judges = with_room(judges, [(p.candidates(), p.dataset.task) for p in perturbed], name)
    own = [
        (judge, part.judged_as(judge.own_task(part.dataset.task, part.candidates())))
        for part in perturbed
        for judge in judges
    ]
    identity = _identity(judges, perturbed, configs, seed)
    if folder:
        folder.claim(identity, {p.dataset.name: p.usage for p in perturbed if p.usage})
        folder.ratings.clustered = any(p.dataset.clusters for p in perturbed)
    for judge in judges:
        if judge.cached_model:
            judge.cached_model.run = run_name(identity)
    with folder.ratings if folder else nullcontext():
        found: list[Result] = []
        for place, (judge, part) in enumerate(own, 1):
            with suppress(Waiting):  # the requests of the other judges belong into the same batch
                config = resolve(part.dataset.task, part.variants)
                found.append(_judged(judge, part, config, seed, numbered(progress, place, len(own)), folder))
        if context.batch:
            context.batch.finish()
        results = Results(found)
        if folder:
            folder.write_examples({p.dataset.name: p.dataset.examples for p in perturbed})
            folder.write([(p.dataset.name, p.variants, p.texts) for p in perturbed], results)
            if shown := [each for part in perturbed for judge in judges for each in _shown(judge, part)]:
                folder.write_prompts(shown)
            for judge in judges:
                folder.write_steps(f"{judge.model} {judge.protocol}", judge.auto_steps)
            folder.write_steps(
                "perturbations", {p.dataset.name: p.auto_steps for p in perturbed if p.auto_steps}
            )
            folder.write_report(html_report(read_run(folder.path), progress))
    return results


@takes_old_keywords("stop_when_resolved")
def estimate(
    model: object,
    dataset: str | Dataset | Sequence[str | Dataset] | None = None,
    *,
    protocol: Protocols = "dhp",
    prompt_files: Sequence[str] = (),
    metrics: Sequence[str | Metric] = (),
    settings: ModelSettings = ModelSettings(),
    judge_settings: JudgeSettings = JudgeSettings(),
    seed: int = 0,
    analysis: AnalysisConfig = AnalysisConfig(),
    **choice: Unpack[Choice],
) -> list[Estimate]:
    """What `run` would take of language models, at most, asking nothing; parameters and errors as there."""
    _check(settings, analysis, choice)
    context = settings.context()
    find = partial(find_judges, prompt_files=prompt_files, seed=seed, by_metric=bool(metrics))
    judges = find(model, protocol, settings, context, judge_settings=judge_settings)
    choice = with_own_task(dataset, _with_doses(choice, analysis), metrics)
    made = build_texts(dataset, choice, seed, settings, context, dry=True)
    parts = [p.judged_by(metrics) for p in made]
    texts = perturbing_estimates(parts, choice.get("perturb_model"), settings, context)
    for part in parts:
        texts += judge_estimates(judges, part.dataset.name, part.candidates(), part.dataset.task)
    return texts


def judge_texts(
    model: object,
    data: str | Sequence[RatedText],
    *,
    task: str | None = None,
    protocol: Protocols = "dhp",
    prompt_files: Sequence[str] = (),
    metrics: Sequence[str | Metric] = (),
    settings: ModelSettings = ModelSettings(),
    judge_settings: JudgeSettings = JudgeSettings(),
    seed: int = 0,
    progress: Progress | bool | None = True,
) -> "pd.DataFrame":
    """Rate given texts without degrading them.

    Parameters
    ----------
    model, protocol, prompt_files, metrics, settings, judge_settings, seed, progress
        As for `run`.
    data
        A table of texts, `NAME=FILE` of a published set (see `dhp.loaders.rated`), or texts.
    task
        What the systems had to do: a name or a YAML file. Default: the published set's, else
        `summarization`.

    Returns
    -------
    DataFrame
        Columns `source, system, metric, sample, score, status, raw, model, protocol`, as
        `dhp.human.agreement.correlate` takes them.

    Raises
    ------
    InputError, StoppedEarly
        As `run`.
    """
    import pandas as pd

    parts = judge_parts(
        model,
        data,
        task=task,
        protocol=protocol,
        prompt_files=prompt_files,
        metrics=metrics,
        settings=settings,
        judge_settings=judge_settings,
        seed=seed,
        progress=progress,
    )
    return pd.concat(list(parts) or [pd.DataFrame(columns=COLUMNS)], ignore_index=True)


def judge_parts(
    model: object,
    data: str | Sequence[RatedText],
    *,
    task: str | None = None,
    protocol: Protocols = "dhp",
    prompt_files: Sequence[str] = (),
    metrics: Sequence[str | Metric] = (),
    settings: ModelSettings = ModelSettings(),
    judge_settings: JudgeSettings = JudgeSettings(),
    seed: int = 0,
    progress: Progress | bool | None = True,
) -> "Iterator[pd.DataFrame]":
    """As `judge_texts`, some texts at a time: neither texts nor ratings need fit into memory."""
    context = settings.context()
    find = partial(find_judges, prompt_files=prompt_files, seed=seed, judge_settings=judge_settings)
    judges = pointwise_only(find(model, protocol, settings, context))
    with progress_of(progress) as show:
        texts = given_texts(data)
        yield from rate_texts(judges, texts, with_metrics(rated_task(data, task), metrics), show)
    if context.batch:
        context.batch.finish()


def estimate_texts(
    model: object,
    data: str | Sequence[RatedText],
    *,
    task: str | None = None,
    protocol: Protocols = "dhp",
    prompt_files: Sequence[str] = (),
    metrics: Sequence[str | Metric] = (),
    settings: ModelSettings = ModelSettings(),
    judge_settings: JudgeSettings = JudgeSettings(),
    seed: int = 0,
) -> list[Estimate]:
    """What `judge_texts` would take of language models, at most, asking nothing; parameters as there."""
    find = partial(find_judges, prompt_files=prompt_files, seed=seed, judge_settings=judge_settings)
    judges = pointwise_only(find(model, protocol, settings, settings.context()))
    texts, chosen = given_texts(data), with_metrics(rated_task(data, task), metrics)
    return judge_estimates(judges, str(data), texts, chosen)


def _check(settings: ModelSettings, analysis: AnalysisConfig, choice: Choice) -> None:
    for name, given, kind in (("settings", settings, ModelSettings), ("analysis", analysis, AnalysisConfig)):
        if not isinstance(given, kind):
            raise InputError(f"{name}: is a {type(given).__name__}; must be a dhp.{kind.__name__}")
    if analysis.stop_when_resolved and (choice.get("doses") or analysis.find_threshold):
        name = "find_threshold" if analysis.find_threshold else "doses"
        raise InputError(
            f"`{name}`: cannot be used with `stop_when_resolved`, as curves need all the examples they get"
        )


def _with_doses(choice: Choice, analysis: AnalysisConfig) -> Choice:
    return {**choice, "doses": SEARCHED} if analysis.find_threshold and not choice.get("doses") else choice


def _with_controls(choice: Choice, model: object) -> Choice:
    """With controls where none are refused, they cost no call, and no dose response would start at them."""
    settled = choice.get("controls") is not None or choice.get("doses") or not all_computed(model)
    return choice if settled else {**choice, "controls": True}


def _resolved(analysis: AnalysisConfig, task: Task, variants: Sequence[Variant]) -> ResolvedConfig:
    perturbers = {v.perturber for v in variants if v.level not in PROBES}
    return analysis.resolve(task.task, perturbers, task.metric_names)


def _identity(
    judges: Sequence[Judge],
    perturbed: Sequence[PerturbedDataset],
    configs: Sequence[ResolvedConfig],
    seed: int,
) -> dict[str, object]:
    return {
        "seed": seed,
        "analysis": [config.label for config in configs],
        "models": [judge.identity for judge in judges],
        "datasets": [p.identity for p in perturbed],
    }


def _judged(
    judge: Judge,
    part: PerturbedDataset,
    config: ResolvedConfig,
    seed: int,
    progress: Progress | None,
    folder: RunFolder | None,
) -> Result:
    """What follows from the ratings of one judge on one dataset, which go to the folder."""
    before = replace(judge.cached_model.usage) if judge.cached_model else Usage()
    if judge.pairwise:
        config = replace(config, statistics="sign-flip")
    data, texts = part.dataset, part.candidates()
    frames = rate_dataset(
        judge, texts, data.task, data.name, config, seed=seed, progress=progress, clusters=data.clusters
    )
    (ratings,) = merged_ratings(folder.ratings.passing(frames) if folder else frames)
    if config.find_threshold:
        part = replace(part, texts=(), variants=tuple(v for v in part.variants if v.name in ratings.variants))
    with stage(progress, f"analysing {judge.model} on {data.name}"):
        result = analyze_ratings(
            ratings,
            config,
            part.variants,
            left_out=part.left_out,
            levels="suite" if data.suite else "column",
            signature=part.signature(
                ratings.size, config.signed_weights, config.signed_statistics, judge.protocol
            ),
            scales={m.name: m.scale for m in data.task.metrics},
        )
    made = without_absent(result, {text.variant for text in part.texts if text.text is None})
    result = replace(made, warnings=(*data.notes, *result.warnings))
    if result.curves:
        result = replace(result, curves=with_length(result.curves, data.examples))
    if judge.pairwise:
        result = of_comparisons(result)
    if judge.cached_model:
        usage = judge.cached_model.usage.since(before)
        cost = usage.cost(judge.cached_model.context.budget.prices)
        result = replace(result, usage=usage.lasting, cost=cost)
    return result


def _shown(judge: Judge, part: PerturbedDataset) -> list[dict[str, str]]:
    """The prompts about the first original of a dataset."""
    first = part.candidates()[0]
    about = {"model": judge.model, "protocol": judge.protocol, "dataset": part.dataset.name}
    return [{**about, "example": first.example, **each} for each in judge.prompts(first, part.dataset.task)]
