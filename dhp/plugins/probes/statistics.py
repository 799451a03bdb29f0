"""Figures of the probes: arrays of scores in, shares with intervals out.

Each probe has a function (`moves`, `rise`, `calibration`, `stability`) below the record of its figures. All
take changes as parts of the scale (`_steps`), compare them with those of the same text asked again
(`_noise`), and average over examples (`with_interval`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from dhp.analysis.control_state import control_state
from dhp.analysis.verdict_rule import verdicts
from dhp.core.verdicts import Verdict
from dhp.stats.arrays import Floats
from dhp.stats.controls import movements
from dhp.stats.defaults import FLOOR
from dhp.stats.detection import FEWEST_PAIRS, detection
from dhp.stats.flips import flip_log_p
from dhp.stats.influences import (
    Influences,
    mean_influences,
    student_interval,
    wilson_interval,
)

MARGIN = 2 * FLOOR - 1
"""Net share of scores that move below which a change counts for little: that of a detection at the floor, as
detection is P(fell) + P(tied) / 2."""
DAMAGE = 0.1
"""Part of the scale that stands for what damage costs if none was rated. Chosen."""
MOST_POINTS = 21
"""Points of a scale that are counted one by one; a longer scale is counted in tenths. Chosen: 0 to 20
is still counted one by one."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over examples: a share, a part of the scale, or a difference."""

    value: float | None
    """In [0, 1], a difference or a change in [-1, 1]; None without a score."""
    ci: tuple[float, float] | None
    """95 % interval, unless another level is said; None with fewer than two examples."""
    n: int
    """Number of examples that it rests on."""


def with_interval(
    mean: Influences,
    clusters: npt.ArrayLike | None = None,
    *,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    level: float = 0.95,
) -> Figure:
    """A mean with its interval: Wilson's between two bounds, else Student's.

    The width of Student's is 0 if all examples are alike (`dhp.stats.influences`).
    """
    value, n = float(mean.value), int(mean.defined.sum())
    if bounds is None:
        ends = student_interval(mean, clusters, level)
    else:
        ends = wilson_interval(mean, clusters, level, bounds)
    low, high = float(ends[0]), float(ends[1])
    if math.isnan(value):
        return Figure(None, None, n)
    if math.isnan(low) or math.isnan(high):
        return Figure(value, None, n)
    if bounds is not None:  # rounding may lead past them
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Figure(value, (low, high), n)


_DIFFERENCE = (-1.0, 1.0)


def compared_with_zero(mean: Figure, words: tuple[str, str, str]) -> str:
    """What the interval of a difference says, in the probe's `words` for much, a little, and not.

    Much: all of it lies above 0, and it reaches `MARGIN`. A little: above 0 and below `MARGIN`. Not: it holds
    0 and ends below `MARGIN`. Else, and with fewer than five examples, `undecided`.
    """
    if mean.ci is None or mean.n < FEWEST_PAIRS:
        return "undecided"
    low, high = mean.ci
    if low > 0:
        return words[0] if high >= MARGIN else words[1]
    return words[2] if high < MARGIN else "undecided"


@dataclass(frozen=True, slots=True)
class Moves:
    """Scores of a changed text beside those of the same text asked again."""

    moved: Figure
    """Share of the scores that differ from those of the original."""
    again: Figure
    """Share of the scores of the same text, asked again, that differ: noise. Of the same examples."""
    size: float | None
    """Mean absolute change, as a part of the scale."""
    again_size: float | None
    """Mean absolute change of the same text asked again, as a part of the scale."""
    change: Figure
    """Mean change, as a part of the scale; negative if scores fell."""
    state: Verdict
    """The state of a control of a run, from the first rating of the original; see
    `dhp.analysis.control_state`."""
    share: float | None
    """Mean change by the metric that decides the state, in the direction in which it moves, as a share of
    what the mildest damage costs that it notices; None if no damage lowers it."""


