"""Fillers: what answers pending requests in place of the engine, and puts the replies into the store."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from dhp.llm.api import Client, LocalModel
from dhp.llm.records import Answer, Outcomes, Request


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

        Samples that a request is handed back without are left to the engine. If some requests are taken for
        `fill`, `Waiting` is raised at the end. Raises `InputError` and `StoppedEarly` as
        `CachedModel.ask`.
        """
        ...

    def fill(self) -> None:
        """Put the replies to the taken requests into the store.

        Raises `StoppedEarly` if waiting does not bring them.
        """

    def end(self) -> None:
        """Called when the command has come to its end, with all replies."""
