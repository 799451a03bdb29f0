"""The interface of batch providers, and the providers by name."""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from dhp.core.errors import InputError, one_of, require
from dhp.core.plugins import load_target


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

    def submit(self, path: Path, tag: str) -> str:
        """Send a file; returns the name of the batch at the provider."""
        ...

    def find(self, tag: str, count: int, since: float, known: Collection[str]) -> str | None:
        """The batch that was sent under a tag, if its name was lost.

        `count` is the number of its requests, `since` the time of sending in seconds since 1970; `known`
        are the names of others, which it cannot have.
        """
        ...

    def state(self, batch: str) -> State:
        """How far it is."""
        ...

    def results(self, batch: str) -> Iterator[Mapping[str, Any]]:
        """Result lines of the batch in OpenAI's format; also answers of an expired or cancelled batch."""
        ...

    def cancel(self, batch: str) -> None:
        """Let the provider stop; what is answered by then is kept and paid."""
        ...


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a provider without its package."""

    target: str
    package: str
    keys: tuple[str, ...]
    """Variables of the environment; one of them holds the key."""
    address: str = ""
    """Address of its OpenAI-compatible server; empty for any server."""
    address_variable: str = ""
    """Variable of the environment that holds another address."""
    many: bool = True
    """Whether one request may ask for several samples."""


_PROVIDERS = {
    "openai": _Known("openai_batches:OpenAIBatches", "openai", ("OPENAI_API_KEY",)),
    "anthropic": _Known(
        "anthropic_batches:AnthropicBatches",
        "anthropic",
        ("ANTHROPIC_API_KEY",),
        "https://api.anthropic.com/v1",
        "ANTHROPIC_BASE_URL",
        many=False,
    ),
    "gemini": _Known(
        "gemini_batches:GeminiBatches",
        "google-genai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GOOGLE_GEMINI_BASE_URL",
    ),
}


def takes_many(name: str) -> bool:
    """Whether one request to a provider may ask for several samples."""
    return _PROVIDERS[name].many


def check_provider(name: str) -> None:
    """Raise `InputError` for an unknown provider, or one whose package is not installed."""
    one_of("provider", name, _PROVIDERS, "`batch`")
    require(_PROVIDERS[name].package, purpose=f"`batch` {name}")


def check_key(name: str) -> None:
    """Raise `InputError` where there is no key of a provider."""
    keys = _PROVIDERS[name].keys
    if not any(os.environ.get(variable, "").strip() for variable in keys):
        raise InputError(f"`batch` {name}: {keys[0]} is not set")


def check_address(name: str, model: str, endpoint: str) -> None:
    """Raise `InputError` for a model at an address that is not the provider's."""
    if not model.startswith("openai/"):
        raise InputError(f"{model}: `batch` {name} does not take it; allowed: openai/NAME")
    provider, host = _PROVIDERS[name], urlsplit(endpoint).netloc
    if provider.address:
        own = os.environ.get(provider.address_variable) or provider.address
        if host != urlsplit(own).netloc:
            raise InputError(
                f"{model}: is at {endpoint}, not at `batch` {name}; allowed: `base_url` {provider.address}"
            )
    elif owner := next((n for n, p in _PROVIDERS.items() if host and host == urlsplit(p.address).netloc), ""):
        raise InputError(f"{model}: is at {endpoint}, not at `batch` {name}; allowed: `batch` {owner}")
    if " " in endpoint:
        raise InputError(f"{model}: `batch` does not reach Azure ({endpoint}); allowed: `batch_write`")


def open_provider(name: str, endpoint: str) -> Provider:
    """A provider by name; `endpoint` is the address of the model, which OpenAI's package takes.

    Raises `InputError` if it is unknown, its package is not installed, or there is no key.
    """
    check_provider(name)
    check_key(name)
    provider: Provider = load_target(f"dhp.plugins.batch.{_PROVIDERS[name].target}")(endpoint)
    return provider
