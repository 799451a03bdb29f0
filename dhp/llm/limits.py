"""Rate limits, prices and limits of a run."""

from dataclasses import dataclass, field

from dhp.core.keywords import near_keywords
from dhp.core.options import check_numbers, option

_PER = 1_000_000
TIMEOUT = 120.0
"""Seconds that one call may take, where nothing else is said."""


@near_keywords
@dataclass(frozen=True, slots=True)
class RateLimits:
    """How hard a server may be worked."""

    concurrency: int = field(
        default=64, metadata=option("Maximum number of concurrent calls.", metavar="K", low=1)
    )
    calls_per_minute: float | None = field(
        default=None,
        metadata=option("Maximum number of calls per minute.", name="--rpm", metavar="K", above=0),
    )
    tokens_per_minute: float | None = field(
        default=None,
        metadata=option("Maximum number of tokens per minute.", name="--tpm", metavar="K", above=0),
    )
    retries: int = field(
        default=8, metadata=option("Number of retries after a temporary error.", metavar="K", low=0)
    )
    longest_wait: float = field(
        default=600.0,
        metadata=option(
            "Stop the run if a server asks for a longer wait than this; it can be resumed.",
            metavar="SECONDS",
            low=0,
        ),
    )

    def __post_init__(self) -> None:
        check_numbers(self, "rate_limits")


@near_keywords
@dataclass(frozen=True, slots=True)
class Prices:
    """What tokens cost, in any currency."""

    prompt: float | None = field(
        default=None,
        metadata=option("Price per million prompt tokens.", name="--price-in", metavar="X", low=0),
    )
    completion: float | None = field(
        default=None,
        metadata=option("Price per million answer tokens.", name="--price-out", metavar="X", low=0),
    )

    def __post_init__(self) -> None:
        check_numbers(self, "prices")

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float | None:
        """Money for so many tokens; None without prices."""
        if self.prompt is None and self.completion is None:
            return None
        total = prompt_tokens * (self.prompt or 0.0) + completion_tokens * (self.completion or 0.0)
        return total / _PER


@near_keywords
@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use before it stops; repeat the command to resume it."""

    calls: int | None = field(
        default=None, metadata=option("Maximum number of calls.", name="--max-calls", metavar="K", low=0)
    )
    tokens: int | None = field(
        default=None,
        metadata=option(
            "Maximum number of prompt and answer tokens.", name="--max-tokens", metavar="K", low=0
        ),
    )
    cost: float | None = field(
        default=None,
        metadata=option(
            "Maximum cost, at the given prices of tokens.", name="--max-cost", metavar="X", low=0
        ),
    )

    def __post_init__(self) -> None:
        check_numbers(self, "limits")
