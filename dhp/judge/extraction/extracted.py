"""What was read from an answer."""

from dataclasses import dataclass
from typing import Literal

from dhp.core.records import RatingStatus


@dataclass(frozen=True, slots=True)
class Extracted:
    """What one answer of a judge says of a text, or of two."""

    status: RatingStatus | Literal["contradictory"]
    """`scored`, or why there is no score; `contradictory` of two texts alone."""
    score: float | None = None
    """Score on the answer's own scale; of two texts 1 if the one shown first is better, -1 the second, 0 a
    tie. None unless scored."""
    rule: str | None = None
    """The rule that found the rating, or why a rating that was found is not a score; else None."""
    missing_mass: float | None = None
    """Probability, in [0, 1], that fell on no score; only if scores are weighed by probability."""
    probabilities: tuple[float, ...] | None = None
    """Probability of each of evenly spaced points of the answer's scale, the lowest first; they sum to 1."""
    words: str | None = None
    """The part of the answer that speaks of this metric, if it has such parts."""
    scores: tuple[float, float] | None = None
    """Scores of the text shown first and the second with the answer form `two-scores`, probabilities of their
    letters if those are read."""


UNPARSED = Extracted("unparsed")
