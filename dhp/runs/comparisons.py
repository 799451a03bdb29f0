"""Pairwise judges in the benchmark."""

from collections.abc import Sequence
from dataclasses import replace

from dhp.analysis.results import Result
from dhp.core.errors import InputError
from dhp.judge.api import Judge
from dhp.judge.pairs import FLIP

_MANY_FLIPS = 0.2


def of_comparisons(result: Result) -> Result:
    """The result without the style of its scores, which only say who won; with a warning where the order
    decides."""
    flips, of = result.rules.get(FLIP, 0), sum(result.rules.values())
    said = f"{flips / (of or 1):.0%} of the verdicts follow the order in which the texts are shown"
    warnings = (*result.warnings, said) if flips > _MANY_FLIPS * of else result.warnings
    return replace(result, styles={}, halo={}, warnings=warnings)


def pointwise_only(judges: Sequence[Judge]) -> Sequence[Judge]:
    """The judges; raises `InputError` for one that compares texts with an original, where there is none."""
    for judge in judges:
        if judge.pairwise:
            name = judge.protocol.partition("@")[0]
            raise InputError(f"`protocol` {name}: needs originals; allowed: pointwise protocols")
    return judges
