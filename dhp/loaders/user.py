"""The user's own texts: files, parts in a store, the Hugging Face Hub, logs of inspect_ai, rows in memory."""

import io
import json
import logging
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeGuard, Union

from dhp.core.errors import InputError, listed, one_of, require
from dhp.core.files import BROKEN_DATA, opened, parse_json, reason, unpacked
from dhp.core.options import as_list
from dhp.core.records import Example
from dhp.core.specs import PairMap, Suite, Task
from dhp.core.tables import (
    AT_ONCE,
    FILE,
    FOLDER,
    KEY,
    TABLE_SUFFIXES,
    Row,
    Table,
    as_text,
    from_arrow,
    is_blank,
    read_rows,
    read_table,
    table,
)
from dhp.loaders.dataset import Dataset
from dhp.loaders.left_out import leave_out
from dhp.loaders.pairs import PAIR_FIELDS, chosen_rows, read_pairs

if TYPE_CHECKING:
    import pandas as pd


def read_texts(
    path: str | Path,
    task: Task,
    fields: Mapping[str, str] = {},
    where: Mapping[str, Sequence[str]] = {},
    *,
    name: str = "",
) -> Dataset:
    """A dataset, without a suite, from a table or from the Hugging Face Hub; `name` is by default the path.

    `path` is a `.json`, `.jsonl`, `.csv`, `.tsv` or `.parquet` file or a `.zip` of these; a pattern of such
    files, `FOLDER/*.parquet`, also in a store, `s3://BUCKET/FOLDER/*.parquet`; a dataset of the Hub as
    `hf:ORG/NAME[:SPLIT]`, a local one as `hf:./FOLDER[:SPLIT]`, which needs the library `datasets` (extra
    `data`); code that comes with a dataset is never run.

    `fields` has our names -> the file's columns or paths into nested ones. Needed is `output`, and
    `source` where the task has one; without `id` the row numbers are the ids; every other column of strings
    or numbers becomes a field, other values are left out. With a column `perturbed` (a degraded copy of the
    output) each row is a pair of example and variant: `kind` names the variant (default "perturbed"),
    `degree` its degree, `level` its level (default "given"), `control` marks a change that must not lower a
    score, `better` tells which of output and perturbed is the better one; see `read_pairs`. Raises
    `InputError` with file, row, column and what is allowed.
    """
    table = open_table(str(path))
    return from_table(name or str(path), table, task, columns_of(table, fields, task), where)


def open_table(name: str, *, broken: bool = False) -> Table:
    """The rows of what `read_texts` takes; also those that cannot be read, if `broken`."""
    if name.startswith(HUB_PREFIX):
        return hub_table(name.removeprefix(HUB_PREFIX))
    if is_parts(name) and not Path(name).exists():
        return parts_table(name, broken=broken)
    return read_table(Path(name), broken=broken)


def is_user_data(name: str) -> bool:
    """Whether `name` is that of a user's own texts: `hf:...`, or a file with the suffix of a table or log."""
    return name.startswith(HUB_PREFIX) or Path(name).suffix.lower() in (*TABLE_SUFFIXES, LOG_SUFFIX)


def from_table(
    name: str,
    table: Table,
    task: Task,
    columns: Mapping[str, str],
    where: Mapping[str, Sequence[str]],
    *,
    strict: bool = False,
) -> Dataset:
    """The texts of a table whose `columns_of` are known; see `read_texts`.

    Rows that cannot be used are left out with a note that counts them by reason, unless they are more than a
    tenth, or any if `strict`: then they raise `InputError`.
    """
    left_out = unusable(table, columns, where, strict=strict)
    if "perturbed" in columns:
        table = table.with_rows(row for row in table.rows if row.place not in left_out)
        form = PairMap(fields=dict(columns), where={column: list(values) for column, values in where.items()})
        return read_pairs(name, table, form, task)
    if "better" in columns:
        raise InputError(
            f"{table.name}: `fields` better= needs two texts; map them by `fields` output=COLUMN and "
            f"`fields` perturbed=COLUMN; columns: {listed(table.columns)}"
        )
    examples = plain_examples(chosen_rows(table, where), columns, left_out)
    return Dataset(name, examples, task, None, examples)


