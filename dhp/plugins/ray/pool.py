"""Distribution of work to Ray workers in blocks, again if a worker is lost.

A piece of work is sent once, with the sources of modules that workers may lack; then only items travel.
`submit` fills a queue; free workers get blocks of it, whose size is found so that a block takes neither too
long nor too short. `wait` takes the next block that is done. What a lost worker had goes back to the front
of the queue, and its place is greeted until Ray has started it anew.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import itertools
import re
import sys
import sysconfig
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Generic, TypeVar

from dhp._version import __version__
from dhp.core.errors import InputError, StoppedEarly

_KEPT = 8
"""Pieces of work that a worker keeps ready. Chosen: those of a run that asks several judges."""


class Worker:
    """A process of a cluster that does any work; its public methods are called from afar."""

    def __init__(self) -> None:
        self._works: dict[int, Any] = {}

    async def version(self) -> str:
        """Version of this package."""
        return __version__

    async def do(self, key: int, parcel: Sequence[Any], items: list[Any]) -> tuple[float, object]:
        """Seconds taken, and the result of each item in its order, or the `Exception` that was raised.

        `parcel` refers to what `packed` returned, and is fetched if the work of this key is not known yet.
        """
        began = time.perf_counter()
        try:
            if key not in self._works:
                sent = await parcel[0]
                if key not in self._works:  # as another call may have taken it meanwhile
                    self._works[key] = _unpacked(sent)
                for oldest in list(self._works)[:-_KEPT]:  # all but the last ones that came
                    del self._works[oldest]
            # Calls to a server are awaited, a function or a model yields pairs.
            results = self._works[key](items)
            results = await results if inspect.isawaitable(results) else _in_order(items, results)
        except Exception as e:  # noqa: BLE001  raised again by the process that awaits the result
            return 0.0, e
        return time.perf_counter() - began, results

    async def finish(self, key: int) -> None:
        """Let calls in flight end and start no further one."""
        if key in self._works:
            await self._works[key].finish()


def _in_order(items: Sequence[object], pairs: Iterable[tuple[object, object]]) -> list[object]:
    """The results of pairs (item, result), which come in any order, in the order of the items."""
    indices = {}
    for index, item in enumerate(items):
        indices[id(item)] = index  # by identity, as equal items may come twice
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
    sources = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        alone = "." not in name and not hasattr(module, "__path__") and name != "__main__"
        # A package cannot be sent so: its modules lie in files of their own.
        if alone and file.endswith(".py") and not file.startswith(installed):
            spec = importlib.util.spec_from_file_location(name, file)
            if spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
                sources[name] = spec.loader.get_source(name) or ""
    return sources


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


T = TypeVar("T")
R = TypeVar("R")

_START_SECONDS = 120.0
"""Longest wait for a first worker. Chosen."""
_MOST_LOSSES = 3
"""Workers that one item may cost. Chosen: a machine may be lost by chance, four in turn are not."""
SECONDS = 0.1, 1.0
"""Seconds for a block; blocks grow below the first and shrink above the second."""
SECONDS_BY_MODEL = 10.0, 60.0
"""Longer, as a model computes many items in hardly more time than one. Both pairs are chosen."""
_MOST_ITEMS = 256
"""Items of a block at most. Chosen."""
_SECONDS_BETWEEN_POLLS = 0.02
"""Between two questions of `ready` to the cluster, each of which takes time. Chosen."""
_keys = itertools.count()
"""Numbers of pieces of work, by which workers know them."""


@dataclass(slots=True)
class WorkerGroup:
    """Workers, and the numbers of those that have answered and were not lost since."""

    workers: list[Any]
    up: set[int] = field(default_factory=set)


class Pool(Generic[T, R]):
    """One piece of work, handed out to workers in blocks; the items of a lost worker go to another.

    `on_wait` is called every second while nothing comes. Without the `size` of a block, it is found so that a
    block takes a worker as long as `seconds` say, between two bounds. Each worker has at most `blocks` of
    them; at most `most` workers are used.
    """

    def __init__(
        self,
        ray: Any,
        crew: WorkerGroup,
        work: object,
        on_wait: Callable[[], None],
        *,
        size: int | None = None,
        seconds: tuple[float, float] = SECONDS,
        blocks: int = 2,
        most: int | None = None,
    ) -> None:
        self._ray, self._crew, self._on_wait = ray, crew, on_wait
        self._key = next(_keys)
        self._parcel = [_sent(ray, work)]
        self._size, self._fixed, self._blocks = size or 1, size is not None, blocks
        self._short, self._long = seconds
        self._indices = range(len(crew.workers))[:most]
        # Items wait as (item, what is sent of it); a block in flight has the number of its worker.
        self._queue: deque[tuple[T, object]] = deque()
        self._flight: dict[Any, tuple[int, list[tuple[T, object]]]] = {}
        self._losses: Counter[int] = Counter()  # id of an item -> workers that it has cost
        self._began = self._polled = time.monotonic()
        for index in self._indices:
            if index not in crew.up:
                self._greet(index)

    @property
    def pending(self) -> int:
        """Items of which nothing came yet."""
        pending = len(self._queue)
        for _, items in self._flight.values():
            pending += len(items)
        return pending

    @property
    def full(self) -> bool:
        """Whether enough items wait for now."""
        return len(self._queue) >= self._size * len(self._indices)

    def submit(self, item: T, sent: object) -> None:
        """Hand over an item, and what is sent of it."""
        self._queue.append((item, sent))
        if len(self._queue) >= self._size:
            self._send()

    def ready(self) -> bool:
        """Whether `wait` would find something; asked of the cluster periodically."""
        now = time.monotonic()
        if now < self._polled + _SECONDS_BETWEEN_POLLS or not self._flight:
            return False
        self._polled = now
        return bool(self._ray.wait(list(self._flight), timeout=0)[0])

    def wait(self) -> list[tuple[T, R]]:
        """The items of the next block with their results; empty if a worker came up or was lost."""
        self._send()
        came, _ = self._ray.wait(list(self._flight), timeout=1.0)
        if not came:
            self._on_wait()
            if not self._crew.up and time.monotonic() > self._began + _START_SECONDS:
                raise StoppedEarly(
                    f"`ray`: no worker started within {_START_SECONDS:g} seconds, as the cluster "
                    "has no CPU free; repeat the command to resume"
                )
            return []

        index, items = self._flight.pop(came[0])
        try:
            outcome = self._ray.get(came[0])
        except self._ray.exceptions.RayError as e:
            self._on_lost(index, items, e)
            return []
        if index not in self._crew.up:
            self._on_started(index, outcome)
            return []

        seconds, results = outcome
        if isinstance(results, Exception):
            raise _explained(results) from None
        # A block that was short doubles the size of the next ones, one that was long halves it.
        if not self._fixed and seconds < self._short:
            self._size = min(_MOST_ITEMS, max(self._size, 2 * len(items)))
        elif not self._fixed and seconds > self._long:
            self._size = max(1, self._size // 2)
        for item, _ in items:
            self._losses.pop(id(item), None)  # another item may come to lie there
        return [(item, result) for (item, _), result in zip(items, results, strict=True)]

    def finish(self) -> None:
        """Hand out nothing more and let workers end what they have begun."""
        self._queue.clear()
        for index in self._crew.up & set(self._indices):
            self._crew.workers[index].finish.remote(self._key)

    def _send(self) -> None:
        """Hand out blocks from the queue, in turn to the workers that have the fewest."""
        busy = Counter[int]()
        for index, _ in self._flight.values():
            busy[index] += 1
        free = [index for index in self._indices if index in self._crew.up]
        for _ in range(self._blocks):
            for index in sorted(free, key=busy.__getitem__):
                if not self._queue:
                    return
                if busy[index] < self._blocks:
                    self._send_block(index)
                    busy[index] += 1

    def _send_block(self, index: int) -> None:
        """Hand the next items of the queue to a worker."""
        items: list[tuple[T, object]] = []
        while self._queue and len(items) < self._size:
            items.append(self._queue.popleft())
        worker = self._crew.workers[index]
        ref = worker.do.remote(self._key, self._parcel, [sent for _, sent in items])
        self._flight[ref] = index, items

    def _greet(self, index: int) -> None:
        """Ask a worker for its version: once it answers, it has come up."""
        self._flight[self._crew.workers[index].version.remote()] = index, []

    def _on_started(self, index: int, version: object) -> None:
        if version != __version__:
            raise InputError(
                f"`ray`: a worker has dhp {version}, and this is {__version__}; install the same "
                "version on every machine"
            )
        self._crew.up.add(index)

    def _on_lost(self, index: int, items: list[tuple[T, object]], error: Exception) -> None:
        """Put what a lost worker had back to the front, and wait for the worker to come up again."""
        # Any other error, and one of a worker that cannot start at all, would come again.
        if not isinstance(error, self._ray.exceptions.RayActorError) or "creation task" in str(error):
            raise _explained(error) from None
        self._queue.extendleft(reversed(items))  # it turns the order round
        for item, _ in items:
            self._losses[id(item)] += 1
            if self._losses[id(item)] > _MOST_LOSSES:
                raise StoppedEarly(
                    f"`ray`: {_MOST_LOSSES + 1} workers in turn were lost at the same work ("
                    f"{first_line(error)}); repeat the command to resume"
                )
        if index in self._crew.up:
            self._crew.up.remove(index)
            self._began = time.monotonic()
        # A greeting is a flight without items; one at a time is enough.
        for other, in_flight in self._flight.values():
            if other == index and not in_flight:
                return
        self._greet(index)


def _sent(ray: Any, work: object) -> Any:
    """A reference to the work, for workers."""
    try:
        return ray.put(packed(work))
    except (TypeError, AttributeError, ValueError) as e:  # what pickle raises, one by kind of object
        raise InputError(
            f"`ray`: the judge cannot be sent to workers ({first_line(e)}); allowed: a function "
            "of a module, python:MODULE:OBJECT"
        ) from None


def _explained(error: Exception) -> Exception:
    """The error that a worker raised; if it lacks a package, or Ray failed, in one line."""
    lacking = re.search(r"No module named '([\w.]+)'", str(error))  # Python's: "No module named 'torch'"
    if lacking:
        return InputError(
            f"`ray`: a worker has no package '{lacking[1]}'; install on every machine what is installed here"
        )
    if type(error).__module__.startswith("ray."):
        return StoppedEarly(f"`ray`: {first_line(error)}; repeat the command to resume")
    return error


def first_line(error: Exception) -> str:
    """The first line of an error's message, cut; the name of its class if it says nothing."""
    lines = str(error).strip().splitlines()
    line = lines[0] if lines else type(error).__name__
    return line[:300]
