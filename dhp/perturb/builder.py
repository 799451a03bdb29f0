"""Degraded texts of named datasets: by rules, authored edits, a language model, or those of a saved set.

A `Builder` knows what is asked of all datasets. For each it chooses the variants, refuses what can be
refused before anything is paid, and collects their texts from rules, from edits that people wrote, from a
language model, or from a saved set.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import chain, groupby
from pathlib import Path

from dhp.content.catalog import DATASETS, Metrics, metric_list, read_authored, read_suite
from dhp.content.own_task import OWN_TASK, function_task, own_task
from dhp.core.errors import InputError, suggest, unique
from dhp.core.options import as_list, keywords_of
from dhp.core.progress import Progress, numbered, progress_of, stage
from dhp.core.records import PerturbedText, Variant, grouped, parse_variant
from dhp.core.specs import ANY_TASK, Metric, PerturberUse, Suite, Task
from dhp.llm.cached_model import RequestContext
from dhp.llm.limits import Usage
from dhp.llm.settings import ModelSettings
from dhp.loaders.dataset import Dataset
from dhp.loaders.memory import Rows, entries
from dhp.loaders.released import is_released, read_released, released_datasets
from dhp.loaders.resolve import is_own, resolve_datasets
from dhp.loaders.user import is_user_data
from dhp.perturb.api import IN_ANOTHER, Perturber
from dhp.perturb.apply import Others, RulesApplied, authored_origin, authored_perturbers, authored_texts
from dhp.perturb.doses import Doses, dosed
from dhp.perturb.language_note import language_note
from dhp.perturb.llm.functions import FunctionTexts, function_texts
from dhp.perturb.llm.model import LlmPerturber, open_perturb_model
from dhp.perturb.llm.prompts import prompt_name
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.probes import chosen_probes
from dhp.perturb.registry import find_perturbers
from dhp.perturb.sets import first_names, read_set, source_hash
from dhp.perturb.settings import Choice
from dhp.perturb.suites import check_suite, stood_in

Data = str | Path | Dataset | Rows | Sequence[str | Path | Dataset | Rows] | None
"""Whose texts: one or several datasets, each a name, a file, a `Dataset` or a table in memory."""


def found_datasets(
    dataset: Data, choice: Choice, seed: int
) -> tuple[list[Dataset], Mapping[str, PerturbedDataset] | None]:
    """The datasets, and the perturbation set if there is one."""
    perturbed, suite, data = choice.perturbed, choice.suite, choice.data
    named = entries(dataset)
    if dataset is not None and not named:
        raise InputError("dataset: is an empty list; allowed: None for the default, or at least one")

    # `perturbed` is degraded texts in memory, the name of a released set, or the folder of a saved one.
    if isinstance(perturbed, Sequence) and not isinstance(perturbed, str):
        return _in_memory(named, perturbed, choice)
    if perturbed is not None and is_released(str(perturbed)):
        if data is not None or choice.task is not None:
            name = "task" if data is None else "data"
            raise InputError(
                f"`{name}`: cannot be used with `perturbed` {perturbed}, which brings its examples"
            )
        return _released(named, str(perturbed), choice, seed), None
    saved = read_set(Path(perturbed)) if perturbed is not None else None

    # Of a saved set the data are read again for what it lacks: sources and fields. Only its examples count.
    only = dict[str, list[str]]()
    for name, part in (saved or {}).items():
        only[name] = [e.id for e in part.dataset.examples]
    where = {column: as_list(values) for column, values in (choice.where or {}).items()}
    sets = resolve_datasets(
        named if dataset is not None else list(saved or ["mini"]),
        data=Path(data) if data is not None else None,
        task=choice.task or _task_of(saved),
        fields=choice.fields,
        where=where,
        n=choice.n,
        min_characters=choice.min_characters,
        seed=seed,
        suite=read_suite(suite) if suite is not None else None,
        with_llm=choice.perturb_model is not None,
        only=only,
        text_language=choice.text_language,
        judge_part=choice.judge_part,
        strict=choice.strict,
    )
    return sets, saved


def _in_memory(
    named: Sequence[object], perturbed: Sequence[PerturbedDataset], choice: Choice
) -> tuple[list[Dataset], Mapping[str, PerturbedDataset]]:
    """The datasets of texts that were degraded in this process, and these texts."""
    beside = {"dataset": named, "data": choice.data, "task": choice.task, "n": choice.n}
    for name, value in beside.items():
        if value:
            raise InputError(f"`{name}`: cannot be used with `perturbed`, which brings its examples")
    return [part.dataset for part in perturbed], {part.dataset.name: part for part in perturbed}


def with_own_task(dataset: object, choice: Choice, metrics: Metrics, default: Task | None = None) -> Choice:
    """The choice; data of the user without a task get `default`, else one made of metrics of their own."""
    if choice.task or not any(is_own(entry) for entry in entries(dataset)):
        return choice
    if choice.suite and read_suite(choice.suite).task != ANY_TASK:
        return choice
    if default is not None:
        return replace(choice, task=default)

    # Metrics that are named belong to a task that is known: only metrics of their own make up another.
    listed = metric_list(metrics)
    own_metrics = [m for m in listed if isinstance(m, Metric)]
    if not own_metrics or len(own_metrics) < len(listed):
        return choice
    return replace(choice, task=own_task(own_metrics))


def _task_of(datasets: Mapping[str, PerturbedDataset] | None) -> str | None:
    """The task of a set that was made of a user's own data alone."""
    parts = list((datasets or {}).values())
    tasks = {part.dataset.task.task for part in parts}
    is_single = len(tasks) == 1 and all(is_user_data(part.dataset.name) for part in parts)
    return tasks.pop() if is_single and tasks != {OWN_TASK} else None


