"""Fillers: what answers requests instead of the engine, by putting replies into the store."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from dhp.llm.api import Client, LocalModel
from dhp.llm.limits import Budget
from dhp.llm.records import Failure, Request
from dhp.llm.store import Store


@dataclass(frozen=True, slots=True)
class Pending:
    """A request of which samples have no stored reply."""

    model: Client | LocalModel
    request: Request
    """Asks for the samples without a reply, with their keys in the store."""
    run: str
    """Name of the run that it belongs to."""


class Filler(Protocol):
    """Answers pending requests of one command. It may be killed and repeated at any time."""

    @property
    def failures(self) -> Mapping[bytes, Failure]:
        """Keys of samples that will never be answered, with the reason."""
        ...

    @property
    def taken(self) -> int:
        """Number of requests that it has taken since it was filled last."""
        ...

    def check(self, model: str, endpoint: str | None = None) -> None:
        """Raise `InputError` for a model that it cannot ask; called before and after the model is opened."""

    def take(self, pending: Pending) -> bool:
        """Whether `fill` will answer a request; if not, its reply is stored by now, or the engine asks."""
        ...

    def fill(self) -> None:
        """Put the replies to the taken requests into the store.

        Raises `StoppedEarly` if waiting does not bring them.
        """

    def end(self) -> None:
        """Called when the command has come to its end, with all replies."""


class FillerSettings(Protocol):
    """The settings record of a `Filler`: its fields are options of the command line."""

    @property
    def is_used(self) -> bool:
        """Whether it is to be used."""
        ...

    @property
    def multi_sample(self) -> bool:
        """Whether one of its requests may ask for several samples."""
        ...

    @property
    def discounted(self) -> bool:
        """Whether its requests cost less than those of the engine."""
        ...

    def check_dry_run(self) -> None:
        """Raise `InputError` if its requests cannot be counted without asking."""

    def open(self, store: Store, budget: Budget) -> Filler:
        """The filler of a command, for its store and its budget."""
        ...
