"""Makes the calls of a user's judge: one by one, in threads, or together in one event loop."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Generic, TypeVar

from dhp.judge.adapters.adapter import Adapter

T = TypeVar("T")
Job = tuple[bytes, Mapping[str, str | None]]
"""A call of a user's judge: its key, and what the parameters are given."""


class Caller(Generic[T]):
    """Calls a function once for each job.

    Parameters
    ----------
    function
        Called with the job; a coroutine function if `is_async`.
    is_async
        Whether calls run in one event loop, which lives as long as the caller: clients bind to it.
    at_once
        Most calls in flight; 1 and not `is_async`: they run in the thread of the caller.
    """

    def __init__(self, function: Callable[[T], object], *, is_async: bool, at_once: int) -> None:
        self._function = function
        self._is_async = is_async
        self._at_once = at_once
        self._loop: asyncio.AbstractEventLoop | None = None

    @staticmethod
    def of(adapter: Adapter, at_once: int) -> "Caller[Job]":
        """One that calls a user's judge."""
        return Caller(lambda job: adapter.call(job[1]), is_async=adapter.is_async, at_once=at_once)

    def results(self, jobs: Iterable[T]) -> Iterator[tuple[T, object]]:
        """Each job with what its call returned, or the `Exception` that it raised, as it is done."""
        if self._at_once == 1 and not self._is_async:
            for job in jobs:
                yield job, _attempted(lambda job=job: self._function(job))  # type: ignore[misc]
            return
        pending: dict[Future[object], T] = {}
        pool = None if self._is_async else ThreadPoolExecutor(self._at_once, thread_name_prefix="dhp-judge")
        try:
            for job in jobs:
                pending[pool.submit(self._function, job) if pool else self._submitted(job)] = job
                if len(pending) >= self._at_once:
                    yield from _done(pending)
            while pending:
                yield from _done(pending)
        finally:
            for future in pending:
                future.cancel()
            if pool:
                pool.shutdown(wait=False, cancel_futures=True)

    def _submitted(self, job: T) -> "Future[object]":
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="dhp-judge", daemon=True).start()
        coroutine: Coroutine[Any, Any, object] = self._function(job)  # type: ignore[assignment]
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)


def _done(pending: "dict[Future[object], T]") -> Iterator[tuple[T, object]]:
    ready, _ = wait(pending, return_when=FIRST_COMPLETED)
    for future in sorted(ready, key=list(pending).index):
        job = pending.pop(future)
        yield job, _attempted(future.result)


def _attempted(call: Callable[[], object]) -> object:
    try:
        return call()
    except Exception as e:  # noqa: BLE001  whatever somebody else's judge raises is a failed rating
        return e
