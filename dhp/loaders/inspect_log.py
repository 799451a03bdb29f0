"""Logs of inspect_ai: packed JSON."""

import json
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError, require
from dhp.core.files import BROKEN_DATA, parse_json, unpacked

LOG_SUFFIX = ".eval"
_ZSTANDARD = 93
"""A way of compression, by its number in ZIP files, that Python reads from 3.14 on."""


def read_eval_file(file: Path) -> Any:
    """The samples of an `.eval` file; if Python cannot unpack it, inspect_ai reads it."""
    try:
        with zipfile.ZipFile(file) as archive:
            ways = [member.compress_type for member in archive.infolist()]
            if _ZSTANDARD not in ways:
                return _read_members(file, archive)
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except (OSError, KeyError, UnicodeDecodeError, RuntimeError, zipfile.BadZipFile, *BROKEN_DATA) as e:
        raise InputError(f"{file}: not an inspect_ai log ({type(e).__name__}: {e})") from None
    require("inspect-ai", purpose=f"{file}, which is packed with Zstandard,")
    return _read_by_inspect(file)


def _read_members(file: Path, archive: zipfile.ZipFile) -> Any:
    """The log in an archive: a member for the header, and one for each sample."""
    names = archive.namelist()
    samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
    # An evaluation that was stopped has no header yet.
    header = "header.json" if "header.json" in names else "_journal/start.json"
    size, read = 0, []
    for name in (header, *sorted(samples)):
        with archive.open(name) as member:
            data = unpacked(str(file), member, size)
        size += len(data)
        read.append(parse_json(f"{file}: {name}", data.decode()))
    # The form of a log that is one JSON file; the first member that was read is the header.
    return {"eval": {}, "version": read[0].get("version"), "samples": read[1:]}


def _read_by_inspect(file: Path) -> Any:
    try:
        log = import_module("inspect_ai.log").read_eval_log(str(file))
    except Exception as e:  # noqa: BLE001  whatever another package raises over a file is said in one line
        raise InputError(
            f"{file}: inspect_ai cannot read it ({type(e).__name__}: {e})".splitlines()[0]
        ) from None
    return json.loads(log.model_dump_json(exclude={"samples": {"__all__": {"events"}}}))
