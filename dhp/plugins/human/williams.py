"""Williams' test of two dependent correlations."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Williams:
    """Williams' test of two dependent correlations that share a variable."""

    t: float
    """Positive if the first judge correlates more; with n - 3 degrees of freedom."""
    p_greater: float
    """One-sided p-value against the hypothesis that the first judge is no better."""
    p_two_sided: float
    """Against either being better."""
    n: int
    """Number of items."""


def williams(r_first: float, r_second: float, r_between: float, n: int) -> Williams | None:
    """Williams' test (Williams 1959; Graham and Baldwin 2014).

    `r_first` and `r_second` are Pearson correlations of two judges with the human scores, `r_between` that of
    the judges, over `n` items that both scored. None if the test is undefined: fewer than four items, or
    judges that are the same but for scale.
    """
    from scipy.special import stdtr  # scipy.stats takes much longer to import

    k = 1 - r_first**2 - r_second**2 - r_between**2 + 2 * r_first * r_second * r_between
    if n < 4 or 1 - r_between < 1e-12:
        return None
    mean = (r_first + r_second) / 2
    # k is the determinant of the three correlations, which rounding may bring below 0.
    spread = 2 * max(k, 0.0) * (n - 1) / (n - 3) + mean**2 * (1 - r_between) ** 3
    if spread <= 0:
        return None
    t = (r_first - r_second) * math.sqrt((n - 1) * (1 + r_between) / spread)
    return Williams(t, float(stdtr(n - 3, -t)), float(2 * stdtr(n - 3, -abs(t))), n)
