"""Checks of a table of ratings: every value is what it must be.

`checked_ratings` goes through columns and names, scores, statuses, and scales if they are known. A row at
fault is named by its number, from 1 on without the heading.
"""

import logging
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from dhp.core.errors import InputError, one_of, suggest, unique
from dhp.core.numbers import number_hint, numbers_of
from dhp.core.rating_forms import as_ratings
from dhp.core.ratings_table import ScoresAlone, place_of
from dhp.core.records import RATING_STATUSES
from dhp.core.specs import Scale
from dhp.core.tables import is_blank

if TYPE_CHECKING:
    import pandas as pd


REQUIRED = ("example", "variant", "metric", "score")
GROUPING = ("model", "protocol", "dataset")
OPTIONAL = ("sample", "level", "status", "cluster", *GROUPING)


def checked_ratings(frame: "pd.DataFrame", scales: Mapping[str, Scale] | None = None) -> "pd.DataFrame":
    """A ratings table in which every value is what it must be.

    Recorded judgements of another form are read as `dhp.core.rating_forms` says. A copy with names as texts,
    `score` as floats (NaN if there is none) and `status` in every row. With
    `scales` other metrics and scores off the scale are errors too. Raises `InputError` with the first row at
    fault.
    """
    place = place_of(frame)
    table = _checked_columns(as_ratings(frame, place), place)
    numbers, empty = _checked_scores(table["score"], place)
    table["score"] = numbers
    _check_status(table, empty, place)
    if scales is not None:
        _check_scales(table, scales, place)
    return table


def _checked_columns(frame: "pd.DataFrame", place: str) -> "pd.DataFrame":
    """The table with its names as texts; refuses columns that are missing or misspelled, and empty names."""
    columns = [str(name) for name in frame.columns]
    _check_required(columns, frame, place)
    unique("column", columns, place)
    for name in columns:
        meant = get_close_matches(name, set(OPTIONAL) - set(columns), n=1, cutoff=0.8)
        if name not in REQUIRED and meant:
            raise InputError(f"{place}: unknown column '{name}'; {suggest(name, [*REQUIRED, *OPTIONAL])}")
    if frame.empty:
        raise InputError(f"{place}: the table has no rows")
    table = frame.reset_index(drop=True)
    for name in ("example", "variant", "metric", *GROUPING, "level", "cluster", "sample"):
        if name not in table:
            continue
        empty = blank(table[name])
        if name == "level":  # what has none is of no known level
            table[name] = table[name].astype(object).mask(empty, "")
        elif empty.any():
            raise InputError(f"{place}: row {_row(empty)}: {name} is empty")
        table[name] = _names(table[name])
    return table


def _check_required(columns: list[str], frame: "pd.DataFrame", place: str) -> None:
    """Refuse a table that lacks a column, and say what else it may be: people's labels, two scores a row."""
    has_neither = "score" not in columns and "variant" not in columns
    missing = [name for name in REQUIRED if name not in columns]
    if not missing:
        return
    name = "score" if has_neither else missing[0]  # a table of something else most likely lacks its scores
    message = (
        f"{place}: column '{name}' is missing; {suggest(name, columns)}; map it by --field {name}=COLUMN; "
        f"a table of ratings has the columns {', '.join(REQUIRED)}"
    )
    if {"human", "label", "thumb", "thumbs"} & set(columns):
        message += f"; for people beside a judge: dhp correlate {place}"
    if has_neither:
        message += "; of two scores in a row: --field original=COLUMN --field score=COLUMN"
    raise ScoresAlone(message, frame) if _are_alone(columns) else InputError(message)


def _names(column: "pd.Series[Any]") -> "pd.Categorical":
    """A column of names as texts, in alphabetical order; each text is in memory once."""
    import pandas as pd

    # equal values of several types, as 1 and True, are different names
    several_types = column.dtype == object
    row, values = pd.factorize(column.astype(str) if several_types else column)
    # The number of each different value's text; of each row it follows by the number of its value.
    value, names = pd.factorize(pd.Index(values).astype(str), sort=True)
    return pd.Categorical.from_codes(value[row], names)


def _are_alone(columns: list[str]) -> bool:
    """Whether there are scores of texts, and nothing says or is likely to say which are copies of others."""
    return "score" in columns and not get_close_matches("variant", columns)


