"""The whole pipeline from examples to results; the only module that knows all stages.

`run` makes a `RunSpec` of its keywords, and `run_within` goes the way of a text:

1. the judges are found, and the folder is checked, before anything is paid for;
2. texts are degraded (`degraded`), once it is known that the judges can be asked about them;
3. the run gets its name, and takes its folder (`_named_for_run`);
4. each judge rates the texts of each dataset, and its ratings are analysed (`_judged`, `_of_judge`);
5. results, prompts and the report are written (`_write`).

If answers come later, as from a batch, the same way is gone again when they are there: every reply is stored.
`estimate` goes the first steps of it, and counts the requests. `judge_texts` rates without degrading.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Self, TypeVar

from dhp.analysis.analyze import analyze_ratings, of_comparisons
from dhp.analysis.config import AnalysisConfig, ResolvedConfig
from dhp.analysis.merged_ratings import merged_ratings
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.results import Result, Results
from dhp.content.catalog import Metrics, metric_list, override, read_protocol, with_metrics
from dhp.content.own_task import LABELS_OF_FUNCTIONS, chosen_metrics, function_task
from dhp.core.checks import Checked
from dhp.core.errors import InputError
from dhp.core.options import as_list, keywords_of
from dhp.core.presets import PresetName, paper_settings
from dhp.core.progress import Progress, numbered, progress_of, stage
from dhp.core.protocol_spec import Protocol, Protocols
from dhp.core.records import PROBES, Candidate, Variant
from dhp.core.signature import protocol_name
from dhp.core.specs import Task
from dhp.judge.adapters.settings import JudgeSettings
from dhp.judge.api import Judge
from dhp.judge.factory import all_own, any_function, any_recorded, find_judges
from dhp.judge.judges.recorded import columns_of, reads_table, recorded_file
from dhp.judge.prompt_files import PromptFiles
from dhp.judge.ratings import COLUMNS, judge_estimates, rate_texts
from dhp.llm.cached_model import RequestContext, latency, taken
from dhp.llm.estimate import Estimate
from dhp.llm.settings import ModelSettings
from dhp.loaders.dataset import Dataset
from dhp.loaders.memory import Rows
from dhp.loaders.rated import given_texts, rated_task
from dhp.loaders.recorded_texts import recorded_texts
from dhp.perturb.builder import Data, build_texts, with_own_task
from dhp.perturb.content_note import content_notes
from dhp.perturb.llm.model import LOOKED_AT, perturbing_estimates
from dhp.perturb.perturbed_dataset import PerturbedDataset, original_of
from dhp.perturb.settings import Choice, PerturbModel
from dhp.report.page import html_report
from dhp.report.so_far import SoFar
from dhp.runs.rating import rate_dataset
from dhp.runs.reader import open_run
from dhp.runs.writer import RunFolder, run_name

if TYPE_CHECKING:
    import pandas as pd

R = TypeVar("R")


@dataclass(frozen=True)
class JudgesSpec(Checked):
    """Judges, and how they are asked; fields as in `run`."""

    model: object
    _: KW_ONLY
    protocol: Protocols = "dhp"
    prompt: PromptFiles = ()
    metrics: Metrics = ()
    scale: str | tuple[float, float] | None = None
    labels: str | Sequence[str] = ()
    settings: ModelSettings = ModelSettings()
    judge_settings: JudgeSettings = JudgeSettings()
    seed: int = 0
    progress: Progress | bool | None = True

    def with_scale(self) -> Self:
        """The same with scale or labels where they belong: those of a function, else of the metrics."""
        if self.scale is None and not self.labels:
            return self

        # A function returns numbers on a scale of its own, never words.
        if self.labels and all(any_function([model]) for model in as_list(self.model)):
            raise InputError(LABELS_OF_FUNCTIONS)
        if any_function(self.model) and not self.labels:
            own_scale = replace(self.judge_settings, scale=self.scale)
            return replace(self, judge_settings=own_scale, scale=None)

        # One text of labels: "bad,fair,good".
        labels = self.labels.split(",") if isinstance(self.labels, str) else self.labels
        metrics = chosen_metrics(metric_list(self.metrics), self.scale, labels, prompted=bool(self.prompt))
        return replace(self, metrics=metrics, scale=None, labels=())

    def judges(self, context: RequestContext) -> list[Judge]:
        """The judges that are named."""
        judges = find_judges(
            self.model,
            self.protocol,
            self.settings,
            context,
            prompt_files=self.prompt,
            seed=self.seed,
            judge_settings=self.judge_settings,
            # With one metric several prompt files are versions of its prompt.
            one_metric=len(as_list(self.metrics)) == 1,
        )
        return [judge.for_benchmark(by_metric=bool(self.metrics)) for judge in judges]


@dataclass(frozen=True)
class RunSpec(Choice, JudgesSpec):
    """What `run` is asked; fields as in `run`."""

    model: object = "baseline/surface"
    dataset: Data = None
    _: KW_ONLY
    analysis: AnalysisConfig = AnalysisConfig()
    out: str | Path | RunFolder | None = None
    preset: PresetName | None = None

    def with_preset(self) -> "RunSpec":
        """The same with the settings of its preset; raises `InputError` for a setting that contradicts it."""
        if self.preset is None:
            return self
        model = self.perturb_model
        if model is not None:
            settings = model if isinstance(model, PerturbModel) else PerturbModel(model)
            model = as_in_paper(settings, "choice.perturb_model")
        chosen = as_in_paper(self, "choice")
        return replace(
            chosen,
            preset=None,
            dataset="all" if self.dataset is None else self.dataset,
            protocol=_paper_protocol(self.protocol, prompted=bool(self.prompt)),
            analysis=as_in_paper(self.analysis, "analysis"),
            perturb_model=model,
        )

    def config(self, task: Task, variants: Sequence[Variant], *, judged: bool = True) -> ResolvedConfig:
        """How ratings of these variants are analysed; raises `InputError` for what does not fit.

        `judged` says whether the task has the metrics of the judge: else a pass mark is left aside if judges
        bring metrics of their own.
        """
        # Weights are of damage: controls and attacks have none.
        perturbers = {v.perturber for v in variants if v.level not in PROBES}
        asked = self.analysis
        if not judged and all_own(self.model):
            asked = replace(asked, pass_mark=None)
        return asked.resolve(task.task, perturbers, task.metric_names, task.metrics)

    def folder(self) -> RunFolder | None:
        """Where it is written, if anywhere."""
        return RunFolder(Path(self.out)) if isinstance(self.out, str | Path) else self.out

    def known(self, judges: Sequence[Judge]) -> dict[str, object]:
        """The parts of the run's identity that are known before any text is made."""
        return {"seed": self.seed, "models": [judge.identity for judge in judges]}

    def texts(self) -> Data:
        """Whose texts: without `dataset` those that recorded judges were asked about."""
        names = [each for each in as_list(self.model) if reads_table(each)]
        if self.dataset is not None or not names:
            return self.dataset
        return recorded_texts(recorded_file(names[0]), columns_of(names[0]))

    def choice(self) -> Choice:
        """The choice of texts, with the task that follows from the other settings.

        Harmless edits are left out if a judge reads recorded scores and nobody asks for them. Texts that
        only functions and scorers judge, which bring their metrics, need no task.
        """
        choice: Choice = self
        if self.controls is None and any_recorded(self.model):
            # A table of recorded scores knows its own texts alone: harmless edits made now have none there.
            choice = replace(self, controls=False)
        default = function_task() if all_own(self.model) else None
        return with_own_task(self.dataset, choice, self.metrics, default)


