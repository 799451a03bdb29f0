"""Texts of several systems on the same sources, with human scores: published sets and the user's tables.

`_READERS` has a reader for each published set, in the form of its owners; a table of the user's is read by
`_of_row`. `given_texts` leaves the scores aside, `read_human_scores` has nothing else.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dhp.content.catalog import read_task
from dhp.core.errors import InputError, one_of
from dhp.core.files import read_lines, read_text, reason
from dhp.core.numbers import as_number, number_hint
from dhp.core.options import near_keywords
from dhp.core.records import Candidate
from dhp.core.seeding import key_digest, text_hash
from dhp.core.specs import Task
from dhp.core.tables import Row, Table
from dhp.loaders.memory import Rows, are_rows, rows_table
from dhp.loaders.user import open_table

if TYPE_CHECKING:
    import pandas as pd


RatedText = tuple[Candidate, Mapping[str, float]]
"""A text, whose `example` is the id of its source and whose `variant` the system that wrote it; metric ->
human score of it, the mean over raters."""


def read_rated(name: str, path: str | Path) -> Sequence[RatedText]:
    """A set of texts with human scores.

    The set is called `summeval`, `newsroom`, `realsumm`, `topical_chat`, `openmeva_roc` or `bagel`, in the
    form that its owners publish, or `own`: whatever `read_texts` takes, with the columns `source, output`
    and optionally `id` (of the source), `system`, `reference`, `score:METRIC` and further texts. Texts come
    in the order of the file, one for each source and system. Raises `InputError` for an unknown name, a file
    of another form, or a duplicate pair of source and system.
    """
    one_of("set of rated texts", name, (*_READERS, "own"))
    try:
        texts = _read(name, path)
    # Whatever a reader runs into if the file has another form; a fault with a place is an `InputError`.
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise InputError(f"{path}: not of the form of '{name}' ({type(e).__name__}: {reason(e)})") from None
    _check_once([text for text, _ in texts], path)
    if not texts:
        raise InputError(f"{path}: is empty; allowed: at least one text")
    return texts


def _read(name: str, path: str | Path) -> Sequence[RatedText]:
    if name == "own":
        return _of_table(open_table(str(path)))
    return tuple(_READERS[name](Path(path)))


def _check_once(texts: Iterable[Candidate], path: str | Path) -> None:
    """Raise `InputError` for a duplicate pair of source and system."""
    seen: set[bytes] = set()
    for text in texts:
        key = key_digest(text.example, text.variant)  # a hash: names may be long, and texts many
        if key in seen:
            raise InputError(f"{path}: duplicate text of source '{text.example}', system '{text.variant}'")
        seen.add(key)


def given_texts(data: "str | Rows | Sequence[Candidate]") -> Sequence[Candidate]:
    """The texts of a table, of a published set `NAME=FILE`, or as given; errors as in `read_rated`."""
    if are_rows(data):
        return _candidates(rows_table(data))
    if not isinstance(data, str):
        return cast("Sequence[Candidate]", data)
    name, equals, path = data.partition("=")
    if equals and name in RATED_SETS:
        return tuple(text for text, _ in read_rated(name, path))
    texts = _candidates(open_table(data))
    _check_once(texts, data)
    return texts


def rated_task(data: object, task: str | None) -> Task:
    """What the systems had to do: the task of that name or file, else that of the published set.

    Of a table of the user's it is `summarization` if no task is named. Raises `InputError` for an unknown
    task.
    """
    if task:
        return read_task(task)
    name, _, _ = data.partition("=") if isinstance(data, str) else ("", "", "")
    return read_task(TASKS.get(name, "summarization"))


def human_scores(texts: Sequence[RatedText]) -> list[dict[str, object]]:
    """The human scores as rows `source, system, metric, score`."""
    rows: list[dict[str, object]] = []
    for text, scores in texts:
        for metric, score in scores.items():
            rows.append({"source": text.example, "system": text.variant, "metric": metric, "score": score})
    return rows


@near_keywords
def read_human_scores(source: str) -> "pd.DataFrame":
    """The human scores of a published set.

    Parameters
    ----------
    source
        `NAME=FILE`, the file as its owners publish it; the names are those of `read_rated`.

    Returns
    -------
    DataFrame
        Columns `source, system, metric, score`, as `dhp.correlate` takes them.

    Raises
    ------
    InputError
        For another form of the name, and as `read_rated`.
    """
    import pandas as pd

    name, equals, path = source.partition("=")
    if not equals:
        raise InputError(f"human scores '{source}': must have the form NAME=FILE; {', '.join(RATED_SETS)}")
    return pd.DataFrame(human_scores(read_rated(name, path)))


def _documents(path: Path, references: str, scores: str | None) -> Iterator[RatedText]:
    """JSON Lines, one row a document with the lists `systems` and `machine_summaries` and scores in lists.

    `references` and `scores` name the columns of these; if `scores` is None, each metric has a column of its
    own.
    """
    for line in read_lines(path):
        row = json.loads(line)
        # Metric -> its scores, in the order of the texts.
        by_metric = row[scores] if scores else {name: row[name] for name in _ASPECTS}
        reference = row[references]
        # One set has several references of a document, the others have one.
        all_references = tuple(reference) if isinstance(reference, list) else (reference,)
        outputs = row["machine_summaries"]
        # Without names systems are told by their places in the list.
        systems = row.get("systems") or [f"system {number}" for number in range(1, len(outputs) + 1)]
        for place, (system, output) in enumerate(zip(systems, outputs, strict=True)):
            text = Candidate(str(row["id"]), str(system), output, row["text"], references=all_references)
            yield text, {metric: float(values[place]) for metric, values in by_metric.items()}


_ASPECTS = ("coherence", "consistency", "fluency", "relevance")
"""The metrics of SummEval, which are columns in its published table."""


def _topical_chat(path: Path) -> Iterator[RatedText]:
    """A JSON list of responses with `source` (the dialogue), `context` (the fact), `system_id`, `scores`."""
    for row in json.loads(read_text(path)):
        name = text_hash(f"{row['source']}\n{row['context']}")  # a dialogue comes with several facts
        fields = {"fact": row["context"]}
        text = Candidate(name, row["system_id"], row["system_output"], row["source"], fields)
        yield text, {metric: float(score) for metric, score in row["scores"].items()}


def _openmeva(path: Path) -> Iterator[RatedText]:
    """A JSON list of prompts, `gen` holding each system's story with the ratings of several people."""
    for row in json.loads(read_text(path)):
        for system, story in row["gen"].items():
            human = story["score"]["human"]
            one_or_several = human if isinstance(human, list) else [human]
            ratings = [float(rating) for rating in one_or_several]
            references = (row["reference"],) if row.get("reference") else ()
            name = str(row["doc_id"])
            text = Candidate(name, system, story["text"], row["prompt"], references=references)
            yield text, {"overall": sum(ratings) / len(ratings)}


