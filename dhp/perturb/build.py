"""From names and options to datasets with degraded texts."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from dhp.content.catalog import DATASETS, read_card, read_list, read_probes, read_suite, read_task
from dhp.core.errors import InputError, suggest
from dhp.core.records import STAND_IN, PerturbedText, Variant, dose_of
from dhp.core.registry import Registry
from dhp.core.specs import PerturberUse, Suite, Task
from dhp.llm.cached_model import RequestContext
from dhp.llm.estimate import Estimate, estimate_requests
from dhp.llm.settings import ModelSettings
from dhp.llm.usage import Usage
from dhp.loaders.dataset import Dataset, resolve_datasets
from dhp.loaders.released import is_released, read_released, released_datasets
from dhp.loaders.user import is_user_data
from dhp.perturb.api import Perturber
from dhp.perturb.apply import perturb
from dhp.perturb.dose_suites import Doses, dosed
from dhp.perturb.entities.finder import finder_name
from dhp.perturb.model_config import OpenedModel, PerturbModel, open_perturb_model
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.registry import check_suite, find_perturbers
from dhp.perturb.sets.part import FrozenPart, matched
from dhp.perturb.sets.read import read_frozen

Progress = Callable[[str, int, int, str], None]
"""Called with what is being done, how much of it is done of how much, and what it has cost."""


class Choice(TypedDict, total=False):
    """Which texts a run is about, and how they are degraded."""

    data: str | Path | None
    """Where a benchmark dataset lies as its owners publish it, instead of the prepared copy."""
    task: str | None
    """For a user's file: what the writers had to do; a name, or a YAML file with metrics of one's own."""
    fields: Mapping[str, str] | None
    """For a user's file or a released set: `{our field: their column}`."""
    n: int | None
    """Number of examples, chosen by the seed. Default: the card's (100) or all there are, if fewer."""
    suite: str | None
    """Name or YAML file; default: the dataset's or the task's own."""
    perturbers: Iterable[Perturber]
    """Own perturbers, usable in the suite by name; those that it does not name are added to it."""
    perturb_model: str | PerturbModel | None
    """Carries out the suite's perturbers of method `llm`; without one, stand-ins by rule take their place."""
    perturbed: str | Path | None
    """A frozen set (folder) or a released one (folder, `hf:ORG/NAME`), whose texts are used as they are."""
    controls: bool
    """Whether to add changes that must not lower a score."""
    attacks: bool
    """Whether to add changes that must not raise a score."""
    doses: Doses | None
    """Degrade by each of these doses k instead: for all perturbers of the suite with a parameter `k`, or
    `{perturber: doses}`."""