def _released(dataset: Sequence[object], name: str, choice: Choice, seed: int) -> list[Dataset]:
    """The datasets of a released set, each with its own examples and texts."""
    wanted, fields, n = dataset or ["all"], choice.fields or {}, choice.n
    known = set[str]()
    for each in DATASETS:
        known.update(v.name for v in read_suite(each).variants)
    sets = []
    for entry in released_datasets(name) if wanted == ["all"] else wanted:
        if entry not in DATASETS:
            raise InputError(f"`perturbed` {name}: has no dataset '{entry}'; {suggest(str(entry), DATASETS)}")
        suite = read_suite(entry)
        # Fields may name columns of variants: those of other datasets are not looked for in this one.
        names = {v.name for v in suite.variants}
        fitting = {ours: c for ours, c in fields.items() if ours in names or ours not in known}
        whole = read_released(name, entry, suite, fitting)
        sets.append(whole if n is None else whole.chosen(n, seed))
    unique("dataset", [each.name for each in sets], f"`perturbed` {name}")
    return sets


def part_of(parts: Mapping[str, PerturbedDataset] | None, dataset: Dataset) -> PerturbedDataset | None:
    """The dataset's part of a set, if one is given, for its examples alone.

    Raises `InputError` if the set lacks it, or was made for another task or of other texts.
    """
    if parts is None:
        return None
    if dataset.name not in parts:
        raise InputError(
            f"the perturbation set has no dataset '{dataset.name}'; {suggest(dataset.name, parts)}"
        )
    part = parts[dataset.name]
    task, made_for = dataset.task.task, part.dataset.task.task
    if made_for not in (task, OWN_TASK):  # texts that were degraded without a task suit any
        raise InputError(f"the perturbation set of '{dataset.name}' is for task '{made_for}', not '{task}'")
    return matched(part, dataset)


def matched(part: PerturbedDataset, dataset: Dataset) -> PerturbedDataset:
    """The part for the examples of this dataset alone, in their order and with their sources and fields.

    Raises `InputError` if an example is not in the set, or there with another output or source.
    """
    place = f"perturbation set of '{part.dataset.name}'"
    held = {e.id: e for e in part.dataset.examples}
    for example in dataset.examples:
        if example.id not in held:
            raise InputError(
                f"{place} has no example '{example.id}' "
                f"(holds {len(held)} examples, first: {first_names(held)})"
            )
        saved = held[example.id]
        differs = "output" if saved.output != example.output else "source"
        if differs == "output" or source_hash(saved) != source_hash(example):
            raise InputError(
                f"{place} was made of another text of example '{example.id}' (the {differs} differs); "
                "allowed: the same output and source"
            )

    known = {(t.variant, t.example): t for t in part.texts}
    texts = list[PerturbedText]()
    for variant in part.variants:
        for example in dataset.examples:
            text = known.get((variant.name, example.id))
            if text is not None:
                texts.append(text)
    return replace(part, dataset=dataset, texts=tuple(texts))


