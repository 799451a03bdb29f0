"""Results of extraction."""

from collections.abc import Iterable
from dataclasses import dataclass

from dhp.core.protocol_spec import AnswerForm
from dhp.core.records import RatingStatus


@dataclass(frozen=True, slots=True)
class Extracted:
    """What one answer of a judge says."""

    status: RatingStatus
    """`scored`, `unparsed`, `refused` or `out_of_scale`."""
    score: float | None
    """Score on the answer's own scale; None unless scored."""
    rule: str | None
    """The rule that found the rating, or why a rating that was found is not a score; else None."""
    missing_mass: float | None = None
    """Probability, in [0, 1], that fell on no score; only where scores are weighed by probability."""


UNPARSED = Extracted("unparsed", None, None)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place in an answer that reads like a rating."""

    tier: int
    """0 is the most explicit kind; a place counts only where there is none of a lower tier."""
    start: int
    """Position in the text."""
    value: str
    rule: str
    name: str = ""
    """Name of what is rated, where the answer states it."""


def chosen(candidates: Iterable[Candidate], form: AnswerForm) -> Candidate | None:
    """The most explicit place: the last of its tier where the rating follows the analysis, else the first."""
    every = list(candidates)
    tier = min((place.tier for place in every), default=0)
    first_or_last = max if form == "analyze-rate" else min
    return first_or_last((p for p in every if p.tier == tier), key=lambda p: p.start, default=None)