@dataclass(frozen=True, slots=True)
class _Build:
    """How degraded texts are made."""

    own: tuple[Perturber, ...]
    registry: Registry[Perturber]
    seed: int
    model: OpenedModel | None
    probes: Mapping[str, PerturberUse]
    doses: Doses | None
    dry: bool
    """Whether nothing may be asked: what no store holds is made by a stand-in, to reckon with."""
    progress: Progress | None

    def made(self, dataset: Dataset, frozen: FrozenPart | None) -> PerturbedDataset:
        """A dataset with all its variants."""
        if frozen is not None:
            part = self._given(dataset, frozen)
        elif dataset.suite is None:
            if self.own or self.doses or self.model:
                raise InputError(
                    f"dataset '{dataset.name}' brings degraded texts of its own; no perturber goes with it"
                )
            name = dataset.suite_name
            part = PerturbedDataset(dataset, dataset.pair_variants, (), dataset.pairs, name, self.seed)
        else:
            part = self._by_suite(dataset, dataset.suite)
        return self._with_probes(part)

    def _given(self, dataset: Dataset, frozen: FrozenPart) -> PerturbedDataset:
        if frozen.task != dataset.task.task:
            raise InputError(
                f"the frozen set of '{frozen.dataset}' is for task '{frozen.task}', not '{dataset.task.task}'"
            )
        found = matched(frozen, dataset.examples)
        return PerturbedDataset(
            dataset,
            found.variants,
            found.left_out,
            found.texts,
            found.suite,
            found.seed,
            found.origins,
            auto_steps=found.steps,
        )

    def chosen(self, suite: Suite) -> tuple[str, tuple[Variant, ...]]:
        """The name of the suite and its variants as they will be made."""
        check_suite(suite, self.registry)
        if self.doses:
            suite = dosed(suite, self.doses, self.registry)
        elif self.model is None:
            suite = suite.with_stand_ins()
        added = () if self.doses else tuple(p for p in self.own if p.name not in suite.perturbers)
        return suite.suite, (*suite.variants, *(v for p in added for v in p.variants))

    def check(
        self,
        sets: Sequence[Dataset],
        model: OpenedModel,
        further: Callable[[Task, Sequence[Variant]], object] | None,
    ) -> None:
        """Refuse what can be refused before anything is paid."""
        for dataset in sets:
            if dataset.suite is not None:
                _, variants = self.chosen(dataset.suite)
                model.by_model.check(variants, dataset.task.task)
                if further:
                    further(dataset.task, variants)

    def _by_suite(self, dataset: Dataset, suite: Suite) -> PerturbedDataset:
        name, variants = self.chosen(suite)
        before = replace(self.model.by_model.cached_model.usage) if self.model else Usage()
        texts = tuple(text for variant in variants for text in self._texts(dataset, variant))
        origins = {_ENTITIES: finder_name()} if any(v.perturber == _ENTITIES for v in variants) else {}
        if self.model is None or all(v.method == "rule" for v in variants):
            return PerturbedDataset(dataset, variants, (), texts, name, self.seed, origins)
        task, asked = dataset.task.task, self.model.by_model
        made_by = {v.perturber for v in variants if v.method == "llm"}
        origins |= {p: self.model.origin(task, [v for v in variants if v.perturber == p]) for p in made_by}
        usage = asked.cached_model.usage.since(before).lasting
        return PerturbedDataset(
            dataset, variants, (), texts, name, self.seed, origins, usage, asked.auto_steps.get(task, {})
        )

    def _texts(self, dataset: Dataset, variant: Variant) -> list[PerturbedText]:
        if variant.method == "rule" or self.model is None:
            return self._by_rule(dataset, variant)
        task = dataset.task.task
        if self.dry:
            stand_in = replace(variant, perturber=variant.perturber + STAND_IN, method="rule")
            recalled, _ = self.model.recalled.recall(dataset.examples, variant, task)
            return [recalled.get(text.example, text) for text in self._by_rule(dataset, stand_in)]
        cached_model = self.model.by_model.cached_model

        def show(done: int) -> None:
            if self.progress:
                what = f"{cached_model.model.model} makes {variant.name} of {dataset.name}"
                self.progress(what, done, len(dataset.examples), cached_model.spent(before))

        before = replace(cached_model.session_usage)
        return list(self.model.by_model.perturb(dataset.examples, variant, task, show))

    def _by_rule(self, dataset: Dataset, variant: Variant) -> list[PerturbedText]:
        texts = list(
            perturb(
                dataset.examples,
                [variant],
                self.registry,
                dataset=dataset.name,
                seed=self.seed,
                pool=dataset.pool,
                lists=read_list,
            )
        )
        return [_fully_dosed(t) for t in texts] if self.doses and dose_of(variant.name) else texts

    def _with_probes(self, part: PerturbedDataset) -> PerturbedDataset:
        there = {v.name for v in part.variants}
        probes = [v for name, use in self.probes.items() for v in use.variants(name) if v.name not in there]
        texts = [text for variant in probes for text in self._by_rule(part.dataset, variant)]
        return replace(part, variants=(*part.variants, *probes), texts=(*part.texts, *texts))