_PART = 64
"""Examples that are degraded at a time: what rules remember of a text then serves all of its variants. The
number was chosen."""


@dataclass(frozen=True, slots=True)
class Builder:
    """The settings of a build, the same for all datasets."""

    own_perturbers: tuple[Perturber, ...]
    """The user's own perturbers."""
    registry: Mapping[str, Perturber]
    seed: int
    model: LlmPerturber | None
    """The perturb model, if one is given."""
    probes: Mapping[str, PerturberUse]
    """Controls and attacks to be added."""
    doses: Doses | None
    dry: bool
    """Whether nothing may be asked: a text like the original stands for what is not stored, and for what a
    function of the user's would make, to estimate the cost."""
    progress: Progress | None

    def all(
        self, datasets: Sequence[Dataset], kept: Sequence[PerturbedDataset | None] | None = None
    ) -> Iterator[PerturbedDataset]:
        """Each dataset with its variants; `kept` has the part of each in a perturbation set."""
        for index, each in enumerate(datasets):
            counted = numbered(self.progress, index + 1, len(datasets))
            with stage(counted, f"degrading {each.name}"):
                made = self.perturbed(each, kept[index] if kept else None)
            yield made

    def perturbed(self, dataset: Dataset, kept: PerturbedDataset | None = None) -> PerturbedDataset:
        """A dataset with all its variants, those of `kept` if it is part of a perturbation set."""
        if kept is None and dataset.suite is not None:
            return self._by_suite(dataset, dataset.suite)
        if kept is None:
            if self.own_perturbers or self.doses or self.model:
                raise InputError(
                    f"dataset '{dataset.name}' brings degraded texts of its own; no perturber goes with it"
                )
            name, variants = dataset.suite_name, dataset.pair_variants
            self._note_languages(dataset, [*variants, *self._missing_probes(variants)])
            kept = PerturbedDataset(dataset, variants, (), dataset.pairs, name, self.seed)
        probes = self._missing_probes(kept.variants)
        texts = chain(kept.texts, _in_order(self._by_rule(kept.dataset, probes), probes))
        return replace(kept, variants=(*kept.variants, *probes), texts=tuple(texts))

    def chosen(self, dataset: Dataset, suite: Suite) -> tuple[str, list[Variant], list[str]]:
        """The name of the suite, its variants as they will be made, and the names of those left out.

        Without a perturb model its perturbers of method `llm` are authored, if that was done, or rules stand
        in for them, if the suite names any. So they are beside a perturber of the user's that asks the model,
        which then is for that one alone.
        """
        check_suite(suite, self.registry)
        if self.doses:
            suite = dosed(suite, self.doses, self.registry)
        variants = list(suite.variants)
        if not self.doses:
            for perturber in self.own_perturbers:
                if perturber.name not in suite.perturbers:
                    variants += perturber.variants
        if not variants:
            raise InputError(f"suite '{suite.suite}': has no perturber; add one by `perturbers`")

        # The model makes all of its kinds, unless the user brings a perturber that asks it.
        own_asking = [p.name for p in self.own_perturbers if p.method == "llm"]
        if self.model is not None and not own_asking:
            return suite.suite, variants, []

        # Without a model a perturber that asks one is of use only if people wrote its edits.
        written = authored_perturbers(read_authored(dataset.name))
        if self.model is None:
            asking = [name for name in own_asking if name not in written]
            if asking:
                raise InputError(
                    f"perturber '{asking[0]}': asks a language model; give one by `perturb_model`"
                )
            own_asking = []

        # Everything else of method llm is made by authored edits or by a rule, or is left out.
        languages = {example.language for example in dataset.examples}
        made = []
        for variant in variants:
            if variant.perturber in own_asking:
                made.append(variant)
            elif variant.perturber in written:
                made.append(replace(variant, method="authored"))
            else:
                made.append(stood_in(variant, suite, self.registry, languages))
        kept, left_out = list[Variant](), list[str]()
        for variant in made:
            if variant.method == "llm" and variant.perturber not in own_asking:
                left_out.append(variant.name)
            else:
                kept.append(variant)
        if not kept:
            raise InputError(
                f"suite '{suite.suite}': a language model makes all of it; give one by `perturb_model`"
            )
        return suite.suite, kept, left_out

    def check(
        self, datasets: Sequence[Dataset], further: Callable[[Dataset, Sequence[Variant]], object] | None
    ) -> None:
        """Refuse what can be refused before anything is made or paid; `further` may refuse more."""
        # Of each dataset the first variant that the model makes, and (task, prompt file) of all of them.
        firsts: list[tuple[Dataset, Variant]] = []
        asked: set[tuple[str, str]] = set()
        for dataset in datasets:
            variants: Sequence[Variant] = dataset.pair_variants
            if dataset.suite is not None:
                variants = self._of_languages(dataset, self.chosen(dataset, dataset.suite)[1])
                if self.model is not None:
                    self.model.check(filter(self._is_prompted, variants), dataset.task.task)
            by_model = [v for v in variants if v.method == "llm"]
            for variant in filter(self._is_prompted, by_model):
                asked.add((dataset.task.task, prompt_name(variant.perturber, variant.degree)))
            if by_model:
                firsts.append((dataset, by_model[0]))
            if further:
                further(dataset, variants)
        if self.model is None:
            return
        if not firsts:
            suites = ", ".join(sorted({d.suite_name for d in datasets}))
            raise InputError(
                f"`perturb_model`: makes nothing in suite {suites}; allowed: one with method llm in it"
            )
        self.model.check_names(asked)
        if self.dry:
            return
        # Last, as it may speak to the server: whether it can be asked for texts that are not stored.
        for dataset, first in firsts:
            function = self._function(dataset, first)
            self.model.check_server(dataset.examples, first, dataset.task.task, function)

    def _is_prompted(self, variant: Variant) -> bool:
        """Whether prompt files make it, if a language model does."""
        return not self.registry[variant.perturber].asks

    def _function(self, dataset: Dataset, variant: Variant) -> FunctionTexts | None:
        """The function that asks the perturb model for the texts of a variant, if one does."""
        assert self.model is not None
        return function_texts(dataset, variant, self.registry, self.seed, self.model.max_tokens)

    def _by_suite(self, dataset: Dataset, suite: Suite) -> PerturbedDataset:
        name, chosen, left_out = self.chosen(dataset, suite)
        self._note_languages(dataset, [*chosen, *self._missing_probes(chosen)])
        variants = self._of_languages(dataset, chosen)
        every = [*variants, *self._missing_probes(variants)]
        before = replace(self.model.cached_model.usage) if self.model else Usage()

        # Rules first: they cost nothing, and a fault of theirs shows before the model is asked.
        called, made = list[Variant](), dict[str, list[PerturbedText]]()
        for variant in every:
            if variant.method != "rule":
                continue
            # What a function of the user's calls is not known: in a dry run none is called.
            if self.dry and self.registry[variant.made_by].is_own:
                made[variant.name] = _placeholders(dataset, variant)
            else:
                called.append(variant)
        made |= self._by_rule(dataset, called)
        for variant in variants:
            if variant.method != "rule":
                made[variant.name] = self._texts(dataset, variant)

        texts = _in_order(made, every)
        origins = self._origins(dataset, variants)
        part = PerturbedDataset(dataset, tuple(every), tuple(left_out), texts, name, self.seed, origins)
        if self.model is None or all(v.method != "llm" for v in variants):
            return part
        usage = self.model.cached_model.usage.since(before).lasting
        return replace(part, usage=usage, auto_steps=self.model.auto_steps.get(dataset.task.task, {}))

    def _of_languages(self, dataset: Dataset, variants: Sequence[Variant]) -> list[Variant]:
        """The variants without those by rules for languages that no text is in: they count nowhere."""
        spoken = {example.language for example in dataset.examples}
        able = []
        for variant in variants:
            perturber = self.registry[variant.made_by]
            is_able = variant.method != "rule"
            for code in spoken:
                fault = perturber.language_fault(code, by_suite=not variant.stand_in)
                # A text whose language is not declared may be in the right one: that is another fault.
                is_able = is_able or fault is None or not fault.startswith(IN_ANOTHER)
            if is_able:
                able.append(variant)
        return able or list(variants)

    def _note_languages(self, dataset: Dataset, variants: Sequence[Variant]) -> None:
        note = language_note(dataset, variants, self.registry)
        if note:
            logging.getLogger("dhp").warning(note)

    def _origins(self, dataset: Dataset, variants: Sequence[Variant]) -> dict[str, str]:
        """Perturber -> what made its texts, if its name does not say it all."""
        authored, origins = read_authored(dataset.name), {}
        for name, group in groupby(variants, key=lambda v: v.perturber):
            of_perturber = list(group)
            first = of_perturber[0]
            if first.method == "authored" and authored:
                origins[name] = authored_origin(authored)
            elif first.method == "llm" and self.model:
                origins[name] = self._origin_by_model(self.model, dataset.task.task, of_perturber)
            else:
                # A rule that stands in for the model, and the versions of the packages that it uses.
                parts = [first.stand_in] if first.stand_in else []
                origin = self.registry[first.made_by].origin
                if origin is not None:
                    parts.append(origin(first.params))
                if parts:
                    origins[name] = ", ".join(parts)
        return origins

    def _origin_by_model(self, model: LlmPerturber, task: str, variants: Sequence[Variant]) -> str:
        function = self.registry[variants[0].perturber].function
        if function is None:
            return model.origin(task, variants)
        return f"{model.name}, asked by {function.__module__}:{function.__name__}"

    def _texts(self, dataset: Dataset, variant: Variant) -> list[PerturbedText]:
        authored = read_authored(dataset.name) if variant.method == "authored" else None
        if authored:
            return authored_texts(dataset.examples, variant, authored)
        assert self.model is not None
        task, function = dataset.task.task, self._function(dataset, variant)
        placeholders = _placeholders(dataset, variant)
        if self.dry:
            # Texts that are stored already are read, as a run would not pay for them again.
            recalled, _ = self.model.recall(dataset.examples, variant, task, function)
            return [recalled.get(text.example, text) for text in placeholders]

        cached_model = self.model.cached_model

        def show(done: int) -> None:
            if self.progress:
                what = f"{cached_model.model.model} makes {variant.name} of {dataset.name}"
                self.progress(what, done, len(dataset.examples), cached_model.spent(before))

        before = replace(cached_model.session_usage)
        made = self.model.perturb(dataset.examples, variant, task, show, function)
        return placeholders if made is None else made

    def _by_rule(self, dataset: Dataset, variants: Sequence[Variant]) -> dict[str, list[PerturbedText]]:
        """Variant -> its texts, example by example."""
        made: dict[str, list[PerturbedText]] = {v.name: [] for v in variants}
        if not variants:
            return made
        # The other examples are sorted only if a rule draws from them.
        drawn = any(self.registry[v.made_by].wants("others") for v in variants)
        others = Others(dataset.changeable_pool if drawn else (), self.seed, dataset.name)
        work = RulesApplied(
            tuple(variants), self.registry, dataset.name, self.seed, others, split=dataset.split
        )
        for part in grouped(dataset.examples, _PART):
            for text in work.texts(part):
                is_dosed = self.doses and parse_variant(text.variant).dose
                made[text.variant].append(fully_dosed(text) if is_dosed else text)
        return made

    def _missing_probes(self, variants: Iterable[Variant]) -> list[Variant]:
        """The probes that are not among these variants."""
        known = {v.name for v in variants}
        missing = list[Variant]()
        for name, use in self.probes.items():
            missing += [v for v in use.variants(name) if v.name not in known]
        return missing


