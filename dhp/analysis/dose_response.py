"""From ratings of many doses to dose-response curves."""

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.results import Curve, CurveLine
from dhp.core.records import parse_variant
from dhp.core.seeding import key_digest
from dhp.stats.combine import Combination
from dhp.stats.dose_response import curve, threshold, threshold_interval

COMBINED = "combined"
_FEWEST_DOSES = 2

Floats = npt.NDArray[np.float64]


def dose_curves(group: RatingsArray, variants: Iterable[str], combination: Combination) -> tuple[Curve, ...]:
    """A curve for each perturber of which two doses or more were rated, by exact tests.

    The combination is that of D, without weights. The bootstrap is seeded by the ratings.
    """
    doses: dict[str, list[int]] = {}
    for name in variants:
        perturber, _, dose = parse_variant(name)
        if dose is not None and name in group.variants:
            doses.setdefault(perturber, []).append(dose)
    return tuple(
        _curve(group, perturber, sorted(found), combination)
        for perturber, found in doses.items()
        if len(found) >= _FEWEST_DOSES
    )


def _curve(group: RatingsArray, perturber: str, doses: list[int], combination: Combination) -> Curve:
    differences = group.difference_table([f"{perturber}.k{k}" for k in doses], group.metrics)
    found = curve(differences, None, combination)
    rng = np.random.default_rng(int.from_bytes(key_digest(group.digest, perturber)))
    intervals = threshold_interval(doses, differences, rng, None, combination)
    lines = {
        metric: CurveLine(
            _listed(found.d[:, m]),
            _listed(found.rank_biserial[:, m]),
            _listed(found.fell[:, m]),
            *_ends(threshold(doses, found.d[:, m]), intervals.metrics[m]),
        )
        for m, metric in enumerate(group.metrics)
    }
    ends = _ends(threshold(doses, found.combined), intervals.combined)
    lines[COMBINED] = CurveLine(_listed(found.combined), None, None, *ends)
    return Curve(perturber, tuple(doses), lines)


def _listed(values: Floats) -> tuple[float | None, ...]:
    return tuple(_finite(value) for value in values)


def _ends(middle: float, interval: Floats) -> tuple[float | None, float | None, float | None]:
    return _finite(middle), _finite(interval[0]), _finite(interval[1])


def _finite(value: float) -> float | None:
    """None for NaN (undefined) and infinity (never)."""
    return float(value) if math.isfinite(value) else None
