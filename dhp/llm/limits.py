"""Rate limits, prices and limits of a run, and what it has used of them."""

from dataclasses import asdict, dataclass

from dhp.core.checks import Checked
from dhp.core.errors import InputError, StoppedEarly
from dhp.core.options import option
from dhp.llm.records import Reply

PER = 1_000_000
"""Tokens that prices are for."""
TIMEOUT = 120.0
"""Seconds that one call may take, if nothing else is said. Chosen."""
_MANY_TOO_LONG = 200
"""Prompts too long, after which a run is stopped before its end: the few long examples of a dataset may come
first, each with all its copies. Chosen."""


@dataclass(frozen=True, slots=True)
class RateLimits(Checked):
    """How hard a server may be worked."""

    parameter = "rate_limits"

    concurrency: int = option("Maximum number of concurrent calls.", default=64, metavar="K", ge=1)
    calls_per_minute: float | None = option(
        "Maximum number of calls per minute.", default=None, name="--rpm", metavar="K", gt=0
    )
    tokens_per_minute: float | None = option(
        "Maximum number of tokens per minute.", default=None, name="--tpm", metavar="K", gt=0
    )
    retries: int = option("Number of retries after a temporary error.", default=8, metavar="K", ge=0)
    max_wait: float = option(
        "Stop the run if a server asks for a longer wait than this; it can be resumed.",
        default=600.0,
        metavar="SECONDS",
        ge=0,
    )


@dataclass(frozen=True, slots=True)
class Prices(Checked):
    """What tokens cost, in any currency."""

    parameter = "prices"

    prompt: float | None = option(
        "Price per million prompt tokens.", default=None, name="--price-in", metavar="X", ge=0
    )
    completion: float | None = option(
        "Price per million answer tokens.", default=None, name="--price-out", metavar="X", ge=0
    )

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float | None:
        """Money for so many tokens; None without prices."""
        if self.prompt is None and self.completion is None:
            return None
        total = prompt_tokens * (self.prompt or 0.0) + completion_tokens * (self.completion or 0.0)
        return total / PER


@dataclass(frozen=True, slots=True)
class Limits(Checked):
    """What a run may use before it stops; repeat the command to resume it."""

    parameter = "limits"

    calls: int | None = option(
        "Maximum number of calls.", default=None, name="--max-calls", metavar="K", ge=0
    )
    tokens: int | None = option(
        "Maximum number of prompt and answer tokens.", default=None, name="--max-tokens", metavar="K", ge=0
    )
    cost: float | None = option(
        "Maximum cost, at the given prices of tokens.", default=None, name="--max-cost", metavar="X", ge=0
    )


@dataclass(slots=True)
class Usage:
    """Counts of calls and tokens."""

    calls: int = 0
    """Calls paid for by this run, also before a restart."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_calls: int = 0
    """Calls that another run had paid for, with their tokens."""
    cached_prompt_tokens: int = 0
    cached_completion_tokens: int = 0
    retries: int = 0
    failed: int = 0
    """Samples that were given up."""

    def add(self, reply: Reply, *, made_here: bool) -> None:
        """Count a reply."""
        if not made_here:
            self.cached_calls += reply.calls
            self.cached_prompt_tokens += reply.prompt_tokens
            self.cached_completion_tokens += reply.completion_tokens
            return
        self.calls += reply.calls
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens

    @property
    def lasting(self) -> dict[str, int]:
        """The counts that do not depend on how often the run was interrupted."""
        counts = asdict(self)
        del counts["retries"], counts["failed"]
        return counts

    def cost(self, prices: Prices) -> float | None:
        """Cost of all tokens, also of cached replies; None without prices."""
        prompt = self.prompt_tokens + self.cached_prompt_tokens
        return prices.cost(prompt, self.completion_tokens + self.cached_completion_tokens)

    def since(self, before: "Usage") -> "Usage":
        """What was added after `before`."""
        earlier = asdict(before)
        return Usage(**{name: count - earlier[name] for name, count in asdict(self).items()})


class Budget:
    """Keeps a run within its limits; calls in flight count with their estimates."""

    def __init__(self, limits: Limits | None = None, prices: Prices | None = None) -> None:
        self.prices = prices or Prices()
        self._limits = limits or Limits()
        self._calls = 0
        self._prompt = self._completion = 0.0  # tokens of the calls that have come back
        self._done = 0  # calls that have come back
        self._reserved_prompt = self._reserved_completion = 0.0

    def reserve(self, prompt_tokens: float, most_completion_tokens: float) -> tuple[float, float]:
        """Set an estimate aside before a call; give the returned amount back by `settle`.

        Raises `StoppedEarly` if the call would pass a limit.
        """
        # An answer is taken to be as long as those so far, at first as long as it may be.
        mean = self._completion / self._done if self._done else most_completion_tokens
        amount = prompt_tokens, min(mean, most_completion_tokens)
        prompt = self._prompt + self._reserved_prompt + amount[0]
        completion = self._completion + self._reserved_completion + amount[1]
        self._check("`limits.calls`", self._calls + 1, self._limits.calls)
        self._check("`limits.tokens`", prompt + completion, self._limits.tokens)
        self._check("`limits.cost`", self.prices.cost(prompt, completion) or 0.0, self._limits.cost)
        self._calls += 1
        self._reserved_prompt += amount[0]
        self._reserved_completion += amount[1]
        return amount

    def _check(self, name: str, used: float, most: float | None) -> None:
        """Raise `StoppedEarly` if a limit is passed."""
        if most is not None and used > most:
            raise StoppedEarly(f"stopped at {name} {most:g}; repeat the command to resume")

    def settle(self, reserved: tuple[float, float], replies: list[Reply]) -> None:
        """Replace an estimate by what the call really used."""
        self._reserved_prompt -= reserved[0]
        self._reserved_completion -= reserved[1]
        if not replies:
            return
        used = Usage()
        for reply in replies:
            used.add(reply, made_here=True)
        if reserved[1] > 0:  # functions answer without tokens, and say nothing of a model's
            self._done += 1
        self._calls += max(0, used.calls - 1)  # of a job that took several
        # A server that does not say what it used is taken to have used the estimate.
        self._prompt += used.prompt_tokens or reserved[0]
        self._completion += used.completion_tokens or reserved[1]


class PromptLengths:
    """Counts prompts that fit the model and prompts that do not; a run in which most do not is stopped."""

    def __init__(self, model: str) -> None:
        self._model = model
        self.fitting = 0
        self._too_long = 0
        self._reason = ""

    def count_too_long(self, reason: str) -> None:
        """Count a prompt that does not fit; raises `InputError` as soon as most of many do not."""
        self._too_long += 1
        self._reason = reason
        if self._too_long >= _MANY_TOO_LONG:
            self.check()

    def check(self) -> None:
        """Raise `InputError` if more prompts were too long than not."""
        if self._too_long > self.fitting:
            raise InputError(
                f"{self._model}: {self._too_long} of {self._too_long + self.fitting} prompts do not fit "
                f"({self._reason}); choose a model with a longer context or leave long examples out"
            )
