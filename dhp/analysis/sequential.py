"""Runs that ask no more about a variant once it is resolved: who is, and what that does to its figures.

The examples are asked about in a random order, and looked at after a quarter, a half, three quarters and all
of them. A variant is resolved above where its D, as it would be reported, is at least 1 and the 95 % interval
lies wholly above 1; below where the interval of D on all examples, given those seen, lies wholly below 1.
Each look has its own line (`dhp.stats.sequential.boundaries`), so that a judge which notices nothing passes
D = 1 no more often than after a single look. That holds for every figure that is judged by these lines, D and
D_EW alike, whatever ended the settings. Controls and attacks are asked about all examples and have one look.
"""

import math
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from dhp.analysis.config import ResolvedConfig
from dhp.analysis.interim import Looks
from dhp.analysis.intervals import LEVEL, Ends
from dhp.analysis.ratings import RatingsArray
from dhp.core.records import parse_variant
from dhp.core.seeding import key_digest, stream
from dhp.stats.bootstrap import Bootstrap, bootstrap, interval
from dhp.stats.discernment import LOG_ALPHA
from dhp.stats.sequential import boundaries, look_sizes, settled_below

_RESAMPLES = 2000  # for the decision, where a config has no intervals
_SHIFTED = ("d", "d_ew")
_OF_VARIANTS = (*_SHIFTED, "effect", "effect_ew")


def example_looks(examples: Collection[str], seed: int, dataset: str) -> dict[str, int]:
    """Example -> the look for which it is asked about, from 1 on; the order is drawn by seed and dataset."""
    rng = stream(seed, dataset, "looks")
    drawn = sorted((rng.random(), name) for name in sorted(examples))
    looks = enumerate(np.diff(look_sizes(len(drawn)), prepend=0).tolist(), 1)
    numbers = [look for look, more in looks for _ in range(more)]
    return {name: look for (_, name), look in zip(drawn, numbers, strict=True)}


def adjusted(log_p: float, group: RatingsArray, variant: str) -> float:
    """Log of a p-value of a variant, adjusted for the looks: it is at most 0.05 where the look's line is met.

    p * 0.05 / line, at most 1. At other levels than 0.05 the error is up to 1.4 times the level, 1.1 times at
    a twelfth of 0.05. Unchanged where the ratings come from a run without looks.
    """
    return min(log_p - _excess(group, variant) * LOG_ALPHA, 0.0)


def own_intervals(
    group: RatingsArray, variants: Sequence[str], config: ResolvedConfig
) -> dict[str, dict[str, Ends]]:
    """Variant -> intervals of its D and D_EW, adjusted for the looks, and of its mean effects.

    By the examples that the variant got; those of one variant depend on nothing but its own scores.
    """
    return {name: _ends(_drawn(group, name, config), _excess(group, name)) for name in variants}


def resolved(group: RatingsArray, variants: Sequence[str], config: ResolvedConfig) -> set[str]:
    """Which of the variants need no further examples.

    `group` holds what was asked so far, and all that was not as stopped.
    """
    assert group.looks is not None
    n, last = len(group.examples), math.log(_lines(group.looks)[-1]) / LOG_ALPHA

    def is_resolved(name: str) -> bool:
        drawn, excess = _drawn(group, name, config), _excess(group, name)
        d, ends = float(drawn.point.d[0, 0]) - excess, _ends(drawn, excess)["d"]
        if d >= 1:
            return ends is not None and ends[0] > 1
        return d < 1 and settled_below(
            _own_differences(group, name),
            n,
            last,
            _rng("prediction", name),
            method=config.method,
            combination=config.combination,
            level=LEVEL,
        )

    return {name for name in variants if is_resolved(name)}


def _drawn(group: RatingsArray, variant: str, config: ResolvedConfig) -> Bootstrap:
    row = config.weight_row(parse_variant(variant).perturber, group.metrics)
    return bootstrap(
        _own_differences(group, variant),
        ["all"],
        _rng("intervals", variant),
        None if row is None else [row],
        method=config.method,
        combination=config.combination,
        resamples=config.resamples or _RESAMPLES,
    )


def _ends(drawn: Bootstrap, excess: float) -> dict[str, Ends]:
    found: dict[str, Ends] = {}
    for quantity in _OF_VARIANTS:
        ends = interval(drawn, quantity, level=LEVEL)
        low, high = float(ends.low[0]), float(ends.high[0])
        if quantity in _SHIFTED:
            low, high = (end if math.isnan(end) else max(end - excess, 0.0) for end in (low, high))
        found[quantity] = (low, high) if math.isfinite(low) and math.isfinite(high) else None
    return found


def _excess(group: RatingsArray, variant: str) -> float:
    """By how much the line of the last look of a variant, as a D, exceeds 1."""
    if group.looks is None or variant not in group.looks.last:
        return 0.0
    return math.log(_lines(group.looks)[group.looks.last[variant] - 1]) / LOG_ALPHA - 1


def _lines(looks: Looks) -> tuple[float, ...]:
    """The p-value at or below which each look notices something."""
    sizes = np.bincount(list(looks.examples.values()))[1:].cumsum()
    return boundaries(tuple((sizes / sizes[-1]).tolist()))


def _own_differences(group: RatingsArray, variant: str) -> npt.NDArray[np.float64]:
    """`RatingsArray.difference_table` of the examples that the variant got; shape (examples, 1, metrics)."""
    assert group.looks is not None
    turns = np.array([group.looks.examples[name] for name in sorted(group.examples)])
    return group.difference_table([variant], group.metrics)[turns <= group.looks.last[variant]]


def _rng(purpose: str, variant: str) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(key_digest("looks", purpose, variant)))
