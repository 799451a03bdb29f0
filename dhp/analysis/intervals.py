"""From ratings to intervals: the paired bootstrap of the figures of a result."""

import math
from collections.abc import Sequence

import numpy as np

from dhp.core.seeding import key_digest
from dhp.stats.bootstrap import bootstrap, discernment_at_n
from dhp.stats.design import Design
from dhp.stats.intervals import interval

Ends = tuple[float, float] | None
"""Low and high end; None where undefined."""
LEVEL = 0.95
STANDARD_N = 100
_DRAWS_AT = 500  # of the standard number of examples; their mean settles soon
_AVERAGES = ("d_avg", "d_min", "d_avg_ew", "d_min_ew")
_EFFECTS = ("effect_avg", "effect_avg_ew")
_OF_VARIANTS = ("d", "d_ew", "effect", "effect_ew")


def intervals(
    design: Design, variants: Sequence[str], digest: str, resamples: int
) -> tuple[dict[str, Ends], dict[str, dict[str, Ends]], dict[str, float | None]]:
    """95 % intervals of the figures of a result, by the paired bootstrap over examples.

    Parameters
    ----------
    design
        Of the variants that count.
    variants
        Their names.
    digest
        Of the ratings, by which the bootstrap is seeded: the same table gives the same intervals.
    resamples
        At least 1.

    Returns
    -------
    averages
        Name of an average -> its interval.
    of_variants
        Variant -> those of its D, D_EW and mean effects.
    at_n
        D averaged as it would be on `STANDARD_N` examples, by subsets; None where there are fewer.
    """
    rng = np.random.default_rng(int.from_bytes(key_digest(digest, "intervals")))
    found = bootstrap(design, rng, resamples=resamples)
    at_n: dict[str, float | None] = dict.fromkeys(_AVERAGES)
    if design.n >= STANDARD_N:
        at = discernment_at_n(design, rng, size=STANDARD_N, resamples=_DRAWS_AT)
        values = {name: float(np.ravel(getattr(at, name))[0]) for name in _AVERAGES}
        at_n = {name: value if math.isfinite(value) else None for name, value in values.items()}
    of_averages: dict[str, Ends] = {}
    for name in (*_AVERAGES, *_EFFECTS):
        ends = interval(found, name, level=LEVEL)
        of_averages[name] = finite_ends(float(ends.low), float(ends.high))
    of_variants: dict[str, dict[str, Ends]] = {name: {} for name in variants}
    for quantity in _OF_VARIANTS:
        ends = interval(found, quantity, level=LEVEL)
        for v, name in enumerate(variants):
            of_variants[name][quantity] = finite_ends(float(ends.low[v]), float(ends.high[v]))
    return of_averages, of_variants, at_n


def finite_ends(low: float, high: float) -> Ends:
    """Both ends; None unless both are defined."""
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None
