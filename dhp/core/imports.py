"""Imports of somebody else's code: whatever goes wrong there is an error of one line."""

import importlib
import sys
from collections.abc import Callable
from types import ModuleType

from dhp.core.errors import InputError


def imported(load: Callable[[], object], place: str) -> object:
    """What `load` returns; whatever somebody else's module raises becomes an `InputError` at `place`."""
    try:
        return load()
    except (Exception, SystemExit) as e:
        raise InputError(f"{place}: cannot be imported ({type(e).__name__}: {e})".splitlines()[0]) from e


def imported_module(name: str, place: str) -> ModuleType:
    """A module by its name, of the working directory too; raises `InputError` where it cannot be imported."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    module = imported(lambda: importlib.import_module(name), place)
    assert isinstance(module, ModuleType)
    return module
