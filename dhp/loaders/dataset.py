"""From the name of a dataset to its examples, task and suite."""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from pathlib import Path
from statistics import fmean

from dhp.content.catalog import (
    DATASETS,
    GENERAL_SUITE,
    dataset_names,
    mini_examples_file,
    own_suite,
    read_card,
    read_suite,
    read_task,
    task_names,
)
from dhp.core.card_spec import Figures
from dhp.core.errors import InputError, suggest
from dhp.core.language import declared_language
from dhp.core.records import Example, PerturbedText, Variant
from dhp.core.seeding import key_digest
from dhp.core.specs import Task
from dhp.core.suite_spec import ANY_TASK, Suite
from dhp.core.tables import TABLE_SUFFIXES
from dhp.core.text import sentences, words
from dhp.loaders.fetch.prepared import is_prepared, load_prepared
from dhp.loaders.pairs import Loaded
from dhp.loaders.parts import parts_name
from dhp.loaders.published.readers import read_set
from dhp.loaders.user import is_user_data, read_examples


@dataclass(frozen=True, slots=True)
class Dataset:
    """Examples with their task and the suite that degrades them."""

    name: str
    """Goes into results, and into the key of every random stream."""
    examples: tuple[Example, ...]
    task: Task
    suite: Suite | None
    """None where degraded texts came ready-made."""
    pool: tuple[Example, ...]
    """All eligible examples, chosen or not; `random_ending` and `random_answer` draw from them."""
    pair_variants: tuple[Variant, ...] = ()
    pairs: tuple[PerturbedText, ...] = ()
    language: str | None = None
    """Code of the language of the outputs, where no field `language` of an example says otherwise; None: not
    known."""
    notes: tuple[str, ...] = ()
    """What a reader of results must know of the texts."""

    def __post_init__(self) -> None:
        place = f"dataset '{self.name}'"
        if self.suite is not None and self.suite.task not in (self.task.task, ANY_TASK):
            raise InputError(
                f"{place}: suite '{self.suite.suite}' is for task '{self.suite.task}', not '{self.task.task}'"
            )
        if not self.examples:
            raise InputError(f"{place} has no examples")
        seen: set[str] = set()
        for example in self.examples:
            if example.id in seen:
                raise InputError(f"{place}: id '{example.id}' stands twice")
            seen.add(example.id)
            if not example.output.strip():
                raise InputError(f"{place}: example '{example.id}': the output text is empty")
            for field in self.task.required_fields:
                if not example.fields.get(field):
                    raise InputError(
                        f"{place}: example '{example.id}': task '{self.task.task}' needs a field '{field}', "
                        f"the column or --field {field}=COLUMN"
                    )

    @property
    def suite_name(self) -> str:
        """For tables and signatures."""
        return self.suite.suite if self.suite else "given"

    @classmethod
    def of(
        cls,
        examples: Sequence[Example],
        *,
        name: str,
        task: str,
        suite: str | None = None,
        language: str | None = None,
    ) -> "Dataset":
        """A dataset of your own examples; `task` names their task, `suite` defaults to `general`.

        `language` is that of the outputs, where a field `language` of an example does not say it.
        """
        known = read_task(task)
        spoken, own = language or known.output_language, read_suite(suite or GENERAL_SUITE)
        task_of_data = naming(known, examples, output=spoken)
        return cls(name, tuple(examples), task_of_data, own, tuple(examples), language=spoken)

    @property
    def clusters(self) -> dict[str, str]:
        """Example -> the cluster that it is in: its field `cluster`, or the examples of the same source.

        Empty where every example stands alone.
        """
        firsts: dict[str, str] = {}
        found = {}
        for e in self.examples:
            source = e.source.strip()
            found[e.id] = e.fields.get("cluster") or (firsts.setdefault(source, e.id) if source else e.id)
        return found if len(set(found.values())) < len(found) else {}

    def only(self, ids: Collection[str]) -> "Dataset":
        """With the examples of these ids to choose from; raises `InputError` for one that it lacks."""
        known = {e.id for e in self.examples}
        if unknown := sorted(set(ids) - known):
            raise InputError(
                f"dataset '{self.name}': has no example '{unknown[0]}', which the perturbation set is of"
            )
        return replace(self, examples=tuple(e for e in self.examples if e.id in set(ids)))

    def chosen(self, n: int, seed: int) -> "Dataset":
        """With `n` of its examples, chosen by `seed`."""
        examples = select(self.examples, n, seed=seed, dataset=self.name)
        ids = {e.id for e in examples}
        pairs = tuple(p for p in self.pairs if p.example in ids)
        return replace(self, examples=tuple(examples), pairs=pairs)


