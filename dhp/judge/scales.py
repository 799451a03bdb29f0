"""Scores moved from one scale to another."""

from dhp.core.specs import Scale


def rescale(score: float, given: Scale, wanted: Scale) -> float:
    """`score`, read on the scale `given`, at the same place of the scale `wanted`."""
    if given == wanted:
        return score
    share = (score - given.min) / (given.max - given.min)
    return round(wanted.min + share * (wanted.max - wanted.min), 10)  # equal answers must stay equal
