"""CSV and JSON Lines of ratings read by columns, as far as that gives the values that rows would give."""

from pathlib import Path
from typing import Any

from dhp.core.errors import InputError
from dhp.core.files import read_bytes
from dhp.core.tables import LONGEST_TEXT, mark_of

_NUMBERS = ("score", "missing_mass")
"""Columns in which 3 and 3.0 are the same; elsewhere they are different texts."""
_BOM = b"\xef\xbb\xbf"


def ratings_columns(path: Path) -> Any:
    """The `pyarrow.Table` in a file; of CSV all but the scores are texts.

    None where the file has a fault, or values whose type a column does not tell: `read_table` reads these.
    """
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".tsv", ".jsonl"):
        return None
    import pyarrow

    try:
        data = read_bytes(path).removeprefix(_BOM)
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        found = _of_lines(data) if suffix == ".jsonl" else _separated(data, tabs=suffix == ".tsv")
        return found if found is not None and _is_sound(found) else None
    except (InputError, UnicodeDecodeError, pyarrow.ArrowException):
        return None


def _separated(data: bytes, tabs: bool) -> Any:
    from pyarrow import BufferReader, csv, float64, string

    mark = "\t" if tabs else mark_of(data.partition(b"\n")[0].decode())
    if data[:1] in (b"", b"\n") or b"\r" in data or b"\0" in data or not _is_quoted_well(data, mark):
        return None
    parse = csv.ParseOptions(delimiter=mark, newlines_in_values=b'"' in data)
    names = csv.open_csv(BufferReader(data), parse_options=parse).schema.names
    types = dict.fromkeys(names, string()) | {"score": float64()}
    convert = csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=False)
    return csv.read_csv(BufferReader(data), parse_options=parse, convert_options=convert)


def _is_quoted_well(data: bytes, mark: str) -> bool:
    """Whether each quotation mark begins or ends a value, or is doubled inside one."""
    if b'"' not in data:
        return True
    pieces, bounds = data.split(b'"'), (mark.encode(), b"\n")
    first, *between, last = pieces[::2] if len(pieces) % 2 else (b"x", b"x")
    return (
        (not first or first.endswith(bounds))
        and all(not piece or (piece.startswith(bounds) and piece.endswith(bounds)) for piece in between)
        and (not last or last.startswith(bounds))
    )


def _of_lines(data: bytes) -> Any:
    from pyarrow import BufferReader, json

    data = data.strip()
    breaks = data.count(b"\n")
    is_flat = data.count(b"{") == 1 + breaks and b"[" not in data  # a deep nest ends the process
    if not is_flat or breaks != data.count(b"}\n{") or b"\r" in data:
        return None
    found = json.read_json(BufferReader(data))
    return found if len(found) == 1 + breaks else None


def _is_sound(found: Any) -> bool:
    """Whether there are rows, columns have names of their own, and each holds short texts or numbers."""
    found.validate(full=True)  # raises where a text is not UTF-8
    names = found.schema.names
    if not len(found) or len(set(names)) < len(names):
        return False
    return all(_is_column(name, values) for name, values in zip(names, found.columns, strict=True))


def _is_column(name: str, values: Any) -> bool:
    from pyarrow import compute, types

    if types.is_string(values.type):
        return (compute.max(compute.utf8_length(values)).as_py() or 0) <= LONGEST_TEXT
    if types.is_int64(values.type) and not values.null_count:
        return True
    if types.is_null(values.type):
        return True
    is_number = types.is_int64(values.type) or types.is_float64(values.type)
    return name in _NUMBERS and is_number and compute.all(compute.is_finite(values)).as_py() is not False
