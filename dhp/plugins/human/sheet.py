"""Tables of scores as people keep them: two of them, or one sheet with the judge beside people.

Columns get our names (`_chosen`, `_renamed`), a sheet is parted into a table of the judge and one of people,
and several columns of scores become rows of one column `score` (`_scored`).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dhp.core.errors import InputError, one_of, suggest
from dhp.loaders.rated import RATED_SETS, read_human_scores
from dhp.plugins.human.labels import WORDS, label_words
from dhp.plugins.human.scores import read_frame

if TYPE_CHECKING:
    import pandas as pd

_OF_PEOPLE = ("human", "label", "rater")
"""Columns of a sheet that are about people alone."""
_OF_JUDGES = ("score", "sample", "model", "protocol", "status")
"""Columns of a sheet that are about judges alone."""
_OURS = ("source", "system", "metric", *_OF_JUDGES, *_OF_PEOPLE)
_USUAL = {"source": ("id", "example"), "score": ("judge",)}
"""Our column -> what sheets call it."""
_OF_USUAL = {"id": "source", "example": "source", "judge": "score"}
"""The other way round, so that `--field` may call a column as sheets do."""


def read_tables(
    files: Sequence[str], human: str | None, fields: Mapping[str, str]
) -> "tuple[pd.DataFrame, pd.DataFrame | None]":
    """The scores of judges and those of people.

    `files` hold the scores of judges. Those of people are in the table `human`, which may be a published set
    `NAME=FILE`, or in columns `human` or `label` of the files; None without either. `fields` has names of
    ours -> columns. Several columns, with commas between them, are several judges (`score`) or raters
    (`human`). Scores of people that are all pass or fail become a column `label`. Raises `InputError` for an
    unknown name of ours and for a column that no table has.
    """
    import pandas as pd

    # Names of ours, for which the user named columns.
    fields = {_OF_USUAL.get(name, name): column for name, column in fields.items()}
    for name in fields:
        one_of("field", name, ("id", "judge", *_OURS), "--field")

    judged = pd.concat([read_frame(file) for file in files], ignore_index=True)
    # Several files of judges are one table, known by the first.
    tables = {files[0]: judged}
    if human is not None:
        is_published = human.partition("=")[0] in RATED_SETS
        tables[human] = read_human_scores(human) if is_published else read_frame(human)
    columns = _chosen(fields, tables)
    named = {place: _renamed(table, columns) for place, table in tables.items()}
    sheet = named[files[0]]

    # Two tables, or scores of the judge alone.
    if human is not None:
        people = _scored(named[human], columns, "human")
        # A column `score` of people's own table holds scores, whatever they look like.
        return _scored(sheet, columns, "score"), people if "score" in named[human] else _labelled(people)
    of_human = (*columns.get("human", ()), "human", "label")
    if not any(name in sheet for name in of_human):
        return _scored(sheet, columns, "score"), None

    # One sheet, parted by its columns: what is about neither alone goes into both tables.
    if "source" not in sheet:  # each row is a source of its own
        sheet = sheet.assign(source=[str(number) for number in range(1, len(sheet) + 1)])
    of_judges = {*columns.get("score", ()), *_OF_JUDGES}
    of_people = {*columns.get("human", ()), *_OF_PEOPLE}
    # A row for each sample of a judge repeats what people say.
    people = sheet.drop(columns=of_judges & {*sheet}).drop_duplicates()
    ratings = sheet.drop(columns=of_people & {*sheet})
    if "rater" in sheet:  # a row for each rater repeats what the judge says
        ratings = ratings.drop_duplicates()
    return _scored(ratings, columns, "score"), _labelled(_scored(people, columns, "human"))


def _chosen(fields: Mapping[str, str], tables: "Mapping[str, pd.DataFrame]") -> dict[str, list[str]]:
    """Name of ours -> the columns that the user named."""
    known: list[str] = []
    for table in tables.values():
        known += map(str, table.columns)
    columns: dict[str, list[str]] = {}
    for ours, theirs in fields.items():
        columns[ours] = [theirs]
        if ours in ("score", "human") and theirs not in known:  # a column's name may hold a comma itself
            columns[ours] = [part.strip() for part in theirs.split(",")]
        for column in columns[ours]:
            if column not in known:
                place = ", ".join(tables)
                raise InputError(f"{place}: column '{column}' is missing; {suggest(column, known)}")
    return columns


def _renamed(table: "pd.DataFrame", columns: Mapping[str, Sequence[str]]) -> "pd.DataFrame":
    """The table with our names, but for the columns that hold the scores of several."""
    names = {}  # their name -> ours
    named: set[str] = set()  # all columns that the user named
    for ours, theirs in columns.items():
        named.update(theirs)
        if len(theirs) == 1 and theirs[0] in table:
            names[theirs[0]] = ours

    # Then what sheets usually call ours, unless the user or the table has it already.
    for ours, usual in _USUAL.items():
        spelt = [column for column in usual if column in table and column not in named]
        if spelt and ours not in columns and ours not in table:
            names[spelt[0]] = ours
    # A column that has our name, while the user names another one for it, gives way.
    replaced = []
    for column, ours in names.items():
        if ours in table and ours != column:
            replaced.append(ours)
    return table.drop(columns=replaced).rename(columns=names)


def _scored(table: "pd.DataFrame", columns: Mapping[str, Sequence[str]], ours: str) -> "pd.DataFrame":
    """The table with its scores in the column `score`: a row for each judge or rater of several columns."""
    import pandas as pd

    several = [column for column in columns.get(ours, ()) if column in table]
    if len(columns.get(ours, ())) > 1 and several:
        name = "model" if ours == "score" else "rater"
        rest = table.drop(columns=several)
        parts = []
        for column in several:
            parts.append(rest.assign(score=table[column], **{name: column}))
        return pd.concat(parts, ignore_index=True)
    if ours != "score" and ours in table:
        return table.drop(columns="score", errors="ignore").rename(columns={ours: "score"})
    return table


def _labelled(people: "pd.DataFrame") -> "pd.DataFrame":
    """The table with a column `label` in place of `score` if people only say pass or fail."""
    # A column of labels comes before one of scores.
    if "score" not in people or "label" in people:
        return people.drop(columns="score", errors="ignore") if "label" in people else people
    words = label_words(people["score"])
    is_label = bool(words) and words <= {*WORDS}
    return people.rename(columns={"score": "label"}) if is_label else people
