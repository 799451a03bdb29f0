"""From ratings of many doses to dose-response: D by dose, and the detection threshold."""

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.result_parts import DoseResponse, DoseResponseLine
from dhp.core.records import parse_variant
from dhp.core.seeding import key_digest
from dhp.stats.combine import Combination
from dhp.stats.design import Design
from dhp.stats.dose_response import dose_tests, threshold, threshold_interval

COMBINED = "combined"
_FEWEST_DOSES = 2

Floats = npt.NDArray[np.float64]


def dose_responses(
    ratings: RatingsArray, variants: Iterable[str], combination: Combination
) -> tuple[DoseResponse, ...]:
    """One for each perturber of which two doses or more were rated, by exact tests.

    The combination is that of D, without weights. The bootstrap is seeded by the ratings.
    """
    doses: dict[str, list[int]] = {}
    for name in variants:
        perturber, _, dose = parse_variant(name)
        if dose is not None and name in ratings.variants:
            doses.setdefault(perturber, []).append(dose)
    return tuple(
        _dose_response(ratings, perturber, sorted(found), combination)
        for perturber, found in doses.items()
        if len(found) >= _FEWEST_DOSES
    )


def _dose_response(
    ratings: RatingsArray, perturber: str, doses: list[int], combination: Combination
) -> DoseResponse:
    names = [f"{perturber}.k{k}" for k in doses]
    design = Design.of(ratings.difference_table(names, ratings.metrics), names, combination=combination)
    found = dose_tests(design)
    rng = np.random.default_rng(int.from_bytes(key_digest(ratings.digest, perturber)))
    intervals = threshold_interval(doses, design, rng)
    lines = {
        metric: DoseResponseLine(
            _as_tuple(found.d[:, m]),
            _as_tuple(found.rank_biserial[:, m]),
            _as_tuple(found.fell[:, m]),
            *_ends(threshold(doses, found.d[:, m]), intervals.metrics[m]),
        )
        for m, metric in enumerate(ratings.metrics)
    }
    ends = _ends(threshold(doses, found.combined), intervals.combined)
    lines[COMBINED] = DoseResponseLine(_as_tuple(found.combined), None, None, *ends)
    return DoseResponse(perturber, tuple(doses), lines)


def _as_tuple(values: Floats) -> tuple[float | None, ...]:
    return tuple(_finite(value) for value in values)


def _ends(middle: float, interval: Floats) -> tuple[float | None, float | None, float | None]:
    return _finite(middle), _finite(interval[0]), _finite(interval[1])


def _finite(value: float) -> float | None:
    """None for NaN (undefined) and infinity (never)."""
    return float(value) if math.isfinite(value) else None
