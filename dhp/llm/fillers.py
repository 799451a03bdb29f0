"""Fillers: what answers pending requests in place of the engine, and puts the replies into the store."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from dhp.llm.api import Client, LocalModel
from dhp.llm.limits import Budget
from dhp.llm.records import Answer, Failure, Outcomes, Reply, Request


@dataclass(frozen=True, slots=True)
class Target:
    """The model that pending requests are for, and where their replies go."""

    model: Client | LocalModel
    run: str
    """Name of the run that pays for the replies."""
    keep: Callable[[Request, Outcomes], None]
    """Stores the replies to a request."""
    on_wait: Callable[[], None]
    """To be called about every second while waiting."""


def answered(
    answer: Callable[[Iterable[Request]], Iterable[Answer]],
    budget: Budget,
    target: Target,
    requests: Iterable[Request],
) -> Iterator[Answer]:
    """What a model that is not behind a server makes of requests, within a budget, once it is kept.

    Samples that `answer` leaves out have failed. Raises `StoppedEarly` at a limit.
    """
    # By identity: two requests may be equal, and a hash of a whole prompt takes time.
    reserved: dict[int, tuple[float, float]] = {}

    def within_budget() -> Iterator[Request]:
        for request in requests:
            most = request.params.max_tokens * len(request.samples)
            reserved[id(request)] = budget.reserve(request.tokens, most)
            yield request

    for request, came in answer(within_budget()):
        outcomes = {**dict.fromkeys(request.samples, _NO_ANSWER), **came}
        replies = [outcome for outcome in outcomes.values() if isinstance(outcome, Reply)]
        budget.settle(reserved.pop(id(request)), replies)
        target.keep(request, outcomes)
        yield request, outcomes


_NO_ANSWER = Failure("the model gave no answer")
"""Of a sample that a model leaves out."""


class Filler(Protocol):
    """Answers the pending requests of one command. It may be killed and repeated at any time."""

    @property
    def collects(self) -> bool:
        """Whether it takes all requests of the command before it answers any."""
        ...

    @property
    def taken(self) -> int:
        """Number of requests that it has taken since it was filled last, and will answer by `fill`."""
        ...

    def check(self, model: str, endpoint: str | None = None) -> None:
        """Raise `InputError` for a model that it cannot ask; called before and after the model is opened."""

    def answer(self, target: Target, requests: Iterable[Request]) -> Iterator[Answer]:
        """What comes of requests that have no stored reply, in any order, once the replies are kept.

        Requests that are taken for `fill` are not handed back. Samples that a request is handed back without
        are left to the model itself. Raises `InputError` and `StoppedEarly` as `CachedModel.ask`.
        """
        ...

    def fill(self) -> None:
        """Put the replies to the taken requests into the store.

        Raises `StoppedEarly` if waiting does not bring them.
        """

    def end(self) -> None:
        """Called when the command has come to its end, with all replies."""
