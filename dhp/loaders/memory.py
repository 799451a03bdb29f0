"""Tables in memory: data frames and lists of rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, Union

from dhp.core.options import as_list
from dhp.core.tables import (
    Row,
    Table,
    table,
)

if TYPE_CHECKING:
    import pandas as pd


Rows = Union["pd.DataFrame", Sequence[Mapping[str, object]]]


NAME = "table"
"""What such a table is called, in results too."""


def are_rows(value: object) -> TypeGuard[Rows]:
    """Whether it is a table in memory: a list of mappings, or a data frame, told without loading pandas."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(row, Mapping) for row in value)
    return hasattr(value, "columns") and hasattr(value, "to_dict")


def rows_table(source: Rows) -> Table:
    """The table; raises `InputError` for one without rows."""
    rows: Any = source
    if not isinstance(source, list | tuple):
        frame: Any = source
        # As objects, which can hold None where a column of numbers has NaN.
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    columns: dict[str, None] = {}  # rows of a list may have different ones; the keys keep their order

    def read() -> Iterator[Row]:
        for number, values in enumerate(rows, 1):
            named = {str(column): value for column, value in values.items()}
            columns.update(dict.fromkeys(named))
            yield Row(f"{NAME}: row {number}", named)

    return table(NAME, columns, read())


def entries(value: object) -> list[Any]:
    """One or several datasets as a list, in which a table in memory is one; empty for None."""
    if value is None:
        return []
    return [value] if are_rows(value) else as_list(value)
