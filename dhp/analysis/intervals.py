"""From ratings to intervals: the paired bootstrap of the figures of a result."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dhp.analysis.ratings import RatingsArray
from dhp.core.seeding import key_digest
from dhp.stats.bootstrap import bootstrap, discernment_at_n, interval
from dhp.stats.combine import Combination
from dhp.stats.wilcoxon.signed_rank import Method

Ends = tuple[float, float] | None
"""Low and high end; None where undefined."""
LEVEL = 0.95
STANDARD_N = 100
_DRAWS_AT = 500  # of the standard number of examples; their mean settles soon
_FEWEST = 10  # examples from which so many can be spoken of
_AVERAGES = ("d_avg", "d_min", "d_avg_ew", "d_min_ew")
_EFFECTS = ("effect_avg", "effect_avg_ew")
_OF_VARIANTS = ("d", "d_ew", "effect", "effect_ew")


def intervals(
    group: RatingsArray,
    levels: Mapping[str, str],
    weights: Sequence[Sequence[float] | None],
    method: Method,
    combination: Combination,
    resamples: int,
) -> tuple[dict[str, Ends], dict[str, dict[str, Ends]], dict[str, float | None]]:
    """95 % intervals of the averages, variant -> of its D, D_EW and mean effects, and D averaged as
    it would be on `STANDARD_N` examples.

    `levels` maps the variants that count to their levels, `weights` gives the weights of the metrics under
    each, None for equal ones. Seeded by the ratings: the same table gives the same intervals.
    """
    none = [math.nan] * len(group.metrics)
    rng = np.random.default_rng(int.from_bytes(key_digest(group.digest, "intervals")))
    differences = group.difference_table(list(levels), group.metrics)
    rows = np.array([none if row is None else row for row in weights])
    data = differences, list(levels.values()), rng, rows
    found = bootstrap(*data, method=method, combination=combination, resamples=resamples)
    standard = dict.fromkeys(_AVERAGES, math.nan)
    if len(differences) >= _FEWEST:
        at = discernment_at_n(
            *data, size=STANDARD_N, method=method, combination=combination, resamples=_DRAWS_AT
        )
        standard = {name: float(np.ravel(getattr(at, name))[0]) for name in _AVERAGES}
    of_averages: dict[str, Ends] = {}
    for name in (*_AVERAGES, *_EFFECTS):
        ends = interval(found, name, level=LEVEL)
        of_averages[name] = _ends(float(ends.low), float(ends.high))
    of_variants: dict[str, dict[str, Ends]] = {name: {} for name in levels}
    for quantity in _OF_VARIANTS:
        ends = interval(found, quantity, level=LEVEL)
        for v, name in enumerate(levels):
            of_variants[name][quantity] = _ends(ends.low[v], ends.high[v])
    finite = {name: value if math.isfinite(value) else None for name, value in standard.items()}
    return of_averages, of_variants, finite


def _ends(low: float, high: float) -> Ends:
    return (float(low), float(high)) if math.isfinite(low) and math.isfinite(high) else None
