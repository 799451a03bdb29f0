"""Staircases: which dose tells most about a threshold, and what the answers so far say of it.

T75 of `dhp.stats.psychometric` by Bayes' rule over a grid of thresholds, powers and lapse rates. The next
dose is the one whose answer leaves the least entropy on average.
"""

import math
from dataclasses import dataclass, replace

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

_POWERS = np.exp(np.linspace(math.log(0.5), math.log(3), 5))
_POWER_SPREAD = 0.5  # prior standard deviation of the logarithm of the power, around a power of 1
_LAPSES = np.array([0, 0.06, 0.12, 0.18, 0.24, 0.26, 0.32, 0.4, 0.5])
_LAPSE_SHAPE = 8.0  # of the prior (1 - lapse) ** shape
_LEAST = 1e-3  # probability of any outcome


@dataclass(frozen=True, slots=True)
class Staircase:
    """What is known of a judge's threshold for one kind of damage after some answers."""

    doses: Floats
    """Doses that may be asked about, increasing, shape (D,)."""
    thresholds: Floats
    """Possible thresholds, evenly spaced on a log scale, shape (T,): T75, or the dose at half of the rise of
    a curve that does not reach 75 %."""
    reaches: Bools
    """Whether the curve of each pair of power and lapse rate reaches 75 %, shape (S,)."""
    detection: Floats
    """Detection at each dose under each threshold and each pair of power and lapse rate, shape (D, T, S)."""
    log_posterior: Floats
    """Log posterior, not normalised, shape (T, S)."""
    answers: int
    moved: bool
    """Whether any score moved."""

    def next_doses(self, count: int = 1) -> list[float]:
        """The doses to ask about next.

        Of several to be asked at once each takes the answers to those before it as they are expected.
        """
        chosen, state = [], self
        for _ in range(count):
            at = state._most_telling()
            chosen.append(float(self.doses[at]))
            if len(chosen) < count:
                expected = float((state.detection[at] * state._posterior()).sum())
                state = state._updated(at, expected)
        return chosen

    def updated(self, dose: float, score: float) -> "Staircase":
        """After one more pair of texts.

        `dose` is one of `doses`, and `score` is 1 where the score fell, 1/2 where it tied, 0 where it rose,
        or between these; else `ValueError`.
        """
        at = np.flatnonzero(self.doses == dose)
        if not at.size or not 0 <= score <= 1:
            raise ValueError(f"dose must be one of `doses` and score in [0, 1], not {dose} and {score}")
        updated = self._updated(int(at[0]), score)
        return replace(updated, answers=self.answers + 1, moved=self.moved or score != 0.5)

    def after(self, doses: npt.ArrayLike, scores: npt.ArrayLike) -> "Staircase":
        """After the answers to many pairs of texts, of one shape; as `updated` after each."""
        at, outcomes = np.searchsorted(self.doses, doses), np.asarray(scores, dtype=np.float64)
        fell, pairs = (np.bincount(at, w, self.doses.size) for w in (outcomes, np.ones(outcomes.shape)))
        log_likelihood = np.tensordot(fell, np.log(self.detection), 1)
        log_likelihood += np.tensordot(pairs - fell, np.log1p(-self.detection), 1)
        return replace(
            self,
            log_posterior=self.log_posterior + log_likelihood,
            answers=self.answers + outcomes.size,
            moved=self.moved or bool((outcomes != 0.5).any()),
        )

    def t75(self, level: float = 0.95) -> tuple[float, float, float]:
        """Posterior median and the central credible interval of this level, in (0, 1).

        Undefined (NaN) as long as no score has moved. The interval takes answers for independent; ties and
        means over metrics vary less than it assumes, which makes it wide.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, not {level}")
        if not self.moved:
            return UNDEFINED
        share = self._of_t75(self._posterior())[:-1]
        below, ends = share.cumsum() - share / 2, (0.5, (1 - level) / 2, (1 + level) / 2)
        logs = np.interp(ends, below, np.log(self.thresholds))
        value, low, high = (self._within(math.exp(log)) for log in logs)
        return value, low, high

    def _within(self, threshold: float) -> float:
        if threshold > self.doses[-1]:
            return math.inf
        return threshold if threshold >= self.doses[0] else 0.0

    def _posterior(self) -> Floats:
        weight = np.exp(self.log_posterior - self.log_posterior.max())
        return np.asarray(weight / weight.sum())

    def _of_t75(self, weight: Floats) -> Floats:
        """Weights of shape (..., T, S) by T75, shape (..., T + 1): the last is that of none."""
        none = weight[..., ~self.reaches].sum(axis=(-2, -1))
        return np.concatenate([weight[..., self.reaches].sum(axis=-1), none[..., None]], axis=-1)

    def _most_telling(self) -> int:
        joint = self._posterior()
        fell = self._of_t75(self.detection * joint)
        entropy = np.zeros(self.doses.size)
        for outcome in (fell, self._of_t75(joint) - fell):
            share = np.maximum(outcome / outcome.sum(axis=1, keepdims=True), 1e-300)
            entropy -= outcome.sum(axis=1) * (share * np.log(share)).sum(axis=1)
        return int(entropy.argmin())

    def _updated(self, at: int, score: float) -> "Staircase":
        p = self.detection[at]
        return replace(
            self, log_posterior=self.log_posterior + score * np.log(p) + (1 - score) * np.log1p(-p)
        )


def staircase(doses: npt.ArrayLike) -> Staircase:
    """A staircase before the first answer.

    `doses` of shape (D,) may be asked about; raises `ValueError` unless they are positive and increasing.
    """
    x = checked_doses(doses)
    t = threshold_grid(x)
    p = curve(x[:, None, None, None], t[:, None, None], _POWERS[:, None], _LAPSES)
    p = np.clip(p, _LEAST, 1 - _LEAST).reshape(x.size, t.size, -1)
    powers = -0.5 * (np.log(_POWERS) / _POWER_SPREAD) ** 2
    prior = (powers[:, None] + _LAPSE_SHAPE * np.log1p(-_LAPSES)).ravel()
    reaches = np.tile(_LAPSES < 1 - TARGET, _POWERS.size)
    return Staircase(x, t, reaches, p, np.broadcast_to(prior, p.shape[1:]).copy(), 0, False)


def searched(
    doses: npt.ArrayLike,
    differences: npt.ArrayLike,
    clusters: npt.ArrayLike | None = None,
) -> Psychometric:
    """What is known if each example has few of the doses, as `dhp.stats.psychometric.psychometric` says it.

    `fitted` is T75 of the posterior; power and lapse rate are the most probable ones. Parameters and errors
    as there. A bootstrap over such examples would be too narrow: 90 to 93 % of its 95 % intervals held the
    true T75, 97 to 99 % of these (`scripts/staircase.py`).
    """
    scores = outcomes_by_best(differences, clusters)
    defined = ~np.isnan(scores)
    pairs, fell = defined.sum(axis=0), np.nansum(scores, axis=0)
    detection = np.where(pairs > 0, fell / np.maximum(pairs, 1), np.nan)
    if not (scores[defined] != 0.5).any():
        return Psychometric(detection, pairs, math.nan, math.nan, UNDEFINED)
    asked = np.broadcast_to(checked_doses(doses), scores.shape)[defined]
    state = staircase(doses).after(asked, scores[defined])
    best = int(state._posterior().sum(axis=0).argmax())
    power, lapse = _POWERS[best // _LAPSES.size], _LAPSES[best % _LAPSES.size]
    return Psychometric(detection, pairs, float(power), float(lapse), state.t75())