def unusable(
    table: Table, columns: Mapping[str, str], where: Mapping[str, Sequence[str]], *, strict: bool
) -> frozenset[str]:
    """Places of the rows without a text where one belongs, or that cannot be read; errors as of
    `from_table`."""
    broken = [row for row in table.rows if row.broken]
    whole = table.with_rows(row for row in table.rows if not row.broken) if broken else table
    rows = chosen_rows(whole, where).rows
    reasons: dict[str, list[str]] = {}
    for row in broken:
        reasons.setdefault(row.broken, []).append(row.place)
    needed = () if "perturbed" in columns else ("id", "source", "output")  # pairs are counted by themselves
    for row in rows:
        for name in ("output", "perturbed"):
            if name in columns:
                row.check_no_object(columns[name])
        for name in needed:
            if name in columns and is_blank(row.value(columns[name])):
                reasons.setdefault(f"column '{columns[name]}' is empty", []).append(row.place)
                break
    leave_out(table.name, reasons, len(rows) + len(broken), strict=strict)
    return frozenset(place for places in reasons.values() for place in places)


def columns_of(table: Table, field_map: Mapping[str, str], task: Task) -> dict[str, str]:
    """Our name -> the table's column; a mapped column serves for nothing else."""
    faults = [
        f"`fields` {ours}={theirs}: column '{theirs}' is missing{_near(theirs, table)}"
        for ours, theirs in field_map.items()
        if not table.has(theirs)
    ]
    used = {*field_map.values(), FILE, FOLDER, KEY}
    own = {c: c for c in table.columns if c.strip() and c not in used and c != "better"}
    columns = own | dict(field_map)
    has_source = task.source_label is not None
    faults += [
        f"column '{needed}' is missing; map it by `fields` {needed}=COLUMN{_near(needed, table)}"
        for needed in ("source", "output") * has_source or ("output",)
        if needed not in columns
    ]
    if faults:
        raise InputError(f"{table.name}: {'; '.join(faults)}; allowed: {listed(table.columns)}")
    return columns