def _placeholders(dataset: Dataset, variant: Variant) -> list[PerturbedText]:
    """Texts that stand for those which are not made."""
    # Its name makes the text another one: equal prompts would count once.
    return [PerturbedText(e.id, variant.name, f"{e.output} {variant.name}") for e in dataset.examples]


def _in_order(
    made: Mapping[str, Sequence[PerturbedText]], variants: Sequence[Variant]
) -> tuple[PerturbedText, ...]:
    """The texts variant by variant, example by example."""
    texts = list[PerturbedText]()
    for variant in variants:
        texts += made[variant.name]
    return tuple(texts)


def fully_dosed(text: PerturbedText) -> PerturbedText:
    """The text itself if it got the whole dose: a smaller one under its name would falsify the curve."""
    if text.audit is None or text.audit.asked == text.audit.made:
        return text
    return PerturbedText(text.example, text.variant, None, reason="too short a text for this dose")


@dataclass(frozen=True)
class TextSpec(Choice):
    """What `perturb_datasets` is asked."""

    dataset: Data = None
    """`mini` (the six bundled sets), `mini/NAME`, a NAME of the benchmark, `all` (the six of the benchmark),
    a user's file (`.jsonl`, `.csv`, `.parquet`), `hf:ORG/NAME`, a DataFrame, a list of dictionaries, a
    `Dataset`, or several. Default: those of the perturbation set, else `mini`."""
    _: KW_ONLY
    seed: int = 0
    """Seed of every random choice."""
    settings: ModelSettings = ModelSettings()
    """Settings of the perturb model: address, rate limits, cost limits."""
    progress: Progress | bool | None = True
    """True shows it on terminals and in notebooks; a function is called as `f(what, done, total, cost)`."""


