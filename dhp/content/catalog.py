"""Content by name: cards, tasks, suites, weights and the bundled mini set."""

import functools
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from dhp.content.yaml import content_folder, load_spec
from dhp.core.card_spec import Card
from dhp.core.errors import InputError, suggest
from dhp.core.specs import S, Task
from dhp.core.suite_spec import ANY_TASK, AuthoredEdits, Descriptions, Probes, Suite
from dhp.core.weight_spec import Weights

DATASETS = ("summeval", "sumpubmed", "story_cloze", "answer_equivalence", "wmt22_deen", "wmt22_zhen")
"""The six datasets of the DHP benchmark, in the paper's order."""


def names_in(folder: Path) -> list[str]:
    """The names of the YAML files in a folder."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def named_file(kind: str, folder: Path, name: str) -> Path:
    """The file of that name in a folder; raises `InputError` with the near name."""
    if name not in (names := names_in(folder)):
        raise InputError(f"unknown {kind} '{name}'; {suggest(name, names)}")
    return folder / f"{name}.yaml"


def name_or_file(kind: str, folder: Path, name: str) -> Path:
    """The file that is given, or the one of that name in a folder."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        if not path.is_file():
            raise InputError(f"{kind} file {path}: does not exist")
        return path
    return named_file(kind, folder, name)


def dataset_names() -> list[str]:
    """The datasets that have a card."""
    return names_in(content_folder("datasets") / "cards")


GENERAL_SUITE = "general"
"""The suite of rules that go with any task and language: for data of the user's own."""
GENERAL_LLM_SUITE = "general_llm"
"""The same with what a perturb model does to any text."""


def task_names() -> list[str]:
    """The tasks that are defined."""
    return names_in(content_folder("datasets") / "tasks")


def suite_names() -> list[str]:
    """The suites that ship with the package."""
    return names_in(content_folder("perturbations"))


@functools.cache
def read_list(name: str, spec: type[S]) -> S:
    """A word list of the perturbers (`perturbations/lists/NAME.yaml`), as `spec` describes it."""
    return load_spec(named_file("word list", content_folder("perturbations") / "lists", name), spec)


def descriptions() -> dict[str, str]:
    """What the perturbers that ship with the package do to a text: name -> one sentence."""
    known: Descriptions = read_list("descriptions", Descriptions)
    return known.descriptions


def damage_names() -> dict[str, str]:
    """The same in a word or two: perturber -> what readers call the damage."""
    known: Descriptions = read_list("descriptions", Descriptions)
    return known.names


def weights_names() -> list[str]:
    """The expert weights that ship with the package."""
    return names_in(content_folder("expert_weights"))


def read_card(dataset: str) -> Card:
    """The card of a dataset; its task must exist."""
    path = named_file("dataset", content_folder("datasets") / "cards", dataset)
    card = load_spec(path, Card)
    if card.task not in (tasks := task_names()):
        raise InputError(f"{path}: task: unknown task '{card.task}'; {suggest(card.task, tasks)}")
    return card


def read_task(task: str) -> Task:
    """A task with its metrics, by name or by file (`.yaml`)."""
    return load_spec(name_or_file("task", content_folder("datasets") / "tasks", task), Task)


def read_suite(name: str) -> Suite:
    """A suite by its name, mostly that of a dataset, or by file (`.yaml`), which may be for a task of one's
    own."""
    path = name_or_file("suite", content_folder("perturbations"), name)
    suite = load_spec(path, Suite)
    if suite.task not in (tasks := [*task_names(), ANY_TASK]) and (
        path.stem == name or misspelt_task(suite.task)
    ):
        raise InputError(f"{path}: task: unknown task '{suite.task}'; {suggest(suite.task, tasks)}")
    return suite


def own_suite(task: Task, with_llm: bool) -> Suite:
    """The suite for a user's own data of a task; `with_llm` says whether there is a perturb model."""
    given = task.default_suite
    if Path(given).suffix in (".yaml", ".yml"):
        given = str(Path(task.origin).parent / given)
    suite = read_suite(given)
    asks = any(use.method == "llm" for use in suite.perturbers.values())
    if given == GENERAL_SUITE and with_llm:
        return read_suite(GENERAL_LLM_SUITE)
    return read_suite(GENERAL_SUITE) if asks and not with_llm else suite


def misspelt_task(task: str) -> bool:
    """Whether a task is none that we know but nearly called as one: a typing error."""
    return bool(task not in task_names() and get_close_matches(task, task_names(), n=1, cutoff=0.92))


def read_probes(name: str) -> Probes:
    """`controls` or `attacks`."""
    return load_spec(named_file("probes", content_folder("perturbations") / "probes", name), Probes)


@functools.cache
def read_authored(dataset: str) -> AuthoredEdits | None:
    """The edits that people wrote for a bundled dataset (`mini/NAME`); None for any other."""
    base = dataset.removeprefix("mini/")
    folder = content_folder("perturbations") / "authored"
    if base == dataset or base not in names_in(folder):
        return None
    path = folder / f"{base}.yaml"
    edits = load_spec(path, AuthoredEdits)
    if edits.dataset != dataset:
        raise InputError(f"{path}: dataset: must be '{dataset}', not '{edits.dataset}'")
    return edits


def read_weights(name: str) -> Weights:
    """Weights by name or by file (`.yaml`); rows must be full, metrics exist as far as their task is known
    here.

    Votes are read as their shares; a metric that they do not name has none.
    """
    path = name_or_file("weights", content_folder("expert_weights"), name)
    weights = load_spec(path, Weights)
    _check_rows(path, "tasks", weights.tasks, full=True)
    _check_rows(path, "votes", weights.votes, full=False)
    votes = {
        task: {p: dict.fromkeys(_metrics(task, rows), 0) | row for p, row in rows.items()}
        for task, rows in weights.votes.items()
    }
    return weights.model_copy(update={"votes": votes}).with_shares()


def _check_rows(
    path: Path, key: str, tables: Mapping[str, Mapping[str, Mapping[str, float]]], *, full: bool
) -> None:
    """Raise `InputError` for a task or metric that does not exist; if `full`, for a metric left out too."""
    for task, rows in tables.items():
        if misspelt_task(task):
            raise InputError(f"{path}: {key}: unknown task '{task}'; {suggest(task, task_names())}")
        metrics = _metrics(task, rows)
        for perturber, row in rows.items():
            place = f"{path}: {key}.{task}.{perturber}"
            for metric in row:
                if metric not in metrics:
                    raise InputError(f"{place}: unknown metric '{metric}'; {suggest(metric, metrics)}")
            if full and (missing := [m for m in metrics if m not in row]):
                raise InputError(
                    f"{place}: no weight for metric '{missing[0]}'; allowed: one for each metric"
                )


def _metrics(task: str, rows: Mapping[str, Mapping[str, float]]) -> Sequence[str]:
    """The metrics of a task; of one that is not known here those that any of its rows names."""
    if task in task_names():
        return read_task(task).metric_names
    return list(dict.fromkeys(metric for row in rows.values() for metric in row))


def mini_examples_file(dataset: str) -> Path:
    """The bundled examples of the kind of a dataset (JSONL of `id, source, output` and its fields)."""
    folder = content_folder("datasets") / "mini"
    if not (path := folder / f"{dataset}.jsonl").is_file():
        known = [f"mini/{p.stem}" for p in sorted(folder.glob("*.jsonl"))]
        raise InputError(f"unknown dataset 'mini/{dataset}'; {suggest(f'mini/{dataset}', known)}")
    return path
