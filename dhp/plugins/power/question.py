"""What a power analysis is to say."""

from dataclasses import dataclass, field

from dhp.core.errors import InputError
from dhp.core.options import option

LIMIT = 5_000  # examples beyond which no number is given
_MOST_KINDS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is to be known of every variant."""

    n: int = field(
        default=100,
        metadata=option("Number of examples to give the probability of a miss for.", metavar="N"),
    )
    kinds: int | None = field(
        default=None,
        metadata=option(
            "Number of kinds of damage tested together; default: that of the pilot, else 12.", metavar="K"
        ),
    )
    runs: int = field(
        default=500,
        metadata=option(
            "Number of simulated runs at each number of examples.", name="--simulate", metavar="K"
        ),
    )
    seed: int = 0
    """Seed of the simulation."""

    def __post_init__(self) -> None:
        if not 1 <= self.n <= LIMIT:
            raise InputError(f"n is {self.n}; must be 1 to {LIMIT:,}")
        if self.runs < 1:
            raise InputError(f"`runs`: {self.runs}; must be 1 or more")
        if self.kinds is not None and not 1 <= self.kinds <= _MOST_KINDS:
            raise InputError(f"kinds: {self.kinds}; must be 1 to {_MOST_KINDS:,}")
