"""Texts of several systems on the same sources, with human scores: published sets and the user's tables.

`_READERS` has a reader for each published set, in the form of its owners; a table of the user's is read by
`_of_row`. `given_texts` leaves the scores aside, `read_human_scores` has nothing else.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

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
    texts: Sequence[RatedText]
    try:
        texts = _of_table(open_table(str(path))) if name == "own" else tuple(_READERS[name](Path(path)))
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise InputError(f"{path}: not of the form of '{name}' ({type(e).__name__}: {reason(e)})") from None
    _check_once((text for text, _ in texts), path)
    if not texts:
        raise InputError(f"{path}: is empty; allowed: at least one text")
    return texts


def _check_once(texts: Iterable[Candidate], path: str | Path) -> None:
    """Raise `InputError` for a duplicate pair of source and system."""
    seen: set[bytes] = set()
    for text in texts:
        key = key_digest(text.example, text.variant)
        if key in seen:
            raise InputError(f"{path}: duplicate text of source '{text.example}', system '{text.variant}'")
        seen.add(key)


def given_texts(data: "str | Rows | Sequence[Candidate]") -> Sequence[Candidate]:
    """The texts of a table, of a published set `NAME=FILE`, or as given; errors as in `read_rated`."""
    if isinstance(data, str):
        name, equals, path = data.partition("=")
        if equals and name in RATED_SETS:
            return tuple(text for text, _ in read_rated(name, path))
        texts = _candidates(open_table(data))
        _check_once(texts, data)
        return texts
    return _candidates(rows_table(data)) if are_rows(data) else cast("Sequence[Candidate]", data)


def rated_task(data: object, task: str | None) -> Task:
    """What the systems had to do: the task of that name or file, else the published set's, else
    `summarization`. Raises `InputError` for an unknown one."""
    name = data.partition("=")[0] if isinstance(data, str) else ""
    return read_task(task or TASKS.get(name, "summarization"))


def human_scores(texts: Sequence[RatedText]) -> list[dict[str, object]]:
    """The human scores as rows `source, system, metric, score`."""
    return [
        {"source": text.example, "system": text.variant, "metric": metric, "score": score}
        for text, scores in texts
        for metric, score in scores.items()
    ]


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
    """JSON Lines, one row a document with the lists `systems` and `machine_summaries` and scores in lists."""
    aspects = ("coherence", "consistency", "fluency", "relevance")
    for line in read_lines(path):
        row = json.loads(line)
        by_metric = row[scores] if scores else {name: row[name] for name in aspects}
        known = row[references]
        others = tuple(known) if isinstance(known, list) else (known,)
        summaries = zip(row.get("systems") or _numbered(row), row["machine_summaries"], strict=True)
        for index, (system, output) in enumerate(summaries):
            text = Candidate(str(row["id"]), str(system), output, row["text"], references=others)
            yield text, {metric: float(values[index]) for metric, values in by_metric.items()}


def _numbered(row: Mapping[str, Any]) -> list[str]:
    return [f"system {i}" for i in range(1, len(row["machine_summaries"]) + 1)]


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
            ratings = story["score"]["human"]
            mean = sum(map(float, ratings)) / len(ratings) if isinstance(ratings, list) else float(ratings)
            references = (row["reference"],) if row.get("reference") else ()
            name = str(row["doc_id"])
            text = Candidate(name, system, story["text"], row["prompt"], references=references)
            yield text, {"overall": mean}


def _bagel(path: Path) -> Iterator[RatedText]:
    """A JSON object of items with `src` (the data to be said), `ref_summs`, `sys_summ` and `scores`."""
    for name, row in json.loads(read_text(path)).items():
        system, references = str(row.get("system", "system")), tuple(row["ref_summs"])
        text = Candidate(str(name), system, row["sys_summ"], row["src"], references=references)
        yield text, {m: float(row["scores"][m]) for m in ("informativeness", "naturalness", "quality")}


def _of_table(table: Table) -> Sequence[RatedText]:
    table.need(["source", "output"])
    return table.each(partial(_of_row, table.columns))


def _candidates(table: Table) -> Sequence[Candidate]:
    table.need(["source", "output"])
    return table.each(lambda row: _of_row(table.columns, row)[0])


_PREFIX = "score:"


def _of_row(columns: Sequence[str], row: Row) -> RatedText:
    known = {"id", "source", "system", "output", "reference"}
    scores = {}
    for column in columns:
        if column.startswith(_PREFIX) and row.has(column):
            cell = row.text(column)
            number = as_number(cell)
            if number is None:
                raise row.fault(f"column '{column}': '{cell}'; allowed: a number{number_hint(cell)}")
            scores[column.removeprefix(_PREFIX)] = number
    source = row.text("source")
    row.check_no_object("output")
    text = Candidate(
        row.text("id") if row.has("id") else text_hash(source),  # texts of one source are compared
        row.text("system") if row.has("system") else "system",
        row.text("output"),
        source,
        {c: row.text(c) for c in columns if c not in known and not c.startswith(_PREFIX) and row.has(c)},
        (row.text("reference"),) if row.has("reference") else (),
    )
    return text, scores


_READERS: dict[str, Callable[[Path], Iterator[RatedText]]] = {
    "summeval": lambda path: _documents(path, "human_summaries", None),
    "newsroom": lambda path: _documents(path, "reference", "scores"),
    "realsumm": lambda path: _documents(path, "reference", "scores"),
    "topical_chat": _topical_chat,
    "openmeva_roc": _openmeva,
    "bagel": _bagel,
}
RATED_SETS = tuple(_READERS)
TASKS = {name: "summarization" if name == "summeval" else name for name in RATED_SETS}
"""Set -> the task whose metrics are the ones that humans rated."""
FROM_REFERENCE = {
    "realsumm": "its human scores are the share of the reference's facts that a summary holds (lite pyramid "
    "recall, 24 systems): overlap with the reference is part of them",
    "bagel": "its informativeness is rated against the reference: a judge that sees none cannot follow it",
}
"""Set -> why its human scores derive from the reference."""
