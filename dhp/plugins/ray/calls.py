"""Calls to a server by the workers of a Ray cluster.

The process of the run keeps store and budget: it reserves what a request may cost, hands it to the pool,
and stores what comes back, block by block. Workers run our engine without either, each under its share of
the rate limits, and report what they learned of the server with the first request of a block.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from dhp.core.errors import DhpError, StoppedEarly
from dhp.llm.api import Client
from dhp.llm.cached_model import RequestContext
from dhp.llm.engine import Engine, Workers
from dhp.llm.fillers import Target
from dhp.llm.limits import Budget, PromptLengths, RateLimits
from dhp.llm.records import Answer, Outcomes, Reply, Request
from dhp.plugins.ray.cluster import Cluster
from dhp.plugins.ray.pool import Pool

_LAST_SECONDS = 10.0
"""Longest wait for calls in flight if a run is interrupted. Chosen."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The outcome of a request that was handed to a worker."""

    outcomes: Outcomes | None
    """Outcome of each sample; None if the request was not sent."""
    error: DhpError | None
    """The error for which the run must end."""
    report: "Report | None"
    """Report of the block, on its first request."""


@dataclass(slots=True)
class Report:
    """Report on the calls of a block."""

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
            """The share of one worker; None for no limit."""
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
        """Start the engine on the worker: what it holds cannot be sent to another process."""
        self._lengths = _Counted(self._client.model)
        self._engine = Engine(
            self._client, None, self._limits, Budget(), self._lengths, "", keep_going=self._keep_going
        )
        self._workers = Workers(self._engine)
        self._opening = asyncio.ensure_future(self._client.open())
        return self._workers

    async def __call__(self, sent: Sequence[tuple[Request | None, Request]]) -> list[CallOutcome]:
        """The outcome of each request; with each comes one that the server has answered, if any."""
        workers = self._workers or await self._open()
        await self._opening

        # Once a server has answered anything, an error of one request says nothing of all others.
        for answered, _ in sent:
            self._engine.answered = self._engine.answered or answered

        tasks = [asyncio.ensure_future(self._tried(workers, request)) for _, request in sent]
        self._tasks.update(tasks)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.difference_update(tasks)

        # An error of ours is raised by the process that has the store; any other is a fault and raised here.
        asked = []
        report: Report | None = self._report()
        for came in results:
            if not isinstance(came, BaseException):
                asked.append(CallOutcome(came, None, report))
            elif isinstance(came, DhpError):
                asked.append(CallOutcome(None, came, report))
            elif isinstance(came, asyncio.CancelledError):
                asked.append(CallOutcome(None, None, report))
            else:
                raise came
            report = None  # the first request of the block has it
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
        client, lengths = self._client, self._lengths
        report = Report(list(client.notes), lengths.fitting, lengths.reasons)
        lengths.fitting, lengths.reasons = 0, []
        client.notes.clear()
        return report


class ServerCalls:
    """Calls to one server, made by workers."""

    def __init__(self, cluster: Cluster, client: Client, context: RequestContext) -> None:
        self._cluster = cluster
        self._client = client
        self._context = context
        self._lengths = PromptLengths(client.model)
        self._noted: set[str] = set()
        self.answered: Request | None = None
        """A request that the server has answered; None before it answers any."""

    def answer(self, target: Target, requests: Iterable[Request]) -> Iterator[Answer]:
        """See `Filler`. The first call goes alone, and replies are stored block by block.

        Workers hold twice as many calls as may be in flight, which may be paid twice if this process is
        killed.
        """
        limits = self._context.rate_limits
        # No more workers than calls may be in flight, and blocks so small that each worker has some in hand.
        crew = self._cluster.crew()
        most = min(len(crew.workers), limits.concurrency)
        share = limits.concurrency // most
        work = CallWork(self._client, limits, most, self._context.keep_going)
        pool: Pool[Request, CallOutcome] = Pool(
            self._cluster.ray,
            crew,
            work,
            target.on_wait,
            size=max(1, share // 4),  # a worker waits for no more than a quarter of its calls
            blocks=min(8, 2 * share),  # of a quarter each: twice its share
            most=most,
        )
        blocks = _Blocks(pool, self, self._context.budget, target)
        try:
            for request in requests:
                blocks.held.append(request)
                blocks.hand_over()
                # As many are held as may be in flight; then what is done must be taken first.
                while pool.full or len(blocks.held) >= limits.concurrency:
                    yield from blocks.take()
                if pool.ready():
                    yield from blocks.take()
            while blocks.held or pool.pending:
                yield from blocks.take()
        finally:
            blocks.finish()
        self._lengths.check()

    def learn(self, report: Report) -> None:
        """Take over what a worker reports; raises `InputError` if most prompts do not fit."""
        for note in report.notes:
            if note not in self._noted:
                self._noted.add(note)
                logging.getLogger("dhp").warning("%s: %s", self._client.model, note)
        self._lengths.fitting += report.fitting
        for reason in report.too_long:
            self._lengths.count_too_long(reason)


class _Blocks:
    """The calls of one round of asking, on their way to workers and back."""

    def __init__(
        self, pool: "Pool[Request, CallOutcome]", calls: ServerCalls, budget: Budget, target: Target
    ) -> None:
        self._pool, self._calls, self._budget, self._target = pool, calls, budget, target
        self._reserved: dict[int, tuple[float, float]] = {}
        self.held: deque[Request] = deque()
        """Requests that are not handed over yet."""

    def hand_over(self) -> None:
        """Hand over what is held, if the server has answered or nothing is under way."""
        while self.held and (self._calls.answered or not self._pool.pending):
            request = self.held.popleft()
            most = request.params.max_tokens * len(request.samples)
            try:
                self._reserved[id(request)] = self._budget.reserve(request.tokens, most)
            except StoppedEarly as e:
                self._end(e)
            # The tag is for this process alone, and may be anything.
            answered = self._calls.answered and replace(self._calls.answered, tag=None)
            self._pool.submit(request, (answered, replace(request, tag=None)))

    def take(self) -> list[Answer]:
        """The answers of the next block, which are stored."""
        self.hand_over()
        came, error = self._stored(self._pool.wait())
        if error:
            self._pool.finish()
            self._end(error)
        return came

    def finish(self) -> None:
        """Store what comes of the calls in flight, which are paid, and make no further one."""
        self._pool.finish()
        until = time.monotonic() + _LAST_SECONDS
        with suppress(DhpError):  # the error that ended it counts
            while self._pool.pending and time.monotonic() < until:
                self._stored(self._pool.wait())

    def _end(self, error: Exception) -> None:
        """Store what was handed over, then raise."""
        with suppress(StoppedEarly):  # the first error counts
            while self._pool.pending:
                if self._stored(self._pool.wait())[1]:
                    self._pool.finish()
        raise error

    def _stored(self, block: Sequence[tuple[Request, CallOutcome]]) -> tuple[list[Answer], Exception | None]:
        """The answers of a block, stored, and why going on is pointless, if it is."""
        came: list[Answer] = []
        error = None
        for request, asked in block:
            outcomes = asked.outcomes or {}
            replies = [reply for reply in outcomes.values() if isinstance(reply, Reply)]
            self._budget.settle(self._reserved.pop(id(request)), replies)
            self._target.keep(request, outcomes)
            if replies:
                self._calls.answered = request
            error = error or asked.error
            if asked.outcomes is not None:
                came.append((request, asked.outcomes))

        # Last, as it raises where most prompts are too long: what is paid is stored by then.
        for _, asked in block:
            if asked.report:
                self._calls.learn(asked.report)
        return came, error