def _paper_protocol(asked: Protocols, *, prompted: bool) -> Protocol:
    """How the paper asks; steps are left to a file of them, or to prompts of one's own."""
    protocols = []
    for each in as_list(asked):
        protocols.append(read_protocol(each) if isinstance(each, str) else each)
    # Several protocols contradict the preset, which asks in one way.
    known = protocols[0] if len(protocols) == 1 else None
    # It is known by its file: a user may have changed it and given it another name.
    if not isinstance(known, Protocol) or known.origin != read_protocol("dhp").origin:
        raise InputError("`protocol`: contradicts preset 'paper'; leave one of them out")
    settings = paper_settings("changes", known)
    if prompted:
        settings.pop("steps", None)  # the user's prompt has its own
    for name, value in settings.items():
        if name in known.changed and getattr(known, name) != value:
            raise InputError(f"`protocol`: its {name} contradicts preset 'paper', which has {value!r}")
    return override(known, **settings)


def as_in_paper(record: R, parameter: str) -> R:
    """A settings record as the paper has it; raises `InputError` for a field that says something else."""
    whole: Any = record
    defaults = {field.name: field.default for field in fields(whole)}
    settings = paper_settings(parameter, record)
    for name, value in settings.items():
        # A setting at its default was left to the preset; any other value was asked for.
        if getattr(record, name) not in (value, defaults[name]):
            raise InputError(
                f"`{name}`: contradicts preset 'paper', which has {value!r}; leave one of them out"
            )
    changed: R = replace(whole, **settings)
    return changed