def _fully_dosed(text: PerturbedText) -> PerturbedText:
    """The text itself if it got the whole dose: a smaller one under its name would falsify the curve."""
    if text.audit is None or text.audit.asked == text.audit.made:
        return text
    return PerturbedText(text.example, text.variant, None, reason="too short a text for this dose")


_ENTITIES = "fictional_named_entities" + STAND_IN


def perturb_datasets(
    dataset: str | Dataset | Sequence[str | Dataset] | None = None,
    *,
    seed: int = 0,
    settings: ModelSettings = ModelSettings(),
    progress: Progress | None = None,
    **choice: Unpack[Choice],
) -> list[PerturbedDataset]:
    """Find datasets and degrade their texts.

    Parameters
    ----------
    dataset
        `mini` (the six bundled sets), `mini/NAME`, a NAME of the benchmark, `all` (the six of the
        benchmark), a user's file (`.jsonl`, `.csv`, `.parquet`), `hf:ORG/NAME`, a `Dataset`, or several.
        Default: those of the frozen set, else `mini`.
    seed
        Of every random choice.
    settings
        How the perturb model is reached, how hard it is worked, and what it may cost.
    progress
        Called as `progress(what, done, total, cost)` while a language model is asked.
    **choice
        The keywords of `Choice`: `data, task, fields, n, suite, perturbers, perturb_model, perturbed,
        controls, attacks, doses`.

    Raises
    ------
    InputError
        For anything wrong with these, in one line; also where no answer of the perturb model passes its
        check.
    StoppedEarly
        At a limit of `settings`.
    """
    return build_texts(dataset, choice, seed, settings, settings.context(), progress=progress)


def build_texts(
    dataset: str | Dataset | Sequence[str | Dataset] | None,
    choice: Choice,
    seed: int,
    settings: ModelSettings,
    context: RequestContext,
    *,
    progress: Progress | None = None,
    dry: bool = False,
    check: Callable[[Task, Sequence[Variant]], object] | None = None,
) -> list[PerturbedDataset]:
    """As `perturb_datasets`, on terms that are shared with other askers.

    With `dry` nothing is asked: what is not stored is made by a stand-in. `check` is called with each task
    and its variants before a language model is asked.
    """
    own = tuple(choice.get("perturbers", ()))
    _check_choice(choice, own)
    sets, frozen = _found(dataset, choice, seed)
    model = None
    if given := choice.get("perturb_model"):
        model = open_perturb_model(_perturb_model(given), settings, context)
    probes = {
        name: use
        for kind in ("controls", "attacks")
        if choice.get(kind)
        for name, use in read_probes(kind).perturbers.items()
    }
    registry = find_perturbers(own, [d.suite for d in sets if d.suite])
    making = _Build(own, registry, seed, model, probes, choice.get("doses"), dry, progress)
    if model is not None:
        making.check(sets, model, check)
    return [making.made(d, _part_of(frozen, d)) for d in sets]


def _found(
    dataset: str | Dataset | Sequence[str | Dataset] | None, choice: Choice, seed: int
) -> tuple[list[Dataset], Mapping[str, FrozenPart] | None]:
    """The datasets, and the frozen set where one is given."""
    perturbed, suite, data = choice.get("perturbed"), choice.get("suite"), choice.get("data")
    fields, n = choice.get("fields"), choice.get("n")
    if perturbed is not None and is_released(str(perturbed)):
        if data is not None or choice.get("task") is not None:
            option = "--task" if data is None else "--data"
            raise InputError(
                f"{option}: cannot be used with --perturbed {perturbed}, which brings its examples"
            )
        return _released(dataset, str(perturbed), fields, n, seed), None
    frozen = read_frozen(Path(perturbed)) if perturbed is not None else None
    sets = resolve_datasets(
        as_list(dataset or list(frozen or ["mini"])),
        data=Path(data) if data is not None else None,
        task=choice.get("task") or _task_of(frozen),
        fields=fields,
        n=n,
        seed=seed,
        suite=read_suite(suite) if suite is not None else None,
        only={name: [e.id for e in part.examples] for name, part in (frozen or {}).items()},
    )
    return sets, frozen


