"""A population of examples by model, from the detection that a judge has."""

import numpy as np

from dhp.stats.arrays import Floats

_MODEL_POINTS = 13
"""Binary logarithm of the examples of a population by model: 8,192, as Sobol points come in powers of two."""
ROUNDING = 1e-12
"""What floating point may add to a share that is exact otherwise."""


def outcomes(detection: float, metrics: int = 1, correlation: float = 0.0, tied: float = 0.0) -> Floats:
    """A population by model, shape (P, metrics): 1 for a score that fell, 0 for a tie, -1 for one that rose.

    Parameters
    ----------
    detection
        Of every metric, P(fell) + P(tied) / 2.
    metrics
        At least 1.
    correlation
        In [0, 1), of any two metrics: of the normal variables whose size decides what falls, ties and rises.
    tied
        Share of the scores that do not move, at most `most_tied(detection)`.

    Raises
    ------
    ValueError
        For a value outside these ranges.
    """
    from scipy.special import ndtri

    if not (metrics >= 1 and 0 <= correlation < 1):
        raise ValueError(
            f"metrics must be at least 1 and correlation in [0, 1), not {metrics} and {correlation}"
        )
    if not (0 <= detection <= 1 and 0 <= tied <= most_tied(detection) + ROUNDING):
        raise ValueError(
            f"detection must be in [0, 1] and tied at most twice what it is from 0 or 1, "
            f"not {detection} and {tied}"
        )
    # A column that all metrics share, and one for each: their parts of the variance give the correlation.
    points = _normal_points(metrics + 1, _MODEL_POINTS)
    x = np.sqrt(correlation) * points[:, :1] + np.sqrt(1 - correlation) * points[:, 1:]
    # The smallest values fell, those above them are ties, and the others rose.
    fell, fell_or_tied = ndtri(detection - tied / 2), ndtri(min(detection + tied / 2, 1.0))
    not_fallen = np.where(x < fell_or_tied, 0.0, -1.0)
    return np.where(x < fell, 1.0, not_fallen)


def most_tied(detection: float) -> float:
    """The largest share of ties that a detection leaves room for."""
    return 2 * min(detection, 1 - detection)


def _normal_points(dimensions: int, log2: int) -> Floats:
    """Scrambled Sobol points as standard normal values, the same every time."""
    from scipy.special import ndtri
    from scipy.stats.qmc import Sobol

    points = Sobol(dimensions, rng=np.random.default_rng(0)).random_base2(log2)
    normal: Floats = ndtri(np.clip(points, ROUNDING, 1 - ROUNDING))
    return normal