def select(examples: Sequence[Example], n: int, *, seed: int, dataset: str) -> list[Example]:
    """`n` examples by the rank of sha256 of (seed, dataset, id), in the order in which they came.

    Which ones depends on the set of ids alone, not on their order. Raises `InputError` unless
    1 <= n <= len(examples).
    """
    if n < 1:
        raise InputError(f"{dataset}: n is {n}; allowed: 1 to {len(examples)}")
    if n > len(examples):
        raise InputError(
            f"{dataset}: {n} examples asked for, {len(examples)} there; allowed: 1 to {len(examples)}"
        )
    chosen = {e.id for e in nsmallest(n, examples, key=lambda e: key_digest(seed, dataset, e.id))}
    return [e for e in examples if e.id in chosen]


def measure(examples: Sequence[Example]) -> Figures:
    """Mean number of characters, words and sentences of the outputs; no example raises `InputError`."""
    if not examples:
        raise InputError("no examples to measure; allowed: at least one")
    return Figures(
        characters=fmean(len(e.output) for e in examples),
        words=fmean(len(words(e.output)) for e in examples),
        sentences=fmean(len(sentences(e.output)) for e in examples),
    )


def resolve_datasets(
    given: Sequence[str | Dataset],
    *,
    data: Path | None = None,
    task: str | Task | None = None,
    fields: Mapping[str, str] | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
    n: int | None = None,
    seed: int = 0,
    suite: Suite | None = None,
    by_model: bool = False,
    only: Mapping[str, Collection[str]] = {},
    text_language: str | None = None,
) -> list[Dataset]:
    """The datasets behind `mini`, `mini/NAME`, `all`, NAME, a file or `hf:...`; else as in `dhp.run`.

    `by_model` says whether there is a perturb model: a user's own data then get the suite of their task,
    else the general one. `only` maps datasets to the ids of the examples to choose from.
    """
    if data is not None and (len(given) != 1 or given[0] not in dataset_names()):
        raise InputError(
            f"`data` goes with one `dataset` that says what it holds; allowed: {', '.join(dataset_names())}"
        )
    for entry in given:
        if isinstance(entry, str):
            _check_name(entry)
    own = {"task": task, "fields": fields, "where": where, "text_language": text_language}
    for option, value in own.items():
        if value and not any(isinstance(entry, str) and is_user_data(entry) for entry in given):
            raise InputError(f"`{option}` is for data of your own; the benchmark's datasets bring theirs")
    resolved: list[Dataset] = []
    for entry in given:
        if isinstance(entry, Dataset):
            whole = _with_suite(entry, suite)
            resolved.append(whole if n is None else whole.chosen(n, seed))
            continue
        for name in _expanded(entry):
            whole = (
                _user_data(name, fields or {}, where or {}, task, suite, by_model, text_language)
                if is_user_data(name)
                else published(name, data)
            )
            whole = _with_suite(whole, suite)
            if name in only:
                whole = whole.only(only[name])
                count = len(whole.examples) if n is None else n
            else:
                count = _default_n(whole) if n is None else n
            resolved.append(whole.chosen(count, seed))
    names = [d.name for d in resolved]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise InputError(
            f"two datasets are called '{min(repeated)}'; give each one once, under its own file name"
        )
    return resolved


def unprepared(dataset: str) -> str:
    """What to say of a dataset of the benchmark that has no prepared copy: how to get it."""
    card = read_card(dataset)
    how = f"dhp data prepare {dataset}{'' if card.fetchable else ' --from FILE'}"
    return f"{dataset} is not prepared yet: {how}  ({card.access})"