@keywords_of(TextSpec)
def perturb_datasets(spec: TextSpec) -> list[PerturbedDataset]:
    """Find datasets and degrade their texts; one `PerturbedDataset` each, in their order.

    Parameters
    ----------
    dataset, seed, settings, progress
        The texts, the seed of every random choice, how the perturb model is reached, and whether progress is
        shown: the fields of `dhp.perturb.builder.TextSpec`.
    data, task, fields, where, strict, n, min_characters, text_language, judge_part
        Which of these texts: fields of `dhp.Choice`.
    suite, perturbers, perturb_model, perturbed, controls, attacks, doses
        How they are degraded: fields of `dhp.Choice`.

    Raises
    ------
    InputError
        For anything wrong with these, in one line; also if no answer of the perturb model passes its
        check.
    StoppedEarly
        At a limit of `settings`.
    """
    choice: Choice = spec
    if spec.perturbed is None:
        choice = with_own_task(spec.dataset, spec, (), function_task())
    with progress_of(spec.progress) as show:
        return spec.settings.filled(
            lambda context: build_texts(
                spec.dataset, choice, spec.seed, spec.settings, context, progress=show
            ),
        )


def build_texts(
    dataset: Data,
    choice: Choice,
    seed: int,
    settings: ModelSettings,
    context: RequestContext,
    *,
    progress: Progress | None = None,
    dry: bool = False,
    check: Callable[[Dataset, Sequence[Variant]], object] | None = None,
) -> list[PerturbedDataset]:
    """The texts of `perturb_datasets`, with a request context that judges share.

    In a `dry` build nothing is asked: a text like the original stands for each one that is not stored.
    `check` is called with each dataset and its variants before any text is made, to refuse what cannot be.
    Raises what `perturb_datasets` raises.
    """
    # Find everything.
    perturbers = choice.own_perturbers
    datasets, perturbation_set = found_datasets(dataset, choice, seed)
    model = None
    if choice.perturb_model:
        model = open_perturb_model(choice.perturb_model, settings, context)
    probes = chosen_probes(choice.controls, choice.attacks)
    registry = find_perturbers(perturbers, [d.suite for d in datasets if d.suite])
    build = Builder(perturbers, registry, seed, model, probes, choice.doses, dry, progress)

    # Refuse what cannot be, before anything is made.
    if perturbation_set is None:
        build.check(datasets, check)
    kept = [part_of(perturbation_set, each) for each in datasets]
    for each, part in zip(datasets, kept, strict=True):
        if part is not None and check is not None:
            check(each, part.variants)

    # Make the texts. Answers of the model that are still to come end the run here.
    perturbed = list(build.all(datasets, kept))
    context.stop_if_waiting()
    if perturbation_set is None:
        _note_left_out(perturbed)
    return perturbed


def _note_left_out(perturbed: Sequence[PerturbedDataset]) -> None:
    """Say once which perturbers are left out because there is no perturb model."""
    left_out = set[str]()
    for part in perturbed:
        left_out.update(parse_variant(name).perturber for name in part.left_out)
    if not left_out:
        return

    names, remedy = sorted(left_out), ""
    if any(_wants_language(part, names) for part in perturbed):
        remedy = ", or the language of the texts by `text_language`: rules may stand in"
    logging.getLogger("dhp").warning(
        "left out, as a language model makes them: %s; give one by `perturb_model`%s",
        ", ".join(names),
        remedy,
    )


def _wants_language(part: PerturbedDataset, names: Sequence[str]) -> bool:
    """Whether rules stand in for some of these perturbers, once the language of all texts is declared."""
    suite = part.dataset.suite
    uses = suite.perturbers if suite else {}
    has_stand_ins = any(use.stand_ins for name, use in uses.items() if name in names)
    return has_stand_ins and any(e.language is None for e in part.dataset.examples)