def _near(name: str, table: Table) -> str:
    """The column that may be meant, as a question."""
    close = get_close_matches(name, table.columns, n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def meanings(columns: Mapping[str, str]) -> dict[str, str]:
    """Column -> what it stands for, for the slots of prompt files: our name, and its own."""
    texts = {ours: theirs for ours, theirs in columns.items() if ours not in ("id", *PAIR_FIELDS)}
    return {**{ours: ours for ours in texts}, **{theirs: ours for ours, theirs in texts.items()}}


def plain_examples(
    table: Table, columns: Mapping[str, str], left_out: Collection[str] = ()
) -> Sequence[Example]:
    """The examples of a table, a row each; `columns` has our name -> its column.

    Rows at the places `left_out` are counted for the ids, and passed over.
    """
    kept = [place for place, row in enumerate(table.rows) if row.place not in left_out]
    if left_out:
        table = table.with_rows(row for row in table.rows if row.place not in left_out)
    numbers: dict[str, int] = {}

    def read(row: Row) -> Example:
        number = len(numbers)
        example = _example(row, kept[number] + 1, columns)
        if (first := numbers.setdefault(example.id, number)) != number:
            place = table.rows[first].place
            raise row.fault(f"duplicate id '{example.id}' (first at {place})")
        return example

    return table.each(read)


def _example(row: Row, number: int, columns: Mapping[str, str]) -> Example:
    fields = {}
    for name, column in columns.items():
        text = as_text(row.value(column))
        if name not in ("id", "source", "output") and text is not None:
            fields[name] = row.encodable(column, text)
    return Example(
        id=row.text(columns["id"]) if "id" in columns else str(number),
        source=row.text(columns["source"]) if "source" in columns else "",
        output=row.text(columns["output"]),
        fields=fields,
    )


Rows = Union["pd.DataFrame", Sequence[Mapping[str, object]]]
NAME = "table"
"""What such a table is called, in results too."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a plug-in that reads data which are no table of texts."""

    source: str | Rows
    """The file, or rows in memory."""
    name: str
    """Name of the dataset."""
    task: str | Task | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    language: str | None = None
    """Code of the language of the outputs, where it is declared."""
    judge_part: str | None = None
    """Part of a conversation that is judged."""
    strict: bool = False
    """Whether any row that cannot be used is refused."""
    suite: Suite | None = None
    """How the texts are to be degraded, where it is said."""


def are_rows(value: object) -> TypeGuard[Rows]:
    """Whether it is a table in memory."""
    listed = isinstance(value, list | tuple) and bool(value) and all(isinstance(e, Mapping) for e in value)
    return listed or (hasattr(value, "columns") and hasattr(value, "to_dict"))


def rows_table(given: Rows) -> Table:
    """The table; raises `InputError` for one without rows."""
    rows: Any = given
    if not isinstance(given, list | tuple):
        frame: Any = given
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    columns: dict[str, None] = {}

    def read() -> Any:
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


# Tables of many files, in remote storage, and on the Hub

_WILD = "*?["


def is_parts(name: str) -> bool:
    """Whether a name is a pattern of files, or the address of a store."""
    return "://" in name or any(sign in name for sign in _WILD)


def parts_name(name: str) -> str:
    """What data are called: by the file, or by the folder that holds the parts."""
    if Path(name).exists():
        return Path(name).name
    path = PurePosixPath(name.partition("://")[2] or name)
    while any(sign in path.name for sign in _WILD):
        path = path.parent
    return path.name or "parts"


def parts_table(name: str, *, broken: bool = False) -> Table:
    """The rows of all files that a pattern fits, one file after the other in the order of their names.

    The pattern is one of local files, or an address such as `s3://BUCKET/FOLDER/*.parquet` that pyarrow or
    fsspec can reach; keys are taken from where these packages look for them. Raises `InputError` where
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
        below = Path(Path(name).anchor or ".")
        for path in sorted(below.glob(str(Path(name).relative_to(Path(name).anchor)))):
            if path.is_file():
                with opened(path) as file:
                    yield str(path), file
        return
    scheme = name.partition("://")[0]
    try:
        store, inside = _store(name)
        for each in _fitting(store, inside):
            with store.open_input_file(each) as file:
                whole = not each.lower().endswith(".parquet")  # which alone is read here and there
                yield f"{scheme}://{each}", io.BytesIO(file.read()) if whole else file
    except (OSError, ValueError, ImportError) as e:
        raise InputError(f"{name}: cannot be read ({reason(e)})") from None


def _store(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it; of pyarrow, else of fsspec."""
    from pyarrow import fs

    base = address
    while any(sign in base for sign in _WILD):
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

    if not any(sign in path for sign in _WILD):
        return [path]
    wanted = PurePosixPath(path).parts
    fixed = next(index for index, part in enumerate(wanted) if any(sign in part for sign in _WILD))
    below = fs.FileSelector(str(PurePosixPath(*wanted[:fixed])), recursive=fixed < len(wanted) - 1)
    files = [info.path for info in store.get_file_info(below) if info.type == fs.FileType.File]

    def fits(file: str) -> bool:
        parts = PurePosixPath(file).parts
        return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))

    return sorted(filter(fits, files))


HUB_PREFIX = "hf:"