def moves(
    originals: Floats,
    changed: Floats,
    spans: Floats,
    clusters: npt.ArrayLike | None = None,
    damage: Sequence[Floats] = (),
) -> Moves:
    """How many scores a change moves, and by how much, beside noise and damage.

    The changed text is compared with each repetition of the original, and each two repetitions with one
    another: without an effect both shares have the same expectation. Scores of the original have the shape
    (R, n, M), R at least 2, those of the changed text and of damaged copies (n, M), NaN without a score; an
    example counts by a metric if all scores are there. `spans` are the lengths of the metrics' scales;
    examples with the same integer in `clusters` belong together. Without damaged copies a tenth of the scale
    stands for what damage costs.
    """
    # Change and noise of the same examples, else they could not be compared.
    defined = ~np.isnan(originals).any(axis=0) & ~np.isnan(changed)
    # Both arrays have the shape (examples, comparisons, metrics).
    by_change = np.where(defined[:, None], _against(originals, changed, spans), np.nan)
    by_noise = np.where(defined[:, None], _noise(originals, spans), np.nan)
    state, share = _state(originals[0], changed, spans, clusters, damage)
    return Moves(
        moved=with_interval(mean_influences(_moved(by_change)), clusters),
        again=with_interval(mean_influences(_moved(by_noise)), clusters),
        size=_mean(np.abs(by_change)),
        again_size=_mean(np.abs(by_noise)),
        change=with_interval(mean_influences(by_change), clusters, bounds=None),
        state=state,
        share=share,
    )


def _state(
    original: Floats,
    changed: Floats,
    spans: Floats,
    clusters: npt.ArrayLike | None,
    damage: Sequence[Floats],
) -> tuple[Verdict, float | None]:
    """State and share of `Moves`."""
    # As in a run a drop is positive, and the second axis holds variants: here the change alone.
    control = -_steps(original, changed, spans)[:, None]
    scores_move = True
    if damage:
        beside = np.stack([-_steps(original, copy, spans) for copy in damage], axis=1)
        words = verdicts(detection(beside, ["all"] * len(damage), clusters), flip_log_p(beside, clusters))
        noticed = [word.is_noticed for word in words]
        # A judge whose scores never move, whatever is done to a text, is not shown to be still.
        scores_move = bool(np.nan_to_num(np.concatenate([control, beside], axis=1)).any())
    else:
        beside, noticed = np.full(control.shape, DAMAGE), [True]

    (movement,) = movements(control, beside, noticed, clusters)
    state, metric = control_state(movement, scores_move=scores_move)
    has_damage = movement.against[metric] >= 0  # the number of the mildest damage, -1 without any
    return state, float(movement.share[metric]) if has_damage else None


def _against(originals: Floats, changed: Floats, spans: Floats) -> Floats:
    """Changes from each repetition of the original, shape (n, R, M)."""
    return np.stack([_steps(first, changed, spans) for first in originals], axis=1)


def _noise(originals: Floats, spans: Floats) -> Floats:
    """Changes from each repetition to each later one, shape (n, R (R - 1) / 2, M)."""
    return np.stack([_steps(a, b, spans) for a, b in combinations(originals, 2)], axis=1)


_ROUNDING = 1e-9
"""Changes, as a share of the scale, that are owed to floating point: means of samples are not exact."""


def _steps(first: Floats, other: Floats, spans: Floats) -> Floats:
    """By how much of the scale scores rose; exactly 0 if nothing but floating point changed."""
    # Metrics are the last axis of all scores, so each is divided by the length of its scale.
    step = (other - first) / spans
    return np.where(np.abs(step) <= _ROUNDING, 0.0, step)


def _moved(steps: Floats) -> Floats:
    # NaN stays: a text without a score has neither moved nor stayed.
    return np.where(np.isnan(steps), np.nan, steps != 0)


def _above_zero(values: Floats) -> Floats:
    return np.where(np.isnan(values), np.nan, values > 0)


def _mean(values: Floats) -> float | None:
    return None if np.isnan(values).all() else float(np.nanmean(values))


@dataclass(frozen=True, slots=True)
class Dose:
    """Scores of texts with so many additions, or damages, against the original."""

    k: int
    rose: Figure
    fell: Figure
    net: Figure
    """`rose` less `fell`."""
    change: float | None
    """Mean change, as a share of the scale."""


