"""Statistics of verdicts on pairs: wins, losses, ties, position bias, detection and D.

The verdicts of a judge are grouped by pair (`verdicts_by_pair`), those of one pair become an outcome
(`pair_outcome`), and the outcomes of two systems become figures (`pair_figures`).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import numpy.typing as npt

from dhp.judge.pairs import PairVerdict, majorities, two_order_score
from dhp.stats.arrays import Floats
from dhp.stats.bounds import mean_interval
from dhp.stats.detection import detection_influences
from dhp.stats.discernment import discernment
from dhp.stats.wilcoxon import signed_rank


@dataclass(frozen=True, slots=True)
class PositionBias:
    """How far the order of the texts decides."""

    share: float
    """Share of pairs whose verdict flips with the order."""
    toward_first: float | None
    """Share of the pairs that flip in which the text shown first is preferred; None if none flips."""
    ci: tuple[float, float]
    """Clopper and Pearson's exact 95 % interval of `share`."""
    p: float
    """Two-sided exact binomial test that flips prefer neither place; 1 if none flips."""
    flips: int
    n: int


def position_bias(as_given: npt.ArrayLike, swapped: npt.ArrayLike) -> PositionBias | None:
    """How often the verdict follows the place of a text.

    Both arrays, shape (pairs,), hold 1 if the first text of the pair won, -1 if the second won, 0 for a
    tie, NaN if there is no verdict; the texts are meant, not their places. In `swapped` the second is
    shown first. None if no pair has both verdicts.
    """
    from scipy.stats import beta, binomtest

    a = np.asarray(as_given, dtype=float)
    b = np.asarray(swapped, dtype=float)
    both = ~(np.isnan(a) | np.isnan(b))
    a, b = a[both], b[both]
    n = len(a)
    if not n:
        return None
    # The text that was shown first won in both orders; or the one that was shown second.
    first = int(((a > 0) & (b < 0)).sum())
    second = int(((a < 0) & (b > 0)).sum())
    flips = first + second

    # Clopper and Pearson: quantiles of beta distributions, which have no parameter 0; there the limit is
    # the end itself.
    low, high = 0.0, 1.0
    if flips > 0:
        low = float(beta.ppf(0.025, flips, n - flips + 1))
    if flips < n:
        high = float(beta.ppf(0.975, flips + 1, n - flips))

    toward_first, p = None, 1.0
    if flips > 0:
        toward_first = first / flips
        p = float(binomtest(first, flips).pvalue)
    return PositionBias(flips / n, toward_first, (low, high), p, flips, n)


