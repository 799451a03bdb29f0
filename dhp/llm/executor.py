"""Where the work of a run is done: in this process, or by an executor of a plug-in."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Protocol, TypeVar

from dhp.core.errors import InputError
from dhp.core.plugins import load_target, offered
from dhp.llm.engine import Engine, EngineThread
from dhp.llm.records import Answer, Request

T = TypeVar("T")


R = TypeVar("R")


Work = Callable[[Iterable[T]], Iterable[tuple[T, R]]]
"""Yields each item that it is given with what came of it, in any order."""


class Calls(Protocol):
    """Calls to a server that are being made; a context manager."""

    pending: int
    """Pending requests."""

    @property
    def full(self) -> bool:
        """Whether enough requests wait for now."""

    def __enter__(self) -> "Calls": ...

    def __exit__(self, *error: object) -> None: ...

    def submit(self, request: Request) -> None:
        """Hand a request over."""

    def ready(self) -> Iterator[Answer]:
        """What is there already."""
        ...

    def wait(self) -> Answer:
        """The next that comes; its replies are stored."""
        ...


class Executor(Protocol):
    """Does the work of a run; the process of the run alone reads and writes the store."""

    @property
    def workers(self) -> int:
        """Processes that work at the same time."""
        ...

    def calls(self, engine: Engine, on_wait: Callable[[], None]) -> Calls:
        """Calls to a server, under the rate limits of `engine` as a whole."""
        ...

    def each(
        self,
        work: Work[T, R],
        items: Iterable[T],
        *,
        on_wait: Callable[[], None] = lambda: None,
        by_model: bool = False,
    ) -> Iterator[tuple[T, R]]:
        """Each item with what came of it, in any order.

        The work is done on any parts of the items, which are taken as they are needed, so it must depend on
        nothing but the item. `on_wait` is called periodically while waiting. Work that holds a language
        model goes `by_model`: then each GPU, or each machine without one, has one worker.
        """
        ...


class LocalExecutor:
    """Does all work in this process."""

    workers = 1

    def calls(self, engine: Engine, on_wait: Callable[[], None]) -> Calls:
        """See `Executor`."""
        return EngineThread(engine, on_wait)

    def each(
        self,
        work: Work[T, R],
        items: Iterable[T],
        *,
        on_wait: Callable[[], None] = lambda: None,
        by_model: bool = False,
    ) -> Iterator[tuple[T, R]]:
        """See `Executor`."""
        return iter(work(items))


LOCAL = LocalExecutor()


@cache
def open_executor(name: str) -> Executor:
    """The executor called `local`, or `NAME` or `NAME:ADDRESS` of a plug-in; one per process.

    Raises `InputError` for another name, or if the executor lacks a package.
    """
    if name == "local":
        return LOCAL
    added = offered("executors")
    kind, colon, address = name.partition(":")
    if kind not in added or (colon and not address):
        known = ", ".join(["local", *(form for each in added for form in (each, f"{each}:HOST:PORT"))])
        raise InputError(f"`executor` '{name}': is unknown; allowed: {known}")
    executor: Executor = load_target(added[kind])(address)
    return executor