@keywords_of(RunSpec)
def run(spec: RunSpec) -> Results:
    """Degrade, judge and analyse: the benchmark as one call.

    Parameters
    ----------
    model
        `provider/name`, `python:MODULE:OBJECT`, a `Judge`, a function, a framework's scorer, or several.
    dataset
        Whose texts: a name, a file, a DataFrame, a list of dictionaries, a `Dataset`, or several of them;
        default: the bundled set.
    data, task, fields, where, strict, n, min_characters, text_language, judge_part
        Which of these texts: fields of `dhp.Choice`.
    suite, perturbers, perturb_model, perturbed, controls, attacks, doses
        How they are degraded: fields of `dhp.Choice`.
    protocol
        How language models are asked: a name, a file, `dhp.protocol(...)`, or several of them.
    prompt
        Prompts to use as they are, one or several: files, folders or `METRIC=FILE`. `{{slot}}` or `{slot}`
        takes a column. Several folders, or with one metric several files, are versions of a prompt.
    metrics
        Those of the task to judge by, default all. With `scale` or `labels` names of your own.
    scale, labels
        Of your own metrics, or of the scores of a function: `1..10` (`10..1` says that lower is better), or
        words, the worst first. A prompt without `metrics` rates one that is called `score`.
    settings, judge_settings, analysis
        How models are reached and what they may cost; what is said about a judge of your own; the tests.
        Fields of these may stand by themselves: `base_url="http://localhost:8000/v1"`, `pass_mark=7`.
    seed
        Of every random choice.
    out
        Folder to write the run to; None writes nothing.
    preset
        `paper` for the settings of the DHP paper: its six sets, five answers at temperature 0, its
        statistics, no controls. Prompts of your own and steps from a file may stand beside it.
    progress
        True shows it on terminals and in notebooks; a function is called as `f(what, done, total, cost)`.

    Raises
    ------
    InputError, StoppedEarly
        For anything wrong with these; at a limit of `settings`, or when a server gives out (resumable).
    """
    spec = spec.with_preset().with_scale()
    with progress_of(spec.progress) as show:
        return spec.settings.filled(partial(run_within, spec, show))


def run_within(spec: RunSpec, progress: Progress | None, context: RequestContext) -> Results:
    """`run` within a request context, which several runs may share: limits hold for all of them together."""
    judges = spec.judges(context)
    with spec.folder() or nullcontext() as folder:
        # The folder is looked at before texts are made: a language model may make them, for money.
        if folder:
            folder.check(spec.known(judges))
        made = degraded(spec, judges, progress, context)
        parts = [part.judged_by(spec.metrics) for part in made]
        judges = _named_for_run(spec, judges, parts, folder)

        # Ratings lie in a temporary place until `_write` puts them into the folder. A run that is stopped
        # drops them; the replies of its models are stored.
        with folder.ratings if folder else nullcontext(), _models_noted(folder, judges):
            analysed = _judged(spec, judges, parts, folder, progress)
            context.stop_if_waiting()  # no results of a part of the answers
            all_results = [result for result, _ in analysed]
            all_ratings = [ratings for _, ratings in analysed]
            results = Results(all_results, all_ratings, folder.path if folder else None)
            if folder:
                _write(folder, results, judges, parts, progress)
    return results


def degraded(
    spec: RunSpec, judges: Sequence[Judge], progress: Progress | None, context: RequestContext
) -> list[PerturbedDataset]:
    """The texts of a run, once it is known that the judges can be asked about them; errors as in `run`."""
    return build_texts(
        spec.texts(),
        spec.choice(),
        spec.seed,
        spec.settings,
        context,
        progress=progress,
        check=partial(_check_asked, spec, judges),
    )


