"""Content by name: cards, tasks, suites, weights, protocols.

`_FOLDERS` has the folder of each kind of content, in the package and in plug-ins that bring their own;
`names_of` lists what is in these, and `file_of` finds a name.
For each kind a function reads it (`read_card`, `read_task`, ...), and checks what one file says of another.
Below these: names of kinds of damage as people read them, metrics of a task, changes to a protocol.
"""

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from dhp.content.yaml_files import content_folder, load_spec, load_steps, refusals
from dhp.core.answer_forms import PAIRWISE_FORMS, POINTWISE_FORMS
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.files import read_text
from dhp.core.options import as_list
from dhp.core.plugins import plugins
from dhp.core.protocol_spec import Protocol, Wording, slot_fault
from dhp.core.records import parse_variant
from dhp.core.shown import printable
from dhp.core.specs import (
    ANY_TASK,
    AuthoredEdits,
    Card,
    Descriptions,
    KindWords,
    Language,
    Metric,
    Probes,
    S,
    Suite,
    Task,
    Weights,
)

DATASETS = ("summeval", "sumpubmed", "story_cloze", "answer_equivalence", "wmt22_deen", "wmt22_zhen")
"""The six datasets of the DHP benchmark, in the paper's order."""


_FOLDERS = {
    "dataset": "datasets/cards",
    "bundled set": "datasets/mini",
    "task": "datasets/tasks",
    "suite": "perturbations",
    "probes": "perturbations/probes",
    "word list": "perturbations/lists",
    "authored edits": "perturbations/authored",
    "weights": "expert_weights",
    "protocol": "protocols",
    "pairwise protocol": "protocols/pairwise",
    "language": "protocols/wording",
    "language of pairwise prompts": "protocols/pairwise/wording",
}
"""Kind of content, as messages call it -> the folder of its files, one a name."""
_DESCRIPTIONS = "descriptions"
"""The word list that says what perturbers do."""
_GIVEN_AS_FILES = ("task", "suite", "weights", "protocol", "pairwise protocol")
"""Kinds of which a user may give a file in place of a name."""


def _folders(kind: str) -> tuple[Path, ...]:
    """The folders of a kind of content: that of the package, then those of plug-ins."""
    # `datasets/cards`: the wheel and plug-ins place `datasets`, and `cards` is in it.
    base, _, below = _FOLDERS[kind].partition("/")
    folders = [content_folder(base) / below]
    for plugin in plugins():
        if plugin.content:
            folders.append(plugin.content / base / below)
    return tuple(folders)


def names_of(kind: str) -> tuple[str, ...]:
    """What there is of a kind of content, sorted."""
    return tuple(_files_in(_folders(kind)))


@functools.cache
def _files_in(folders: tuple[Path, ...]) -> dict[str, Path]:
    """Name -> file, sorted; raises `InputError` for a name in two of the folders."""
    files: dict[str, Path] = {}
    for folder in folders:
        for path in (*folder.glob("*.yaml"), *folder.glob("*.jsonl")):
            first = files.setdefault(path.stem, path)
            if first != path and path.stem != _DESCRIPTIONS:  # each plug-in has descriptions of its own
                raise InputError(f"{path}: has the name of {first}; must have another")
    return dict(sorted(files.items()))


def file_of(kind: str, name: str) -> Path:
    """The file of that name, or at that path; raises `InputError` with the near name if there is none."""
    path = Path(name)
    if kind in _GIVEN_AS_FILES and path.suffix in (".yaml", ".yml"):
        if not path.is_file():
            raise InputError(f"{kind} file {path}: does not exist")
        return path
    files = _files_in(_folders(kind))
    one_of(kind, name, files)
    return files[name]


DESIGN = "design"
"""The weights that state what each perturbation is meant to hurt."""

GENERAL_SUITE = "general"
"""The suite of rules that go with any task and language: for data of the user's own."""
GENERAL_LLM_SUITE = "general_llm"
"""The same with what a perturb model does to any text."""


@functools.cache
def read_list(name: str, spec: type[S]) -> S:
    """A word list of the perturbers (`perturbations/lists/NAME.yaml`), as `spec` describes it."""
    return load_spec(file_of("word list", name), spec)


@functools.cache
def _described() -> Descriptions:
    """What is known of all perturbers: each plug-in describes its own."""
    whole = Descriptions(descriptions={})
    for folder in _folders("word list"):
        file = folder / f"{_DESCRIPTIONS}.yaml"
        if file.is_file():
            part = load_spec(file, Descriptions)
            whole.descriptions.update(part.descriptions)
            whole.names.update(part.names)
            whole.content.extend(part.content)
            whole.reasons.extend(part.reasons)
            whole.weighed_as.update(part.weighed_as)
    return whole


def descriptions() -> dict[str, str]:
    """What the perturbers that ship with the package do to a text: name -> one sentence."""
    return _described().descriptions


