"""What a provider of batches does, and the providers by name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from dhp.core.errors import InputError, require, suggest


@dataclass(frozen=True, slots=True)
class State:
    """How far a batch is."""

    said: str
    """In the provider's word, with counts where it gives them."""
    ended: bool
    """Whether nothing more will come."""
    failed: str = ""
    """Why the batch as a whole was refused."""


class Provider(Protocol):
    """Answers files of requests in OpenAI's form."""

    many: bool
    """Whether one request may ask for several samples."""

    def submit(self, path: Path, tag: str) -> str:
        """Send a file; returns the name of the batch at the provider."""
        ...

    def find(self, tag: str, count: int, since: float) -> str | None:
        """The batch that was sent under a tag, if its name was lost.

        `count` is the number of its requests, `since` the time of sending in seconds since 1970.
        """
        ...

    def state(self, batch: str) -> State:
        """How far it is."""
        ...

    def results(self, batch: str) -> Iterator[Mapping[str, Any]]:
        """Its result lines in OpenAI's form; answers of an expired or cancelled batch too."""
        ...

    def cancel(self, batch: str) -> None:
        """Let the provider stop; what is answered by then is kept and paid."""
        ...


_PACKAGES = {"openai": "openai", "anthropic": "anthropic", "gemini": "google-genai"}
_MODULES = {"openai": "openai_batches", "anthropic": "anthropic_batches", "gemini": "gemini_batches"}
PROVIDERS = tuple(_PACKAGES)


def check_provider(name: str) -> None:
    """Raise `InputError` for an unknown provider, or one whose package is not installed."""
    if name not in _PACKAGES:
        raise InputError(f"`batch` {name}: unknown provider; {suggest(name, PROVIDERS)}")
    require(_PACKAGES[name], purpose=f"`batch` {name}")


def open_provider(name: str, endpoint: str) -> Provider:
    """A provider by name; `endpoint` is the address of the model, which OpenAI's package takes.

    Raises
    ------
    InputError
        If it is unknown, its package is not installed, or there is no key.
    """
    check_provider(name)
    opened: Provider = import_module(f"dhp.llm.batch.providers.{_MODULES[name]}").opened(endpoint)
    return opened