def bradley_terry(wins: npt.ArrayLike, *, prior: float = 0.5, tolerance: float = 1e-10) -> Floats:
    """Strengths of players by the Bradley-Terry model (Bradley and Terry 1952; Hunter 2004).

    `wins[i, j]` is how often i beat j; a tie is half a win for both. `prior` wins and losses of each pair are
    added, so that a player who never lost has a finite strength; the iteration ends if no strength changes
    by more than `tolerance`. Natural logarithms, mean 0.
    """
    won = np.array(wins, dtype=float)
    off_diagonal = ~np.eye(len(won), dtype=bool)  # nobody plays against himself
    won = np.where(off_diagonal, won + prior, 0.0)
    # Games of every two players, with those of the prior.
    met = won + won.T
    strength = np.ones(len(won))
    if len(won) < 2:  # without an opponent the step below would divide by zero
        return np.zeros(len(won))
    for _ in range(10_000):  # far more than it takes; it only bounds a table that does not settle
        # Hunter's minorise-maximise step, which can only raise the likelihood.
        pace = met / (strength[:, None] + strength[None, :])
        new = won.sum(axis=1) / np.maximum(pace.sum(axis=1), 1e-300)  # not 0, of one who met nobody
        new = new / np.exp(np.log(new).mean())  # mean 0 of the logarithms, as only ratios are known
        done = np.abs(np.log(new) - np.log(strength)).max() < tolerance
        strength = new
        if done:
            break
    logs: Floats = np.log(strength)
    return logs


Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """What the verdicts in both orders say of one pair."""

    example: str
    category: str
    as_given: int | None
    """1 if the first text won, -1 the second, 0 a tie; None without a verdict. No final word."""
    swapped: int | None
    """Verdict with the second text shown first, coded as in `as_given`."""
    score: float | None
    """1, 0.5, 0, -0.5 or -1, positive for the first text; verdicts that flip with the order are a tie, unless
    a final word decides. None if neither order has a verdict, or an order got no answer."""
    reason: str | None = None
    """Why there is no score."""
    scores: Interval | None = None
    """Mean scores of the first and the second text, if the answers hold scores."""

    @property
    def flips(self) -> bool:
        """Whether the verdict follows the order of the texts."""
        if self.as_given is None or self.swapped is None:
            return False
        return self.as_given * self.swapped < 0  # 1 and -1: each order has another winner

    @property
    def result(self) -> str:
        """`better`, `worse`, `tie` or `invalid`, of the first text."""
        if self.score is None:
            return "invalid"
        if self.score == 0:
            return "tie"
        return "better" if self.score > 0 else "worse"


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its 95 % interval; None if undefined."""

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
    """Mean scores of the first and the second system, if the answers hold scores."""
    log_p: float
    """Log p-value of the one-sided exact sign-flip test that the first system is better."""
    p: float
    """Two-sided p-value."""
    bias: PositionBias | None
    """Position bias; None if no pair has both verdicts."""

    @property
    def d(self) -> float | None:
        """Discernment: does the judge see that the first is better; None without a pair."""
        return discernment(self.log_p) if self.n else None


PairKey = tuple[str, str, str, str]
"""Example, first system, second system, metric."""


def verdicts_by_pair(verdicts: Iterable[PairVerdict]) -> dict[PairKey, list[PairVerdict]]:
    """The answers of the judge about each pair by each metric, in the order of first occurrence."""
    by_pair: dict[PairKey, list[PairVerdict]] = defaultdict(list)
    for verdict in verdicts:
        first, second = verdict.pair.first, verdict.pair.second
        by_pair[first.example, first.variant, second.variant, verdict.metric].append(verdict)
    return by_pair


def pair_outcome(verdicts: Sequence[PairVerdict]) -> PairOutcome:
    """What all verdicts on a pair by a metric say together."""
    pair = verdicts[0].pair
    as_given, swapped = majorities(verdicts)
    score = two_order_score(verdicts)
    reasons: dict[str, None] = {}  # in the order in which they come
    for verdict in verdicts:
        # A final word that is missing costs no score: the pair is a tie then.
        if verdict.choice is None and not verdict.final:
            reasons[verdict.status] = None
    return PairOutcome(
        example=pair.first.example,
        category=pair.category,
        as_given=as_given,
        swapped=swapped,
        score=score,
        reason=", ".join(reasons) if score is None else None,
        scores=_mean_scores(v.scores for v in verdicts),
    )


def _mean_scores(scores: Iterable[Interval | None]) -> Interval | None:
    """The mean scores of the first and the second text; None if no answer holds scores."""
    known = [both for both in scores if both is not None]
    if not known:
        return None
    firsts = [first for first, _ in known]
    seconds = [second for _, second in known]
    return fmean(firsts), fmean(seconds)


def pair_figures(outcomes: Sequence[PairOutcome]) -> PairFigures:
    """The figures of the outcomes of one system, or one kind of text, against another."""
    scores = [each.score for each in outcomes if each.score is not None]
    counts = Counter(each.result for each in outcomes)
    log_p, p = 0.0, 1.0
    if scores:  # without a preference each sign of a score is as likely as the other
        # `signed_rank` gives the logarithm of p.
        log_p = signed_rank(scores, "sign-flip")
        p = math.exp(signed_rank(scores, "sign-flip", "two-sided"))
    as_given = points(each.as_given for each in outcomes)
    swapped = points(each.swapped for each in outcomes)
    return PairFigures(
        n=len(scores),
        wins=counts["better"],
        losses=counts["worse"],
        ties=counts["tie"],
        invalid=counts["invalid"],
        win_rate=win_rate(scores),
        win_rate_without_ties=_without_ties(counts["better"], counts["worse"]),
        mean_scores=_mean_scores(each.scores for each in outcomes),
        log_p=log_p,
        p=p,
        bias=position_bias(as_given, swapped),
    )


def win_rate(scores: Sequence[float]) -> Share:
    """The share of scores above zero, zeros half, with its 95 % interval; None without a score."""
    if not scores:
        return Share(None, None)
    # One kind of damage and one metric, as detection has them; its share is that of differences above 0.
    differences = np.asarray(scores, dtype=float)[:, None, None]
    influences = detection_influences(differences)
    lows, highs = mean_interval(influences)
    low, high = float(lows[0, 0]), float(highs[0, 0])
    ci = None if math.isnan(low) else (low, high)  # of one pair there is no interval
    return Share(float(influences.value[0, 0]), ci)


def _without_ties(wins: int, losses: int) -> Share:
    """The share of wins among pairs that are no tie, with Wilson's 95 % interval."""
    from scipy.stats import binomtest

    decided = wins + losses
    if not decided:
        return Share(None, None)
    interval = binomtest(wins, decided).proportion_ci(method="wilson")
    return Share(wins / decided, (float(interval.low), float(interval.high)))


def points(choices: Iterable[int | None]) -> list[float]:
    """Verdicts as numbers, NaN without one."""
    return [math.nan if choice is None else float(choice) for choice in choices]
