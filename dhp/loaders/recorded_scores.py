"""Released scores of good and worse texts as a table of ratings."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dhp.core.errors import InputError, suggest
from dhp.core.plugins import load_target, offered
from dhp.core.records import ORIGINAL
from dhp.core.tables import Row, read_table
from dhp.loaders.agent_runs import read_faulty_runs, read_soundness
from dhp.loaders.labelled_pairs import read_llmbar_answers, read_llmbar_pairs

if TYPE_CHECKING:
    import pandas as pd


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
    if form not in FORMS and form not in added:
        raise InputError(f"`format` '{form}': unknown; {suggest(form, [*FORMS, *added])}")
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
