"""Statistics of verdicts on pairs: wins, losses, ties, position bias, detection and D."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from dhp.judge.pairs import PairVerdict, majorities, two_order_score
from dhp.plugins.arena.statistics import PositionBias, position_bias, sign_flip_log_p
from dhp.stats.detection import detection_influences
from dhp.stats.discernment import discernment
from dhp.stats.influences import bonett_price_interval

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """What the verdicts in both orders say of one pair."""

    example: str
    category: str
    as_given: int | None
    """1 where the first text won, -1 the second, 0 a tie; None without a verdict. No final word."""
    swapped: int | None
    """Verdict with the second text shown first, coded as in `as_given`."""
    score: float | None
    """1, 0.5, 0, -0.5 or -1, positive for the first text; verdicts that flip with the order are a tie, unless
    a final word decides. None where an order has no verdict."""
    reason: str | None = None
    """Why there is no score."""
    scores: Interval | None = None
    """Mean scores of the first and the second text, where the answers hold scores."""

    @property
    def result(self) -> str:
        """`better`, `worse`, `tie` or `invalid`, of the first text."""
        if self.score is None:
            return "invalid"
        return "better" if self.score > 0 else "worse" if self.score < 0 else "tie"


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its 95 % interval; None where undefined."""

    value: float | None
    ci: Interval | None


@dataclass(frozen=True, slots=True)
class PairFigures:
    """The figures of the first system against the second one."""

    n: int
    """Number of pairs with a result, without the `invalid` ones."""
    wins: int
    losses: int
    ties: int
    invalid: int
    win_rate: Share
    """Share of pairs that the first system wins; ties count half."""
    win_rate_without_ties: Share
    mean_scores: Interval | None
    """Mean scores of the first and the second system, where the answers hold scores."""
    log_p: float
    """Log p-value of the one-sided exact sign-flip test that the first system is better."""
    p: float
    """Two-sided p-value."""
    bias: PositionBias | None
    """Position bias; None where no pair has both verdicts."""

    @property
    def d(self) -> float | None:
        """Discernment: does the judge see that the first is better; None without a pair."""
        return discernment(self.log_p) if self.n else None


def pair_outcomes(verdicts: Iterable[PairVerdict]) -> list[PairOutcome]:
    """One outcome for each pair and metric of one pair of systems, in the order of first occurrence."""
    by_pair: dict[tuple[str, str, str, str], list[PairVerdict]] = defaultdict(list)
    for v in verdicts:
        by_pair[v.pair.first.example, v.pair.first.variant, v.pair.second.variant, v.metric].append(v)
    return [_outcome(each) for each in by_pair.values()]


def _outcome(verdicts: Sequence[PairVerdict]) -> PairOutcome:
    pair = verdicts[0].pair
    given, swapped = majorities(verdicts)
    score = two_order_score(verdicts)
    scores = [v.scores for v in verdicts if v.scores is not None]
    reasons = dict.fromkeys(v.status for v in verdicts if v.choice is None and not v.final)
    return PairOutcome(
        pair.first.example,
        pair.category,
        given,
        swapped,
        score,
        ", ".join(reasons) if score is None else None,
        (fmean(s[0] for s in scores), fmean(s[1] for s in scores)) if scores else None,
    )


def pair_figures(outcomes: Sequence[PairOutcome]) -> PairFigures:
    """The figures of the outcomes of one system, or one kind of text, against another."""
    scores = [o.score for o in outcomes if o.score is not None]
    counts = {r: sum(o.result == r for o in outcomes) for r in ("better", "worse", "tie", "invalid")}
    log_p = sign_flip_log_p(scores)
    both = min(log_p, sign_flip_log_p([-score for score in scores]))
    means = [o.scores for o in outcomes if o.scores is not None]
    return PairFigures(
        len(scores),
        counts["better"],
        counts["worse"],
        counts["tie"],
        counts["invalid"],
        win_rate(scores),
        _without_ties(counts["better"], counts["worse"]),
        (fmean(m[0] for m in means), fmean(m[1] for m in means)) if means else None,
        log_p,
        min(1.0, 2 * math.exp(both)),
        position_bias(_points(o.as_given for o in outcomes), _points(o.swapped for o in outcomes)),
    )


def win_rate(scores: Sequence[float]) -> Share:
    """The share of scores above zero, zeros half, with Bonett and Price's interval; None without a score."""
    if not scores:
        return Share(None, None)
    found = detection_influences(np.asarray(scores, dtype=float)[:, None, None])
    low, high = (float(end[0, 0]) for end in bonett_price_interval(found))
    return Share(float(found.value[0, 0]), None if math.isnan(low) else (low, high))


def _without_ties(wins: int, losses: int) -> Share:
    from scipy.stats import binomtest

    if not wins + losses:
        return Share(None, None)
    found = binomtest(wins, wins + losses).proportion_ci(method="wilson")
    return Share(wins / (wins + losses), (float(found.low), float(found.high)))


def _points(choices: Iterable[int | None]) -> list[float]:
    return [math.nan if choice is None else float(choice) for choice in choices]
