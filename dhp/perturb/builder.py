"""The builder of all variants of a dataset: rules, authored edits, a language model or a saved set."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import groupby

from dhp.content.catalog import read_authored
from dhp.core.errors import InputError, Waiting
from dhp.core.keywords import Registry, check_whole, keywords_of
from dhp.core.progress import Progress, numbered, progress_of, stage
from dhp.core.records import Example, PerturbedText, Variant, grouped, parse_variant
from dhp.core.specs import PerturberUse, Suite
from dhp.llm.cached_model import RequestContext
from dhp.llm.engine import Executor
from dhp.llm.limits import Usage
from dhp.llm.settings import ModelSettings
from dhp.loaders.dataset import Dataset
from dhp.perturb.api import Perturber
from dhp.perturb.apply import Others, RulesApplied
from dhp.perturb.authored import authored_origin, authored_perturbers, authored_texts
from dhp.perturb.choice import Data, check_choice, found_datasets, part_of
from dhp.perturb.llm.model import LlmPerturber, open_perturb_model
from dhp.perturb.llm.prompts import prompt_name
from dhp.perturb.perturbed_dataset import Made, PerturbedDataset, in_order
from dhp.perturb.probes import chosen_probes
from dhp.perturb.registry import Doses, check_suite, dosed, find_perturbers, language_note
from dhp.perturb.settings import Choice

_PART = 64
"""The most examples that a worker degrades at a time: so all of them end at about the same time."""


@dataclass(frozen=True, slots=True)
class Builder:
    """The settings of a build, the same for all datasets."""

    own: tuple[Perturber, ...]
    """The user's own perturbers."""
    registry: Registry[Perturber]
    seed: int
    model: LlmPerturber | None
    """The perturb model, if one is given."""
    probes: Mapping[str, PerturberUse]
    """Controls and attacks to be added."""
    doses: Doses | None
    dry: bool
    """Whether nothing may be asked: a text like the original stands for what is not stored, to estimate the
    cost."""
    progress: Progress | None
    executor: Executor

    def all(
        self, datasets: Sequence[Dataset], kept: Sequence[PerturbedDataset | None] | None = None
    ) -> Iterator[PerturbedDataset]:
        """Each dataset with its variants; `kept` has the part of each in a perturbation set."""
        for index, each in enumerate(datasets):
            with stage(numbered(self.progress, index + 1, len(datasets)), f"degrading {each.name}"):
                made = self.perturbed(each, kept[index] if kept else None)
            yield made

    def perturbed(self, dataset: Dataset, kept: PerturbedDataset | None = None) -> PerturbedDataset:
        """A dataset with all its variants, those of `kept` where it is part of a perturbation set."""
        if kept is not None:
            part = kept
        elif dataset.suite is None:
            if self.own or self.doses or self.model:
                raise InputError(
                    f"dataset '{dataset.name}' brings degraded texts of its own; no perturber goes with it"
                )
            name = dataset.suite_name
            self._note_languages(dataset, dataset.pair_variants)
            part = PerturbedDataset(dataset, dataset.pair_variants, (), dataset.pairs, name, self.seed)
        else:
            part = self._by_suite(dataset, dataset.suite)
        return self._with_probes(part)

    def chosen(self, dataset: Dataset, suite: Suite) -> tuple[str, list[Variant], list[str]]:
        """The name of the suite, its variants as they will be made, and the names of those left out.

        Without a perturb model its perturbers of method `llm` are authored, where that was done.
        """
        check_suite(suite, self.registry)
        if self.doses:
            suite = dosed(suite, self.doses, self.registry)
        added = () if self.doses else tuple(p for p in self.own if p.name not in suite.perturbers)
        variants = [*suite.variants, *(v for p in added for v in p.variants)]
        if self.model is not None:
            return suite.suite, variants, []
        written = authored_perturbers(read_authored(dataset.name))
        made = [replace(v, method="authored") if v.perturber in written else v for v in variants]
        left_out = [v.name for v in made if v.method == "llm"]
        if len(left_out) == len(made):
            raise InputError(
                f"suite '{suite.suite}': a language model makes all of it; give one by `perturb_model`"
            )
        return suite.suite, [v for v in made if v.method != "llm"], left_out

    def check(
        self, datasets: Sequence[Dataset], further: Callable[[Dataset, Sequence[Variant]], object] | None
    ) -> None:
        """Refuse what can be refused before anything is made or paid; `further` may refuse more."""
        firsts: list[tuple[Dataset, Variant]] = []
        asked: set[tuple[str, str]] = set()
        for dataset in datasets:
            variants: Sequence[Variant] = dataset.pair_variants
            if dataset.suite is not None:
                _, variants, _ = self.chosen(dataset, dataset.suite)
                if self.model is not None:
                    self.model.check(variants, dataset.task.task)
            by_model = [v for v in variants if v.method == "llm"]
            asked |= {(dataset.task.task, prompt_name(v.perturber, v.degree)) for v in by_model}
            firsts += [(dataset, v) for v in by_model[:1]]
            if further:
                further(dataset, variants)
        if self.model is None:
            return
        if not firsts:
            suites = ", ".join(sorted({d.suite_name for d in datasets}))
            raise InputError(
                f"`perturb_model`: makes nothing in suite {suites}; allowed: one with method llm in it"
            )
        self.model.prompts.check_names(asked)
        for dataset, first in [] if self.dry else firsts:
            self.model.check_server(dataset.examples, first, dataset.task.task)

    def _by_suite(self, dataset: Dataset, suite: Suite) -> PerturbedDataset:
        name, variants, left_out = self.chosen(dataset, suite)
        self._note_languages(dataset, variants)
        before = replace(self.model.cached_model.usage) if self.model else Usage()
        made = Made()
        self._by_rule(dataset, [v for v in variants if v.method == "rule"], made)
        for v in variants:
            if v.method != "rule":
                for index, some in enumerate(grouped(self._texts(dataset, v), _PART)):
                    made.put((v.name, index), some)
        texts = in_order(made, variants)
        origins = self._origins(dataset, variants)
        part = PerturbedDataset(dataset, tuple(variants), tuple(left_out), texts, name, self.seed, origins)
        if self.model is None or all(v.method != "llm" for v in variants):
            return part
        usage = self.model.cached_model.usage.since(before).lasting
        return replace(part, usage=usage, auto_steps=self.model.auto_steps.get(dataset.task.task, {}))

    def _note_languages(self, dataset: Dataset, variants: Sequence[Variant]) -> None:
        probes = self._missing_probes({v.name for v in variants})
        if note := language_note(dataset, [*variants, *probes], self.registry):
            logging.getLogger("dhp").warning(note)

    def _origins(self, dataset: Dataset, variants: Sequence[Variant]) -> dict[str, str]:
        """Perturber -> what made its texts, where its name does not say it all."""
        authored, found = read_authored(dataset.name), {}
        for name, group in groupby(variants, key=lambda v: v.perturber):
            own = list(group)
            if own[0].method == "authored" and authored:
                found[name] = authored_origin(authored)
            elif own[0].method == "llm" and self.model:
                found[name] = self.model.origin(dataset.task.task, own)
            elif origin := self.registry[name].origin:
                found[name] = origin(own[0].params)
        return found

    def _texts(self, dataset: Dataset, variant: Variant) -> list[PerturbedText]:
        if variant.method == "authored" and (authored := read_authored(dataset.name)):
            return authored_texts(dataset.examples, variant, authored)
        assert self.model is not None
        task = dataset.task.task
        # Its name makes the text another one: equal prompts would count once.
        placeholders = [
            PerturbedText(e.id, variant.name, f"{e.output} {variant.name}") for e in dataset.examples
        ]
        if self.dry:
            recalled, _ = self.model.recall(dataset.examples, variant, task)
            return [recalled.get(text.example, text) for text in placeholders]
        cached_model = self.model.cached_model

        def show(done: int) -> None:
            if self.progress:
                what = f"{cached_model.model.model} makes {variant.name} of {dataset.name}"
                self.progress(what, done, len(dataset.examples), cached_model.spent(before))

        before = replace(cached_model.session_usage)
        try:
            return list(self.model.perturb(dataset.examples, variant, task, show))
        except Waiting:  # the requests of the other variants are to be collected too
            return placeholders

    def _by_rule(self, dataset: Dataset, variants: Sequence[Variant], made: Made) -> None:
        """Put the texts of these variants there; the examples are shared out among workers."""
        if not variants:
            return
        drawn = any(self.registry[v.perturber].wants("others") for v in variants)
        others = Others(dataset.changeable_pool if drawn else (), self.seed, dataset.name)
        work = RulesApplied(
            *(tuple(variants), self.registry, dataset.name, self.seed, others), split=dataset.split
        )
        for (start, _), texts in self.executor.each(work, self._parts(dataset)):
            for name, own in groupby(texts, key=lambda text: text.variant):
                whole = self.doses and parse_variant(name).dose
                made.put((name, start), (_fully_dosed(text) if whole else text for text in own))

    def _parts(self, dataset: Dataset) -> Iterator[tuple[int, Sequence[Example]]]:
        """The examples, in at least four parts a worker."""
        examples, count = dataset.examples, self.executor.workers
        size = _PART if count == 1 else max(1, min(_PART, len(examples) // (4 * count)))
        for start, part in enumerate(grouped(examples, size)):
            yield start * size, part

    def _missing_probes(self, there: Collection[str]) -> list[Variant]:
        return [v for name, use in self.probes.items() for v in use.variants(name) if v.name not in there]

    def _with_probes(self, part: PerturbedDataset) -> PerturbedDataset:
        there = {v.name for v in part.variants}
        probes = self._missing_probes(there)
        made = Made()
        self._by_rule(part.dataset, probes, made)
        return part.with_variants(probes, made)


def _fully_dosed(text: PerturbedText) -> PerturbedText:
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

    def __post_init__(self) -> None:
        Choice.__post_init__(self)
        check_whole("seed", self.seed)


@keywords_of(TextSpec)
def perturb_datasets(spec: TextSpec) -> list[PerturbedDataset]:
    """Find datasets and degrade their texts; one `PerturbedDataset` each, in their order.

    Parameters
    ----------
    dataset, seed, settings, progress
        The texts, the seed of every random choice, how the perturb model is reached, and whether progress is
        shown: the fields of `dhp.perturb.builder.TextSpec`.
    data, task, fields, where, n, min_characters, text_language, judge_part
        Which of these texts: fields of `dhp.Choice`.
    suite, perturbers, perturb_model, perturbed, controls, attacks, doses
        How they are degraded: fields of `dhp.Choice`.

    Raises
    ------
    InputError
        For anything wrong with these, in one line; also where no answer of the perturb model passes its
        check.
    StoppedEarly
        At a limit of `settings`.
    """
    with progress_of(spec.progress) as show:
        return build_texts(
            spec.dataset, spec, spec.seed, spec.settings, spec.settings.context(), progress=show
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
    Errors as of `perturb_datasets`.
    """
    own = (choice.perturbers,) if callable(choice.perturbers) else tuple(choice.perturbers)
    check_choice(choice, own)
    datasets, perturbation_set = found_datasets(dataset, choice, seed)
    model = None
    if given := choice.perturb_model:
        model = open_perturb_model(given, settings, context)
    probes = chosen_probes(choice.controls, choice.attacks)
    registry = find_perturbers(own, [d.suite for d in datasets if d.suite])
    build = Builder(own, registry, seed, model, probes, choice.doses, dry, progress, context.executor)
    if perturbation_set is None:
        build.check(datasets, check)
    kept = [part_of(perturbation_set, each) for each in datasets]
    for each, part in zip(datasets, kept, strict=True):
        if part is not None and check is not None:
            check(each, part.variants)
    perturbed = list(build.all(datasets, kept))
    context.stop_if_waiting(whole=False)
    if perturbation_set is None:
        _note_left_out(perturbed)
    return perturbed


def _note_left_out(perturbed: Sequence[PerturbedDataset]) -> None:
    """Say once which perturbers are left out for want of a perturb model."""
    if names := sorted({parse_variant(name).perturber for part in perturbed for name in part.left_out}):
        logging.getLogger("dhp").warning(
            "left out, as a language model makes them: %s; give one by `perturb_model`", ", ".join(names)
        )
