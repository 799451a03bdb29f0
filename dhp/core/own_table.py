"""Tables of ratings as other programs write them: other names of columns, one row for each example.

`RatingsForm.applied` gives columns our names first. Then a wide table (`_long`) and a table of pairs
(`_apart`) become one with a row for each rating. Last come the metric, the judge and the data, if no column
says them.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.core.checks import Checked
from dhp.core.errors import InputError, missing_column
from dhp.core.numbers import number_hint, numbers_of
from dhp.core.options import option, pairs_like
from dhp.core.rating_forms import OVERALL
from dhp.core.records import ORIGINAL
from dhp.core.tables import Row, is_blank, read_table

if TYPE_CHECKING:
    import pandas as pd

_ABOUT_ROW = ("example", "metric", "sample", "cluster", "model", "protocol", "dataset")
"""Columns of a wide table that hold no scores."""
# The names that are known in capital letters, too: `Score` is `score`.
_OURS = (*_ABOUT_ROW, "id", ORIGINAL, "variant", "score", "status", "level", "look")

_ONE_KIND = "perturbed"
"""The kind of damage of a table that names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingsForm(Checked):
    """How a table of ratings names its columns, and what it does not say itself."""

    parameter = "form"

    fields: Mapping[str, str] | None = option(
        "Column of the file, or path into a nested one, e.g. score=rating, score=output.score.",
        default=None,
        name="--field",
        metavar="OURS=THEIRS",
        repeatable=True,
        read=pairs_like("OURS=THEIRS", "score=rating"),
    )
    name: str | None = option(
        "Name of the judge, for a table without a column model.", default=None, metavar="NAME"
    )
    dataset: str | None = option(
        "Name of the data, for a table without a column dataset.", default=None, metavar="NAME"
    )

    def applied(self, frame: "pd.DataFrame", place: str) -> "pd.DataFrame":
        """The table with a row for each rating, with our names of columns.

        Raises `InputError` with `place` for a column that is missing and for a name beside a column that says
        it.
        """
        fields = self.fields or {}
        # `fields` has ours first, as users type it; columns are renamed from theirs.
        new_names = {theirs: ours for ours, theirs in fields.items()}
        replaced = []
        for theirs, ours in new_names.items():
            if theirs not in frame.columns:
                raise missing_column(place, theirs, frame.columns)
            # A column that has our name by chance gives way to the one that the user names.
            if ours in frame.columns and ours not in new_names:
                replaced.append(ours)
        made = _in_small_letters(frame.drop(columns=replaced).rename(columns=new_names))
        if _is_wide(made.columns):
            made = _long(made, place)
        elif ORIGINAL in fields and _is_paired(made.columns):
            made = _apart(made)
        if "score" in made and not get_close_matches("metric", map(str, made.columns)):
            made = made.assign(metric=OVERALL)  # a column with a near name is one that is misspelt
        made = _with_column(made, place, "model", self.name, option="name")
        made = _with_column(made, place, "dataset", self.dataset, option="dataset")
        # pandas may lose them on the way; they say where the table comes from.
        made.attrs = dict(frame.attrs)
        return made

    def rows_of(self, path: Path) -> "pd.DataFrame":
        """The table in a file. Fields may be paths into nested values; other nested values are left out."""
        import pandas as pd

        table = read_table(path)
        columns = list((self.fields or {}).values())
        for column in columns:
            # A path is no column itself: it is missing if it leads to nothing in any row.
            if column not in table.columns and all(row.value(column) is None for row in table.rows):
                raise missing_column(path, column, table.columns)
        rows = [_plain_values(row, columns) for row in table.rows]
        # `object`: else 1 would become 1.0 in a column with an empty cell.
        return pd.DataFrame(rows, dtype=object)


def _plain_values(row: Row, columns: Sequence[str]) -> dict[str, object]:
    """The texts and numbers of a row, and those at `columns`, which may be paths into nested values."""
    nested = (list, dict)
    values = {name: value for name, value in row.values.items() if not isinstance(value, nested)}
    for column in columns:
        value = row.value(column)
        if isinstance(value, nested):
            raise row.fault(f"'{column}' holds a {type(value).__name__}; must be text or a number")
        values[column] = value
    return values


