"""Settings of a power analysis."""

from dataclasses import dataclass

from dhp.core.checks import Checked
from dhp.core.options import option

LIMIT = 5_000
"""Examples beyond which no number is given. Chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Checked):
    """The question that a power analysis answers for each variant."""

    parameter = "question"

    n: int = option(
        "Number of examples to give the probability of a miss for.", default=100, metavar="N", ge=1, le=LIMIT
    )
    kinds: int | None = option(
        "Number of kinds of damage tested together; default: that of the pilot, else 12.",
        default=None,
        metavar="K",
        ge=1,
        le=1_000,
    )
    runs: int = option(
        "Number of simulated runs at each number of examples.",
        default=500,
        name="--simulate",
        metavar="K",
        ge=1,
    )
    seed: int = 0
    """Seed of the simulation."""
