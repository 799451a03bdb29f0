"""The statistics of discernment: arrays in, results out; knows no LLM and no file."""

from dhp.stats.combine import COMBINATIONS, combine
from dhp.stats.discernment import discernment, level_average, minimum
from dhp.stats.dose import Curve, ThresholdIntervals, curve, threshold, threshold_interval
from dhp.stats.effects import Effect, effect
from dhp.stats.signed_rank import SignedRank, signed_rank

__all__ = [
    "COMBINATIONS",
    "Curve",
    "Effect",
    "SignedRank",
    "ThresholdIntervals",
    "combine",
    "curve",
    "discernment",
    "effect",
    "level_average",
    "minimum",
    "signed_rank",
    "threshold",
    "threshold_interval",
]