def _check_asked(
    spec: RunSpec, judges: Sequence[Judge], dataset: Dataset, variants: Sequence[Variant]
) -> None:
    """Raise `InputError` for metrics, weights, prompts and servers, before a dataset is degraded."""
    _check_settings(spec, judges, dataset, variants)
    task = with_metrics(dataset.task, spec.metrics)
    first_examples = dataset.examples[:LOOKED_AT]
    originals = [original_of(example, task) for example in first_examples]
    for judge in judges:
        if judge.cached_model:
            judge.cached_model.check_server(judge.requests(originals, task))


def _check_settings(
    spec: RunSpec, judges: Sequence[Judge], dataset: Dataset, variants: Sequence[Variant]
) -> None:
    """The part of `_check_asked` that asks no server, as a dry run must not."""
    task = with_metrics(dataset.task, spec.metrics)
    # Both raise for what does not fit; what they return is of no use yet.
    spec.config(task, variants, judged=False)
    original = original_of(dataset.examples[0], task)
    for judge in judges:
        judge.prompts(original, task)


def _named_for_run(
    spec: RunSpec,
    judges: Sequence[Judge],
    parts: Sequence[PerturbedDataset],
    folder: RunFolder | None,
) -> list[Judge]:
    """The judges with the token limits that they need and the name of the run, for which the folder is taken.

    Raises `InputError` for a mark or weights that do not fit a judge, and for a folder of another run.
    """
    # To learn what a judge's answers need, it is asked: these replies count to the run by its name so far.
    name = run_name(_identity(spec, judges, parts))
    asked = [(part.candidates(), part.dataset.task) for part in parts]
    judges = [judge.with_token_limit(asked, name) for judge in judges]
    _each_judged(spec, judges, parts)  # raises for what does not fit, before the folder is taken
    identity = _identity(spec, judges, parts)  # anew: it holds the token limits

    if folder:
        usage, examples, texts = {}, {}, []
        for part in parts:
            dataset = part.dataset
            examples[dataset.name] = dataset.examples
            texts.append((dataset.name, part.variants, part.texts))
            if part.usage:
                usage[dataset.name] = part.usage
        folder.claim(identity, usage)
        # The file of ratings has the same columns for all datasets and judges, from its first row on.
        folder.ratings.clustered = any(part.dataset.clusters for part in parts)
        folder.ratings.explained = len(judges) > 1 and any(judge.explains for judge in judges)
        folder.write_texts(examples, texts)

    for judge in judges:
        if judge.cached_model:
            judge.cached_model.run = run_name(identity)
    return judges


def _judged(
    spec: RunSpec,
    judges: Sequence[Judge],
    parts: Sequence[PerturbedDataset],
    folder: RunFolder | None,
    progress: Progress | None,
) -> list[tuple[Result, RatingsArray]]:
    """Results and ratings of each judge on each dataset, but for judges that still wait for answers."""
    each_judged = _each_judged(spec, judges, parts)
    done: list[tuple[Result, RatingsArray]] = []
    # It sees `done` grow, and writes the report of what is there if the run is stopped.
    so_far = SoFar(folder, done, len(each_judged)) if folder else None
    with so_far.stopping() if so_far else nullcontext():
        for number, (judge, part) in enumerate(each_judged, 1):
            show = numbered(progress, number, len(each_judged))
            made = _of_judge(spec, judge, part, folder, so_far, show)
            if made is not None:
                done.append(made)
    return done


def _write(
    folder: RunFolder,
    results: Results,
    judges: Sequence[Judge],
    parts: Sequence[PerturbedDataset],
    progress: Progress | None,
) -> None:
    """Write results, prompts, steps and the report of a run into its folder."""
    folder.write_results(results)
    prompts: list[dict[str, str]] = []
    for part in parts:
        for judge in judges:
            prompts += _prompts(judge, part)
    if prompts:
        folder.write_prompts(prompts)
    for judge in judges:
        folder.write_steps(f"{judge.model} {judge.protocol}", judge.auto_steps)
    steps_by_task = {}
    for part in parts:
        if part.auto_steps:
            steps_by_task[part.dataset.task.task] = part.auto_steps
    folder.write_steps("perturbations", steps_by_task)
    folder.write_report(html_report(open_run(results, str(folder.path)), progress))


