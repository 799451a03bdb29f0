"""Resolution of the datasets and sets that a user names."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dhp.content.catalog import DATASETS, Metrics, metric_list, own_task, read_suite
from dhp.core.errors import InputError, one_of, suggest, unique
from dhp.core.keywords import as_list
from dhp.core.language import NAMES, declared_language
from dhp.core.specs import Metric
from dhp.loaders.dataset import Dataset
from dhp.loaders.released import is_released, read_released, released_datasets
from dhp.loaders.resolve import is_own, resolve_datasets
from dhp.loaders.user import Rows, entries, is_user_data
from dhp.perturb.api import Perturber
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.sets import first_names, read_set, source_hash
from dhp.perturb.settings import Choice

Data = str | Path | Dataset | Rows | Sequence[str | Path | Dataset | Rows] | None
"""Whose texts: one or several datasets, each a name, a file, a `Dataset` or a table in memory."""


def found_datasets(
    dataset: Data, choice: Choice, seed: int
) -> tuple[list[Dataset], Mapping[str, PerturbedDataset] | None]:
    """The datasets, and the perturbation set where one is given."""
    perturbed, suite, data, named = choice.perturbed, choice.suite, choice.data, entries(dataset)
    if dataset is not None and not named:
        raise InputError("dataset: is an empty list; allowed: None for the default, or at least one")
    if perturbed is not None and is_released(str(perturbed)):
        if data is not None or choice.task is not None:
            name = "task" if data is None else "data"
            raise InputError(
                f"`{name}`: cannot be used with `perturbed` {perturbed}, which brings its examples"
            )
        return _released(named, str(perturbed), choice, seed), None
    given = read_set(Path(perturbed)) if perturbed is not None else None
    sets = resolve_datasets(
        named if dataset is not None else list(given or ["mini"]),
        data=Path(data) if data is not None else None,
        task=choice.task or _task_of(given),
        fields=choice.fields,
        where={column: as_list(values) for column, values in (choice.where or {}).items()},
        n=choice.n,
        min_characters=choice.min_characters,
        seed=seed,
        suite=read_suite(suite) if suite is not None else None,
        with_llm=choice.perturb_model is not None,
        only={name: [e.id for e in part.dataset.examples] for name, part in (given or {}).items()},
        text_language=_known_language(choice.text_language),
        judge_part=choice.judge_part,
    )
    return sets, given


def _known_language(name: str | None) -> str | None:
    """The code of a language that is given; raises `InputError` for one that has no name here."""
    code = declared_language(name)
    if code is not None:
        one_of("language", code, NAMES, "`text_language`")
    return code


def with_own_task(dataset: object, choice: Choice, metrics: Metrics) -> Choice:
    """The choice, with a task made of the metrics where these are the user's own and no task is given."""
    listed = metric_list(metrics)
    own = [m for m in listed if isinstance(m, Metric)]
    named = any(is_own(entry) for entry in entries(dataset))
    if not named or choice.task or choice.suite or not own or len(own) < len(listed):
        return choice
    return replace(choice, task=own_task(own))


def _task_of(given: Mapping[str, PerturbedDataset] | None) -> str | None:
    """The task of a set that was made of a user's own data alone."""
    parts = list((given or {}).values())
    tasks = {part.dataset.task.task for part in parts}
    return tasks.pop() if len(tasks) == 1 and all(is_user_data(part.dataset.name) for part in parts) else None


def check_choice(choice: Choice, own: Sequence[Perturber]) -> None:
    """Raise `InputError` for options that contradict each other."""
    perturbed, model, doses = choice.perturbed, choice.perturb_model, choice.doses
    others = {"suite": choice.suite, "perturbers": own, "perturb_model": model, "doses": doses}
    for name, value in others.items():
        if perturbed is not None and value:
            raise InputError(f"`{name}`: cannot be used with `perturbed` {perturbed}, which brings its texts")
    if doses and (model or own):
        name = "perturb_model" if model else "perturbers"
        raise InputError(f"`{name}`: cannot be used with `doses`, which are for the suite's rules")


def _released(dataset: Sequence[object], name: str, choice: Choice, seed: int) -> list[Dataset]:
    """The datasets of a released set, each with its own examples and texts."""
    wanted, fields, n = dataset or ["all"], choice.fields or {}, choice.n
    known = {v.name for each in DATASETS for v in read_suite(each).variants}
    sets = []
    for entry in released_datasets(name) if wanted == ["all"] else wanted:
        if entry not in DATASETS:
            raise InputError(f"`perturbed` {name}: has no dataset '{entry}'; {suggest(str(entry), DATASETS)}")
        suite = read_suite(entry)
        own = {v.name for v in suite.variants}
        fitting = {ours: c for ours, c in fields.items() if ours in own or ours not in known}
        whole = read_released(name, entry, suite, fitting)
        sets.append(whole if n is None else whole.chosen(n, seed))
    unique("dataset", (each.name for each in sets), f"`perturbed` {name}")
    return sets


def part_of(parts: Mapping[str, PerturbedDataset] | None, dataset: Dataset) -> PerturbedDataset | None:
    """The dataset's part of a set, if one is given, for its examples alone.

    Raises `InputError` where the set lacks it, or was made for another task or of other texts.
    """
    if parts is None:
        return None
    if dataset.name not in parts:
        raise InputError(
            f"the perturbation set has no dataset '{dataset.name}'; {suggest(dataset.name, parts)}"
        )
    part = parts[dataset.name]
    task, made_for = dataset.task.task, part.dataset.task.task
    if made_for != task:
        raise InputError(f"the perturbation set of '{dataset.name}' is for task '{made_for}', not '{task}'")
    return matched(part, dataset)


def matched(part: PerturbedDataset, dataset: Dataset) -> PerturbedDataset:
    """The part for the examples of this dataset alone, in their order and with their sources and fields.

    Raises `InputError` where an example is not in the set, or there with another output or source.
    """
    place, held = f"perturbation set of '{part.dataset.name}'", {e.id: e for e in part.dataset.examples}
    for example in dataset.examples:
        if example.id not in held:
            raise InputError(
                f"{place} has no example '{example.id}' "
                f"(holds {len(held)} examples, first: {first_names(held)})"
            )
        there = held[example.id]
        differs = "output" if there.output != example.output else "source"
        if differs == "output" or source_hash(there) != source_hash(example):
            raise InputError(
                f"{place} was made of another text of example '{example.id}' (the {differs} differs); "
                "allowed: the same output and source"
            )
    texts = {(t.variant, t.example): t for t in part.texts}
    kept = tuple(texts[v.name, e.id] for v in part.variants for e in dataset.examples)
    return replace(part, dataset=dataset, texts=kept)
