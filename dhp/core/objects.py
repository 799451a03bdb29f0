"""Objects of modules and files that a user names."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from dhp.core.errors import InputError, imported, imported_module, suggest
from dhp.core.seeding import text_hash

PREFIX = "python:"


def object_at(where: str, name: str, place: str) -> object:
    """The object of a name, such as `f` or `Class.f`, in a module, or in a file if `where` ends in `.py`.

    Modules of the working directory and beside the file are found too. Raises `InputError` that begins with
    `place` for what cannot be imported, and for an object that is not there.
    """
    module = _file(Path(where), place) if where.endswith(".py") else imported_module(where, place)
    reached: object = module
    for part in name.split("."):
        if not hasattr(reached, part):
            callables = []
            for known, value in vars(module).items():
                if callable(value) and not known.startswith("_"):
                    callables.append(known)
            raise InputError(f"{place}: no '{name}' in {where}; {suggest(name, callables)}")
        reached = getattr(reached, part)
    return reached


def _file(path: Path, place: str) -> ModuleType:
    """A module from a file; modules beside it are found too."""
    name = f"dhp_file_{text_hash(str(path.resolve()))}"
    if importlib.util.find_spec(name) is not None:  # loaded before, or sent to this worker
        return importlib.import_module(name)
    if not path.is_file():
        raise InputError(f"{place}: no file {path}; allowed: {PREFIX}FILE.py:OBJECT")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses of the file look for it there
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        imported(lambda: spec.loader.exec_module(module), place)  # type: ignore[union-attr]
    except InputError:
        del sys.modules[name]
        raise
    return module
