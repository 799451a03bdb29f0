"""An event loop in its own thread, for many concurrent calls from ordinary code."""

import asyncio
import contextlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator

from dhp.llm.engine.jobs import Engine, Job, JobOutcome
from dhp.llm.engine.workers import Workers

_SECONDS_A_WAIT = 1.0
_WAITING_PER_PLACE = 2
"""Jobs that wait for each place in flight, so that none falls idle."""


class EngineThread:
    """A pool of workers at work; use it as a context manager.

    Jobs go in by `submit`, what came of them comes out by `wait` and `ready`, in any order. The first error
    that makes going on pointless is raised there, after what came before it.
    """

    def __init__(self, engine: Engine, on_wait: Callable[[], None]) -> None:
        self._engine = engine
        self._on_wait = on_wait
        self._results: queue.SimpleQueue[list[JobOutcome] | BaseException] = queue.SimpleQueue()
        self._came: list[JobOutcome] = []  # in one turn of the loop: each waking of a thread has its price
        self._next: deque[JobOutcome] = deque()
        self._thread = threading.Thread(target=self._run, name="dhp-engine", daemon=True)
        self._opened = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._handed: list[Job] = []  # gathered: each waking of the loop has its price
        self.pending = 0
        """Jobs of which nothing came yet."""

    def __enter__(self) -> "EngineThread":
        self._thread.start()
        self._opened.wait()
        return self

    def __exit__(self, *error: object) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    @property
    def full(self) -> bool:
        """Whether enough jobs wait for now."""
        return self.pending >= self._engine.rate_limits.concurrency * (1 + _WAITING_PER_PLACE)

    def submit(self, job: Job) -> None:
        """Hand a job over."""
        self.pending += 1
        self._handed.append(job)
        if len(self._handed) >= self._engine.rate_limits.concurrency / 4:
            self._hand_over()

    def ready(self) -> Iterator[JobOutcome]:
        """What is there already."""
        while self._next or not self._results.empty():
            yield self.wait()

    def wait(self) -> JobOutcome:
        """The next that comes; meanwhile `on_wait` is called every second."""
        if self._handed:
            self._hand_over()
        while not self._next:
            try:
                result = self._results.get(timeout=_SECONDS_A_WAIT)
            except queue.Empty:
                self._on_wait()
                continue
            if isinstance(result, BaseException):
                raise result
            self._next.extend(result)
        self.pending -= 1
        return self._next.popleft()

    def _hand_over(self) -> None:
        jobs, self._handed = self._handed, []
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended: `wait` says why
                self._loop.call_soon_threadsafe(self._take, jobs)

    def _take(self, jobs: list[Job]) -> None:
        for job in jobs:
            self._jobs.put_nowait(job)

    def _done(self, outcome: JobOutcome) -> None:
        if not self._came:
            asyncio.get_running_loop().call_soon(self._pass_on)
        self._came.append(outcome)

    def _pass_on(self) -> None:
        """Hand over, as one list, all that came within one turn of the loop."""
        came, self._came = self._came, []
        if came:
            self._results.put(came)

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as e:  # noqa: BLE001  raised again where `wait` is called
            self._results.put(e)
        finally:
            self._opened.set()
            if self._engine.store:
                self._engine.store.release()

    async def _main(self) -> None:
        self._jobs: asyncio.Queue[Job] = asyncio.Queue()
        self._stop = asyncio.Event()
        engine = self._engine
        await engine.client.open()
        workers = Workers(engine)
        tasks = [
            asyncio.create_task(workers.work(self._jobs, self._done))
            for _ in range(engine.rate_limits.concurrency)
        ]
        stopping = asyncio.create_task(self._stop.wait())
        self._loop = asyncio.get_running_loop()
        self._opened.set()
        try:
            ended, _ = await asyncio.wait([*tasks, stopping], return_when=asyncio.FIRST_COMPLETED)
            for task in ended - {stopping}:
                if not task.cancelled():
                    await workers.finish()
                    task.result()
        finally:
            for task in (*tasks, stopping):
                task.cancel()
            await asyncio.gather(*tasks, stopping, return_exceptions=True)
            self._pass_on()
            await engine.client.close()
