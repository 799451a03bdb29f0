"""The workers inside the event loop."""

import asyncio
import time
from collections.abc import Callable, Sequence

from dhp.core.errors import DhpError, InputError, StoppedEarly
from dhp.llm.clients.transport import Garbled, Refused, Rejected, Retry, TooLong, Unreachable
from dhp.llm.engine.jobs import Engine, Job, JobOutcome
from dhp.llm.engine.rate_limits import AdaptiveConcurrency, RateLimit, backoff
from dhp.llm.records import Failure, Reply
from dhp.llm.store import row

_TRIES_UNPROVEN = 3
"""Tries of a call while none has succeeded yet: a wrong address should be known soon."""
_REJECTED_UNPROVEN = 10
"""Requests rejected in a row, with none answered before, after which all will be."""
_REFUSED_IN_A_ROW = 10
"""Requests refused in a row, after which all will be though others were answered."""


class Workers:
    """Make the calls of jobs, under one set of limits."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._limit = AdaptiveConcurrency(engine.rate_limits.concurrency)
        self._calls = RateLimit(engine.rate_limits.calls_per_minute)
        self._tokens = RateLimit(engine.rate_limits.tokens_per_minute)
        self._waiting: list[tuple[list[tuple[object, ...]], asyncio.Future[None]]] = []
        self._in_flight = 0
        self._closing = False
        self._first = asyncio.Lock()
        self._failed_in_a_row = 0
        self._refused_in_a_row = 0

    async def work(self, jobs: "asyncio.Queue[Job]", done: Callable[[JobOutcome], None]) -> None:
        """Take jobs until cancelled and hand over what comes of them.

        An error that makes going on pointless ends it.
        """
        while True:
            job = await jobs.get()
            try:
                outcomes = await self.outcomes(job)
            except DhpError:
                self._closing = True
                raise
            done(JobOutcome(job, outcomes))

    async def finish(self) -> None:
        """Wait for the calls in flight, whose replies are worth storing; no further call starts."""
        self._closing = True
        end = time.monotonic() + self._engine.client.timeout
        while self._in_flight and time.monotonic() < end:
            await asyncio.sleep(0.01)

    async def outcomes(self, job: Job) -> dict[int, Reply | Failure]:
        """What comes of one job; raises a `DhpError` that makes going on pointless."""
        outcomes: dict[int, Reply | Failure] = {}
        left = tuple(job.keys)
        while left:
            came = await self._ask(job, left)
            outcomes.update(zip(left, came, strict=False))
            left = left[len(came) :]
        return outcomes

    async def _ask(self, job: Job, left: tuple[int, ...]) -> Sequence[Reply | Failure]:
        """The first call goes alone: what it finds wrong, or learns of the server, holds for all."""
        if not self._engine.proven:
            async with self._first:
                if not self._engine.proven:
                    return await self._persist(job, left)
        return await self._persist(job, left)

    async def _persist(self, job: Job, left: tuple[int, ...]) -> Sequence[Reply | Failure]:
        """Call, and call again while that may help; outcomes of the first one or more samples of `left`."""
        engine = self._engine
        wanted = left if engine.client.many else left[:1]
        tries = 0
        while True:
            tries += 1
            try:
                return await self._call(job, wanted)
            except TooLong as e:
                self._engine.lengths.count_too_long(str(e))
                return [Failure(str(e))] * len(wanted)
            except Refused as e:
                return [self._refused(str(e), job)] * len(wanted)
            except Rejected as e:
                return [self._rejected(str(e))] * len(wanted)
            except Retry as e:
                last = tries > engine.rate_limits.retries
                if not engine.proven and self._hopeless(e, tries, last):
                    raise self._never_answered(e) from None
                if engine.proven and last:
                    return [self._given_up(str(e))] * len(wanted)
                self._check_wait(e)
                engine.retries += 1
                engine.trouble = str(e)
                await asyncio.sleep(backoff(tries, e.after))

    def _check_wait(self, error: Retry) -> None:
        """Raise `StoppedEarly` where the server asks to wait for longer than the run will."""
        longest = self._engine.rate_limits.longest_wait
        if error.after is not None and error.after > longest:
            raise StoppedEarly(
                f"{self._engine.client.model}: the server asks for a wait of {error.after:,.0f} seconds "
                f"({error}), and the longest allowed is {longest:,.0f} (`rate_limits.longest_wait`); "
                "repeat the command to resume"
            )

    def _hopeless(self, error: Retry, tries: int, last: bool) -> bool:
        """Whether the very first call has failed permanently."""
        enough = tries >= _TRIES_UNPROVEN and (last or not error.overload)
        return isinstance(error, Unreachable) or enough

    def _never_answered(self, error: Retry) -> DhpError:
        model = self._engine.client.model
        if isinstance(error, Unreachable | Garbled):
            return InputError(f"{model}: {error}")
        return StoppedEarly(f"{model}: no call succeeds ({error}); repeat the command to try again")

    def _rejected(self, reason: str) -> Failure:
        """A fault of the request's own, unless no other is answered either."""
        self._failed_in_a_row += 1
        if not self._engine.proven and self._failed_in_a_row >= _REJECTED_UNPROVEN:
            raise InputError(f"{self._engine.client.model}: every call is rejected ({reason})")
        return Failure(reason)

    def _refused(self, reason: str, job: Job) -> Failure:
        """A fault of this request alone, unless no other was answered or several in a row are refused."""
        model, place = self._engine.client.model, job.request.place
        if not self._engine.proven:
            raise InputError(f"{model}: {reason}")
        self._refused_in_a_row = 1 if job.after_answer else self._refused_in_a_row + 1
        if self._refused_in_a_row >= _REFUSED_IN_A_ROW:
            raise InputError(f"{model}: {reason}, {_REFUSED_IN_A_ROW} times in a row; the last is {place}")
        if not self._engine.refusal_said:
            self._engine.refusal_said = True
            self._engine.client.notes.append(f"{reason}: no answer about {place}; the run goes on")
        return Failure(reason, passing=True)

    def _given_up(self, reason: str) -> Failure:
        """A fault of the server's."""
        self._failed_in_a_row += 1
        if self._failed_in_a_row > self._engine.rate_limits.concurrency:
            raise StoppedEarly(
                f"{self._engine.client.model}: no call succeeds any more ({reason}); "
                "repeat the command to resume"
            )
        return Failure(reason, passing=True)

    async def _call(self, job: Job, wanted: tuple[int, ...]) -> list[Reply]:
        """One call, its replies stored when it returns."""
        request, budget = job.request, self._engine.budget
        most = request.params.max_tokens * len(wanted)
        started = await self._limit.start()
        replies: list[Reply] = []
        overload = False
        try:
            await self._calls.take()
            await self._tokens.take(job.prompt_tokens + most)
            if self._closing:
                raise asyncio.CancelledError
            reserved = budget.reserve(job.prompt_tokens, most)
            self._in_flight += 1
            try:
                replies = await self._engine.client.complete(request, wanted)
                await self._store(job, wanted, replies)
            finally:
                self._in_flight -= 1
                budget.settle(reserved, replies)
            self._engine.proven = True
            self._engine.lengths.fitting += 1
            self._failed_in_a_row = self._refused_in_a_row = 0
        except Retry as e:
            overload = e.overload
            raise
        finally:
            self._limit.end(started, good=bool(replies), overload=overload)
        return replies

    async def _store(self, job: Job, wanted: tuple[int, ...], replies: Sequence[Reply]) -> None:
        engine = self._engine
        if engine.store is None or not replies:
            return
        rows = [
            row(job.keys[sample], engine.client.model, engine.client.endpoint, sample, reply, engine.run)
            for sample, reply in zip(wanted, replies, strict=False)
        ]
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._write)
        self._waiting.append((rows, written))
        await written

    def _write(self) -> None:
        """Commit, as one group, all rows that came within one turn of the loop."""
        waiting, self._waiting = self._waiting, []
        assert self._engine.store is not None
        failure = None
        try:
            rows = [each for rows, _ in waiting for each in rows]
            self._engine.store.add(rows, replace=self._engine.refresh)
        except Exception as e:  # noqa: BLE001  whoever waits raises it
            failure = e
        for _, written in waiting:
            if written.done():  # its worker was cancelled
                continue
            if failure:
                written.set_exception(failure)
            else:
                written.set_result(None)
