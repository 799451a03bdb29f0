"""The engine: many concurrent calls in an event loop of its own thread, from ordinary code.

`EngineThread` runs an event loop beside ordinary code; its `Workers` take requests from a queue, call under
the limits of rate and money, and write replies to the store before they hand them over. What makes all
further calls pointless (a wrong key, an empty account) ends all of them.

One request goes through `outcomes` (until all its samples have an outcome), `_ask` (the very first call goes
alone), `_persist` (tries again what may pass), `_call` (waits for its turn) and `_complete` (pays, stores).
Exceptions of `dhp.llm.api` say what became of a call. Whether a fault is the request's, the server's or the
account's is told by what else is answered:

- nothing yet: a few tries, or a few requests, and the run ends with the server's words;
- others: the request fails alone, unless many in a row do and one that was answered before fails, too.

Waking a thread and a transaction have their price, which counts where a local server answers in milliseconds.
So requests are handed over in groups, and all that comes in one turn of the loop is stored and passed on
together.
"""

import asyncio
import contextlib
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from dhp.core.errors import DhpError, InputError, StoppedEarly
from dhp.llm.api import Client, Filtered, Garbled, Refused, Rejected, Retry, TooLong, Unreachable
from dhp.llm.concurrency import AdaptiveConcurrency, RateLimit, backoff
from dhp.llm.cut_prompts import CutPrompts
from dhp.llm.limits import Budget, PromptLengths, RateLimits
from dhp.llm.records import Answer, Failure, Outcomes, Reply, Request
from dhp.llm.store import Store, rows


@dataclass(slots=True)
class Engine:
    """What calls are made with."""

    client: Client
    store: Store | None
    """Store of replies; None caches nothing."""
    rate_limits: RateLimits
    budget: Budget
    lengths: PromptLengths
    """Counts of prompts that fitted the model."""
    run: str
    """Written beside each stored reply."""
    refresh: bool = False
    """Whether stored replies are replaced."""
    keep_going: bool = False
    """Whether prompts are paid for though the first ones are cut."""
    holds: Callable[[Collection[bytes]], bool] = lambda keys: True
    """Whether the call for these keys is still this command's to make."""
    retries: int = field(default=0, init=False)
    """Tries after the first, so far."""
    seconds: list[float] = field(default_factory=list, init=False)
    """How long the server took for each call that it answered."""
    refusal_said: bool = field(default=False, init=False)
    """Whether it was said that a request was refused though others are answered."""
    cuts: CutPrompts = field(init=False)
    trouble: str = field(default="", init=False)
    """Why the latest call was tried again."""
    answered: Request | None = field(default=None, init=False)
    """A request that the server has answered, now or in an earlier run; None before it answers any."""

    def __post_init__(self) -> None:
        self.cuts = CutPrompts(self.client.model, stops=not self.keep_going)


# All chosen; `tests/llm/test_faults.py` has the servers that they are for.
_ENDLESS = 10 * 365 * 86_400.0
"""Seconds that no server means by a wait: ten years."""
_TRIES_UNPROVEN = 3
"""Tries of a call while none has succeeded yet: a wrong address should be known soon."""
_REJECTED_UNPROVEN = 10
"""Requests rejected in a row, with none answered before, after which all will be."""
_FAILED_IN_A_ROW = 10
"""Requests that fail in a row, though others were answered, after which one of these is asked again: only a
fault of the server's or of the account makes that one fail, too. Twice as many each time it is answered."""


class TakenOver(Exception):
    """Another command makes this call by now."""