def damage_names() -> dict[str, str]:
    """What readers call the damage of a perturber, in a word or two: `random_typos` -> `typos`."""
    return _described().names


def words_in_reasons() -> list[KindWords]:
    """How judges name the damage in their reasons."""
    return _described().reasons


def changes_content(perturber: str) -> bool:
    """Whether a kind of damage changes what a text says, so that a careful reader must fail it.

    Kinds that did not ship with the package, such as those of ready-made pairs, are taken to do so.
    """
    known = _described()
    return perturber in known.content or perturber not in known.descriptions


def read_card(dataset: str) -> Card:
    """The card of a dataset; its task must exist."""
    path = file_of("dataset", dataset)
    card = load_spec(path, Card)
    one_of("task", card.task, names_of("task"), f"{path}: task")
    return card


def read_task(task: str) -> Task:
    """A task with its metrics, by name or by file (`.yaml`)."""
    return load_spec(file_of("task", task), Task)


def read_suite(name: str) -> Suite:
    """A suite by its name, mostly that of a dataset, or by file (`.yaml`)."""
    path = file_of("suite", name)
    suite = load_spec(path, Suite)
    is_bundled = path.stem == name  # a file of the user's may be for a task of their own
    if is_bundled or misspelt_task(suite.task):
        one_of("task", suite.task, [*names_of("task"), ANY_TASK], f"{path}: task")
    return suite


def own_suite(task: Task, with_llm: bool) -> Suite:
    """The suite for a user's own data of a task; `with_llm` says whether there is a perturb model."""
    named = task.default_suite
    if Path(named).suffix in (".yaml", ".yml"):
        # A file is named as seen from the file of the task.
        named = str(Path(task.origin).parent / named)
    suite = read_suite(named)
    if named == GENERAL_SUITE and with_llm:
        return read_suite(GENERAL_LLM_SUITE)
    asks_model = any(use.method == "llm" for use in suite.perturbers.values())
    if asks_model and not with_llm:
        return read_suite(GENERAL_SUITE)
    return suite


_LIKE = 0.92
"""How alike two names of tasks are at least if one is a misspelling of the other, as `difflib` counts it.

Chosen: `summarisation` (0.923) is taken for `summarization`, and `dialog` (0.857) for a task of the user's
own.
"""


def misspelt_task(task: str) -> bool:
    """Whether the name of a task is close to a known one: a typing error."""
    known = names_of("task")
    return task not in known and bool(get_close_matches(task, known, n=1, cutoff=_LIKE))


def read_probes(name: str) -> Probes:
    """`controls` or `attacks`."""
    return load_spec(file_of("probes", name), Probes)


@functools.cache
def read_authored(dataset: str) -> AuthoredEdits | None:
    """The edits that people wrote for a bundled dataset (`mini/NAME`); None for any other."""
    base = dataset.removeprefix("mini/")
    if base == dataset or base not in names_of("authored edits"):
        return None
    path = file_of("authored edits", base)
    edits = load_spec(path, AuthoredEdits)
    if edits.dataset != dataset:
        raise InputError(f"{path}: dataset: must be '{dataset}', not '{edits.dataset}'")
    return edits


def read_weights(name: str) -> Weights:
    """Weights by name or by file (`.yaml`); votes are read as their shares.

    A row of weights must have each metric; in a row of votes a metric that is not there has none. The metrics
    must exist, if their task is known here.
    """
    path = file_of("weights", name)
    weights = load_spec(path, Weights)
    _check_rows(path, "tasks", weights.tasks, full=True)
    _check_rows(path, "votes", weights.votes, full=False)
    votes = {}
    for task, rows in weights.votes.items():
        # In the order of the task's metrics; what nobody voted for gets 0.
        no_votes = dict.fromkeys(_metrics(task, rows), 0)
        votes[task] = {perturber: no_votes | row for perturber, row in rows.items()}
    weights = weights.model_copy(update={"votes": votes})
    if name == DESIGN:
        _weigh_perturbers_of_plugins(weights)
    return weights.with_shares()


def _weigh_perturbers_of_plugins(weights: Weights) -> None:
    """Add the rows of perturbers that plug-ins bring: content of the package names none of them."""
    for rows in weights.tasks.values():
        for perturber, like in _described().weighed_as.items():
            if like in rows:
                rows[perturber] = rows[like]


def _check_rows(
    path: Path, key: str, tables: Mapping[str, Mapping[str, Mapping[str, float]]], *, full: bool
) -> None:
    """Raise `InputError` for a task or metric that does not exist; if `full`, for a metric left out too."""
    for task, rows in tables.items():
        if misspelt_task(task):
            # A task that is not known here may be the user's own; one that is nearly known is a typing error.
            one_of("task", task, names_of("task"), f"{path}: {key}")
        metrics = _metrics(task, rows)
        for perturber, row in rows.items():
            place = f"{path}: {key}.{task}.{perturber}"
            for metric in row:
                one_of("metric", metric, metrics, place)
            if not full:
                continue
            for metric in metrics:
                if metric not in row:
                    raise InputError(
                        f"{place}: no weight for metric '{metric}'; must have one for each metric"
                    )


