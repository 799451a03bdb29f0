"""CSV and TSV files, also with semicolons."""

import csv
import io
import sys
from collections.abc import Iterable
from typing import Any

from dhp.core.errors import InputError


def separated(name: str, text: str, tabs: bool) -> tuple[list[str], list[list[str]]]:
    """The header and the values of each row.

    Parameters
    ----------
    name
        Of the file, for messages.
    text
        What it holds.
    tabs
        Whether tabs separate; where quotation marks do not pair up then they are part of the texts. Otherwise
        commas do, or semicolons or tabs where the header has more of those.

    Raises
    ------
    InputError
        For a row that has more or fewer values than the header, a duplicate column, broken quotation
        marks.
    """
    if not tabs:
        return _read(name, text, mark_of(text.partition("\n")[0]))
    try:
        return _read(name, text, "\t")
    except InputError as e:
        try:
            return _read(name, text, "\t", csv.QUOTE_NONE)
        except InputError:
            raise e from None


def mark_of(header: str) -> str:
    """What separates the values where it may be a comma, a semicolon or a tab."""
    return max(",;\t", key=header.count)


def _read(
    name: str, text: str, mark: str, quoting: Any = csv.QUOTE_MINIMAL
) -> tuple[list[str], list[list[str]]]:
    limit = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, quoting=quoting, strict=True)
        header = next(reader, [])
        rows: list[list[str]] = []
        for values in filter(None, reader):
            if len(values) != len(header):
                raise InputError(
                    f"{name}: row {len(rows) + 1}: {len(values)} values; allowed: {len(header)}, as in the "
                    "header"
                )
            rows.append(values)
    except csv.Error as e:
        raise InputError(f"{name}: line {reader.line_num}: broken CSV ({e})") from None
    finally:
        csv.field_size_limit(limit)
    check_distinct(name, header)
    return header, rows


def check_distinct(name: str, columns: Iterable[str]) -> None:
    """Raise `InputError` for the first duplicate column."""
    seen: set[str] = set()
    for column in columns:
        if column in seen:
            raise InputError(f"{name}: duplicate column '{column}'")
        seen.add(column)
