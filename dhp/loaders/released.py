"""Degraded texts and scores that authors released.

The set is `YCWANGVINCE/DHP_Benchmark` on the Hugging Face Hub. Each card says which files hold its dataset
and which column holds what.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dhp.content.catalog import DATASETS, read_card
from dhp.core.diff import audit
from dhp.core.errors import InputError, listed, one_of, suggest
from dhp.core.plugins import load_target, offered
from dhp.core.records import ORIGINAL, Example, PerturbedText, Variant
from dhp.core.specs import FieldMap, Suite
from dhp.core.tables import (
    FILE,
    FOLDER,
    KEY,
    TABLE_SUFFIXES,
    Row,
    Table,
    as_text,
    has_tables,
    read_table,
    read_tables,
)
from dhp.loaders.labelled_pairs import (
    read_faulty_runs,
    read_llmbar_answers,
    read_llmbar_pairs,
    read_soundness,
)
from dhp.loaders.remote import HUB_PREFIX, hub_folder

if TYPE_CHECKING:
    import pandas as pd


NO_TEXT = "no such text in the set"
EQUAL = "equals the original"
"""Why an example has no text under a variant; a published text cannot be repaired."""
_CARD = "card.json"
_TEXTS = ("id", "source", "output")


@dataclass(frozen=True, slots=True)
class Released:
    """One dataset of a released set."""

    dataset: str
    """Our name, e.g. `summeval`."""
    examples: tuple[Example, ...]
    """Examples in the order of the release."""
    variants: tuple[Variant, ...]
    """All variants of the suite, as it describes them."""
    texts: tuple[PerturbedText, ...]
    """Variant by variant, example by example."""
    field_map: Mapping[str, str]
    """`id`, `source`, `output`, further fields and the variants -> their column."""


def is_released(name: str) -> bool:
    """Whether `read_released` takes it: `hf:...`, a table, or a folder of tables, no perturbation set."""
    path = Path(name)
    if name.startswith(HUB_PREFIX) or (path.is_file() and path.suffix.lower() in TABLE_SUFFIXES):
        return True
    return path.is_dir() and not (path / _CARD).exists() and has_tables(path)


def released_datasets(name: str) -> list[str]:
    """The datasets of the benchmark that a folder holds by the names of its files; of a Hub name all six.

    Raises `InputError` where no file is named after one.
    """
    if name.startswith(HUB_PREFIX):
        return list(DATASETS)
    path = Path(name)
    found = [d for d in DATASETS if path.is_dir() and has_tables(path, _map(d).files)]
    if not found:
        raise InputError(f"{name}: no file is named after a dataset; name it by `dataset`")
    return found


def read_released(name: str, dataset: str, suite: Suite, fields: Mapping[str, str] = {}) -> Released:
    """Examples and degraded texts of one dataset of a released set.

    Parameters
    ----------
    name
        `hf:ORG/NAME`, or a folder with the files that the card of the dataset names, or one table.
    dataset
        Our name of the dataset.
    suite
        The variants to find; each must have a column.
    fields
        `{ours: theirs}` in the place of what the card says. Ours are `id`, `source`, `output`, the variants,
        and any other name for a plain field; theirs is a column, or a path into a nested one: `a.b[0]`.

    A text that is missing or equals its original counts as not applicable; without a column `id` the row
    numbers are the ids. Raises `InputError` for a set without this dataset, a column that is absent, an empty
    source or output, and a duplicate id.
    """
    known = _map(dataset)
    path = hub_folder(name) if name.startswith(HUB_PREFIX) else Path(name)
    found = read_tables(path, known.files)
    variants = [v.name for v in suite.variants]
    for ours in fields:
        if "." in ours and ours not in variants:
            raise InputError(f"{name}: `fields` {ours}: no such variant; {suggest(ours, variants)}")
    columns = {**known.fields, **fields}
    if "id" not in fields and not found.has(columns["id"]):
        del columns["id"]
    for ours, theirs in columns.items():
        if not found.has(theirs):
            raise InputError(
                f"{name}: column '{theirs}' for '{ours}' is missing; map it by `fields` {ours}=COLUMN; "
                f"{suggest(theirs, found.columns)}"
            )
    if lacking := [v for v in variants if v not in columns]:
        raise InputError(
            f"{name}: no column for variant '{lacking[0]}' of suite '{suite.suite}'; map it by "
            f"`fields` {lacking[0]}=COLUMN; columns: {listed(found.columns)}"
        )
    return _released(dataset, found, suite, columns)


def _map(dataset: str) -> FieldMap:
    found = read_card(dataset).released
    if found is None:
        raise InputError(f"dataset '{dataset}' is in no released set; allowed: {', '.join(DATASETS)}")
    return found


def _released(dataset: str, table: Table, suite: Suite, columns: Mapping[str, str]) -> Released:
    variants = {v.name for v in suite.variants}
    plain = {ours: theirs for ours, theirs in columns.items() if ours not in (*_TEXTS, *variants)}
    used = {*columns, *columns.values(), FILE, FOLDER, KEY}
    plain |= {c: c for c in table.columns if c not in used}
    examples: dict[str, Example] = {}
    rows: dict[str, Row] = {}
    for number, row in enumerate(table.rows, 1):
        example = _example(row, number, columns, plain)
        if example.id in rows:
            raise row.fault(f"duplicate id '{example.id}' (first at {rows[example.id].place})")
        examples[example.id], rows[example.id] = example, row
    made = tuple(
        _text(row, columns[v.name], examples[example], v.name)
        for v in suite.variants
        for example, row in rows.items()
    )
    return Released(dataset, tuple(examples.values()), suite.variants, made, columns)


def _example(row: Row, number: int, columns: Mapping[str, str], plain: Mapping[str, str]) -> Example:
    fields = {}
    for name, column in plain.items():
        if (text := as_text(row.value(column))) is not None:
            fields[name] = row.encodable(column, text)
    identity = row.text(columns["id"]) if "id" in columns else str(number)
    return Example(identity, row.text(columns["source"]), row.text(columns["output"]), fields)


def _text(row: Row, column: str, example: Example, variant: str) -> PerturbedText:
    value = row.value(column)
    if not row.has(column) and (value is None or isinstance(value, str) or value != value):
        return PerturbedText(example.id, variant, None, NO_TEXT)
    text = row.text(column)
    if text.strip() == example.output.strip():
        return PerturbedText(example.id, variant, None, EQUAL)
    return PerturbedText(example.id, variant, text, audit=audit(example.output, text))


class Rating(NamedTuple):
    """One row of a table of ratings."""

    model: str
    protocol: str
    dataset: str
    example: str
    """A good text; where it has several worse ones of one kind, the later are `ID~2`, `ID~3`, ..."""
    variant: str
    metric: str
    score: float | None
    sample: int
    cluster: str
    """The prompt: what the texts of one cluster answer."""
    level: str | None
    status: str


def read_recorded_scores(form: str, *paths: Path) -> "pd.DataFrame":
    """Scores that others recorded of good texts and of worse ones, pair by pair.

    Parameters
    ----------
    form
        `bump`: the JSON file of BUMP, whose column `scores` holds those of twelve metrics; each metric is a
        model of its own, each `corrected_error_type` a variant. `judgebench`: scores of reward models for
        JudgeBench (`pair_id, kind, scores`, where `scores` is `{MODEL: {"better": x, "worse": y}}`).
        `llmbar`: ratings of single outputs of LLMBar (`id, model, protocol, score_1, score_2`), with the
        labels in `pairs.jsonl` beside them; the better output is the original, each subset a variant.
        `rewardbench2`: ratings for RewardBench 2 (`subset, id, judge, scores`, where `scores` has a list of
        ratings for each answer, the good one first); each worse answer makes a pair with the good one, each
        subset is a variant. `trajectory`: verdicts on runs of an agent (`trajectory_id, judge_id, faulty,
        confidence`) with the runs in `trajectories.jsonl` beside them; the score is the confidence that a run
        is sound, the sound run of an instance is the original, each fault is a variant, silent or loud. Or a
        form of a plug-in.
    paths
        The files; for `llmbar` and `trajectory` also their folders. Several files may hold several judges.

    Returns
    -------
    pandas.DataFrame
        One row a text, metric and sample: `model, protocol, dataset, example, variant, metric, score, sample,
        cluster, status`, for `trajectory` also `level`. A score that is not a number is None, with the status
        `unparsed`, or `failed` where the judge gave no answer.

    Raises
    ------
    InputError
        For an unknown form, a file of another one, and a text that a judge scored twice.
    """
    added = {} if form in FORMS else offered("readers")
    one_of("form", form, [*FORMS, *added], "`format`")
    read = FORMS[form] if form in FORMS else load_target(added[form])
    import pandas as pd

    found: dict[tuple[object, ...], Rating] = {}
    for path in paths:
        for rating in read(path):
            known = found.setdefault((*rating[:6], rating.sample), rating)
            if known is not rating and (known != rating or rating.variant != ORIGINAL):
                raise InputError(
                    f"{path}: a second score of {rating.model}, {rating.protocol}, for '{rating.variant}' of "
                    f"'{rating.example}'; allowed: one"
                )
    if not found:
        raise InputError(
            f"{paths[0]}: holds no recorded scores of the form '{form}'; allowed: at least one pair"
        )
    frame = pd.DataFrame(list(found.values()), columns=list(Rating._fields))
    return frame.drop(columns="level") if frame["level"].isna().all() else frame


@dataclass(frozen=True, slots=True)
class _Columns:
    """What the columns of a table with the column `scores` are called."""

    prompt: tuple[str, ...]
    """Together they name the prompt."""
    kind: str
    judge: str | None = None
    """`scores` is then a list of the ratings of each answer, the good one first; else an object of scores."""
    repeated: bool = False
    """Whether a prompt may have several rows of one kind."""
    ends: tuple[str, str] = ("", "")
    """Suffixes of the judge's name in the keys of the good and of the worse text in that object; a dot leads
    into a nested one."""


_TABLES = {
    "bump": _Columns(("article_id",), "corrected_error_type", repeated=True, ends=("_reference", "_edited")),
    "judgebench": _Columns(("pair_id",), "kind", ends=(".better", ".worse")),
    "rewardbench2": _Columns(("subset", "id"), "subset", judge="judge"),
}


def _table(form: str, path: Path) -> Iterator[Rating]:
    columns, table = _TABLES[form], read_table(path)
    table.need([*columns.prompt, columns.kind, *([columns.judge] if columns.judge else []), "scores"])
    scored = _by_answer if columns.judge else _by_judge
    rows: Counter[tuple[str, str]] = Counter()
    for row in table.rows:
        prompt, kind = "/".join(map(row.text, columns.prompt)), row.text(columns.kind)
        first = 1 + rows[prompt, kind]
        rows[prompt, kind] += columns.repeated
        for judge, good, worse in scored(row, columns):
            for number, answer in enumerate(worse, first):
                example = prompt if number == 1 else f"{prompt}~{number}"
                for variant, ratings in ((ORIGINAL, good), (kind, answer)):
                    for sample, score in enumerate(_scores(row, ratings)):
                        about = (judge, "none", form, example, variant, "score")
                        yield Rating(*about, score, sample, prompt, None, _status(score))


def _by_answer(row: Row, columns: _Columns) -> Iterator[tuple[str, object, list[object]]]:
    """The judge, its ratings of the good answer, and those of each worse one."""
    answers = row.value("scores")
    if not isinstance(answers, list) or len(answers) < 2:
        raise row.fault(
            "column 'scores' holds no list of two answers or more; allowed: ratings of the good one, then "
            "those of each worse one"
        )
    yield row.text(str(columns.judge)), answers[0], answers[1:]


def _by_judge(row: Row, columns: _Columns) -> Iterator[tuple[str, object, list[object]]]:
    """The same for each judge that is named in an object of scores."""
    scores, (good, worse) = row.value("scores"), columns.ends
    if not isinstance(scores, Mapping):
        raise row.fault(f"column 'scores' holds no object; allowed: NAME{good} and NAME{worse}")
    flat = {
        f"{name}.{key}" if key else name: score
        for name, own in scores.items()
        for key, score in (own.items() if isinstance(own, Mapping) else [("", own)])
    }
    judges = dict.fromkeys(key.removesuffix(end) for key in flat for end in columns.ends if key.endswith(end))
    if not judges:
        raise row.fault(f"column 'scores' names no judge; allowed: NAME{good} and NAME{worse}")
    for judge in judges:
        yield judge, flat.get(judge + good), [flat.get(judge + worse)]


def _scores(row: Row, ratings: object) -> list[float | None]:
    """The ratings of one text, be it a single one or a list of samples."""
    samples = ratings if isinstance(ratings, list) else [ratings]
    if not samples:
        raise row.fault("column 'scores' holds an answer without ratings; allowed: one or more, or null")
    for sample in samples:
        if isinstance(sample, bool | list | dict) or math.isinf(_number(sample) or 0.0):
            raise row.fault(f"column 'scores' holds {sample!r}; allowed: numbers, and null for none")
    return [_number(sample) for sample in samples]


def _number(value: object) -> float | None:
    """The number, or None for anything else."""
    try:
        number = float(str(value))
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _status(score: float | None) -> str:
    return "unparsed" if score is None else "scored"


def _llmbar(path: Path) -> Iterator[Rating]:
    files, labels = _answer_and_label_files(path, "answers-*.jsonl", "pairs.jsonl")
    pairs = read_llmbar_pairs(labels)
    for answer in read_llmbar_answers(files, pairs):
        if answer.form == "rating":
            pair = pairs[answer.id]
            better, worse = answer.answers if pair.label == 1 else answer.answers[::-1]
            for variant, said in ((ORIGINAL, better), (pair.subset, worse)):
                about = (answer.model, answer.protocol, "llmbar", answer.id, variant, "rating")
                score = _number(said)
                yield Rating(*about, score, 0, answer.id, None, _status(score))


def _trajectory(path: Path) -> Iterator[Rating]:
    files, runs = _answer_and_label_files(path, "verdicts*.jsonl", "trajectories.jsonl")
    pairs = read_faulty_runs(runs)
    for judge, verdicts in read_soundness(files).items():
        for pair in pairs:
            for variant, run in ((ORIGINAL, pair.twin), (pair.kind, pair.run)):
                about = (judge, "none", "trajectory", pair.instance, variant, "soundness")
                score, status = verdicts.get(run, (None, "failed"))
                level = None if variant == ORIGINAL else pair.level
                yield Rating(*about, score, 0, pair.instance, level, status)


def _answer_and_label_files(path: Path, answers: str, labels: str) -> tuple[list[Path], Path]:
    """The files with the answers, a file itself or those of a folder, and the file with the labels there."""
    folder = path if path.is_dir() else path.parent
    if not (folder / labels).is_file():
        raise InputError(f"{folder / labels}: no such file; it must be in the folder of the answers")
    return sorted(path.glob(answers)) if path.is_dir() else [path], folder / labels


FORMS: Mapping[str, Callable[[Path], Iterator[Rating]]] = {
    **{form: partial(_table, form) for form in _TABLES},
    "llmbar": _llmbar,
    "trajectory": _trajectory,
}
"""The forms of recorded scores that are read."""