def _each_judged(
    spec: RunSpec, judges: Sequence[Judge], perturbed: Sequence[PerturbedDataset]
) -> list[tuple[Judge, PerturbedDataset]]:
    """Each judge with each part as it judges it; errors for a mark or weights that do not fit."""
    each_judged = []
    for part in perturbed:
        for judge in judges:
            # A function brings its own metrics; it rates the first originals to see which.
            task = judge.own_task(part.dataset.task, part.candidates())
            each_judged.append((judge, part.judged_as(task)))
    # Only for its errors: `_analysed` resolves the configuration again once there are ratings.
    for _, part in each_judged:
        spec.config(part.dataset.task, part.variants)
    return each_judged


@contextmanager
def _models_noted(folder: RunFolder | None, judges: Sequence[Judge]) -> Iterator[None]:
    """Writes which models have answered, also if the run is stopped."""
    try:
        yield
    finally:
        # Several judges may share a model, under several protocols: their counts are added.
        counts: dict[str, Counter[str]] = {}
        for judge in judges:
            if judge.cached_model and judge.cached_model.answered_by:
                of_model = counts.setdefault(judge.model, Counter())
                of_model.update(judge.cached_model.answered_by)
        if folder and counts:
            folder.note_models(counts)


@keywords_of(RunSpec)
def estimate(spec: RunSpec) -> list[Estimate]:
    """What `run` would take of language models, at most, asking nothing; parameters and errors as there."""
    spec = spec.with_preset().with_scale()
    context = spec.settings.context()
    judges = spec.judges(context)
    with spec.folder() or nullcontext() as folder:
        if folder:
            folder.check(spec.known(judges))

    # Nothing is asked: a text like the original stands for each one that a language model is to make.
    choice = spec.choice()
    check = partial(_check_settings, spec, judges)
    with progress_of(spec.progress) as show:
        made = build_texts(
            spec.texts(), choice, spec.seed, spec.settings, context, progress=show, check=check, dry=True
        )
    parts = [part.judged_by(spec.metrics) for part in made]
    _each_judged(spec, judges, parts)  # raises for what does not fit

    estimates = perturbing_estimates(parts, choice, spec.settings, context)
    for part in parts:
        estimates += judge_estimates(judges, part.dataset.name, part.candidates(), part.dataset.task)
    return estimates


@dataclass(frozen=True)
class RatingSpec(JudgesSpec):
    """What `judge_texts` is asked; fields as in `judge_texts`."""

    data: str | Rows | Sequence[Candidate]
    _: KW_ONLY
    task: str | None = None


@keywords_of(RatingSpec)
def judge_texts(spec: RatingSpec) -> "pd.DataFrame":
    """Rate given texts without degrading them.

    Parameters
    ----------
    model, protocol, prompt, metrics, scale, labels, settings, judge_settings, seed, progress
        As for `run`.
    data
        A table of texts, a file or in memory, `NAME=FILE` of a published set (see `dhp.loaders.rated`), or
        `Candidate`s.
    task
        What the systems had to do: a name or a YAML file. Default: the published set's, else
        `summarization`.

    Returns
    -------
    DataFrame
        Columns `source, system, metric, sample, score, status, raw, model, protocol`, as
        `dhp.correlate` takes them.

    Raises
    ------
    InputError, StoppedEarly
        As `run`.
    """
    import pandas as pd

    spec = spec.with_scale()
    parts = spec.settings.filled(lambda context: list(rating_parts(spec, context)))
    # pandas cannot join an empty list: without texts the table is one of no rows.
    return pd.concat(parts or [pd.DataFrame(columns=COLUMNS)], ignore_index=True)


def rating_parts(spec: RatingSpec, context: RequestContext) -> "Iterator[pd.DataFrame]":
    """The ratings of `judge_texts` in parts, so that neither texts nor ratings need to fit into memory."""
    judges = pointwise_only(spec.judges(context))
    with progress_of(spec.progress) as show:
        texts = given_texts(spec.data)
        task = with_metrics(rated_task(spec.data, spec.task), spec.metrics)
        yield from rate_texts(judges, texts, task, show)
    context.stop_if_waiting()


def estimate_texts(spec: RatingSpec) -> list[Estimate]:
    """What `judge_texts` would take of language models, at most, asking nothing."""
    judges = pointwise_only(spec.judges(spec.settings.context()))
    texts = given_texts(spec.data)
    task = with_metrics(rated_task(spec.data, spec.task), spec.metrics)
    return judge_estimates(judges, str(spec.data), texts, task)


