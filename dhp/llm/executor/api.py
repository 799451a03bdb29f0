"""The interface of executors, and the local executor."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from dhp.llm.engine.jobs import Engine, Job, JobOutcome
from dhp.llm.engine.thread import EngineThread

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[Iterable[T]], Iterable[tuple[T, R]]]
"""Yields each item that it is given with what came of it, in any order."""


class Calls(Protocol):
    """Calls to a server that are being made; a context manager."""

    pending: int
    """Jobs of which nothing came yet."""

    @property
    def full(self) -> bool:
        """Whether enough jobs wait for now."""

    def __enter__(self) -> "Calls": ...

    def __exit__(self, *error: object) -> None: ...

    def submit(self, job: Job) -> None:
        """Hand a job over."""

    def ready(self) -> Iterator[JobOutcome]:
        """What is there already."""
        ...

    def wait(self) -> JobOutcome:
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

        Parameters
        ----------
        work
            Done on the items or on any parts of them; must depend on nothing but the item.
        items
            Taken as they are needed.
        on_wait
            Called now and then while nothing comes.
        by_model
            Whether the work holds a language model: then each GPU, or each machine without one, has one
            worker.
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
