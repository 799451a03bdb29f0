"""Dose-response of runs with doses: detection by dose and T75."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from dhp.analysis.config import ResolvedConfig
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.result_parts import DoseResponse, DoseThreshold
from dhp.core.records import parse_variant
from dhp.core.seeding import key_digest
from dhp.stats.arrays import Floats
from dhp.stats.psychometric import T75, curve, psychometric

_FEWEST_DOSES = 2


def dose_responses(
    ratings: RatingsArray,
    variants: Iterable[str],
    config: ResolvedConfig,
    guess: float,
    characters: int | None,
) -> tuple[DoseResponse, ...]:
    """One for each perturber of which two doses or more were rated, by a psychometric curve.

    Intervals are by bootstrap, seeded by the ratings, where the schedule has no curve of its own. `guess` is
    the detection of the controls, `characters` the median length of the originals.
    """
    doses: dict[str, list[int]] = {}
    for name in variants:
        perturber, _, dose = parse_variant(name)
        if dose is not None and name in ratings.variants:
            doses.setdefault(perturber, []).append(dose)
    return tuple(
        _dose_response(ratings, perturber, sorted(found), config, guess, characters)
        for perturber, found in doses.items()
        if len(found) >= _FEWEST_DOSES
    )


def fitted_detection(found: DoseResponse, doses: Sequence[float]) -> list[float] | None:
    """Detection at these doses, above 0, by the fitted psychometric curve; None where no T75 was found."""
    if found.t75 is None or not found.t75.value or found.power is None or found.lapse is None:
        return None
    guess = 0.5 if found.guess is None else found.guess
    return [float(d) for d in curve(doses, found.t75.value, found.power, found.lapse, guess)]


def _dose_response(
    ratings: RatingsArray,
    perturber: str,
    doses: list[int],
    config: ResolvedConfig,
    guess: float,
    characters: int | None,
) -> DoseResponse:
    differences = ratings.difference_table([f"{perturber}.k{k}" for k in doses], ratings.metrics)
    weights = config.weight_row(perturber, ratings.metrics)
    fitted = ratings.course.curve(doses, differences, weights, guess)
    if fitted is None:
        rng = np.random.default_rng(int.from_bytes(key_digest(ratings.digest, perturber)))
        fitted = psychometric(doses, differences, rng, weights, guess=guess, clusters=ratings.clusters)
    return DoseResponse(
        perturber,
        tuple(doses),
        detection=_as_tuple(fitted.detection),
        guess=fitted.guess,
        power=_finite(fitted.power),
        lapse=_finite(fitted.lapse),
        t75=_t75(fitted.fitted),
        characters=characters,
        t75_isotonic=_t75(fitted.isotonic),
    )


def _t75(t75: T75) -> DoseThreshold | None:
    if math.isnan(t75.value):
        return None
    return DoseThreshold(_finite(t75.value), _finite(t75.low), _finite(t75.high))


def _as_tuple(values: Floats) -> tuple[float | None, ...]:
    return tuple(_finite(value) for value in values)


def _finite(value: float) -> float | None:
    """The value, or None for NaN (undefined) and infinity (never)."""
    return float(value) if math.isfinite(value) else None
