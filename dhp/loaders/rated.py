"""Texts of several systems on the same sources, with human scores: published sets and the user's tables."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.content.catalog import read_task
from dhp.core.errors import InputError, one_of
from dhp.core.files import read_lines, read_text, reason
from dhp.core.keywords import near_keywords
from dhp.core.records import Candidate
from dhp.core.seeding import text_hash
from dhp.core.specs import Task
from dhp.core.spool import spooled
from dhp.core.tables import Table
from dhp.loaders.user import Rows, are_rows, open_table, rows_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class RatedText:
    """What one system wrote for one source."""

    source_id: str
    """Id of the source, equal for all texts of one source."""
    system: str
    """Name of the writer."""
    source: str
    """Text that the systems were given."""
    output: str
    """Text that this system wrote."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Further texts of the source, such as `fact`."""
    references: tuple[str, ...] = ()
    """Texts that others wrote for this source."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Metric -> human score, the mean over raters."""


def read_rated(name: str, path: str | Path) -> Sequence[RatedText]:
    """A set of rated texts.

    Parameters
    ----------
    name
        `summeval`, `newsroom`, `realsumm`, `topical_chat`, `openmeva_roc`, `bagel`, or `own` for a table of
        the user's with the columns `source, output` and optionally `id` (of the source), `system`,
        `reference`, `score:METRIC` and further texts.
    path
        The file as its owners publish it; with `own` whatever `read_examples` takes, many files among it.

    Returns
    -------
    sequence of RatedText
        One for each source and system, in the order of the file.

    Raises
    ------
    InputError
        For an unknown name, a file of another form, or a duplicate pair of source and system.
    """
    one_of("set of rated texts", name, _READERS)
    try:
        texts = spooled(_READERS[name](path))
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise InputError(f"{path}: not of the form of '{name}' ({type(e).__name__}: {reason(e)})") from None
    _check_once(texts, path)
    if not texts:
        raise InputError(f"{path}: is empty; allowed: at least one text")
    return texts


def _check_once(texts: Sequence[RatedText], path: str | Path) -> None:
    """Raise `InputError` for a duplicate pair of source and system."""
    seen: set[int] = set()  # numbers take less room than names
    for index, text in enumerate(texts):
        key = (text.source_id, text.system)
        if hash(key) in seen and key in ((t.source_id, t.system) for t in islice(texts, index)):
            raise InputError(f"{path}: duplicate text of source '{key[0]}', system '{key[1]}'")
        seen.add(hash(key))


def given_texts(data: "str | Rows | Sequence[RatedText]") -> Sequence[Candidate]:
    """The texts of a table, of a published set `NAME=FILE`, or as given; errors as of `read_rated`."""
    if isinstance(data, str):
        name, equals, path = data.partition("=")
        known = bool(equals) and name in RATED_SETS
        texts: Any = read_rated(name, path) if known else read_rated("own", data)
    else:
        texts = _of_table(rows_table(data)) if are_rows(data) else data
    return spooled(
        Candidate(t.source_id, t.system, t.output, t.source, t.fields, t.references) for t in texts
    )


def rated_task(data: object, task: str | None) -> Task:
    """What the systems had to do: the task of that name or file, else the published set's, else
    `summarization`. Raises `InputError` for an unknown one."""
    name = data.partition("=")[0] if isinstance(data, str) else ""
    return read_task(task or TASKS.get(name, "summarization"))