class Workers:
    """Make the calls of requests, under one set of limits."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._limit = AdaptiveConcurrency(engine.rate_limits.concurrency)
        self._calls = RateLimit(engine.rate_limits.calls_per_minute)
        self._tokens = RateLimit(engine.rate_limits.tokens_per_minute)
        self._waiting: list[tuple[list[tuple[object, ...]], asyncio.Future[None]]] = []
        """Rows for the store, and who waits for them to be there."""
        self._in_flight = 0
        """Calls whose replies have not come, or are not stored yet."""
        self._closing = False
        """Whether no further call may start."""
        self._first = asyncio.Lock()
        """Held by the call that is the first to be answered: the others wait for what it finds."""
        self._failed_in_a_row = 0
        self._most_in_a_row = _FAILED_IN_A_ROW
        """After how many of these one that was answered is asked again."""
        self._asking_again = asyncio.Lock()
        """Held while it is: others that fail meanwhile wait for what it says."""

    async def work(
        self, requests: "asyncio.Queue[Request]", done: Callable[[Request, Outcomes], None]
    ) -> None:
        """Take requests until cancelled and hand over what comes of them.

        An error that makes going on pointless ends it.
        """
        while True:
            request = await requests.get()
            try:
                outcomes = await self.outcomes(request)
            except DhpError:
                self._closing = True
                raise
            done(request, outcomes)

    async def finish(self, seconds: float | None = None) -> None:
        """Wait for the calls in flight, whose replies are worth storing; no further call starts.

        No longer than some `seconds`; None: than a call may take.
        """
        self._closing = True
        end = time.monotonic() + (self._engine.client.timeout if seconds is None else seconds)
        while self._in_flight and time.monotonic() < end:
            await asyncio.sleep(0.01)

    async def outcomes(self, request: Request) -> dict[int, Reply | Failure]:
        """What comes of one request; raises a `DhpError` that makes going on pointless.

        Samples whose calls another command has taken over are left out.
        """
        outcomes: dict[int, Reply | Failure] = {}
        left = request.samples
        # A server may give fewer samples than were asked for: the others are asked for again.
        while left:
            try:
                came = await self._ask(request, left)
            except TakenOver:
                break
            outcomes.update(zip(left, came, strict=False))  # `came` may be the shorter one
            left = left[len(came) :]
        return outcomes

    async def _ask(self, request: Request, left: tuple[int, ...]) -> Sequence[Reply | Failure]:
        """The first call goes alone: what it finds wrong, or learns of the server, holds for all."""
        if not self._engine.answered:
            async with self._first:
                if not self._engine.answered:  # while this one waited, another may have been
                    return await self._persist(request, left)
        return await self._persist(request, left)

    async def _persist(self, request: Request, left: tuple[int, ...]) -> Sequence[Reply | Failure]:
        """Call, and call again while that may help; outcomes of the first one or more samples of `left`."""
        engine = self._engine
        wanted = left if engine.client.multi_sample else left[:1]  # else a call for each sample
        tries = 0
        while True:
            tries += 1
            try:
                return await self._call(request, wanted)
            except TooLong as e:
                self._engine.lengths.count_too_long(str(e))
                return [Failure(str(e))] * len(wanted)
            except Filtered as e:
                return [self._filtered(str(e))] * len(wanted)
            except Rejected as e:
                refused = isinstance(e, Refused)
                return [await self._failed(str(e), request, refused=refused)] * len(wanted)
            except Retry as e:
                last = tries > engine.rate_limits.retries
                # Nobody should wait for all tries at an address that has never answered.
                if not engine.answered:
                    self._check_first(e, tries, last)
                elif last:
                    await self._check_still_answers(str(e), request)
                    return [Failure(str(e), passing=True)] * len(wanted)
                self._check_wait(e)
                engine.retries += 1
                engine.trouble = str(e)
                await asyncio.sleep(backoff(tries, e.after))

    def _check_wait(self, error: Retry) -> None:
        """Raise `StoppedEarly` if the server asks to wait for longer than the run will."""
        longest = self._engine.rate_limits.max_wait
        if error.after is not None and error.after > longest:
            asked = f"of {error.after:,.0f} seconds" if error.after < _ENDLESS else "without end"
            raise StoppedEarly(
                f"{self._engine.client.model}: the server asks for a wait {asked} ({error}), and the "
                f"longest allowed is {longest:,.0f} (`rate_limits.max_wait`); repeat the command to resume"
            )

    def _check_first(self, error: Retry, tries: int, last: bool) -> None:
        """Raise if the very first call has failed permanently."""
        model = self._engine.client.model
        # A server that still loads its model is overloaded at first: it gets all the tries.
        enough = tries >= _TRIES_UNPROVEN and (last or not error.overload)
        if isinstance(error, Unreachable) or (enough and isinstance(error, Garbled)):
            raise InputError(f"{model}: {error}") from None
        if enough:
            raise StoppedEarly(
                f"{model}: no call succeeds ({error}); repeat the command to try again"
            ) from None

    def _filtered(self, reason: str) -> Failure:
        """A fault of the text's own, unless no other is answered either."""
        self._check_rejected(reason)
        return Failure(reason)

    async def _failed(self, reason: str, request: Request, *, refused: bool) -> Failure:
        """A fault of this request alone, unless no other was answered or none is any more.

        One that is `refused` may be answered another time.
        """
        engine = self._engine
        if not engine.answered and refused:
            raise InputError(f"{engine.client.model}: {reason}")
        self._check_rejected(reason)
        await self._check_still_answers(reason, request)
        if refused and not engine.refusal_said:
            engine.refusal_said = True
            engine.client.notes.append(f"{reason}: no answer about {request.place}; the run goes on")
        return Failure(reason, passing=refused)

    def _check_rejected(self, reason: str) -> None:
        """Raise `InputError` if one request after the other is rejected and none was answered before."""
        if self._engine.answered:
            return
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= _REJECTED_UNPROVEN:
            raise InputError(f"{self._engine.client.model}: every call is rejected ({reason})")

    async def _check_still_answers(self, reason: str, request: Request) -> None:
        """Raise `StoppedEarly` if requests fail in a row and one that was answered fails now, too.

        `request` is the last of these, and failed for that reason.
        """
        if not self._engine.answered:
            return
        self._failed_in_a_row += 1
        if self._failed_in_a_row < self._most_in_a_row:
            return
        async with self._asking_again:
            if self._closing or self._failed_in_a_row < self._most_in_a_row:  # as another one has found out
                return
            if not await self._answers(self._engine.answered):
                raise StoppedEarly(
                    f"{self._engine.client.model}: no call succeeds any more ({reason}): "
                    f"{self._failed_in_a_row} requests in a row failed, the last about {request.place}, and "
                    "so does one that was answered before; what was paid for is kept: repeat the command to "
                    "resume"
                )
            self._failed_in_a_row = 0
            self._most_in_a_row *= 2

    async def _answers(self, request: Request) -> bool:
        """Whether a request is answered, once more, within a few tries; its reply is not kept.

        It waits for no place and for no limit of rate: whether the run goes on depends on it.
        """
        for tries in range(1, _TRIES_UNPROVEN + 1):
            try:
                return bool(await self._complete(request, request.samples[:1], keep=False))
            except Rejected:
                return False
            except Retry as e:
                self._check_wait(e)
                if tries < _TRIES_UNPROVEN:
                    await asyncio.sleep(backoff(tries, e.after))
        return False

    async def _call(self, request: Request, wanted: tuple[int, ...]) -> list[Reply]:
        """One call, its replies stored when it returns."""
        most = request.params.max_tokens * len(wanted)
        started = await self._limit.start()
        replies: list[Reply] = []
        overload = False
        try:
            await self._calls.take()
            await self._tokens.take(request.tokens + most)
            # Much may have happened while it waited: the run may have ended, another command made the call.
            if self._closing:
                raise asyncio.CancelledError
            if not self._engine.holds([request.keys[s] for s in wanted if s in request.keys]):
                raise TakenOver
            replies = await self._complete(request, wanted)
            self._engine.answered = request
            self._engine.lengths.fitting += 1
            self._failed_in_a_row = 0
            note = self._engine.cuts.check(request, replies)
            if note:
                self._engine.client.notes.append(note)
        except Retry as e:
            overload = e.overload
            raise
        finally:
            self._limit.end(started, good=bool(replies), overload=overload)
        return replies

    async def _complete(self, request: Request, wanted: tuple[int, ...], *, keep: bool = True) -> list[Reply]:
        """Call the server within the budget; replies to `keep` are stored when it returns."""
        budget = self._engine.budget
        reserved = budget.reserve(request.tokens, request.params.max_tokens * len(wanted))
        replies: list[Reply] = []
        self._in_flight += 1
        try:
            began = time.monotonic()
            replies = await self._engine.client.complete(request, wanted)
            self._engine.seconds.append(time.monotonic() - began)
            if keep:
                await self._store(request, wanted, replies)  # in flight until it is stored
        finally:
            self._in_flight -= 1
            budget.settle(reserved, replies)
        return replies

    async def _store(self, request: Request, wanted: tuple[int, ...], replies: Sequence[Reply]) -> None:
        """Wait until replies are stored, with all others of this turn of the loop."""
        engine = self._engine
        if engine.store is None or not replies:
            return
        came = dict(zip(wanted, replies, strict=False))  # a server may give fewer than were asked for
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if not self._waiting:  # the first of this turn: all that come in it are written together
            written.get_loop().call_soon(self._write)
        client = engine.client
        of_replies = rows(request.keys, client.model, client.endpoint, came, engine.run)
        self._waiting.append((of_replies, written))
        await written

    def _write(self) -> None:
        """Commit, as one group, all rows of one turn of the loop."""
        waiting, self._waiting = self._waiting, []
        assert self._engine.store is not None
        failure = None
        try:
            came = chain.from_iterable(of_request for of_request, _ in waiting)
            self._engine.store.add([*came], replace=self._engine.refresh)
        except Exception as e:  # noqa: BLE001  whoever waits raises it
            failure = e
        for _, written in waiting:
            if written.done():  # its worker was cancelled
                continue
            if failure:
                written.set_exception(failure)
            else:
                written.set_result(None)


