"""Forms of scores that others recorded of good texts and of worse ones."""

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from results_pages.recorded_verdicts import read_llmbar_answers, read_llmbar_pairs

from dhp.core.errors import InputError, one_of
from dhp.core.records import ORIGINAL
from dhp.core.tables import Row, read_table


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


def bump(path: Path) -> Iterator[Rating]:
    """The JSON file of BUMP, whose column `scores` holds those of twelve metrics.

    Each metric is a model of its own, each `corrected_error_type` a variant.
    """
    return _table("bump", path)


def judgebench(path: Path) -> Iterator[Rating]:
    """Scores of reward models for JudgeBench: `pair_id, kind, scores`.

    `scores` is `{MODEL: {"better": x, "worse": y}}`.
    """
    return _table("judgebench", path)


def rewardbench2(path: Path) -> Iterator[Rating]:
    """Ratings for RewardBench 2: `subset, id, judge, scores`.

    `scores` has a list of ratings for each answer, the good one first. Each worse answer makes a pair with
    the good one, each subset is a variant.
    """
    return _table("rewardbench2", path)


def llmbar(path: Path) -> Iterator[Rating]:
    """Ratings of single outputs of LLMBar, a file or a folder: `id, model, protocol, score_1, score_2`.

    The labels are in `pairs.jsonl` beside them. The better output is the original, each subset a variant.
    """
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


@dataclass(frozen=True, slots=True)
class FaultyRun:
    """A run of an agent with one fault, and its sound twin."""

    instance: str
    """Task of the agent."""
    kind: str
    """The fault and its `level`: `wrong_tool.silent`."""
    level: str
    """`silent` where the outcome is correct all the same, else `loud`."""
    run: str
    """Id of the faulty run."""
    twin: str
    """Id of the sound run of the same instance."""


def read_faulty_runs(path: Path) -> list[FaultyRun]:
    """The faulty runs that have a sound twin; how many have none is said in a note.

    The table has the columns `trajectory_id, instance_id` and `label`, an object with `faulty` and
    `outcome_correct` (true or false) and `failure_type`. Raises `InputError` for a file of another form, a
    duplicate run, two runs of one instance that are sound or have the same fault, and where no faulty run has
    a sound twin.
    """
    table = read_table(path)
    table.need(["trajectory_id", "instance_id", "label"])
    runs: dict[tuple[str, str], str] = {}
    names: set[str] = set()
    for row in table.rows:
        name, instance, kind = row.text("trajectory_id"), row.text("instance_id"), _kind(row)
        if name in names:
            raise row.fault(f"duplicate run '{name}'")
        if (instance, kind) in runs:
            what = f"with the fault '{kind}'" if kind else "that is sound"
            raise row.fault(f"a second run of '{instance}' {what}; allowed: one")
        names.add(name)
        runs[instance, kind] = name
    faulty = {(instance, kind): name for (instance, kind), name in runs.items() if kind}
    found = [
        FaultyRun(instance, kind, kind.rpartition(".")[2], name, runs[instance, ""])
        for (instance, kind), name in faulty.items()
        if (instance, "") in runs
    ]
    if not found:
        raise InputError(f"{path}: no faulty run has a sound one of the same instance; allowed: one or more")
    left_out = len(faulty) - len(found)
    if left_out:
        logging.getLogger("dhp").warning(
            "%s: left out of %d faulty runs: %d without a sound one of the same instance",
            path,
            len(faulty),
            left_out,
        )
    return found


def read_soundness(paths: Sequence[Path]) -> Mapping[str, Mapping[str, tuple[float | None, str]]]:
    """Judge -> run -> its confidence that the run is sound, in [0, 1], and the status of that rating.

    Tables have the columns `trajectory_id, judge_id, faulty` (true or false), `confidence` (in that verdict,
    0 to 1) and perhaps `error`. Raises `InputError` for a file of another form, and a second verdict of a
    judge on a run.
    """
    found: dict[str, dict[str, tuple[float | None, str]]] = {}
    for path in paths:
        table = read_table(path)
        table.need(["trajectory_id", "judge_id", "faulty", "confidence"])
        for row in table.rows:
            own, run = found.setdefault(row.text("judge_id"), {}), row.text("trajectory_id")
            if run in own:
                raise row.fault(f"a second verdict of {row.text('judge_id')} on '{run}'; allowed: one")
            own[run] = _soundness(row)
    return found


def _kind(row: Row) -> str:
    """The fault with its level; empty for a sound run."""
    if not _flag(row, "label.faulty"):
        return ""
    return f"{row.text('label.failure_type')}.{'silent' if _flag(row, 'label.outcome_correct') else 'loud'}"


def _flag(row: Row, column: str) -> bool:
    value = row.value(column)
    if not isinstance(value, bool):
        raise row.fault(f"'{column}' is {value!r}; allowed: true or false")
    return value


def _soundness(row: Row) -> tuple[float | None, str]:
    if row.has("error"):
        return None, "failed"
    confidence = row.value("confidence")
    if row.value("faulty") is None or confidence is None:
        return None, "unparsed"
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise row.fault(f"column 'confidence' is {confidence!r}; allowed: 0 to 1")
    return (1 - confidence if _flag(row, "faulty") else float(confidence)), "scored"


def trajectory(path: Path) -> Iterator[Rating]:
    """Verdicts on runs of an agent, a file or a folder: `trajectory_id, judge_id, faulty, confidence`.

    The runs are in `trajectories.jsonl` beside them. The score is the confidence that a run is sound; the
    sound run of an instance is the original, each fault is a variant, silent or loud.
    """
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
    each.__name__: each for each in (bump, judgebench, llmbar, rewardbench2, trajectory)
}
"""Form of a published file -> its reader."""


def read_recorded_scores(form: str, *paths: Path) -> pd.DataFrame:
    """Scores that others recorded of good texts and of worse ones, pair by pair.

    Paths are files, or folders where the form has such; several may hold several
    judges. A row is a text, metric and sample: `model, protocol, dataset, example, variant, metric, score,
    sample, cluster, status`, and `level` where a form has it. A score that is not a number is None, with the
    status `unparsed`, or `failed` where the judge gave no answer. Raises `InputError` for an unknown form, a
    file of another one, and a text that a judge scored twice.
    """
    one_of("form", form, FORMS)
    read = FORMS[form]
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