def _task_of(frozen: Mapping[str, FrozenPart] | None) -> str | None:
    """The task of a set that was made of a user's own data alone."""
    parts = list((frozen or {}).values())
    tasks = {part.task for part in parts}
    return tasks.pop() if len(tasks) == 1 and all(is_user_data(part.dataset) for part in parts) else None


def _check_choice(choice: Choice, own: Sequence[Perturber]) -> None:
    perturbed, model, doses = choice.get("perturbed"), choice.get("perturb_model"), choice.get("doses")
    others = {
        "--suite": choice.get("suite"),
        "--perturber": own,
        "--perturb-model": model,
        "--doses": doses,
    }
    for option, value in others.items():
        if perturbed is not None and value:
            raise InputError(f"{option}: cannot be used with --perturbed {perturbed}, which brings its texts")
    if doses and (model or own):
        option = "--perturb-model" if model else "--perturber"
        raise InputError(f"{option}: cannot be used with --doses, which are for the suite's rules")


def _released(
    dataset: str | Dataset | Sequence[str | Dataset] | None,
    name: str,
    fields: Mapping[str, str] | None,
    n: int | None,
    seed: int,
) -> list[Dataset]:
    """The datasets of a released set, each with its own examples and texts."""
    wanted = as_list(dataset or "all")
    sets = []
    suites = [read_suite(dataset) for dataset in DATASETS]
    for entry in released_datasets(name) if wanted == ["all"] else wanted:
        if entry not in DATASETS:
            raise InputError(f"--perturbed {name}: has no dataset '{entry}'; {suggest(str(entry), DATASETS)}")
        suite = read_suite(entry)
        own = {v.name for v in suite.variants}
        known = {v.name for each in suites for v in each.variants}
        fitting = {ours: c for ours, c in (fields or {}).items() if ours in own or ours not in known}
        found = read_released(name, entry, suite, fitting)
        shown = ", ".join(f"{ours} = {theirs}" for ours, theirs in found.field_map.items())
        logging.getLogger("dhp").warning("%s, %s: columns read as %s", name, entry, shown)
        task = read_task(read_card(entry).task)
        whole = Dataset(entry, found.examples, task, None, found.examples, found.variants, found.texts)
        sets.append(whole if n is None else whole.chosen(n, seed))
    if len({each.name for each in sets}) < len(sets):
        raise InputError(f"--perturbed {name}: a dataset is named twice; give each one once")
    return sets


def _perturb_model(given: str | PerturbModel) -> PerturbModel:
    return PerturbModel(given) if isinstance(given, str) else given


def perturbing_estimates(
    parts: Sequence[PerturbedDataset],
    given: str | PerturbModel | None,
    settings: ModelSettings,
    context: RequestContext,
) -> list[Estimate]:
    """What asking the perturb model for the texts of `parts` would take, one answer a text."""
    if given is None:
        return []
    opened = open_perturb_model(_perturb_model(given), settings, context)
    found = []
    for part in parts:
        task, cached_model = part.dataset.task.task, opened.by_model.cached_model
        requests = [
            request
            for variant in part.variants
            if variant.method == "llm"
            for request in opened.recalled.recall(part.dataset.examples, variant, task)[1]
        ]
        found.append(estimate_requests(cached_model, "perturbations", part.dataset.name, requests, "texts"))
    return found


def _part_of(frozen: Mapping[str, FrozenPart] | None, dataset: Dataset) -> FrozenPart | None:
    if frozen is None:
        return None
    if dataset.name not in frozen:
        raise InputError(f"the frozen set has no dataset '{dataset.name}'; {suggest(dataset.name, frozen)}")
    return frozen[dataset.name]


def as_list(value: object) -> list[Any]:
    """One or several as a list; paths as text."""
    found = list(value) if isinstance(value, list | tuple) else [value]
    return [str(entry) if isinstance(entry, Path) else entry for entry in found]
