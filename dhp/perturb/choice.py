"""Which texts a run is about: the options of a user, and the datasets and sets behind them."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from dhp.content.catalog import DATASETS, read_card, read_suite, read_task
from dhp.content.own_task import own_task
from dhp.core.errors import InputError, suggest
from dhp.core.language import NAMES, declared_language
from dhp.core.specs import Metric, Task
from dhp.loaders.dataset import Dataset, naming
from dhp.loaders.released import is_released, read_released, released_datasets
from dhp.loaders.resolve import resolve_datasets
from dhp.loaders.user import is_user_data
from dhp.perturb.api import Perturber
from dhp.perturb.dose_suites import Doses
from dhp.perturb.model_config import PerturbModel
from dhp.perturb.sets.part import SetPart
from dhp.perturb.sets.read import read_set


class Choice(TypedDict, total=False):
    """Which texts a run is about, and how they are degraded."""

    data: str | Path | None
    """Where a benchmark dataset lies as its owners publish it, instead of the prepared copy."""
    task: str | Task | None
    """For a user's file: what the writers had to do; a name, or a YAML file with metrics of one's own."""
    fields: Mapping[str, str] | None
    """For a user's file or a released set: `{our field: their column}`."""
    where: Mapping[str, Sequence[str]] | None
    """For a user's file: column -> the values with which its rows count."""
    n: int | None
    """Number of examples, chosen by the seed. Default: the card's (100) or all there are, if fewer."""
    suite: str | None
    """Name or YAML file; default: the dataset's own, for a user's data `general`, or with a perturb model the
    task's own."""
    perturbers: Iterable[Perturber]
    """Own perturbers, usable in the suite by name; those that it does not name are added to it."""
    perturb_model: str | PerturbModel | None
    """Carries out the suite's perturbers of method `llm`; without one the bundled data are degraded by edits
    that people wrote, and for other data these perturbers are left out."""
    perturbed: str | Path | None
    """A perturbation set, written by dhp (folder) or released (folder, `hf:ORG/NAME`): its texts are used."""
    text_language: str | None
    """Language of the outputs of a user's file, a code such as `de`, where no field `language` of an example
    and no `output_language` of the task says it. Without any it is known only where one script means one
    language."""
    controls: bool | None
    """Whether to add changes that must not lower a score. By default `run` adds them where all judges compute
    their ratings (`baseline/`, `metric/`, `mock/`), so that they cost no call, and no doses are asked for."""
    attacks: bool
    """Whether to add changes that must not raise a score."""
    doses: Doses | None
    """Degrade by each of these doses k instead: for all perturbers of the suite with a parameter `k`, or
    `{perturber: doses}`."""


def found_datasets(
    dataset: str | Dataset | Sequence[str | Dataset] | None, choice: Choice, seed: int
) -> tuple[list[Dataset], Mapping[str, SetPart] | None]:
    """The datasets, and the perturbation set where one is given."""
    perturbed, suite, data = choice.get("perturbed"), choice.get("suite"), choice.get("data")
    fields, n = choice.get("fields"), choice.get("n")
    if perturbed is not None and is_released(str(perturbed)):
        if data is not None or choice.get("task") is not None:
            name = "task" if data is None else "data"
            raise InputError(
                f"`{name}`: cannot be used with `perturbed` {perturbed}, which brings its examples"
            )
        return _released(dataset, str(perturbed), fields, n, seed), None
    given = read_set(Path(perturbed)) if perturbed is not None else None
    sets = resolve_datasets(
        as_list(dataset or list(given or ["mini"])),
        data=Path(data) if data is not None else None,
        task=choice.get("task") or _task_of(given),
        fields=fields,
        where=choice.get("where"),
        n=n,
        seed=seed,
        suite=read_suite(suite) if suite is not None else None,
        with_llm=choice.get("perturb_model") is not None,
        only={name: [e.id for e in part.examples] for name, part in (given or {}).items()},
        text_language=_known_language(choice.get("text_language")),
    )
    return sets, given


def _known_language(given: str | None) -> str | None:
    """The code of a language that is given; raises `InputError` for one that has no name here."""
    code = declared_language(given)
    if code is not None and code not in NAMES:
        raise InputError(f"`text_language` '{given}': unknown language; {suggest(code, NAMES)}")
    return code


def with_own_task(dataset: object, choice: Choice, metrics: Sequence[str | Metric]) -> Choice:
    """The choice, with a task made of the metrics where these are the user's own and no task is given."""
    own = [m for m in metrics if isinstance(m, Metric)]
    named = any(isinstance(entry, str) and is_user_data(entry) for entry in as_list(dataset or []))
    if not named or choice.get("task") or choice.get("suite") or not own or len(own) < len(metrics):
        return choice
    return {**choice, "task": own_task(own)}


def _task_of(given: Mapping[str, SetPart] | None) -> str | None:
    """The task of a set that was made of a user's own data alone."""
    parts = list((given or {}).values())
    tasks = {part.task for part in parts}
    return tasks.pop() if len(tasks) == 1 and all(is_user_data(part.dataset) for part in parts) else None


def check_choice(choice: Choice, own: Sequence[Perturber]) -> None:
    """Raise `InputError` for options that contradict each other."""
    perturbed, model, doses = choice.get("perturbed"), choice.get("perturb_model"), choice.get("doses")
    others = {"suite": choice.get("suite"), "perturbers": own, "perturb_model": model, "doses": doses}
    for name, value in others.items():
        if perturbed is not None and value:
            raise InputError(f"`{name}`: cannot be used with `perturbed` {perturbed}, which brings its texts")
    if doses and (model or own):
        name = "perturb_model" if model else "perturbers"
        raise InputError(f"`{name}`: cannot be used with `doses`, which are for the suite's rules")


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
            raise InputError(f"`perturbed` {name}: has no dataset '{entry}'; {suggest(str(entry), DATASETS)}")
        suite = read_suite(entry)
        own = {v.name for v in suite.variants}
        known = {v.name for each in suites for v in each.variants}
        fitting = {ours: c for ours, c in (fields or {}).items() if ours in own or ours not in known}
        found = read_released(name, entry, suite, fitting)
        shown = ", ".join(f"{ours} = {theirs}" for ours, theirs in found.field_map.items())
        logging.getLogger("dhp").warning("%s, %s: columns read as %s", name, entry, shown)
        card = read_card(entry)
        task = naming(read_task(card.task), found.examples, card.source_language, card.output_language)
        texts = found.examples, found.variants, found.texts
        whole = Dataset(entry, texts[0], task, None, *texts, language=card.output_language)
        sets.append(whole if n is None else whole.chosen(n, seed))
    if len({each.name for each in sets}) < len(sets):
        raise InputError(f"`perturbed` {name}: a dataset is named twice; give each one once")
    return sets


def part_of(given: Mapping[str, SetPart] | None, dataset: Dataset) -> SetPart | None:
    """The dataset's part of a set, if one is given; raises `InputError` where the set lacks it."""
    if given is None:
        return None
    if dataset.name not in given:
        raise InputError(
            f"the perturbation set has no dataset '{dataset.name}'; {suggest(dataset.name, given)}"
        )
    return given[dataset.name]


def as_list(value: object) -> list[Any]:
    """One or several as a list; paths as text."""
    found = list(value) if isinstance(value, list | tuple) else [value]
    return [str(entry) if isinstance(entry, Path) else entry for entry in found]
