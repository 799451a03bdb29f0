"""Scores and answers of others that ship with published pairs, as a table of ratings for `dhp.analyze`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dhp.core.errors import InputError, suggest
from dhp.core.records import ORIGINAL
from dhp.core.tables import Row, read_table

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("model", "protocol", "dataset", "example", "variant", "metric", "score")
_ENDS = ("_reference", "_edited")
_PAIRS = "pairs.jsonl"
Rating = tuple[str, str, str, str, str, str, float | None]


def read_recorded_scores(form: str, path: Path) -> "pd.DataFrame":
    """Scores that others recorded of both texts of published pairs.

    Parameters
    ----------
    form
        `bump`: the JSON file of BUMP, whose column `scores` holds those of twelve metrics; each metric is a
        model of its own, each kind of error a variant. `llmbar`: ratings of single outputs of LLMBar
        (`id, model, protocol, score_1, score_2`), with the labels in `pairs.jsonl` beside them; the better
        output is the original, each subset a variant.
    path
        The file; for `llmbar` also a folder with `answers-*.jsonl`.

    Returns
    -------
    pandas.DataFrame
        One row a text and metric: `model, protocol, dataset, example, variant, metric, score`; a score that
        is no number is None.

    Raises
    ------
    InputError
        For an unknown form, and a file of another one.
    """
    if form not in FORMS:
        raise InputError(f"`format` '{form}': unknown; {suggest(form, FORMS)}")
    import pandas as pd

    rows = list(dict.fromkeys(FORMS[form](path)))
    if not rows:
        raise InputError(f"{path}: holds no recorded scores of the form '{form}'; allowed: at least one")
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _bump(path: Path) -> Iterator[Rating]:
    table = read_table(path)
    table.need(["article_id", "error_type", "scores"])
    for row in table.rows:
        scores = row.values["scores"]
        if not isinstance(scores, Mapping):
            raise row.fault("column 'scores' holds no object; allowed: NAME_reference and NAME_edited")
        about = row.text("article_id"), row.text("error_type")
        for name in dict.fromkeys(key.removesuffix(_ENDS[0]) for key in scores if key.endswith(_ENDS[0])):
            for variant, end in zip((ORIGINAL, about[1]), _ENDS, strict=True):
                score = _number(scores.get(name + end))
                yield name, "none", "bump", about[0], variant, "score", score


def _llmbar(path: Path) -> Iterator[Rating]:
    files = sorted(path.glob("answers-*.jsonl")) if path.is_dir() else [path]
    labels = (path if path.is_dir() else path.parent) / _PAIRS
    if not labels.is_file():
        raise InputError(f"{labels}: no such file; the labels of LLMBar must lie beside its answers")
    pairs = read_llmbar_pairs(labels)
    for answer in read_llmbar_answers(files, pairs):
        if answer.pointwise:
            pair = pairs[answer.id]
            better, worse = answer.answers if pair.label == 1 else answer.answers[::-1]
            for variant, score in ((ORIGINAL, better), (pair.subset, worse)):
                yield answer.model, answer.protocol, "llmbar", answer.id, variant, "rating", _number(score)


def _number(value: object) -> float | None:
    try:
        return float(str(value))
    except ValueError:
        return None


FORMS: Mapping[str, Callable[[Path], Iterator[Rating]]] = {"bump": _bump, "llmbar": _llmbar}
"""The forms of recorded scores that are read."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A pair of outputs of which people say which one is better."""

    id: str
    subset: str
    label: int
    """1 or 2: the better output."""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """What a judge answered about one pair."""

    id: str
    model: str
    protocol: str
    pointwise: bool
    """Whether the answers are ratings of output 1 and output 2; else of the pair as given and swapped."""
    answers: tuple[str, str]
    place: str
    """File and line."""


def read_llmbar_pairs(path: Path) -> dict[str, LabelledPair]:
    """Id -> pair, from a table with the columns `id, subset, label`.

    Raises `InputError` for a file of another form, a label other than 1 or 2, and an id that stands twice.
    """
    table = read_table(path)
    table.need(["id", "subset", "label"])
    found: dict[str, LabelledPair] = {}
    for row in table.rows:
        if row.text("label") not in ("1", "2"):
            raise row.fault(f"column 'label' is '{row.text('label')}'; allowed: 1 or 2")
        if (name := row.text("id")) in found:
            raise row.fault(f"id '{name}' stands twice; allowed: once")
        found[name] = LabelledPair(name, row.text("subset"), int(row.text("label")))
    return found


def read_llmbar_answers(paths: Sequence[Path], pairs: dict[str, LabelledPair]) -> list[RecordedAnswer]:
    """Answers: `id, model, protocol` and either `answer_as_given, answer_swapped` or `score_1, score_2`.

    Raises `InputError` for a file of another form, an id that is no pair, and an answer that stands twice.
    """
    found: list[RecordedAnswer] = []
    seen: set[tuple[str, str, str]] = set()
    for path in paths:
        table = read_table(path)
        table.need(["id", "model", "protocol"])
        for row in table.rows:
            answer = _answer(row)
            key = (answer.id, answer.model, answer.protocol)
            if answer.id not in pairs:
                raise row.fault(
                    f"id '{answer.id}' is none of the {len(pairs)} pairs; allowed: those of `pairs`"
                )
            if key in seen:
                raise row.fault(f"a second answer of {key[1]}, {key[2]}, about '{key[0]}'; allowed: one")
            seen.add(key)
            found.append(answer)
    return found


def _answer(row: Row) -> RecordedAnswer:
    forms = (("answer_as_given", "answer_swapped"), ("score_1", "score_2"))
    for pointwise, (one, two) in enumerate(forms):
        texts = [row.value(one), row.value(two)]
        if all(isinstance(text, str | int | float) for text in texts):
            about = (row.text("id"), row.text("model"), row.text("protocol"))
            return RecordedAnswer(*about, bool(pointwise), (str(texts[0]), str(texts[1])), row.place)
    raise InputError(
        f"{row.place}: holds no answers; allowed: {' or '.join(' and '.join(form) for form in forms)}"
    )