def _metrics(task: str, rows: Mapping[str, Mapping[str, float]]) -> Sequence[str]:
    """The metrics of a task; if it is not known here, those that any of its rows names."""
    if task in names_of("task"):
        return read_task(task).metric_names
    named: dict[str, None] = {}  # in place of a set, as it keeps the order
    for row in rows.values():
        named.update(dict.fromkeys(row))
    return list(named)


def bundled_names() -> list[str]:
    """The bundled sets, as `mini/NAME`."""
    return [f"mini/{name}" for name in names_of("bundled set")]


def mini_names() -> list[str]:
    """The bundled sets that belong to no dataset with a card, as `mini/NAME`."""
    with_card = names_of("dataset")
    return [f"mini/{name}" for name in names_of("bundled set") if name not in with_card]


def mini_examples_file(dataset: str) -> Path:
    """The bundled examples of a dataset (JSONL of `id, source, output` and its fields)."""
    one_of("dataset", f"mini/{dataset}", bundled_names())
    return file_of("bundled set", dataset)


def variant_name(variant: str) -> str:
    """A variant in words: `wrong names, minor`, `typos, dose 5`; a name of the user's own as it is."""
    perturber, degree, dose = parse_variant(variant)
    words = damage_names().get(perturber, perturber)
    further = f"dose {dose}" if dose else degree
    return printable(f"{words}, {further}" if further else words)


def kind_name(variant: str) -> str:
    """The kind of damage alone: `wrong names`."""
    return variant_name(parse_variant(variant).perturber)


def named_kinds(names: str, variants: Sequence[str]) -> list[str]:
    """The variants that are named, by the names of files or those that people read, separated by commas.

    A perturber, or its kind of damage, names all its degrees; `all` names all. Raises `InputError` for a name
    that no variant has.
    """
    named: list[str] = []
    parts = [part.strip() for part in names.split(",")]
    while parts:
        meant, used = _longest_name(parts, variants)
        if not meant:
            raise InputError(f"'{parts[0]}': was not run; {_allowed_instead(parts[0], variants)}")
        named += [variant for variant in meant if variant not in named]
        parts = parts[used:]
    return named


def _longest_name(parts: Sequence[str], variants: Sequence[str]) -> tuple[list[str], int]:
    """The variants that the first of the parts name, and how many parts the name takes; 0 if none do.

    A name that people read may hold a comma itself (`typos, minor`), so the longest that fits is taken.
    """
    for size in range(len(parts), 0, -1):
        name = ", ".join(parts[:size]).casefold()
        if name == "all":
            meant = list(variants)
        else:
            meant = [variant for variant in variants if name in _names(variant)]
        if meant:
            return meant, size
    return [], 0


def _names(variant: str) -> list[str]:
    """All names of a variant, in lower case."""
    names = variant, variant_name(variant), parse_variant(variant).perturber, kind_name(variant)
    return [name.casefold() for name in names]


def _allowed_instead(name: str, variants: Sequence[str]) -> str:
    """The names to use in place of one that fits none: those of files if it looks like these, else in
    words."""
    looks_like_file = "." in name or "_" in name
    if looks_like_file:
        return suggest(name, variants)
    return suggest(name, {kind_name(variant) for variant in variants})


Metrics = str | Metric | Sequence[str | Metric]
"""One or several: names of the task's, or of the user's own."""


def metric_list(metrics_given: Metrics) -> list[str | Metric]:
    """The metrics as a list; raises `InputError` for anything else."""
    metrics = as_list(metrics_given)
    for metric in metrics:
        if not isinstance(metric, str | Metric):
            raise InputError(f"`metrics` {metric!r}: allowed: names of metrics, dhp.own_metric(...)")
    return metrics


def with_metrics(task: Task, wanted: Metrics) -> Task:
    """A task with these metrics alone, or with all of its own if none is named.

    A name is one of its metrics; a `Metric` replaces the one of that name, or is added.
    """
    metrics = metric_list(wanted)
    if not metrics:
        return task.model_copy()
    known = {metric.name: metric for metric in task.metrics}
    own_metrics = {metric.name: metric for metric in metrics if isinstance(metric, Metric)}
    for name in metrics:
        if isinstance(name, str) and name not in known:
            raise InputError(
                f"task '{task.task}' has no metric '{name}'; {suggest(name, known)}; a metric of your own "
                "takes a scale: `scale` 1..5, or `labels` fail,pass; a function names its metrics by what it "
                f"returns, e.g. {{'{name}': 0.7}}"
            )
    if not own_metrics:
        kept = [metric for metric in task.metrics if metric.name in metrics]  # in the order of the task
        return task.model_copy(update={"metrics": kept})
    all_metrics = known | own_metrics
    chosen: dict[str, Metric] = {}
    for metric in metrics:
        name = metric if isinstance(metric, str) else metric.name
        chosen[name] = all_metrics[name]
    # Without translations: nobody has translated a metric of the user's.
    return task.model_copy(update={"metrics": list(chosen.values()), "translations": {}})


