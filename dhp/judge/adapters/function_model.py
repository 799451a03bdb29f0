"""A user's function or scorer as a model in this process, whose requests are calls."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache, partial
from typing import Any

from dhp.judge.adapters.adapter import Adapter, absolute, adapt, load_object
from dhp.judge.adapters.returned import failed, read_outcomes, to_text
from dhp.llm.records import Answer, Failure, Params, Reply, Request

ENDPOINT = "python"
"""In the place of a server's address, as a part of the key of stored replies."""
_PARAMS = Params(temperature=None, top_p=None, max_tokens=0)
"""A function is given none."""

Arguments = Mapping[str, str | None]
"""Parameter -> what it is given."""


class FunctionModel:
    """Calls a function or a scorer once for each request, whose tag holds the arguments.

    The reply is the text of the outcomes; a call that raises, or returns nothing readable, is a failure.

    Calls of a coroutine function run in one event loop, which lives as long as this object, as clients bind
    to it. With one call at once other functions run in the thread of the caller, unless that runs an event
    loop, as in a notebook: a function may call `asyncio.run`.
    """

    endpoint = ENDPOINT

    def __init__(self, model: str, adapter: Adapter, at_once: int, *, is_named: bool = False) -> None:
        self.model = model
        self._adapter = adapter
        self._at_once = at_once
        self._is_named = is_named
        self._loop: asyncio.AbstractEventLoop | None = None

    def __reduce__(self) -> tuple[Callable[..., "FunctionModel"], tuple[object, ...]]:
        """What cannot be sent to another process is found there by its name."""
        if self._is_named:
            return _by_name, (absolute(self.model), self.model, self._at_once)
        return FunctionModel, (self.model, self._adapter, self._at_once)

    def count_tokens(self, prompt: str) -> int:
        """Zero, as there is no prompt."""
        return 0

    def misfit(self, request: Request) -> None:
        """Everything fits."""

    def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """See `LocalModel`."""
        for request, returned in self._called(requests):
            yield request, dict.fromkeys(request.samples, self._read(returned))

    def _read(self, returned: object) -> Reply | Failure:
        if isinstance(returned, Exception):
            return Failure(str(failed(returned).reason))
        outcomes = read_outcomes(returned, self._adapter.name)
        reasons = [outcome.reason for outcome in outcomes.values() if outcome.status == "failed"]
        if len(reasons) == len(outcomes):
            return Failure(str(reasons[0]))
        return Reply(to_text(outcomes), "stop", 0, 0, 1)

    def _called(self, requests: Iterable[Request]) -> Iterator[tuple[Request, object]]:
        """Each request with what its call returned, or the `Exception` that it raised, as it is done."""
        call, is_async = self._adapter.call, self._adapter.is_async
        if self._at_once == 1 and not is_async and not _in_a_loop():
            for request in requests:
                yield request, _attempted(partial(call, arguments_of(request)))
            return
        pending: dict[Future[object], Request] = {}
        pool = None if is_async else ThreadPoolExecutor(self._at_once, "dhp-judge", _give_loop)
        try:
            for request in requests:
                arguments = arguments_of(request)
                future = pool.submit(call, arguments) if pool else self._submitted(arguments)
                pending[future] = request
                if len(pending) >= self._at_once:
                    yield from _done(pending)
            while pending:
                yield from _done(pending)
        finally:
            # Whoever stops early does not wait for calls that nobody will read.
            for future in pending:
                future.cancel()
            if pool:
                pool.shutdown(wait=False, cancel_futures=True)

    def _submitted(self, arguments: Arguments) -> Future[object]:
        """A call of a coroutine function in the event loop of this object, which the first call makes."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="dhp-judge", daemon=True).start()
        coroutine: Coroutine[Any, Any, object] = self._adapter.call(arguments)  # type: ignore[assignment]
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)


@cache
def _by_name(found_as: str, model: str, at_once: int) -> FunctionModel:
    """The function of that name, one a process, so that a client that it made stays in one event loop."""
    return FunctionModel(model, adapt(load_object(found_as), f"model '{model}'"), at_once, is_named=True)


def function_request(arguments: Arguments, key: bytes, place: str, subject: object) -> Request:
    """A call with these arguments, whose reply is stored under a key, about a subject of the caller's."""
    return Request("", _PARAMS, (0,), place, tag=(arguments, subject), keys={0: key})


def arguments_of(request: Request) -> Arguments:
    """The arguments of a call."""
    arguments: Arguments = request.tag[0]  # type: ignore[index]
    return arguments


def subject_of(request: Request) -> Any:
    """The subject of a call."""
    return request.tag[1]  # type: ignore[index]


def _in_a_loop() -> bool:
    """Whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _give_loop() -> None:
    """Give the thread a loop that does not run, for functions that take the one that is there."""
    asyncio.set_event_loop(asyncio.new_event_loop())


def _done(pending: dict[Future[object], Request]) -> Iterator[tuple[Request, object]]:
    """The calls that are done, at least one, in the order in which they were made; they leave `pending`."""
    ready, _ = wait(pending, return_when=FIRST_COMPLETED)
    for future in sorted(ready, key=list(pending).index):
        request = pending.pop(future)
        yield request, _attempted(future.result)


def _attempted(call: Callable[[], object]) -> object:
    """What a call returns, or the exception that it raises."""
    try:
        return call()
    except Exception as e:  # noqa: BLE001  whatever somebody else's judge raises is a failed rating
        return e
