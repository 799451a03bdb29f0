"""What calls are made with, and the pieces of work they are made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from dhp.core.errors import InputError
from dhp.llm.cost.usage import Budget
from dhp.llm.records import Failure, Reply, Request
from dhp.llm.store import Store


@runtime_checkable
class Client(Protocol):
    """One model behind a server."""

    model: str
    endpoint: str
    timeout: float
    """Seconds that a call may take."""
    many: bool
    """Whether one call may ask for several samples."""
    notes: list[str]
    """What had to be asked otherwise than planned; whoever shows a note takes it out."""

    async def open(self) -> None:
        """Open connections, in the loop that will make the calls."""

    async def close(self) -> None:
        """Close them."""

    async def complete(self, request: Request, samples: tuple[int, ...]) -> list[Reply]:
        """One call; see `OpenAIClient.complete`."""
        ...


@dataclass(frozen=True, slots=True)
class RateLimits:
    """How hard a server may be worked."""

    concurrency: int = 64
    """Most calls in flight."""
    calls_per_minute: float | None = None
    tokens_per_minute: float | None = None
    retries: int = 8
    """Tries after the first, for errors that may pass."""

    def __post_init__(self) -> None:
        if self.concurrency < 1 or self.retries < 0:
            raise InputError("pace: concurrency must be 1 or more, retries 0 or more")
        if any(rate is not None and rate <= 0 for rate in (self.calls_per_minute, self.tokens_per_minute)):
            raise InputError("pace: calls and tokens per minute must be more than 0")


@dataclass(slots=True)
class Engine:
    """What calls are made with."""

    client: Client
    store: Store | None
    """None keeps nothing."""
    pace: RateLimits
    budget: Budget
    run: str
    """Written beside each stored reply."""
    refresh: bool = False
    """Whether stored replies are replaced."""
    retries: int = field(default=0, init=False)
    """Tries after the first, so far."""
    trouble: str = field(default="", init=False)
    """Why the latest call was tried again."""
    proven: bool = field(default=False, init=False)
    """Whether the server has answered anything, now or in an earlier run."""


@dataclass(frozen=True, slots=True)
class Job:
    """A request, what of it is stored, and the keys of what is not."""

    request: Request
    found: Mapping[int, Reply]
    keys: Mapping[int, bytes]
    prompt_tokens: float
    """Estimated."""


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a job."""

    job: Job
    outcomes: Mapping[int, Reply | Failure]
