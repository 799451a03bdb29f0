"""Calls to a server by the workers of a Ray cluster; store and budget stay in the process of the run."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from dhp.core.errors import DhpError, StoppedEarly
from dhp.llm.api import Client
from dhp.llm.engine import Engine, Workers
from dhp.llm.limits import Budget, PromptLengths, RateLimits
from dhp.llm.records import Answer, Outcomes, Reply, Request
from dhp.plugins.ray.pool import Pool, WorkerGroup

_LAST_SECONDS = 10.0
"""Longest wait for calls in flight where a run is interrupted."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What came of a request."""

    outcomes: Outcomes | None
    """Outcome of each sample; None if the request was not sent."""
    error: DhpError | None
    """Why going on is pointless."""
    report: "Report | None"
    """Report of the block, on its first request."""


@dataclass(slots=True)
class Report:
    """Report on the calls of a block."""

    retries: int = 0
    trouble: str = ""
    notes: list[str] = field(default_factory=list)
    fitting: int = 0
    """Number of prompts that fitted into the context."""
    too_long: list[str] = field(default_factory=list)
    """Reasons why other prompts did not fit."""


class _Counted(PromptLengths):
    """Counts for the report; the process of the run judges."""

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self.reasons: list[str] = []

    def count_too_long(self, reason: str) -> None:
        self.reasons.append(reason)


