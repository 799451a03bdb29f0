"""The pool of workers inside the engine's event loop."""

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from dhp.errors import DhpError, InputError, StoppedEarly
from dhp.llm.http import Rejected, Retry, Unreachable
from dhp.llm.pace import AdaptiveLimit, RateLimit, backoff
from dhp.llm.records import Failure, Reply, Request
from dhp.llm.store import Store, row
from dhp.llm.usage import Budget

_TRIES_UNPROVEN = 3
"""Tries of a call while none has succeeded yet: a wrong address should be known soon."""
_REJECTED_UNPROVEN = 10
"""Requests rejected in a row, with none answered before, after which all will be."""
_CLOSING_SECONDS = 30.0


@runtime_checkable
class Client(Protocol):
    """One model behind a server."""

    model: str
    endpoint: str
    many: bool
    notes: list[str]

    async def open(self) -> None:
        """Open connections, in the loop that will make the calls."""

    async def close(self) -> None:
        """Close them."""

    async def complete(self, request: Request, samples: tuple[int, ...]) -> list[Reply]:
        """One call; see `OpenAIClient.complete`."""
        ...


@dataclass(frozen=True, slots=True)
class Pace:
    """How hard a server may be worked."""

    concurrency: int = 64
    """Most calls in flight."""
    calls_per_minute: float | None = None
    tokens_per_minute: float | None = None
    retries: int = 8
    """Tries after the first, for errors that may pass."""


@dataclass(frozen=True, slots=True)
class Job:
    """A request, what of it is stored, and the keys of what is not."""

    request: Request
    found: Mapping[int, Reply]
    keys: Mapping[int, bytes]
    prompt_tokens: float
    """Estimated."""


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a job."""

    job: Job
    outcomes: Mapping[int, Reply | Failure]


@dataclass(slots=True)
class Engine:
    """What calls are made with."""

    client: Client
    store: Store | None
    """None keeps nothing."""
    pace: Pace
    budget: Budget
    run: str
    """Written beside each stored reply."""
    refresh: bool = False
    """Whether stored replies are replaced."""
    retries: int = field(default=0, init=False)
    """Tries after the first, so far."""


class Workers:
    """Take jobs from a queue and hand over what comes of them."""

    def __init__(self, engine: Engine, jobs: "asyncio.Queue[Job]", done: Callable[[Done], None]) -> None:
        self._engine = engine
        self._jobs = jobs
        self._done = done
        self._limit = AdaptiveLimit(engine.pace.concurrency)
        self._calls = RateLimit(engine.pace.calls_per_minute)
        self._tokens = RateLimit(engine.pace.tokens_per_minute)
        self._rows: list[tuple[object, ...]] = []
        self._written: asyncio.Future[None] | None = None
        self._in_flight = 0
        self._closing = False
        self._first = asyncio.Lock()
        self._proven = False
        self._failed_in_a_row = 0

    async def work(self) -> None:
        """Work until cancelled; an error that makes going on pointless ends it."""
        while True:
            job = await self._jobs.get()
            try:
                outcomes = await self._outcomes(job)
            except DhpError:
                self._closing = True
                raise
            self._done(Done(job, outcomes))

    async def finish(self) -> None:
        """Wait for the calls in flight, whose replies are worth storing; no further call starts."""
        self._closing = True
        end = time.monotonic() + _CLOSING_SECONDS
        while self._in_flight and time.monotonic() < end:
            await asyncio.sleep(0.01)

    async def _outcomes(self, job: Job) -> dict[int, Reply | Failure]:
        outcomes: dict[int, Reply | Failure] = {}
        left = tuple(job.keys)
        while left:
            came = await self._ask(job, left)
            outcomes.update(zip(left, came, strict=False))
            left = left[len(came) :]
        return outcomes

    async def _ask(self, job: Job, left: tuple[int, ...]) -> Sequence[Reply | Failure]:
        """The first call goes alone: what it finds wrong, or learns of the server, holds for all."""
        if not self._proven:
            async with self._first:
                if not self._proven:
                    return await self._persist(job, left)
        return await self._persist(job, left)

    async def _persist(self, job: Job, left: tuple[int, ...]) -> Sequence[Reply | Failure]:
        """Call, and call again while that may help; outcomes of the first one or more samples of `left`."""
        wanted = left if self._engine.client.many else left[:1]
        for attempt in itertools.count(1):
            try:
                return await self._call(job, wanted)
            except Rejected as e:
                return [self._given_up(str(e))] * len(wanted)
            except Retry as e:
                if not self._proven and (isinstance(e, Unreachable) or attempt >= _TRIES_UNPROVEN):
                    raise InputError(f"{self._engine.client.model}: {e}") from None
                if attempt > self._engine.pace.retries:
                    return [self._given_up(str(e))] * len(wanted)
                self._engine.retries += 1
                await asyncio.sleep(backoff(attempt, e.after))
        raise AssertionError("unreachable")

    def _given_up(self, reason: str) -> Failure:
        self._failed_in_a_row += 1
        model = self._engine.client.model
        if not self._proven and self._failed_in_a_row >= _REJECTED_UNPROVEN:
            raise InputError(f"{model}: every call is rejected ({reason})")
        if self._failed_in_a_row > self._engine.pace.concurrency:
            raise StoppedEarly(
                f"{model}: no call succeeds any more ({reason}); the same command goes on from here"
            )
        return Failure(reason)

    async def _call(self, job: Job, wanted: tuple[int, ...]) -> list[Reply]:
        """One call, its replies stored when it returns."""
        engine, request = self._engine, job.request
        started = await self._limit.start()
        replies: list[Reply] = []
        overload = False
        reserved = None
        self._in_flight += 1
        try:
            await self._calls.take()
            await self._tokens.take(job.prompt_tokens + request.params.max_tokens * len(wanted))
            if self._closing:
                raise asyncio.CancelledError
            reserved = engine.budget.reserve(job.prompt_tokens, request.params.max_tokens * len(wanted))
            replies = await engine.client.complete(request, wanted)
            self._proven = True
            self._failed_in_a_row = 0
            await self._store(job, wanted, replies)
        except Retry as e:
            overload = e.overload
            raise
        finally:
            self._in_flight -= 1
            self._limit.end(started, good=bool(replies), overload=overload)
            if reserved:
                engine.budget.settle(reserved, replies)
        return replies

    async def _store(self, job: Job, wanted: tuple[int, ...], replies: Sequence[Reply]) -> None:
        engine = self._engine
        if engine.store is None or not replies:
            return
        self._rows += [
            row(job.keys[sample], engine.client.model, engine.client.endpoint, sample, reply, engine.run)
            for sample, reply in zip(wanted, replies, strict=False)
        ]
        if self._written is None:
            self._written = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_soon(self._write)
        await self._written

    def _write(self) -> None:
        """Commit, as one group, all rows that came within one turn of the loop."""
        rows, self._rows = self._rows, []
        written, self._written = self._written, None
        assert self._engine.store is not None
        assert written is not None
        try:
            self._engine.store.add(rows, replace=self._engine.refresh)
        except InputError as e:
            written.set_exception(e)
        else:
            written.set_result(None)