def _bagel(path: Path) -> Iterator[RatedText]:
    """A JSON object of items with `src` (the data to be said), `ref_summs`, `sys_summ` and `scores`."""
    for name, row in json.loads(read_text(path)).items():
        system, references = str(row.get("system", "system")), tuple(row["ref_summs"])
        text = Candidate(str(name), system, row["sys_summ"], row["src"], references=references)
        scores = {}
        for metric in ("informativeness", "naturalness", "quality"):
            scores[metric] = float(row["scores"][metric])
        yield text, scores


def _of_table(table: Table) -> Sequence[RatedText]:
    table.need(["source", "output"])
    return table.each(partial(_of_row, table.columns))


def _candidates(table: Table) -> Sequence[Candidate]:
    def text_of(row: Row) -> Candidate:
        text, _ = _of_row(table.columns, row)
        return text

    table.need(["source", "output"])
    return table.each(text_of)


_PREFIX = "score:"
"""Before the name of a metric, in the name of the column of its human scores."""


def _of_row(columns: Sequence[str], row: Row) -> RatedText:
    """The text in a row of a user's table, and its scores."""
    scores = {}
    fields = {}
    for column in columns:
        if not row.has(column):
            continue
        if column.startswith(_PREFIX):
            cell = row.text(column)
            number = as_number(cell)
            if number is None:
                raise row.fault(f"column '{column}': '{cell}'; allowed: a number{number_hint(cell)}")
            scores[column.removeprefix(_PREFIX)] = number
        elif column not in ("id", "source", "system", "output", "reference"):
            fields[column] = row.text(column)
    source = row.text("source")
    # Without ids the source itself tells which texts are of one source, and so are compared.
    identity = row.text("id") if row.has("id") else text_hash(source)
    system = row.text("system") if row.has("system") else "system"
    row.check_no_object("output")
    references = (row.text("reference"),) if row.has("reference") else ()
    return Candidate(identity, system, row.text("output"), source, fields, references), scores


_READERS: dict[str, Callable[[Path], Iterator[RatedText]]] = {
    "summeval": lambda path: _documents(path, "human_summaries", None),
    "newsroom": lambda path: _documents(path, "reference", "scores"),
    "realsumm": lambda path: _documents(path, "reference", "scores"),
    "topical_chat": _topical_chat,
    "openmeva_roc": _openmeva,
    "bagel": _bagel,
}
RATED_SETS = tuple(_READERS)
"""The published sets."""
TASKS = {
    "summeval": "summarization",
    "newsroom": "newsroom",
    "realsumm": "realsumm",
    "topical_chat": "topical_chat",
    "openmeva_roc": "openmeva_roc",
    "bagel": "bagel",
}
"""Set -> the task whose metrics are the ones that humans rated."""
FROM_REFERENCE = {
    "realsumm": "its human scores are the share of the reference's facts that a summary holds (lite pyramid "
    "recall, 24 systems): overlap with the reference is part of them",
    "bagel": "its informativeness is rated against the reference: a judge that sees none cannot follow it",
}
"""Set -> why its human scores derive from the reference."""
