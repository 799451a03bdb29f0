"""How detection grows with the dose of a kind of damage, of texts that were degraded in several doses.

Doses of one perturber are variants `perturber.k1`, `perturber.k5`. Their differences give a psychometric
curve, and that gives T75, the dose at which detection is 75 %.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.record_values import finite
from dhp.analysis.results import DoseResponse, DoseThreshold
from dhp.core.records import parse_variant
from dhp.core.seeding import key_digest
from dhp.stats.few_doses import few_doses
from dhp.stats.psychometric import curve, psychometric

_FEWEST_DOSES = 2
"""With fewer there is no curve."""
_SPARSE = 0.5
"""Share of the texts in all doses that were rated, below which a bootstrap over examples is too narrow: then
examples that are drawn again have few doses in common. Chosen."""


def dose_responses(
    ratings: RatingsArray,
    variants: Iterable[str],
    edits: Sequence[str],
    characters: int | None,
) -> tuple[DoseResponse, ...]:
    """A psychometric curve for each perturber of which two doses or more were rated.

    Damaged copies are compared with the harmlessly edited ones, `edits`, if these were rated, else with
    the originals, so that the curve starts at 50 %. Intervals are by bootstrap, seeded by the ratings; if
    most examples have few of the doses, by a posterior over curves. `characters` is the median length
    of the originals.
    """
    doses: dict[str, list[int]] = {}
    for name in variants:
        perturber, _, dose = parse_variant(name)
        if dose is not None and name in ratings.variants:
            doses.setdefault(perturber, []).append(dose)
    responses: list[DoseResponse] = []
    for perturber, rated in doses.items():
        if len(rated) >= _FEWEST_DOSES:
            responses.append(_dose_response(ratings, perturber, sorted(rated), edits, characters))
    return tuple(responses)


def fitted_detection(response: DoseResponse, doses: Sequence[float]) -> list[float] | None:
    """Detection at these doses, above 0, by the fitted psychometric curve; None if no T75 was found."""
    if response.t75 is None or not response.t75.value or response.power is None or response.lapse is None:
        return None
    detection = curve(doses, response.t75.value, response.power, response.lapse)
    return [float(share) for share in detection]


def _dose_response(
    ratings: RatingsArray,
    perturber: str,
    doses: list[int],
    edits: Sequence[str],
    characters: int | None,
) -> DoseResponse:
    names = [f"{perturber}.k{dose}" for dose in doses]
    differences = ratings.difference_table(names, ratings.metrics)
    for edit in edits:
        # A text that no harmless edit applies to is its own harmless copy.
        copies = ratings.difference_table(names, ratings.metrics, of=edit)
        differences = np.where(np.isnan(copies), differences, copies)
    rated = ~np.isnan(differences).all(axis=2)
    if rated.mean() < _SPARSE:
        fitted = few_doses(doses, differences, ratings.clusters)
    else:
        # Seeded by the ratings: the same table gives the same interval, in whatever order its rows are.
        rng = np.random.default_rng(int.from_bytes(key_digest(ratings.digest, perturber)))
        fitted = psychometric(doses, differences, rng, clusters=ratings.clusters)
    return DoseResponse(
        perturber,
        tuple(doses),
        detection=tuple(finite(share) for share in fitted.detection),
        power=finite(fitted.power),
        lapse=finite(fitted.lapse),
        t75=_t75(*fitted.fitted),
        characters=characters,
    )


def _t75(value: float, low: float, high: float) -> DoseThreshold | None:
    """T75 with its limits, in which None stands for infinity: no dose reaches it. None if undefined."""
    if math.isnan(value):
        return None
    return DoseThreshold(finite(value), finite(low), finite(high))
