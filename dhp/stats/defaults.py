"""Defaults that options of the command line show, apart from what imports numpy."""

from typing import Literal

Combination = Literal["hmp", "printed", "hmp-asymptotic", "joint"]
"""How p-values are combined; see `dhp.stats.combination.combined`."""
DEFAULT_COMBINATION: Combination = "hmp-asymptotic"
FLOOR = 0.6
"""Detection from which damage counts as noticed, if nothing else is said."""
RESAMPLES = 10_000
"""Label swaps of two judges, for tests of their difference."""