def _checked_scores(scores: "pd.Series[Any]", place: str) -> "tuple[pd.Series[float], pd.Series[bool]]":
    """The scores as numbers, and whether each is missing."""
    # Whole numbers with and without sign, floats, and objects, whose cells are looked at below.
    if scores.dtype.kind not in "iufO":
        raise InputError(f"{place}: column 'score' is of type {scores.dtype}; must hold numbers")
    empty = blank(scores)
    numbers = numbers_of(scores.mask(empty))
    wrong = ~empty & ~np.isfinite(numbers)
    if scores.dtype == object:  # True and 1+0j would be read as numbers
        wrong |= scores.map(lambda score: isinstance(score, bool | np.bool_ | complex)).astype(bool)
    if wrong.any():
        value = scores.iloc[_row(wrong) - 1]
        plain = value.item() if isinstance(value, np.generic) else value
        raise InputError(f"{place}: row {_row(wrong)}: score {plain!r} is not a number{number_hint(plain)}")
    return numbers, empty


def _check_scales(table: "pd.DataFrame", scales: Mapping[str, Scale], place: str) -> None:
    """Refuse metrics without a scale, and scores off theirs."""
    import pandas as pd

    unknown = ~table["metric"].isin(list(scales))
    if unknown.any():
        one_of("metric", table["metric"].iloc[_row(unknown) - 1], scales, f"{place}: row {_row(unknown)}")
    code, names = pd.factorize(table["metric"])
    low = np.array([scales[name].min for name in names])[code]
    # Looked up once for each metric, then spread over the rows by its number.
    high = np.array([scales[name].max for name in names])[code]
    off = (table["score"] < low) | (table["score"] > high)
    if off.any():
        row = table.iloc[_row(off) - 1]
        scale = scales[row["metric"]]
        raise InputError(
            f"{place}: row {_row(off)}: score {row['score']:g} is off the scale of metric '{row['metric']}'; "
            f"allowed: {scale.min:g} to {scale.max:g}, or an empty score with status 'out_of_scale'"
        )


def blank(column: "pd.Series[Any]") -> "pd.Series[bool]":
    """Whether each cell of a column is blank, as `is_blank` says."""
    import pandas as pd

    # Booleans and numbers: no text among them says that there is no value.
    if column.dtype.kind in "biuf":
        return column.isna()
    # Each different text is looked at once.
    code, names = pd.factorize(column if column.dtype == "category" else column.astype(str))
    spaces = [i for i, name in enumerate(names) if is_blank(str(name))]
    if not spaces:
        return column.isna()
    return column.isna() | np.isin(code, spaces)


def _check_status(table: "pd.DataFrame", empty: "pd.Series[bool]", place: str) -> None:
    """Give every row a status, and refuse one that is unknown or at odds with its score."""
    import pandas as pd

    if "status" not in table:
        if empty.any():
            logging.getLogger("dhp").warning(
                "%s: %d rows have no score, and no column 'status' says why; they count as unparsed",
                place,
                int(empty.sum()),
            )
        either = pd.CategoricalDtype(["scored", "unparsed"])
        table["status"] = pd.Categorical.from_codes(empty.to_numpy().astype(int), dtype=either)
        return
    # An empty status beside a score can only mean that there is one.
    statuses = table["status"].astype(object).mask(blank(table["status"]) & ~empty, "scored")
    table["status"] = statuses.astype("category")
    unknown = ~table["status"].isin(RATING_STATUSES)
    if unknown.any():
        value = table["status"].iloc[_row(unknown) - 1]
        one_of("status", value, RATING_STATUSES, f"{place}: row {_row(unknown)}")
    scored = table["status"] == "scored"
    without_score = scored & empty
    if without_score.any():
        raise InputError(f"{place}: row {_row(without_score)}: status is 'scored' but the score is empty")
    with_score = ~scored & ~empty
    if with_score.any():
        row = _row(with_score)
        raise InputError(
            f"{place}: row {row}: status is '{table['status'].iloc[row - 1]}' but there is a score"
        )


def _row(wrong: "pd.Series[bool]") -> int:
    """The first row at fault, counted from 1 without the heading."""
    return int(np.flatnonzero(wrong.to_numpy())[0]) + 1