@dataclass(frozen=True, slots=True)
class Rise:
    """Whether padding lifts scores."""

    doses: tuple[Dose, ...]
    net: Figure
    """`rose` less `fell` over all doses."""
    again: Dose
    """The same text asked again: noise."""
    state: str
    """`rises`, `rises a little`, `does not rise` or `undecided`."""


def rise(
    originals: Floats,
    padded: Mapping[int, Floats],
    spans: Floats,
    clusters: npt.ArrayLike | None = None,
) -> Rise:
    """Dose-response of padding; `padded` maps numbers of sentences to scores, the rest is as for `moves`."""
    doses, all_changes = [], []
    for k, scores in padded.items():
        changes = _against(originals, scores, spans)
        doses.append(_dose(k, changes, clusters))
        all_changes.append(changes)
    # Shape (examples, doses, repetitions, metrics).
    signs = np.sign(np.stack(all_changes, axis=1))
    net = with_interval(mean_influences(signs), clusters, bounds=_DIFFERENCE)
    return Rise(
        doses=tuple(doses),
        net=net,
        again=_dose(0, _noise(originals, spans), clusters),
        state=compared_with_zero(net, ("rises", "rises a little", "does not rise")),
    )


def _dose(k: int, steps: Floats, clusters: npt.ArrayLike | None, level: float = 0.95) -> Dose:
    net = with_interval(mean_influences(np.sign(steps)), clusters, bounds=_DIFFERENCE, level=level)
    rose = with_interval(mean_influences(_above_zero(steps)), clusters)
    fell = with_interval(mean_influences(_above_zero(-steps)), clusters)
    return Dose(k, rose, fell, net, _mean(steps))


@dataclass(frozen=True, slots=True)
class Calibration:
    """How scores fall with the number of damages."""

    means: dict[int, float | None]
    """Number of damages -> mean place on the scale, 0 at its worst end, 1 at its best."""
    order: Figure
    """Pairs of texts of one example whose more damaged one scores lower, ties half; 50 % is blind."""
    reversed: Figure
    """Pairs whose more damaged text scores higher."""
    again: Figure
    """The same text asked again that scores higher: noise."""
    steps: tuple[Dose, ...]
    """Each number of damages against the one before it; intervals of `net` hold for all of them together."""
    rises_at: tuple[int, ...]
    """Numbers of damages at which scores rise, beyond chance."""
    state: str
    """`falls`, `not monotone`, `flat` or `undecided`."""


def calibration(
    doses: Sequence[int],
    scores: Floats,
    originals: Floats,
    spans: Floats,
    lows: Floats,
    clusters: npt.ArrayLike | None = None,
) -> Calibration:
    """Whether scores fall as damages are added.

    Doses are numbers of damages, rising, the first 0. `scores` have the shape (doses, n, M), NaN without a
    score; damages of a smaller dose should be among those of a larger one. `originals`, shape (R, n, M), are
    scores of the undamaged text, asked R times, at least 2. `spans` and `lows` are length and lower end of
    each metric's scale; examples with the same integer in `clusters` belong together.
    """
    # Every two doses of an example, the less damaged one first.
    by_pair = [_steps(less, more, spans) for less, more in combinations(scores, 2)]
    pairs = np.stack(by_pair, axis=1)

    # Each dose against the one before it, to see where scores rise.
    level = 1 - 0.05 / (len(doses) - 1)  # Bonferroni: all steps together
    steps, rises_at = [], []
    for place, k in enumerate(doses[1:], 1):
        step = _dose(k, _steps(scores[place - 1], scores[place], spans), clusters, level)
        steps.append(step)
        if compared_with_zero(step.net, ("rises", "rises", "does not")) == "rises":
            rises_at.append(k)

    # 1 if the more damaged text scores lower, -1 if it scores higher.
    fell = with_interval(mean_influences(-np.sign(pairs)), clusters, bounds=_DIFFERENCE)
    state = compared_with_zero(fell, ("falls", "falls", "flat"))
    # `flat` only says that scores do not fall; an interval that ends below 0 says that they rise.
    if rises_at or (state == "flat" and fell.ci is not None and fell.ci[1] < 0):
        state = "not monotone"

    means = {}
    for k, of_dose in zip(doses, scores, strict=True):
        means[k] = _mean((of_dose - lows) / spans)
    higher = _above_zero(pairs)
    higher_again = _above_zero(_noise(originals, spans))
    return Calibration(
        means=means,
        # 1 if the more damaged text scores lower, a half for a tie, 0 if it scores higher.
        order=with_interval(mean_influences((1 - np.sign(pairs)) / 2), clusters),
        reversed=with_interval(mean_influences(higher), clusters),
        again=with_interval(mean_influences(higher_again), clusters),
        steps=tuple(steps),
        rises_at=tuple(rises_at),
        state=state,
    )


