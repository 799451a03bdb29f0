"""The interface of language models, behind a server or in this process."""

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from dhp.core.plugins import offered
from dhp.llm.records import Outcomes, Reply, Request


def providers() -> tuple[str, ...]:
    """Providers of language models, the part of a model's name before the slash."""
    return ("openai", *offered("models"))


@runtime_checkable
class Client(Protocol):
    """A model behind a server."""

    model: str
    """Name of the model, `provider/name`."""
    endpoint: str
    """Address or settings that distinguish it from a model of the same name; part of the key of cached
    replies."""
    timeout: float
    """Seconds that a call may take."""
    many: bool
    """Whether one call may ask for several samples."""
    notes: list[str]
    """Notes on requests that were changed for the server; the caller that shows a note removes it."""

    async def open(self) -> None:
        """Open connections, in the loop that will make the calls."""

    async def close(self) -> None:
        """Close them."""

    async def complete(self, request: Request, samples: tuple[int, ...]) -> list[Reply]:
        """One call; see `OpenAIClient.complete`."""
        ...


class LocalModel(Protocol):
    """A model in this process."""

    model: str
    endpoint: str

    def count_tokens(self, prompt: str) -> int:
        """Tokens of a prompt as it is sent."""
        ...

    def misfit(self, request: Request) -> str | None:
        """Why prompt and answer do not fit the model; None where they do."""

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Outcomes]]:
        """Replies for each request's samples; those of one group come one after another."""
        ...
