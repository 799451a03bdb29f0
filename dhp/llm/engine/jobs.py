"""The engine's configuration and its jobs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dhp.llm.api import Client
from dhp.llm.limits import RateLimits
from dhp.llm.records import Failure, Reply, Request
from dhp.llm.store import Store
from dhp.llm.usage import Budget, PromptLengths


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
    retries: int = field(default=0, init=False)
    """Tries after the first, so far."""
    refusal_said: bool = field(default=False, init=False)
    """Whether it was said that a request was refused though others are answered."""
    trouble: str = field(default="", init=False)
    """Why the latest call was tried again."""
    proven: bool = field(default=False, init=False)
    """Whether the server has answered anything, now or in an earlier run."""


@dataclass(frozen=True, slots=True)
class Job:
    """A request, what of it is stored, and the keys of what is not."""

    request: Request
    found: Mapping[int, Reply | Failure]
    keys: Mapping[int, bytes]
    prompt_tokens: float
    """Estimated number of prompt tokens."""
    after_answer: bool = False
    """Whether the request before it is one whose replies were known."""


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """What came of a job."""

    job: Job
    outcomes: Mapping[int, Reply | Failure]