def points_used(scores: npt.ArrayLike, low: float, high: float) -> dict[str, float]:
    """Point of the scale -> share of the scores there, of all points from the lowest.

    The whole numbers of a scale with at most `MOST_POINTS` of them, if all scores are whole; else tenths
    of the scale. `scores` has any shape; NaN is no score.
    """
    x = np.asarray(scores, dtype=np.float64).ravel()
    x = x[~np.isnan(x)]
    # A score between two points, such as 3.5, would be counted for neither.
    whole = float(low).is_integer() and float(high).is_integer() and (x == np.round(x)).all()
    if whole and high - low < MOST_POINTS:  # a count for each point
        points = np.arange(low, high + 1)
        counts = (x[:, None] == points).sum(axis=0)
        names = [f"{point:g}" for point in points]
    else:
        counts, ends = np.histogram(x, bins=10, range=(low, high))
        names = [f"{a:.4g} to {b:.4g}" for a, b in pairwise(ends)]
    # Without a score all shares are 0.
    shares = counts / max(1, x.size)
    return dict(zip(names, shares.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Stability:
    """What repeating the same requests changes."""

    flips: Figure
    """Two repetitions put original and damaged text into opposite orders."""
    changes: Figure
    """Two repetitions order them in another way, ties included."""
    identical: Figure
    """Texts whose scores are all the same."""
    size: float | None
    """Mean absolute difference of two scores of the same text, as a share of the scale."""
    state: str
    """`stable`, `unstable` or `undecided`."""


def stability(
    original: Floats, damaged: Floats, spans: Floats, clusters: npt.ArrayLike | None = None
) -> Stability:
    """How often the order of an original and its damaged copy changes when both are asked again.

    Repetition r of the original is compared with repetition r of the copy, and each two repetitions with one
    another: the share of flips is an unbiased estimate of the probability that two runs disagree. Scores have
    the shape (K, n, M), of K repetitions, at least 2; NaN without a score. `spans` and `clusters` are as for
    `moves`.
    """
    orders = np.sign(_steps(original, damaged, spans))  # -1 if the copy scores lower, 1 if higher
    products, differences = [], []
    for one, other in combinations(orders, 2):
        # -1 if the two orders are opposite, 0 if one of them is a tie.
        products.append(one * other)
        differences.append(_moved(one - other))
    opposite = _above_zero(-np.stack(products, axis=1))
    flips = with_interval(mean_influences(opposite), clusters)

    # Scores of one text from repetition to repetition; original and copy are like two metrics here.
    both = np.concatenate([original, damaged], axis=2)
    between = _noise(both, np.concatenate([spans, spans]))
    # NaN == 0 is False: a text that lacks a score would count as one whose scores differ.
    lacking = np.isnan(between).any(axis=1)
    same = np.where(lacking, np.nan, (between == 0).all(axis=1))

    state = "undecided"
    if flips.ci is not None and flips.n >= FEWEST_PAIRS:
        low, high = flips.ci
        if high < MARGIN:
            state = "stable"
        elif low >= MARGIN:
            state = "unstable"
    return Stability(
        flips=flips,
        changes=with_interval(mean_influences(np.stack(differences, axis=1)), clusters),
        identical=with_interval(mean_influences(same), clusters),
        size=_mean(np.abs(between)),
        state=state,
    )