class CallWork:
    """Calls to a server as work: our engine without store and budget, under a share of the rate limits."""

    def __init__(self, client: Client, rate_limits: RateLimits, workers: int, keep_going: bool) -> None:
        def shared(rate: float | None) -> float | None:
            return rate / workers if rate else None

        self._client, self._keep_going = client, keep_going
        self._limits = replace(
            rate_limits,
            concurrency=max(1, rate_limits.concurrency // workers),
            calls_per_minute=shared(rate_limits.calls_per_minute),
            tokens_per_minute=shared(rate_limits.tokens_per_minute),
        )
        self._workers: Workers | None = None
        self._tasks: set[asyncio.Future[Outcomes]] = set()

    async def _open(self) -> Workers:
        self._lengths = _Counted(self._client.model)
        self._engine = Engine(
            self._client, None, self._limits, Budget(), self._lengths, "", keep_going=self._keep_going
        )
        self._workers = Workers(self._engine)
        self._opening = asyncio.ensure_future(self._client.open())
        return self._workers

    async def __call__(self, sent: Sequence[tuple[Request | None, Request]]) -> list[CallOutcome]:
        """What came of each request; beside it is one that the server has answered, if there is any."""
        workers = self._workers or await self._open()
        await self._opening
        self._engine.answered = self._engine.answered or next(filter(None, (one for one, _ in sent)), None)
        tasks = [asyncio.ensure_future(self._tried(workers, request)) for _, request in sent]
        self._tasks.update(tasks)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.difference_update(tasks)
        report = self._report()
        asked = []
        for index, came in enumerate(results):
            if isinstance(came, BaseException) and not isinstance(came, DhpError | asyncio.CancelledError):
                raise came
            error = came if isinstance(came, DhpError) else None
            outcomes = None if isinstance(came, BaseException) else came
            asked.append(CallOutcome(outcomes, error, report if index == 0 else None))
        return asked

    async def finish(self) -> None:
        """Let calls in flight end and start no further one."""
        if self._workers:
            await self._workers.finish()
        for task in self._tasks - {asyncio.current_task()}:
            task.cancel()

    async def _tried(self, workers: Workers, request: Request) -> Outcomes:
        try:
            return await workers.outcomes(request)
        except DhpError:
            await self.finish()
            raise

    def _report(self) -> Report:
        """The report on the calls since the last one."""
        engine, client, lengths = self._engine, self._client, self._lengths
        report = Report(engine.retries, engine.trouble, list(client.notes), lengths.fitting, lengths.reasons)
        engine.retries, lengths.fitting, lengths.reasons = 0, 0, []
        client.notes.clear()
        return report


class RayCalls:
    """Calls to a server made by workers; the first goes alone, and replies are stored block by block.

    Workers hold twice as many calls as may be in flight; they may be paid twice if this process is killed.
    """

    def __init__(
        self, ray: Any, crew: WorkerGroup, engine: Engine, on_wait: Callable[[], None], noted: set[str]
    ) -> None:
        limits = engine.rate_limits
        most = min(len(crew.workers), limits.concurrency)
        share = limits.concurrency // most
        work = CallWork(engine.client, limits, most, engine.keep_going)
        self._pool: Pool[Request, CallOutcome] = Pool(
            ray, crew, work, on_wait, size=max(1, share // 4), blocks=min(8, 2 * share), most=most
        )
        self._engine = engine
        self._noted = noted
        self._reserved: dict[int, tuple[float, float]] = {}
        self._held: deque[Request] = deque()
        self._came: deque[Answer] = deque()
        self.pending = 0
        """Requests of which nothing came yet."""

    def __enter__(self) -> "RayCalls":
        return self

    def __exit__(self, *error: object) -> None:
        """Store what comes of the calls in flight, which are paid."""
        self._pool.finish()
        until = time.monotonic() + _LAST_SECONDS
        with suppress(DhpError):  # the error that ended it counts
            while self._pool.pending and time.monotonic() < until:
                self._store_block(self._pool.wait())

    @property
    def full(self) -> bool:
        """Whether enough requests wait for now."""
        return self._pool.full or len(self._held) >= self._engine.rate_limits.concurrency

    def submit(self, request: Request) -> None:
        """Hand a request over."""
        self.pending += 1
        self._held.append(request)
        self._hand_over()

    def ready(self) -> Iterator[Answer]:
        """What is there already."""
        if self._pool.ready():
            self._take()
        while self._came:
            yield self._next()

    def wait(self) -> Answer:
        """The next that comes; its replies are stored."""
        while not self._came:
            self._hand_over()
            if not self._came:
                self._take()
        return self._next()

    def _next(self) -> Answer:
        self.pending -= 1
        return self._came.popleft()

    def _hand_over(self) -> None:
        engine = self._engine
        while self._held and (engine.answered or not self._pool.pending):
            request = self._held.popleft()
            if not engine.holds([*request.keys.values()]):
                self._came.append((request, {}))
                continue
            most = request.params.max_tokens * len(request.samples)
            try:
                self._reserved[id(request)] = engine.budget.reserve(request.tokens, most)
            except StoppedEarly as e:
                self._end(e)
            answered = engine.answered and replace(engine.answered, tag=None)
            self._pool.submit(request, (answered, replace(request, tag=None)))

    def _take(self) -> None:
        """Take over a block."""
        if error := self._store_block(self._pool.wait()):
            self._pool.finish()
            self._end(error)

    def _end(self, error: Exception) -> None:
        """Store what was handed over, then raise."""
        with suppress(StoppedEarly):  # the first error counts
            while self._pool.pending:
                if self._store_block(self._pool.wait()):
                    self._pool.finish()
        raise error

    def _store_block(self, block: Sequence[tuple[Request, CallOutcome]]) -> Exception | None:
        """Store the replies of a block; returns why going on is pointless, if it is."""
        engine = self._engine
        rows: list[tuple[object, ...]] = []
        error = None
        for request, asked in block:
            outcomes = asked.outcomes or {}
            replies = [reply for reply in outcomes.values() if isinstance(reply, Reply)]
            engine.budget.settle(self._reserved.pop(id(request)), replies)
            rows += engine.rows(request, outcomes)
            if replies:
                engine.answered = request
            error = error or asked.error
            if asked.outcomes is not None:
                self._came.append((request, asked.outcomes))
        if rows and engine.store:
            engine.store.add(rows, replace=engine.refresh)
        for _, asked in block:
            if asked.report:
                self._learn(asked.report)
        return error

    def _learn(self, report: Report) -> None:
        engine = self._engine
        engine.retries += report.retries
        engine.trouble = report.trouble or engine.trouble
        engine.client.notes += [note for note in report.notes if note not in self._noted]
        self._noted.update(report.notes)
        engine.lengths.fitting += report.fitting
        for reason in report.too_long:
            engine.lengths.count_too_long(reason)
