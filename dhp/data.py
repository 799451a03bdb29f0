"""From the name of a data set to its examples, task and suite."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dhp.content import (
    DATASETS,
    dataset_names,
    mini_examples_file,
    read_card,
    read_suite,
    read_task,
)
from dhp.errors import InputError, near
from dhp.loaders import UserData, load_prepared, read_examples, read_hub, read_published, select
from dhp.records import Example, PerturbedText, Variant
from dhp.specs import Suite, Task
from dhp.tables import TABLE_SUFFIXES


@dataclass(frozen=True, slots=True)
class Dataset:
    """Examples with their task and the suite that degrades them."""

    name: str
    """Goes into results, and into the key of every random stream."""
    examples: tuple[Example, ...]
    task: Task
    suite: Suite | None
    """None where degraded texts came ready-made."""
    pair_variants: tuple[Variant, ...] = ()
    pairs: tuple[PerturbedText, ...] = ()

    @property
    def suite_name(self) -> str:
        """For tables and signatures."""
        return self.suite.suite if self.suite else "given"

    @classmethod
    def of(cls, examples: Sequence[Example], *, name: str, task: str, suite: str | None = None) -> "Dataset":
        """A data set of your own examples; `task` names their task, `suite` defaults to that task's own."""
        return _own(
            name, UserData(list(examples), (), []), read_task(task), read_suite(suite) if suite else None
        )


def resolve_datasets(
    given: Sequence[str | Dataset],
    *,
    data: Path | None = None,
    task: str | None = None,
    fields: Mapping[str, str] | None = None,
    n: int | None = None,
    seed: int = 0,
    suite: Suite | None = None,
) -> list[Dataset]:
    """The data sets behind `mini`, `mini/NAME`, `all`, NAME, a file or `hf:...`; else as in `dhp.run`."""
    if data is not None and (len(given) != 1 or given[0] not in dataset_names()):
        raise InputError(
            f"--data needs one --dataset that says what it holds; allowed: {', '.join(DATASETS)}"
        )
    for option, value in (("--task", task), ("--field", fields)):
        if value and not any(isinstance(entry, str) and _is_user_data(entry) for entry in given):
            raise InputError(f"{option} is for data of your own; the benchmark's datasets bring theirs")
    resolved: list[Dataset] = []
    for entry in given:
        if isinstance(entry, Dataset):
            resolved.append(entry)
            continue
        for name in _expanded(entry):
            if _is_user_data(name):
                user = _user_data(name, fields or {})
                resolved.append(_own(_stem(name), _cut(user, n, seed, name), _task(name, task, suite), suite))
            else:
                resolved.append(_benchmark(name, data, n, seed, suite))
    names = [d.name for d in resolved]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise InputError(f"dataset '{min(repeated)}' is given twice; give each one once")
    return resolved


def unprepared(names: Sequence[str] = DATASETS) -> list[str]:
    """Which of the benchmark's datasets have no prepared copy yet, each with how to get it."""
    lines = []
    for name in names:
        card = read_card(name)
        if load_prepared(card) is None:
            how = f"dhp data prepare {name}" + (
                "" if card.download or "sacrebleu" in card.access else " --from FILE"
            )
            lines.append(f"{name} is not prepared yet: {how}  ({card.access})")
    return lines


def _expanded(name: str) -> Iterator[str]:
    if name == "mini":
        yield from (f"mini/{d}" for d in DATASETS)
    elif name == "all":
        ready = [d for d in DATASETS if load_prepared(read_card(d)) is not None]
        if not ready:
            raise InputError(
                "no dataset is prepared yet: dhp data prepare NAME, for each of " + ", ".join(DATASETS)
            )
        yield from ready
    elif name in dataset_names() or name.startswith("mini/") or _is_user_data(name):
        yield name
    else:
        known = ["mini", "all", *dataset_names(), *(f"mini/{d}" for d in DATASETS)]
        raise InputError(
            f"unknown dataset '{name}'; {near(name, known)}, FILE{'|'.join(TABLE_SUFFIXES)}, hf:ORG/NAME"
        )


def _is_user_data(name: str) -> bool:
    return name.startswith("hf:") or Path(name).suffix in TABLE_SUFFIXES


def _stem(name: str) -> str:
    return name if name.startswith("hf:") else Path(name).stem


def _user_data(name: str, fields: Mapping[str, str]) -> UserData:
    return (
        read_hub(name.removeprefix("hf:"), fields)
        if name.startswith("hf:")
        else read_examples(Path(name), fields)
    )


def _cut(user: UserData, n: int | None, seed: int, name: str) -> UserData:
    if n is None:
        return user
    chosen = select(user.examples, n, seed=seed, dataset=_stem(name))
    ids = {e.id for e in chosen}
    return UserData(chosen, user.variants, [p for p in user.perturbed if p.example in ids])


def _task(name: str, task: str | None, suite: Suite | None) -> Task:
    if suite is not None and task not in (None, suite.task):
        raise InputError(f"suite '{suite.suite}' is for task '{suite.task}', not '{task}'")
    if task is None and suite is None:
        from dhp.content import task_names

        raise InputError(
            f"dataset '{name}': say what its texts are by --task; allowed: {', '.join(task_names())}"
        )
    return read_task(task or (suite.task if suite else ""))


def _own(name: str, user: UserData, task: Task, suite: Suite | None) -> Dataset:
    _check_examples(name, user.examples, task)
    if user.variants:
        if suite is not None:
            raise InputError(
                f"dataset '{name}' brings degraded texts of its own; a suite cannot be used with it"
            )
        return Dataset(name, tuple(user.examples), task, None, user.variants, tuple(user.perturbed))
    return Dataset(name, tuple(user.examples), task, suite or read_suite(task.default_suite))


def _benchmark(name: str, data: Path | None, n: int | None, seed: int, suite: Suite | None) -> Dataset:
    base = name.removeprefix("mini/")
    bundled = base != name
    file = mini_examples_file(base) if bundled else None
    card = read_card(base)
    if suite is not None and suite.task != card.task:
        raise InputError(
            f"suite '{suite.suite}' is for task '{suite.task}', dataset '{name}' has '{card.task}'"
        )
    if file is not None:
        eligible = read_examples(file).examples
    else:
        found = read_published(card, data) if data is not None else load_prepared(card)
        if found is None:
            raise InputError(unprepared([name])[0])
        eligible = found
    if n is None and not bundled and len(eligible) < card.n:
        raise InputError(
            f"dataset '{name}': {len(eligible)} examples qualify, the benchmark takes {card.n}; "
            f"allowed: --n {len(eligible)} to do with fewer"
        )
    wanted = n if n is not None else len(eligible) if bundled else card.n
    task = read_task(card.task)
    examples = select(eligible, wanted, seed=seed, dataset=name)
    _check_examples(name, examples, task)
    return Dataset(name, tuple(examples), task, suite or read_suite(base))


def _check_examples(name: str, examples: Sequence[Example], task: Task) -> None:
    if not examples:
        raise InputError(f"dataset '{name}' has no examples")
    seen: set[str] = set()
    for example in examples:
        if example.id in seen:
            raise InputError(f"dataset '{name}': id '{example.id}' stands twice")
        seen.add(example.id)
        if not example.output.strip():
            raise InputError(f"dataset '{name}': example '{example.id}': the output text is empty")
        for field in task.required_fields:
            if not example.fields.get(field):
                raise InputError(
                    f"dataset '{name}': example '{example.id}': task '{task.task}' needs a field '{field}'"
                )
