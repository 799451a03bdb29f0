"""T75 if each example has few of the doses: a posterior over the curves of `dhp.stats.psychometric`.

Thresholds, powers and lapse rates form a grid. Powers near one and small lapse rates are likely beforehand;
the outcomes of all pairs, taken for independent, then weigh each point of the grid by Bayes' rule.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats
from dhp.stats.detection import outcomes_by_best
from dhp.stats.psychometric import (
    TARGET,
    UNDEFINED,
    Psychometric,
    checked_doses,
    curve,
    threshold_grid,
)

# The grid and the prior are chosen; `scripts/coverage.py few-doses` measures what the intervals hold.
_POWERS = np.exp(np.linspace(math.log(0.5), math.log(3), 5))
"""Powers of the grid, evenly on a log scale."""
_POWER_SPREAD = 0.5
"""Prior standard deviation of the logarithm of the power, around a power of 1."""
_LAPSES = np.array([0, 0.06, 0.12, 0.18, 0.24, 0.26, 0.32, 0.4, 0.5])
"""Lapse rates of the grid. None is .25, at which a curve ends just at the target."""
_LAPSE_SHAPE = 8.0
"""Exponent of the prior (1 - lapse) ** shape."""
_LEAST = 1e-3
"""Least probability of any outcome: a single slip rules out no curve."""
_ENDS = (0.5, 0.025, 0.975)
"""Median and central 95 % of the posterior."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """What the outcomes say of a judge's threshold for one kind of damage."""

    doses: Floats
    """Increasing, shape (D,)."""
    thresholds: Floats
    """Possible thresholds, evenly spaced on a log scale, shape (T,): T75, or the dose at half of the rise of
    a curve that does not reach 75 %."""
    reaches: Bools
    """Whether the curve of each pair of power and lapse rate reaches 75 %, shape (S,)."""
    weight: Floats
    """Probability of each threshold with each pair of power and lapse rate, shape (T, S)."""

    def t75(self) -> tuple[float, float, float]:
        """Median and central 95 % of T75.

        The interval takes outcomes for independent; ties and means over metrics vary less than it assumes,
        which makes it wide.
        """
        # Curves that never reach 75 % lie beyond the last threshold: the ends can fall among them.
        share = self.weight[:, self.reaches].sum(axis=1)
        below = share.cumsum() - share / 2
        logs = np.interp(_ENDS, below, np.log(self.thresholds))
        ends = [self._within(math.exp(log)) for log in logs]
        return ends[0], ends[1], ends[2]

    def _within(self, threshold: float) -> float:
        """The threshold; 0 or infinity beyond the doses, of which only the side is known."""
        if threshold > self.doses[-1]:
            return math.inf
        return threshold if threshold >= self.doses[0] else 0.0


def posterior(doses: npt.ArrayLike, pairs: Floats, fell: Floats) -> Posterior:
    """The posterior, given how many pairs there are at each dose and how many fell; ties are halves.

    All have the shape (D,); raises `ValueError` unless the doses are positive and increasing.
    """
    x = checked_doses(doses)
    thresholds = threshold_grid(x)
    detection = curve(x[:, None, None, None], thresholds[:, None, None], _POWERS[:, None], _LAPSES)
    detection = np.clip(detection, _LEAST, 1 - _LEAST).reshape(x.size, thresholds.size, -1)
    log_prior_of_powers = -0.5 * (np.log(_POWERS) / _POWER_SPREAD) ** 2
    log_weight = (log_prior_of_powers[:, None] + _LAPSE_SHAPE * np.log1p(-_LAPSES)).ravel()
    log_weight = log_weight + np.tensordot(fell, np.log(detection), 1)
    log_weight += np.tensordot(pairs - fell, np.log1p(-detection), 1)
    weight = np.exp(log_weight - log_weight.max())
    reaches = np.tile(_LAPSES < 1 - TARGET, _POWERS.size)
    return Posterior(x, thresholds, reaches, np.asarray(weight / weight.sum()))


def few_doses(
    doses: npt.ArrayLike,
    differences: npt.ArrayLike,
    clusters: npt.ArrayLike | None = None,
) -> Psychometric:
    """What is known if each example has few of the doses, as `dhp.stats.psychometric.psychometric` says it.

    `fitted` is T75 of the posterior; power and lapse rate are the most probable ones. Parameters and errors
    as there. The interval holds the true T75, or that there is none, in 97 to 100 % of runs
    (`scripts/coverage.py few-doses --runs 100`, N = 24 and 100, two of 17 doses for each text).
    """
    scores = outcomes_by_best(differences, clusters)
    defined = ~np.isnan(scores)
    pairs, fell = defined.sum(axis=0), np.nansum(scores, axis=0)
    detection = np.where(pairs > 0, fell / np.maximum(pairs, 1), np.nan)
    if not (scores[defined] != 0.5).any():
        return Psychometric(detection, pairs, math.nan, math.nan, UNDEFINED)
    state = posterior(doses, pairs, fell)
    best = int(state.weight.sum(axis=0).argmax())
    power, lapse = _POWERS[best // _LAPSES.size], _LAPSES[best % _LAPSES.size]
    return Psychometric(detection, pairs, float(power), float(lapse), state.t75())
