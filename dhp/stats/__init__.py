"""The statistics of discernment: arrays in, results out; knows no LLM and no file."""

from dhp.stats.bootstrap import Bootstrap, Interval, Scores, bootstrap, d_at, interval
from dhp.stats.combine import COMBINATIONS, combine
from dhp.stats.compare import Comparison, Pair, compare
from dhp.stats.discernment import discernment, level_average, minimum
from dhp.stats.dose import Curve, ThresholdIntervals, curve, threshold, threshold_interval
from dhp.stats.effects import Effect, effect
from dhp.stats.multiplicity import benjamini_yekutieli, holm
from dhp.stats.power import Power, shifted, simulated_power
from dhp.stats.signed_rank import SignedRank, signed_rank

__all__ = [
    "COMBINATIONS",
    "Bootstrap",
    "Comparison",
    "Curve",
    "Effect",
    "Interval",
    "Pair",
    "Power",
    "Scores",
    "SignedRank",
    "ThresholdIntervals",
    "benjamini_yekutieli",
    "bootstrap",
    "combine",
    "compare",
    "curve",
    "d_at",
    "discernment",
    "effect",
    "holm",
    "interval",
    "level_average",
    "minimum",
    "shifted",
    "signed_rank",
    "simulated_power",
    "threshold",
    "threshold_interval",
]
