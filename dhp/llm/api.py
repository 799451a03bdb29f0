"""The interfaces of language models, behind a server or in this process."""

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from dhp.core.plugins import offered
from dhp.llm.clients.servers import SERVERS
from dhp.llm.records import Answer, Reply, Request


def providers() -> tuple[str, ...]:
    """Providers of language models, the part of a model's name before the slash."""
    return ("openai", *SERVERS, *offered("models"))


class Retry(Exception):
    """This call failed and may succeed later."""

    def __init__(self, reason: str, *, after: float | None = None, overload: bool = False) -> None:
        super().__init__(reason)
        self.after = after
        """Seconds that the server asks to wait."""
        self.overload = overload
        """Whether fewer calls at once would help."""


class Unreachable(Retry):
    """No server answers at the address."""


class Garbled(Retry):
    """What answers does not speak the protocol; says what it answers instead."""


class Rejected(Exception):
    """This request will never be answered, others may be."""


class Refused(Rejected):
    """The caller, the model or the address is refused, and most likely for any other request, too."""


class Filtered(Rejected):
    """The content of this request is refused, as a filter does not like it."""


class TooLong(Rejected):
    """The prompt of this request does not fit into the model's context."""


@runtime_checkable
class Client(Protocol):
    """A model behind a server.

    One with a true attribute `decides` is a decision model: it answers typed questions and writes nothing.
    """

    model: str
    """Name of the model, `provider/name`."""
    endpoint: str
    """Address or settings that distinguish it from a model of the same name; part of the key of cached
    replies."""
    timeout: float
    """Seconds that a call may take."""
    multi_sample: bool
    """Whether one call may ask for several samples."""
    notes: list[str]
    """Notes on requests that were changed for the server; the caller that shows a note removes it."""

    def check(self) -> None:
        """Raise `InputError` if no call can succeed, as far as that shows without a paid call."""

    async def open(self) -> None:
        """Open connections, in the loop that will make the calls."""

    async def close(self) -> None:
        """Close them."""

    async def complete(self, request: Request, samples: tuple[int, ...]) -> list[Reply]:
        """One call for `samples` of a request; fewer replies than samples if the server gives fewer.

        Raises `Retry`, `Rejected` or `Refused`, `InputError` if no request can succeed, as a parameter is
        refused, and `StoppedEarly` if the account is empty.
        """
        ...


class LocalModel(Protocol):
    """A model in this process."""

    model: str
    endpoint: str

    def count_tokens(self, prompt: str) -> int:
        """Tokens of a prompt as it is sent."""
        ...

    def misfit(self, request: Request) -> str | None:
        """Why prompt and answer do not fit the model; None if they do."""

    def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Replies for each request's samples; those of one group come one after another."""
        ...