def read_protocol(name: str) -> Protocol:
    """A protocol by name or by file (`.yaml`)."""
    kind = "pairwise protocol" if name in names_of("pairwise protocol") else "protocol"
    return load_spec(file_of(kind, name), Protocol)


def read_pairwise(name: str, **changes: object) -> Protocol:
    """A pairwise protocol by name or by file, with changes to its settings as by `override`."""
    protocol = load_spec(file_of("pairwise protocol", name), Protocol)
    if not protocol.pairwise:
        raise InputError(f"protocol '{name}': rates one text; allowed: `answer` {', '.join(PAIRWISE_FORMS)}")
    return override(protocol, **changes)


def read_wording(language: Language, *, pairwise: bool = False) -> Wording:
    """What prompts in this language are made of."""
    kind = "language of pairwise prompts" if pairwise else "language"
    return load_spec(file_of(kind, language), Wording)


def override(protocol: Protocol, /, **changes: object) -> Protocol:
    """The protocol with other settings, checked as a whole.

    None leaves `temperature` and `top_p` to the model, and any other setting as it is. Raises `InputError`
    for an unknown setting, a wrong value, or settings that contradict each other.
    """
    may_be_none = ("temperature", "top_p")
    settings = {name: value for name, value in changes.items() if value is not None or name in may_be_none}
    # Checked here, as pydantic would name the forms of both kinds of protocols.
    forms = PAIRWISE_FORMS if protocol.pairwise else POINTWISE_FORMS
    answer = settings.get("answer", protocol.answer)
    if answer not in forms:
        known = suggest(str(answer), forms)
        raise InputError(f"protocol '{protocol.protocol}': answer {answer!r}: unknown; {known}")
    with refusals(f"protocol '{protocol.protocol}'", Protocol):
        changed = Protocol.model_validate({**protocol.model_dump(exclude_unset=True), **settings})
    before = protocol.model_dump()
    different = set(protocol.changed)
    for name, value in settings.items():
        if value != before.get(name):
            different.add(name)
    # pydantic does not copy private fields when it makes the record anew.
    changed._origin = protocol.origin
    changed._changed = frozenset(different)
    return changed


def read_persona(name: str, wording: Wording) -> str:
    """The text of a persona: `none`, one of the wording's, or a text file."""
    if name == "none":
        return ""
    if name in wording.personas:
        return wording.personas[name]
    path = Path(name)
    try:
        is_file = path.is_file()
    except (OSError, ValueError):  # the text of a persona, which may be too long for a path
        is_file = False
    if not is_file:
        known = suggest(name, ["none", *wording.personas])
        raise InputError(f"unknown persona '{printable(name)[:80]}'; {known}, or a text file")
    text = read_text(path).replace("\r\n", "\n").strip()
    fault = slot_fault("persona", text)
    if fault:
        raise InputError(f"{path}: {fault}")
    return text


def read_steps(path: Path) -> dict[str, dict[str, list[str]]]:
    """Task -> metric -> evaluation steps, from a YAML file of `task: {metric: [step, ...]}`.

    Without the level of tasks the steps hold for every task that has the metric. Raises `InputError` for an
    unknown task or metric, or if there is no list of texts.
    """
    steps = load_steps(path, "metric")
    metrics = {task: read_task(task).metric_names for task in names_of("task")}
    by_task: dict[str, dict[str, list[str]]] = {}
    # `load_steps` has the key None for a file without the level of tasks.
    of_all_tasks = steps.pop(None, None)
    if of_all_tasks is not None:
        of_any_task: set[str] = set()
        for names in metrics.values():
            of_any_task.update(names)
        _check_metrics(str(path), of_all_tasks, of_any_task)
        for task, names in metrics.items():
            of_task = {name: of_all_tasks[name] for name in names if name in of_all_tasks}
            if of_task:
                by_task[task] = of_task
    for key, entries in steps.items():
        task = str(key)
        one_of("task", task, metrics, str(path))
        _check_metrics(f"{path}: {task}", entries, metrics[task])
        by_task[task] = entries
    return by_task


def _check_metrics(place: str, named: Iterable[str], metrics: Collection[str]) -> None:
    """Raise `InputError` for a name of no metric."""
    for name in named:
        one_of("metric", name, metrics, place)