def _identity(
    spec: RunSpec, judges: Sequence[Judge], perturbed: Sequence[PerturbedDataset]
) -> dict[str, object]:
    """All that the ratings and the figures depend on."""
    analysis = []
    for part in perturbed:
        config = spec.config(part.dataset.task, part.variants, judged=False)
        analysis.append(config.label)
    return {
        "seed": spec.seed,
        "analysis": analysis,
        "models": [judge.identity for judge in judges],
        "datasets": [part.identity for part in perturbed],
    }


def _of_judge(
    spec: RunSpec,
    judge: Judge,
    part: PerturbedDataset,
    folder: RunFolder | None,
    so_far: SoFar | None,
    progress: Progress | None,
) -> tuple[Result, RatingsArray] | None:
    """The result of one judge on one dataset, and its ratings, which also go to the folder.

    None while the judge waits for answers.
    """
    # What this dataset takes is a difference: the model counts over the whole run.
    model = judge.cached_model
    before, calls = None, 0
    if model:
        before, calls = replace(model.usage), len(model.call_seconds)

    inapplicable = Counter(text.variant for text in part.texts if text.text is None)
    data, texts = part.dataset, part.candidates()
    asked = judge.asked_about(texts)

    def analysed(ratings: RatingsArray) -> tuple[Result, RatingsArray]:
        """The result of ratings of all examples, or of those that are there so far, and the ratings."""
        ratings = replace(ratings, inapplicable=inapplicable)
        usage, cost = taken(model, before)
        result = _analysed(spec, judge, part, ratings, all_asked=len(asked) == len(texts))
        result = replace(result, usage=usage, cost=cost)
        if model:
            seconds = model.call_seconds[calls:]
            result = replace(result, priced=model.prices[1], latency=latency(seconds))
        return result, ratings

    # The frames pass through all who want them, as they are rated: none is kept in memory.
    watch = so_far.watch(analysed, len(data.examples)) if so_far else None
    frames = rate_dataset(
        judge, asked, data.task, data.name, progress=progress, clusters=data.clusters, watch=watch
    )
    if folder and so_far:
        frames = so_far.kept(folder.ratings.tee(frames))
    merged = merged_ratings(frames)
    if judge.waits:
        return None  # the requests of the other judges are to be collected too
    (ratings,) = merged  # all of one judge on one dataset, which are one array
    with stage(progress, f"analysing {judge.model} on {data.name}"):
        return analysed(ratings)


def _analysed(
    spec: RunSpec, judge: Judge, part: PerturbedDataset, ratings: RatingsArray, *, all_asked: bool
) -> Result:
    """What the ratings of one judge on one dataset say; `all_asked`: whether it was asked about all texts."""
    config = spec.config(part.dataset.task, part.variants)
    if judge.compare:
        # Preferences between two texts are no grades, so they are tested by flips of their signs.
        config = replace(config, statistics="sign-flip")
    data = part.dataset

    # The signature states the kinds that were asked about, the analysis those that apply to some text.
    if not all_asked:
        part = part.rated(ratings.variants)
    applied = part.rated(ratings.variants)
    signature = part.signature(ratings.size, config.signed_weights, config.signed_statistics, judge.protocol)
    # Curves of doses state the median length: so readers see how long the texts were that got so many edits.
    lengths = [len(example.output) for example in data.examples]
    result = analyze_ratings(
        ratings,
        config,
        applied.variants,
        left_out=applied.left_out,
        levels="suite" if data.suite else "column",
        signature=signature,
        scales={metric.name: metric.scale for metric in data.task.metrics},
        notes=(*data.notes, *content_notes(part)),
        characters=round(median(lengths)),
    )
    return of_comparisons(result) if judge.compare else result


def _prompts(judge: Judge, part: PerturbedDataset) -> list[dict[str, str]]:
    """The prompts about the first original of a dataset."""
    first = part.candidates()[0]
    about = {
        "model": judge.model,
        "protocol": judge.protocol,
        "dataset": part.dataset.name,
        "example": first.example,
    }
    prompts = judge.prompts(first, part.dataset.task)
    return [{**about, **prompt} for prompt in prompts]


def pointwise_only(judges: Sequence[Judge]) -> Sequence[Judge]:
    """The judges; raises `InputError` for one that compares texts with originals, which are not there."""
    for judge in judges:
        if judge.compare:
            name = protocol_name(judge.protocol)
            raise InputError(f"`protocol` {name}: needs originals; allowed: pointwise protocols")
    return judges
