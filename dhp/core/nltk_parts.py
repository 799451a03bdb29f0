"""The tokenisers and the stemmer of NLTK, without the rest of it."""

import functools
import importlib
import sys
import threading
from collections.abc import Iterable
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NamedTuple

_PACKAGES = ("nltk", "nltk.stem", "nltk.tokenize")
_MODULES = ("nltk.tokenize.punkt", "nltk.tokenize.destructive", "nltk.stem.porter")
_lock = threading.Lock()


class NltkParts(NamedTuple):
    """The modules in use."""

    punkt: Any
    destructive: Any
    porter: Any


@functools.cache
def nltk_parts() -> NltkParts:
    """Modules of NLTK.

    `import nltk` takes 0.6 s and 70 MB, most of it for scipy.stats. So the packages above these modules are
    replaced by empty ones as they load. Nothing stays in `sys.modules`: who imports NLTK gets all of it.
    """
    with _lock:
        if "nltk" in sys.modules:
            return NltkParts(*map(importlib.import_module, _MODULES))
        spec = find_spec("nltk")
        if spec is None or not spec.submodule_search_locations:
            raise ModuleNotFoundError("No module named 'nltk'", name="nltk")
        try:
            for name in _PACKAGES:
                sys.modules[name] = _empty_package(name, spec.submodule_search_locations)
            return NltkParts(*map(importlib.import_module, _MODULES))
        finally:
            for name in [name for name in sys.modules if name.partition(".")[0] == "nltk"]:
                del sys.modules[name]


def _empty_package(name: str, folders: Iterable[str]) -> ModuleType:
    """A package in which the modules of another one are found, whose `__init__` is not run."""
    package = ModuleType(name)
    below = name.removeprefix("nltk").replace(".", "/")
    package.__path__ = [f"{folder}{below}" for folder in folders]
    return package
