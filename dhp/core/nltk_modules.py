"""Single modules of NLTK, without the rest of it."""

import importlib
import sys
import threading
from importlib.metadata import distribution
from types import ModuleType
from typing import Any

_nltk_lock = threading.Lock()


def nltk_module(name: str) -> Any:
    """A module of NLTK without its packages, whose import takes 0.6 s and 70 MB, most of it for scipy.stats.

    Empty packages stand in for them while the module loads. Nothing stays in `sys.modules`, so that another
    library that imports NLTK gets all of it.
    """
    with _nltk_lock:
        site = distribution("nltk").locate_file("")
        before = _taken_out()
        try:
            for package in ("nltk", "nltk.stem", "nltk.tokenize"):
                sys.modules[package] = ModuleType(package)
                sys.modules[package].__path__ = [f"{site}/{package.replace('.', '/')}"]
            return importlib.import_module(name)
        finally:
            _taken_out()
            sys.modules.update(before)


def _taken_out() -> dict[str, ModuleType]:
    """The modules of NLTK that are loaded, which are no longer known to Python."""
    taken = {}
    for name in list(sys.modules):  # a copy, as modules are taken out meanwhile
        if name.partition(".")[0] == "nltk":
            taken[name] = sys.modules.pop(name)
    return taken
