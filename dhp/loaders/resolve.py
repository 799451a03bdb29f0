"""Datasets by name: bundled, published, from files and from the Hub.

`resolve_datasets` goes these steps for each name: it checks it before anything is read, reads the texts (a
plug-in, `_user_data` or `published`), gives them their suite, and chooses as many examples as are asked for.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dhp.content.catalog import (
    DATASETS,
    mini_examples_file,
    names_of,
    own_suite,
    read_card,
    read_suite,
    read_task,
)
from dhp.content.own_task import function_task
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.language import NAMES, declared_language
from dhp.core.plugins import load_target, offered
from dhp.core.specs import ANY_TASK, Card, Suite, Task
from dhp.core.tables import TABLE_SUFFIXES
from dhp.loaders.dataset import Dataset
from dhp.loaders.fetch import is_prepared, load_prepared, unprepared
from dhp.loaders.hub import HUB_PREFIX
from dhp.loaders.memory import NAME, Rows, are_rows, rows_table
from dhp.loaders.parts import parts_name
from dhp.loaders.published import read_set
from dhp.loaders.request import Request
from dhp.loaders.user import columns_of, from_table, is_user_data, meanings, open_table, read_texts


def resolve_datasets(
    sources: Sequence[str | Dataset | Rows],
    *,
    data: Path | None = None,
    task: str | Task | None = None,
    fields: Mapping[str, str] | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
    n: int | None = None,
    min_characters: int | None = None,
    seed: int = 0,
    suite: Suite | None = None,
    with_llm: bool = False,
    only: Mapping[str, Collection[str]] = {},
    text_language: str | None = None,
    judge_part: str | None = None,
    strict: bool = False,
) -> list[Dataset]:
    """The datasets behind `mini`, `mini/NAME`, `all`, NAME, a file, `hf:...` or rows; else as in `dhp.run`.

    `with_llm` says whether there is a perturb model: a user's own data then get the suite of their task,
    else the general one. `only` maps datasets to the ids of the examples to choose from.
    """
    of_own = {"task": task, "fields": fields, "where": where, "text_language": text_language}
    _check_sources(sources, data, min_characters, of_own)
    language = _known_language(text_language)
    resolved: list[Dataset] = []
    for entry in sources:
        if isinstance(entry, Dataset):
            whole = _with_suite(entry, suite)
            resolved.append(whole if n is None else whole.chosen(n, seed))
            continue
        # `mini` and `all` stand for several datasets; a table in memory is one.
        for each in _expanded(entry) if isinstance(entry, str) else [entry]:
            # Of `FOLDER/*.csv` the folder, of a file its name.
            name = parts_name(each) if isinstance(each, str) else NAME
            asked = Request(each, name, task, fields or {}, where or {}, language, judge_part, strict, suite)
            if is_own(each):
                # A log has the suffix of a table: only a plug-in can tell it from one.
                whole = _of_plugin(asked) or _user_data(asked, with_llm)
            else:
                whole = published(str(each), data, min_characters, judge_part)
            if judge_part and whole.split is None:
                raise InputError(f"`judge_part`: is for conversations; dataset '{whole.name}' holds texts")
            whole = _with_suite(whole, suite)
            if whole.name in only:  # the examples that a perturbation set has texts of
                whole = whole.only(only[whole.name])
                # All that a perturbation set has texts of, and not the number on the card.
                count = len(whole.examples) if n is None else n
            else:
                count = _default_n(whole) if n is None else n
            resolved.append(whole.chosen(count, seed))
    _check_different([dataset.name for dataset in resolved])
    return resolved


def _check_sources(
    sources: Sequence[object],
    data: Path | None,
    min_characters: int | None,
    of_own: Mapping[str, object],
) -> None:
    """Raise `InputError` for a name or an option that cannot be meant, before anything is read.

    `of_own` are options that only data of the user's own take.
    """
    if data is not None and (len(sources) != 1 or sources[0] not in names_of("dataset")):
        allowed = ", ".join(names_of("dataset"))
        raise InputError(f"`data` goes with one `dataset` that says what it holds; allowed: {allowed}")
    check_minimum(min_characters, data)
    for entry in sources:
        _check_entry(entry)
    # One is enough: options for own data say nothing about the others in the same call.
    has_own = any(is_own(entry) for entry in sources)
    for option, value in of_own.items():
        if value and not has_own:
            raise InputError(f"`{option}` is for data of your own; the benchmark's datasets bring theirs")


def _check_different(names: Sequence[str]) -> None:
    """Raise `InputError` if two datasets have one name, which tells them apart in results."""
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise InputError(
            f"two datasets are called '{min(repeated)}'; give each one once, under its own file name"
        )


def _known_language(name: str | None) -> str | None:
    """The code of a language that is given; raises `InputError` for one that has no name here."""
    code = declared_language(name)
    if code is not None:
        one_of("language", code, NAMES, "`text_language`")
    return code


def is_own(entry: object) -> bool:
    """Whether it is a file or a table of the user's, and no dataset of the benchmark."""
    return is_user_data(entry) if isinstance(entry, str) else are_rows(entry)


def _check_entry(name: object) -> None:
    """Raise `InputError` for what is neither a dataset nor a file that can be read."""
    if isinstance(name, Dataset) or are_rows(name):
        return
    if not isinstance(name, str):
        raise InputError(
            f"dataset: is of type {type(name).__name__}; allowed: a name, a file, a DataFrame, a list of "
            "dictionaries, or dhp.Dataset.of(examples, name=..., task=...)"
        )
    names = ["mini", "all", *names_of("dataset")]
    if name in names or name.startswith("mini/") or is_user_data(name):
        return
    # With a suffix it was meant as a file, without one as the name of a dataset.
    suffix = Path(name).suffix
    if suffix:
        raise InputError(
            f"dataset '{name}': unknown kind of file '{suffix}'; {suggest(suffix, TABLE_SUFFIXES)}"
        )
    files = "|".join(TABLE_SUFFIXES)
    known = suggest(name, [*names, *_BUNDLED])
    raise InputError(f"unknown dataset '{name}'; {known}, FILE{files}, hf:ORG/NAME")


