"""The worker process on a machine of a cluster."""

import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import sys
import sysconfig
import time
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

from dhp._version import __version__

_KEPT = 8
"""Pieces of work that a worker keeps ready."""


class Worker:
    """A process of a cluster that does any work; its public methods are called from afar."""

    def __init__(self) -> None:
        self._works: dict[int, Any] = {}

    async def version(self) -> str:
        """Version of this package."""
        return __version__

    async def do(self, key: int, parcel: Sequence[Any], items: list[Any]) -> tuple[float, object]:
        """Seconds taken, and what came of each item in its order, or the `Exception` that was raised.

        `parcel` refers to what `packed` returned, and is fetched where the work of this key is not known yet.
        """
        began = time.perf_counter()
        try:
            if key not in self._works:
                sent = await parcel[0]
                if key not in self._works:  # as another call may have taken it meanwhile
                    self._works[key] = _unpacked(sent)
                for oldest in list(self._works)[:-_KEPT]:
                    del self._works[oldest]
            found = self._works[key](items)
            found = await found if inspect.isawaitable(found) else _in_order(items, found)
        except Exception as e:  # noqa: BLE001  raised again where the result is awaited
            return 0.0, e
        return time.perf_counter() - began, found

    async def finish(self, key: int) -> None:
        """Let calls in flight end and start no further one."""
        if key in self._works:
            await self._works[key].finish()


def _in_order(items: Sequence[object], pairs: Iterable[tuple[object, object]]) -> list[object]:
    indices = {id(item): index for index, item in enumerate(items)}
    results: list[object] = [None] * len(items)
    for item, result in pairs:
        results[indices[id(item)]] = result
    return results


def packed(work: object) -> tuple[dict[str, str], bytes]:
    """Work as it is sent, with the sources of the user's own modules, which workers may lack."""
    from ray import cloudpickle

    return _loose_modules(), cloudpickle.dumps(work)


def _unpacked(sent: tuple[dict[str, str], bytes]) -> object:
    from ray import cloudpickle

    sources, pickled = sent
    sys.meta_path.append(_Sources(sources))
    return cloudpickle.loads(pickled)


def _loose_modules() -> dict[str, str]:
    """Sources of modules that are single files and belong to no installed package, by name."""
    installed = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})
    found = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        alone = "." not in name and not hasattr(module, "__path__") and name != "__main__"
        if alone and file.endswith(".py") and not file.startswith(installed):
            spec = importlib.util.spec_from_file_location(name, file)
            if spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
                found[name] = spec.loader.get_source(name) or ""
    return found


class _Sources(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds, after all others, modules whose sources were sent."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources

    def find_spec(
        self, name: str, path: object, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name in self._sources else None

    def get_source(self, name: str) -> str:
        return self._sources[name]