def _with_column(
    frame: "pd.DataFrame", place: str, column: str, value: str | None, *, option: str
) -> "pd.DataFrame":
    """The table with `value` in a new column, if the user gave one; `option` is what messages call it."""
    if value is None:
        return frame
    if column in frame:
        raise InputError(f"{place}: column '{column}' says it already; leave out `{option}`")
    return frame.assign(**{column: value})


def _in_small_letters(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The table with our names of columns, however their letters are written."""
    ours = {}  # their name -> ours
    for name in frame.columns:
        word = str(name).strip().lower()
        if word in _OURS and word not in frame.columns:
            ours[name] = word
    is_plain = len(set(ours.values())) == len(ours)  # else `Score` and `SCORE` would be one column
    return frame.rename(columns=ours) if is_plain else frame


def _is_wide(columns: Collection[str]) -> bool:
    """Whether a row holds the scores of an example, in a column for each variant."""
    return ORIGINAL in columns and "variant" not in columns and "score" not in columns


def _is_paired(columns: Collection[str]) -> bool:
    """Whether a row holds the score of a degraded text and, in a column of its own, that of its original."""
    return ORIGINAL in columns and "score" in columns


def _apart(frame: "pd.DataFrame") -> "pd.DataFrame":
    """A row for the degraded text of each pair and one for its original; each pair is an example.

    Without a column of kinds all damage is of the kind `perturbed`, as in a table of pairs of texts.
    """
    import pandas as pd

    made = frame.reset_index(drop=True)
    # Rows are numbered from 1, so that each pair is an example of its own.
    if "example" not in made:
        made = made.assign(example=made.index + 1)
    if "variant" not in made:
        made = made.assign(variant=_ONE_KIND)
    degraded = made.drop(columns=ORIGINAL)
    originals = degraded.assign(variant=ORIGINAL, score=made[ORIGINAL])
    return pd.concat([originals, degraded], ignore_index=True)


def _long(frame: "pd.DataFrame", place: str) -> "pd.DataFrame":
    """A row for each score of a wide table; columns without any number are left out with a note."""
    made = frame.reset_index(drop=True)
    if "example" not in made and "id" in made:
        made = made.rename(columns={"id": "example"})
    elif "example" not in made:
        made = made.assign(example=made.index + 1)
    about = [name for name in made.columns if name in _ABOUT_ROW]
    scores = {}  # column -> its numbers
    texts = []
    for name in made.columns:
        if name in about:
            continue
        numbers = _numbers(made[name], str(name), place)
        if numbers is None:
            texts.append(str(name))
        else:
            scores[name] = numbers
    if ORIGINAL not in scores:
        filled = [value for value in made[ORIGINAL] if not is_blank(value)]
        first = filled[0] if filled else ""
        raise InputError(
            f"{place}: column '{ORIGINAL}' holds no scores, but e.g. {first!r}{number_hint(first)}; in a "
            "wide table it must"
        )
    if texts:
        logging.getLogger("dhp").warning("%s: left out, as they hold no scores: %s", place, ", ".join(texts))
    made = made[about].assign(**scores)
    # A column for each variant becomes a row for each score.
    long = made.melt(id_vars=about, value_vars=list(scores), var_name="variant", value_name="score")
    return long if "metric" in long else long.assign(metric=OVERALL)


def _numbers(column: "pd.Series[Any]", name: str, place: str) -> "pd.Series[float] | None":
    """The scores in a column, NaN for an empty cell; None if it holds no number."""
    empty = column.map(is_blank).astype(bool)
    numbers = numbers_of(column.mask(empty))
    # True and False would pass for 1 and 0, and are no scores.
    if numbers.isna().all() or column.dtype == bool:
        return None
    # What is there and yet no number, in a column that holds some.
    wrong = numbers.isna() & ~empty
    if wrong.any():
        # The first True.
        row = int(wrong.to_numpy().argmax())
        value = column.iloc[row]
        hint = number_hint(value)
        raise InputError(f"{place}: row {row + 1}: {name} is {value!r}; must be a number or empty{hint}")
    return numbers
