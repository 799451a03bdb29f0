"""Tables of many files, here or in a store such as s3://."""

import io
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from dhp.core.errors import InputError, require
from dhp.core.files import opened, reason
from dhp.core.tables import (
    Row,
    Table,
    read_rows,
    table,
)

_WILD = "*?["
"""Signs that make a path a pattern."""


def _is_wild(name: str) -> bool:
    return any(sign in name for sign in _WILD)


def is_parts(name: str) -> bool:
    """Whether a name is a pattern of files, or the address of a store."""
    return "://" in name or _is_wild(name)


def parts_name(name: str) -> str:
    """What data are called: the name of their file, or of the folder that holds the parts."""
    if Path(name).exists():
        return Path(name).name
    _, _, within_store = name.partition("://")
    path = PurePosixPath(within_store or name)
    while _is_wild(path.name):
        path = path.parent
    return path.name or "parts"


def parts_table(name: str, *, broken: bool = False) -> Table:
    """The rows of all files that a pattern fits, one file after the other in the order of their names.

    The pattern is one of local files, or an address such as `s3://BUCKET/FOLDER/*.parquet` that pyarrow or
    fsspec can reach; keys are taken from where these packages look for them. Raises `InputError` if
    nothing fits, or a file or the store cannot be read.
    """
    columns: dict[str, None] = {}
    return table(name, columns, _rows(name, columns), broken=broken)


def _rows(name: str, columns: dict[str, None]) -> Iterator[Row]:
    fits_any = False
    for path, file in _files(name):
        fits_any = True
        yield from read_rows(path, PurePosixPath(path).suffix.lower(), file, columns)
    if not fits_any:
        raise InputError(f"{name}: no file fits; allowed: a pattern of files, e.g. FOLDER/*.parquet")


def _files(name: str) -> Iterator[tuple[str, Any]]:
    """Names and open files, one at a time."""
    return _files_of_store(name) if "://" in name else _local_files(Path(name))


def _local_files(pattern: Path) -> Iterator[tuple[str, Any]]:
    # `glob` takes patterns below a folder alone: of `/data/*.csv` that is `data/*.csv` below `/`.
    below = Path(pattern.anchor or ".")
    for path in sorted(below.glob(str(pattern.relative_to(pattern.anchor)))):
        if path.is_file():
            with opened(path) as file:
                yield str(path), file


def _files_of_store(name: str) -> Iterator[tuple[str, Any]]:
    scheme, _, _ = name.partition("://")
    try:
        store, inside = _store(name)
        for path in _fitting(store, inside):
            with store.open_input_file(path) as file:
                if path.lower().endswith(".parquet"):  # only the parts that are needed are fetched
                    yield f"{scheme}://{path}", file
                else:  # read whole, as the readers ask for lines, which a file of a store does not give
                    yield f"{scheme}://{path}", io.BytesIO(file.read())
    except (OSError, ValueError, ImportError) as e:
        raise InputError(f"{name}: cannot be read ({reason(e)})") from None


def _store(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it; of pyarrow, else of fsspec."""
    from pyarrow import fs

    base = address  # up to the last folder that is named as it is
    while _is_wild(base):
        # One folder up, until no wild card is left: the file system is that of a plain address.
        base, _, _ = base.rpartition("/")
    try:
        store, path = fs.FileSystem.from_uri(base)
    except ValueError:  # a kind of store that pyarrow does not know
        require("fsspec", purpose=f"dataset '{address}'")
        from fsspec.core import url_to_fs

        of_fsspec, path = url_to_fs(base)
        store = fs.PyFileSystem(fs.FSSpecHandler(of_fsspec))
    # The pattern goes behind the path again: it was no part of what the store was found by.
    return store, path + address[len(base) :]


def _fitting(store: Any, path: str) -> list[str]:
    """The files of a store that a path with wild cards fits, in order.

    A wild card stands for names within one folder: `*` fits no `/`.
    """
    from pyarrow import fs

    if not _is_wild(path):
        return [path]
    wanted = PurePosixPath(path).parts
    fixed = 0  # folders that are named as they are: only what lies below them is listed
    while not _is_wild(wanted[fixed]):
        fixed += 1
    below = fs.FileSelector(str(PurePosixPath(*wanted[:fixed])), recursive=fixed < len(wanted) - 1)
    files = [info.path for info in store.get_file_info(below) if info.type == fs.FileType.File]

    def fits(file: str) -> bool:
        parts = PurePosixPath(file).parts
        return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))

    return sorted(filter(fits, files))