_LAST_SECONDS = 2.0
"""Longest wait for the calls in flight if a run is interrupted, in seconds. Chosen."""
_SECONDS_A_WAIT = 1.0
"""How often `on_wait` is called: progress is shown by it while no answer comes. Chosen."""
_WAITING_PER_PLACE = 2
"""Requests that wait for each place in flight, so that none falls idle. Chosen."""


class EngineThread:
    """A pool of workers at work; use it as a context manager.

    Requests go in by `submit`, their outcomes come out by `wait` and `ready`, in any order. The first error
    that makes going on pointless is raised there, after all that came before it.
    """

    def __init__(self, engine: Engine, on_wait: Callable[[], None]) -> None:
        self._engine = engine
        self._on_wait = on_wait
        self._results: queue.SimpleQueue[list[Answer] | BaseException] = queue.SimpleQueue()
        self._came: list[Answer] = []  # in one turn of the loop: each waking of a thread has its price
        self._next: deque[Answer] = deque()
        self._thread = threading.Thread(target=self._run, name="dhp-engine", daemon=True)
        self._opened = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._handed: list[Request] = []  # gathered: each waking of the loop has its price
        self.pending = 0
        """Pending requests."""

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
        """Whether enough requests wait for now."""
        return self.pending >= self._engine.rate_limits.concurrency * (1 + _WAITING_PER_PLACE)

    def submit(self, request: Request) -> None:
        """Hand a request over."""
        self.pending += 1
        self._handed.append(request)
        # A quarter of the places: few wakings, and no place stays empty for long.
        if len(self._handed) >= self._engine.rate_limits.concurrency / 4:
            self._hand_over()

    def ready(self) -> Iterator[Answer]:
        """What is there already."""
        while self._next or not self._results.empty():
            yield self.wait()

    def wait(self) -> Answer:
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
        """Give the gathered requests to the loop."""
        requests, self._handed = self._handed, []
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended: `wait` says why
                self._loop.call_soon_threadsafe(self._take, requests)

    def _take(self, requests: list[Request]) -> None:
        for request in requests:
            self._requests.put_nowait(request)

    def _done(self, request: Request, outcomes: Outcomes) -> None:
        """Gather what came of a request; called in the loop."""
        if not self._came:
            asyncio.get_running_loop().call_soon(self._pass_on)
        self._came.append((request, outcomes))

    def _pass_on(self) -> None:
        """Hand over, as one list, everything received in one turn of the loop."""
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
        self._requests: asyncio.Queue[Request] = asyncio.Queue()
        self._stop = asyncio.Event()
        engine = self._engine
        await engine.client.open()
        workers = Workers(engine)
        tasks = []
        for _ in range(engine.rate_limits.concurrency):
            tasks.append(asyncio.create_task(workers.work(self._requests, self._done)))
        stopping = asyncio.create_task(self._stop.wait())
        self._loop = asyncio.get_running_loop()
        self._opened.set()
        try:
            # Workers go on for ever: one that ends has found that going on is pointless.
            ended, _ = await asyncio.wait([*tasks, stopping], return_when=asyncio.FIRST_COMPLETED)
            if stopping in ended:
                await workers.finish(_LAST_SECONDS)
            for task in ended - {stopping}:
                if not task.cancelled():
                    await workers.finish()
                    task.result()  # raises what it found
        finally:
            for task in (*tasks, stopping):
                task.cancel()
            await asyncio.gather(*tasks, stopping, return_exceptions=True)
            self._pass_on()
            await engine.client.close()