_BUNDLED = tuple(f"mini/{dataset}" for dataset in DATASETS)
"""The bundled sets of the benchmark's datasets, which `mini` stands for."""


def _expanded(name: str) -> Sequence[str]:
    """The names of datasets that a name stands for."""
    if name == "mini":
        return _BUNDLED
    if name != "all":
        return [name]
    ready = []
    without = []
    for dataset in DATASETS:
        card = read_card(dataset)
        if is_prepared(card):
            ready.append(dataset)
        else:
            without.append(unprepared(card))
    if not ready:
        raise InputError(
            "no dataset is prepared yet: dhp data prepare NAME, for each of " + ", ".join(DATASETS)
        )
    for how in without:
        logging.getLogger("dhp").warning("left out of 'all': %s", how)
    return ready


def _of_plugin(asked: Request) -> Dataset | None:
    """The dataset that a plug-in reads; None if it is left to the core.

    Such data bring their task.
    """
    if asked.task is function_task():  # of plain tables that functions judge: the user has named no task
        asked = replace(asked, task=None)
    for target in offered("datasets").values():
        dataset: Dataset | None = load_target(target)(asked)
        if dataset is not None:
            return dataset
    return None


def _user_data(asked: Request, with_llm: bool) -> Dataset:
    """The dataset in a table of the user's, with their suite, else that of the task."""
    source = asked.source
    if isinstance(source, str):
        table = open_table(source, broken=True)
        name = source if source.startswith(HUB_PREFIX) else parts_name(source)
    else:
        table = rows_table(source)
        name = NAME
    task = _task_of(asked)
    columns = columns_of(table, asked.fields, task)
    with_columns = task.with_columns(meanings(columns))
    dataset = from_table(name, table, with_columns, columns, asked.where, strict=asked.strict)
    if not dataset.pair_variants:  # pairs are degraded already
        dataset = replace(dataset, suite=asked.suite or own_suite(task, with_llm))
    return dataset.in_languages(None, asked.language or task.output_language)


def _task_of(asked: Request) -> Task:
    """The task that is asked for, else that of the suite; raises `InputError` if neither says one."""
    if isinstance(asked.task, Task):
        return asked.task
    if asked.task is not None:
        return read_task(asked.task)
    if asked.suite is not None and asked.suite.task != ANY_TASK:
        return read_task(asked.suite.task)
    name = asked.source if isinstance(asked.source, str) else NAME
    allowed = ", ".join(names_of("task"))
    raise InputError(
        f"dataset '{name}': say what its texts are by `task`; allowed: {allowed}, a YAML "
        "file, or a metric of your own by `metrics` NAME `scale` 1..5"
    )


def published(
    name: str, data: Path | None = None, min_characters: int | None = None, judge_part: str | None = None
) -> Dataset:
    """All eligible examples of `mini/NAME`, or of a dataset with a card as it lies at `data` or is prepared.

    `min_characters` takes the place of the card's for what is read from `data`. `judge_part` says what of
    bundled conversations is judged.
    """
    base = name.removeprefix("mini/")
    is_bundled = base != name
    if is_bundled:
        file = mini_examples_file(base)
        if base not in names_of("dataset"):  # bundled conversations, which a plug-in reads
            bundled = _of_plugin(Request(str(file), name, judge_part=judge_part))
            if bundled:
                return bundled
        card = read_card(base)
        texts = read_texts(file, read_task(card.task), name=name)
    else:
        card = with_minimum(read_card(base), min_characters)
        texts = read_set(card, data) if data is not None else load_prepared(card)
    if not texts.pair_variants:  # pairs are degraded already
        texts = replace(texts, suite=read_suite(base))
    return texts.in_languages(card.source_language, card.output_language)


def check_minimum(min_characters: int | None, data: Path | None) -> None:
    """Raise `InputError` for a minimum of characters without a published set to read."""
    if min_characters is not None and data is None:
        raise InputError(
            "`min_characters`: counts where a published set is read; give `data`, or dhp data prepare with it"
        )


def with_minimum(card: Card, min_characters: int | None) -> Card:
    """The card with another minimum of characters; raises `InputError` for a set that has none."""
    if min_characters is None:
        return card
    if card.min_characters is None:
        allowed = ", ".join(name for name in DATASETS if read_card(name).min_characters is not None)
        raise InputError(f"`min_characters`: '{card.dataset}' has no such condition; allowed with {allowed}")
    return card.model_copy(update={"min_characters": min_characters})


def _default_n(dataset: Dataset) -> int:
    """As many examples as the card of a benchmark dataset says; all if there are fewer, or no such card."""
    count = len(dataset.examples)
    n = read_card(dataset.name).n if dataset.name in DATASETS else None
    if n is None:
        return count
    if count < n:
        logging.getLogger("dhp").warning(
            "dataset '%s': %d examples qualify, the benchmark takes %d; its figures are of these %d",
            *(dataset.name, count, n, count),
        )
    return min(n, count)


def _with_suite(dataset: Dataset, suite: Suite | None) -> Dataset:
    if suite is None:
        return dataset
    if dataset.suite is None:
        raise InputError(
            f"dataset '{dataset.name}' brings degraded texts of its own; no suite can be used with it"
        )
    return replace(dataset, suite=suite)
