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


def _is_wild(name: str) -> bool:
    return any(sign in name for sign in _WILD)


def is_parts(name: str) -> bool:
    """Whether a name is a pattern of files, or the address of a store."""
    return "://" in name or _is_wild(name)


def parts_name(name: str) -> str:
    """What data are called: by the file, or by the folder that holds the parts."""
    if Path(name).exists():
        return Path(name).name
    path = PurePosixPath(name.partition("://")[2] or name)
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
    none = True
    for path, file in _files(name):
        none = False
        yield from read_rows(path, PurePosixPath(path).suffix.lower(), file, columns)
    if none:
        raise InputError(f"{name}: no file fits; allowed: a pattern of files, e.g. FOLDER/*.parquet")


def _files(name: str) -> Iterator[tuple[str, Any]]:
    """Names and open files, one at a time."""
    if "://" not in name:
        pattern = Path(name)
        below = Path(pattern.anchor or ".")
        for path in sorted(below.glob(str(pattern.relative_to(pattern.anchor)))):
            if path.is_file():
                with opened(path) as file:
                    yield str(path), file
        return
    scheme = name.partition("://")[0]
    try:
        store, inside = _store(name)
        for each in _fitting(store, inside):
            with store.open_input_file(each) as file:
                # Readers of other formats ask for lines, which a file of a store does not give. Of Parquet
                # only the parts that are needed are fetched.
                whole = not each.lower().endswith(".parquet")
                yield f"{scheme}://{each}", io.BytesIO(file.read()) if whole else file
    except (OSError, ValueError, ImportError) as e:
        raise InputError(f"{name}: cannot be read ({reason(e)})") from None


def _store(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it; of pyarrow, else of fsspec."""
    from pyarrow import fs

    base = address
    while _is_wild(base):
        base = base.rpartition("/")[0]
    try:
        store, path = fs.FileSystem.from_uri(base)
    except ValueError:  # a kind of store that pyarrow does not know
        require("fsspec", purpose=f"dataset '{address}'")
        from fsspec.core import url_to_fs

        of_fsspec, path = url_to_fs(base)
        store = fs.PyFileSystem(fs.FSSpecHandler(of_fsspec))
    return store, path + address[len(base) :]


def _fitting(store: Any, path: str) -> list[str]:
    """The files of a store that a path with wild cards fits, in order; each folder has one part of it."""
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