def hub_table(name: str) -> Table:
    """The rows of `ORG/NAME[:SPLIT]`, or of a local folder `./FOLDER[:SPLIT]`; see `read_texts`."""
    require("datasets", purpose=f"{HUB_PREFIX}{name}", extra="data")
    place = f"{HUB_PREFIX}{name}"
    address, _, split = (name, "", "") if Path(name).exists() else name.partition(":")
    if not address:
        raise InputError(f"{place}: no name; allowed: hf:ORG/NAME, hf:ORG/NAME:SPLIT, hf:./FOLDER")
    splits = _load(place, address)
    if not split and len(splits) > 1:
        raise InputError(f"{place}: has several splits; allowed: {', '.join(f'{place}:{s}' for s in splits)}")
    if split:
        one_of("split", split, splits, place)
    rows = splits[split or next(iter(splits))]
    return from_arrow(place, rows.with_format("arrow").iter(AT_ONCE))


def hub_folder(place: str) -> Path:
    """The tables of the repository `hf:ORG/NAME`, downloaded as they are; of `hf:./FOLDER` the folder."""
    address = place.removeprefix(HUB_PREFIX)
    if _is_local(place, address):
        return Path(address)
    require("huggingface_hub", purpose=place)
    from huggingface_hub import snapshot_download

    patterns = [f"*{suffix}" for suffix in TABLE_SUFFIXES]
    with _quiet():
        try:
            return Path(snapshot_download(address, repo_type="dataset", allow_patterns=patterns))
        except (OSError, ValueError, RuntimeError) as e:
            raise InputError(f"{place}: cannot be downloaded ({reason(e)})") from None


def _is_local(place: str, address: str) -> bool:
    folder = Path(address)
    local = address.startswith((".", "/", "~")) or folder.is_dir()
    if local and not folder.is_dir():
        raise InputError(f"{place}: folder {address} does not exist")
    return local


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the notes on every retry."""
    log = logging.getLogger("huggingface_hub")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _load(place: str, address: str) -> dict[str, Any]:
    """Split -> `datasets.Dataset`; whatever keeps the library from loading it becomes an `InputError`."""
    # Not an import statement: checkers would take it for the content folder datasets/.
    datasets: Any = import_module("datasets")
    _is_local(place, address)
    saved = any((Path(address) / name).is_file() for name in ("state.json", "dataset_dict.json"))
    read = datasets.load_from_disk if saved else datasets.load_dataset
    with _quiet():
        try:
            loaded = read(address)
        except (
            OSError,
            ValueError,
            RuntimeError,
            LookupError,
            TypeError,
            datasets.exceptions.DatasetsError,
        ) as e:
            raise InputError(f"{place}: cannot be loaded ({reason(e)})") from None
    return dict(loaded) if isinstance(loaded, datasets.DatasetDict) else {"all": loaded}


# Logs of inspect_ai: packed JSON

LOG_SUFFIX = ".eval"
_ZSTANDARD = 93


def read_eval_file(file: Path) -> Any:
    """The samples of an `.eval` file; where Python cannot unpack it, inspect_ai reads it."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = [i.filename for i in archive.infolist()]
            if all(i.compress_type != _ZSTANDARD for i in archive.infolist()):
                samples = sorted(n for n in names if n.startswith("samples/") and n.endswith(".json"))
                header = "header.json" if "header.json" in names else "_journal/start.json"
                size, read = 0, []
                for name in (header, *samples):
                    with archive.open(name) as member:
                        data = unpacked(str(file), member, size)
                    size += len(data)
                    read.append(parse_json(f"{file}: {name}", data.decode()))
                return {"eval": {}, "version": read[0].get("version"), "samples": read[1:]}
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except (OSError, KeyError, UnicodeDecodeError, RuntimeError, zipfile.BadZipFile, *BROKEN_DATA) as e:
        raise InputError(f"{file}: not an inspect_ai log ({type(e).__name__}: {e})") from None
    require("inspect-ai", purpose=f"{file}, which is packed with Zstandard,")
    try:
        log = import_module("inspect_ai.log").read_eval_log(str(file))
    except Exception as e:  # noqa: BLE001  whatever another package raises over a file is said in one line
        raise InputError(
            f"{file}: inspect_ai cannot read it ({type(e).__name__}: {e})".splitlines()[0]
        ) from None
    return json.loads(log.model_dump_json(exclude={"samples": {"__all__": {"events"}}}))
