"""Finds a user's judge: `python:MODULE:OBJECT`, `python:FILE.py:OBJECT`, `python:NAME` of an entry point."""

import importlib
import importlib.metadata
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from dhp.core.errors import InputError, imported, imported_module, suggest
from dhp.core.seeding import text_hash

PREFIX = "python:"
ENTRY_POINT_GROUP = "dhp.judges"


def load_object(model: str) -> object:
    """The object that a name `python:...` stands for; modules of the working directory are found too.

    Raises
    ------
    InputError
        For another form, a module or file that cannot be imported, and an object that is not there.
    """
    where, colon, name = model.removeprefix(PREFIX).rpartition(":")
    if not name or (colon and not where):
        raise InputError(
            f"model '{model}': must have the form python:MODULE:OBJECT, python:FILE.py:OBJECT, or "
            f"python:NAME of an entry point in the group {ENTRY_POINT_GROUP}"
        )
    if not colon:
        return _entry_point(model, name)
    module = (
        _file(model, Path(where)) if where.endswith(".py") else imported_module(where, f"model '{model}'")
    )
    found: object = module
    for part in name.split("."):
        if not hasattr(found, part):
            there = [n for n, value in vars(module).items() if callable(value) and not n.startswith("_")]
            raise InputError(f"model '{model}': no '{name}' in {where}; {suggest(name, there)}")
        found = getattr(found, part)
    return found


def absolute(model: str) -> str:
    """The same name with the whole path of a file in it."""
    where, _, name = model.removeprefix(PREFIX).rpartition(":")
    return f"{PREFIX}{Path(where).resolve()}:{name}" if where.endswith(".py") else model


def _entry_point(model: str, name: str) -> object:
    entries = {entry.name: entry for entry in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)}
    if name not in entries:
        raise InputError(
            f"model '{model}': no entry point of that name in the group {ENTRY_POINT_GROUP}; "
            f"{suggest(name, entries)}, or python:MODULE:OBJECT"
        )
    return imported(entries[name].load, f"model '{model}' ({entries[name].value})")


def _file(model: str, path: Path) -> ModuleType:
    """A module from a file; modules beside it are found too."""
    name = f"dhp_judge_{text_hash(str(path.resolve()))}"
    if importlib.util.find_spec(name) is not None:  # loaded before, or sent to this worker
        return importlib.import_module(name)
    if not path.is_file():
        raise InputError(f"model '{model}': no file {path}; allowed: python:FILE.py:OBJECT")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses of the file look for it there
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        imported(lambda: spec.loader.exec_module(module), f"model '{model}'")  # type: ignore[union-attr]
    except InputError:
        del sys.modules[name]
        raise
    return module