def _check_name(name: str) -> None:
    """Raise `InputError` for what is neither a dataset nor a file that can be read."""
    own = ["mini", "all", *dataset_names()]
    if name in own or name.startswith("mini/") or is_user_data(name):
        return
    if suffix := Path(name).suffix:
        raise InputError(
            f"dataset '{name}': unknown kind of file '{suffix}'; {suggest(suffix, TABLE_SUFFIXES)}"
        )
    known = [*own, *(f"mini/{d}" for d in DATASETS)]
    raise InputError(
        f"unknown dataset '{name}'; {suggest(name, known)}, FILE{'|'.join(TABLE_SUFFIXES)}, hf:ORG/NAME"
    )


def _expanded(name: str) -> Iterator[str]:
    if name == "mini":
        yield from (f"mini/{d}" for d in DATASETS)
    elif name == "all":
        ready = [d for d in DATASETS if is_prepared(read_card(d))]
        if not ready:
            raise InputError(
                "no dataset is prepared yet: dhp data prepare NAME, for each of " + ", ".join(DATASETS)
            )
        for dataset in DATASETS:
            if dataset not in ready:
                logging.getLogger("dhp").warning("left out of 'all': %s", unprepared(dataset))
        yield from ready
    else:
        yield name


def _user_data(
    name: str,
    fields: Mapping[str, str],
    where: Mapping[str, Sequence[str]],
    task: str | Task | None,
    suite: Suite | None,
    by_model: bool,
    text_language: str | None,
) -> Dataset:
    if task is None and (suite is None or suite.task == ANY_TASK):
        raise InputError(
            f"dataset '{name}': say what its texts are by `task`; allowed: {', '.join(task_names())}, a YAML "
            "file, or a metric of your own by `metrics` NAME `scale` 1..5"
        )
    known = task if isinstance(task, Task) else read_task(task or (suite.task if suite else ""))
    found = read_examples(name, fields, where, known)
    known = known.with_columns(found.columns)
    own = None if found.variants else suite or own_suite(known, by_model)
    short = name if name.startswith("hf:") else parts_name(name)
    return _dataset(short, found, known, own, None, text_language or known.output_language)


def published(name: str, data: Path | None = None) -> Dataset:
    """All eligible examples of `mini/NAME`, or of a dataset with a card as it lies at `data` or is
    prepared."""
    base = name.removeprefix("mini/")
    if base != name:
        file = mini_examples_file(base)
        card = read_card(base)
        languages = card.source_language, card.output_language
        return _dataset(name, read_examples(file), read_task(card.task), read_suite(base), *languages)
    card = read_card(base)
    found = read_set(card, data) if data is not None else load_prepared(card)
    if found is None:
        raise InputError(unprepared(base))
    suite = None if found.variants else read_suite(base)
    return _dataset(name, found, read_task(card.task), suite, card.source_language, card.output_language)


def _dataset(
    name: str,
    found: Loaded,
    task: Task,
    suite: Suite | None,
    source_language: str | None,
    language: str | None,
) -> Dataset:
    examples = tuple(found.examples)
    task = naming(task, examples, source_language, language)
    return Dataset(name, examples, task, suite, examples, found.variants, tuple(found.perturbed), language)


def naming(
    task: Task, examples: Sequence[Example], source: str | None = None, output: str | None = None
) -> Task:
    """The task with the languages of the data, where its instruction names them."""
    if not task.names_languages:
        return task
    languages = {
        "source_language": source or task.source_language or _common(examples, "source_language"),
        "output_language": output or task.output_language or _common(examples, "language"),
    }
    return task.model_copy(update={key: declared_language(value) for key, value in languages.items()})


def _common(examples: Sequence[Example], field: str) -> str | None:
    """The value of a field that is the same in all examples; None without one."""
    values = {example.fields.get(field) for example in examples}
    return values.pop() if len(values) == 1 else None


def _default_n(dataset: Dataset) -> int:
    """All examples, but of a benchmark dataset as many as its card says, and no fewer."""
    there = len(dataset.examples)
    n = read_card(dataset.name).n if dataset.name in DATASETS else None
    if n is not None and there < n:
        raise InputError(
            f"dataset '{dataset.name}': {there} examples qualify, the benchmark takes {n}; "
            f"allowed: `n` {there} to do with fewer"
        )
    return n or there


def _with_suite(dataset: Dataset, suite: Suite | None) -> Dataset:
    if suite is None:
        return dataset
    if dataset.suite is None:
        raise InputError(
            f"dataset '{dataset.name}' brings degraded texts of its own; no suite can be used with it"
        )
    return replace(dataset, suite=suite)