def human_scores(texts: Sequence[RatedText]) -> list[dict[str, object]]:
    """The human scores as rows `source, system, metric, score`."""
    return [
        {"source": t.source_id, "system": t.system, "metric": metric, "score": score}
        for t in texts
        for metric, score in t.scores.items()
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
        given = row[scores] if scores else {name: row[name] for name in aspects}
        known = row[references]
        for index, (system, output) in enumerate(
            zip(row.get("systems") or _numbered(row), row["machine_summaries"], strict=True)
        ):
            yield RatedText(
                str(row["id"]),
                str(system),
                row["text"],
                output,
                references=tuple(known) if isinstance(known, list) else (known,),
                scores={metric: float(values[index]) for metric, values in given.items()},
            )


def _numbered(row: Mapping[str, Any]) -> list[str]:
    return [f"system {i}" for i in range(1, len(row["machine_summaries"]) + 1)]


def _topical_chat(path: Path) -> Iterator[RatedText]:
    """A JSON list of responses with `source` (the dialogue), `context` (the fact), `system_id`, `scores`."""
    for row in json.loads(read_text(path)):
        yield RatedText(
            text_hash(f"{row['source']}\n{row['context']}"),
            row["system_id"],
            row["source"],
            row["system_output"],
            {"fact": row["context"]},
            scores={metric: float(score) for metric, score in row["scores"].items()},
        )


def _openmeva(path: Path) -> Iterator[RatedText]:
    """A JSON list of prompts, `gen` holding each system's story with the ratings of several people."""
    for row in json.loads(read_text(path)):
        for system, story in row["gen"].items():
            ratings = story["score"]["human"]
            mean = sum(map(float, ratings)) / len(ratings) if isinstance(ratings, list) else float(ratings)
            references = (row["reference"],) if row.get("reference") else ()
            yield RatedText(
                str(row["doc_id"]), system, row["prompt"], story["text"], {}, references, {"overall": mean}
            )


def _bagel(path: Path) -> Iterator[RatedText]:
    """A JSON object of items with `src` (the data to be said), `ref_summs`, `sys_summ` and `scores`."""
    for name, row in json.loads(read_text(path)).items():
        yield RatedText(
            str(name),
            str(row.get("system", "system")),
            row["src"],
            row["sys_summ"],
            references=tuple(row["ref_summs"]),
            scores={m: float(row["scores"][m]) for m in ("informativeness", "naturalness", "quality")},
        )


def _read_own(path: str | Path) -> Iterator[RatedText]:
    return _of_table(open_table(str(path)))


def _of_table(table: Table) -> Iterator[RatedText]:
    table.need(["source", "output"])
    known = {"id", "source", "system", "output", "reference"}
    prefix = "score:"
    for row in table.rows:
        scores = {}
        for column in table.columns:
            if column.startswith(prefix) and row.has(column):
                try:
                    scores[column.removeprefix(prefix)] = float(row.text(column))
                except ValueError:
                    raise row.fault(f"column '{column}': '{row.text(column)}'; allowed: a number") from None
        source = row.text("source")
        yield RatedText(
            row.text("id") if row.has("id") else text_hash(source),
            row.text("system") if row.has("system") else "system",
            source,
            row.text("output"),
            {
                c: row.text(c)
                for c in table.columns
                if c not in known and not c.startswith(prefix) and row.has(c)
            },
            (row.text("reference"),) if row.has("reference") else (),
            scores,
        )


_READERS: dict[str, Callable[[str | Path], Iterator[RatedText]]] = {
    "summeval": lambda path: _documents(Path(path), "human_summaries", None),
    "newsroom": lambda path: _documents(Path(path), "reference", "scores"),
    "realsumm": lambda path: _documents(Path(path), "reference", "scores"),
    "topical_chat": lambda path: _topical_chat(Path(path)),
    "openmeva_roc": lambda path: _openmeva(Path(path)),
    "bagel": lambda path: _bagel(Path(path)),
    "own": _read_own,
}
RATED_SETS = tuple(name for name in _READERS if name != "own")
TASKS = {name: "summarization" if name == "summeval" else name for name in RATED_SETS}
"""Set -> the task whose metrics are the ones that humans rated."""
FROM_REFERENCE = {
    "realsumm": "its human scores are the share of the reference's facts that a summary holds (lite pyramid "
    "recall, 24 systems): overlap with the reference is part of them",
    "bagel": "its informativeness is rated against the reference: a judge that sees none cannot follow it",
}
"""Set -> why its human scores derive from the reference."""
