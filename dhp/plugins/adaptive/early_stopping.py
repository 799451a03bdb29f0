"""Early stopping: runs that stop rating a kind of damage once its verdict is decided.

The examples are asked about in a random order, with interim analyses after a quarter, a half, three quarters
and all of them. A variant is resolved if the examples that it got show that it is noticed, missed or
preferred, by the one rule of all runs. The tests share their error between the analyses and the kinds
(Bonferroni), so that a judge that notices nothing is said to have noticed something no more often than after
a single analysis, and a kind that is resolved stays so; p is the repeated p-value (`repeated_log_p`).
Controls and attacks are asked about all examples and have one analysis.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from dhp.analysis.schedules import Course, RatedSoFar, Schedule
from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL, STOPPED, Candidate
from dhp.core.seeding import stream, text_hash
from dhp.stats.arrays import Floats
from dhp.stats.discernment import LOG_ALPHA

if TYPE_CHECKING:
    import pandas as pd


SHARES = (0.25, 0.5, 0.75, 1.0)
"""Shares of the examples after which there is an interim analysis."""
ALPHA = 0.05
_NODES = 200  # of the integration; 100 give the same to ten digits
_FAR = 8.0  # standard deviations beyond which nothing is integrated
_LEVELS = (-5.5, 2.5, 41)  # normal deviates of the levels between which repeated p-values are interpolated


def interim_sizes(n: int) -> tuple[int, ...]:
    """How many of n examples each interim analysis has seen, rising to n; there are at most four."""
    if n < 1:
        raise ValueError(f"there must be an example, not {n}")
    return tuple(sorted({math.ceil(share * n) for share in SHARES}))


def spent(fraction: float, alpha: float = ALPHA) -> float:
    """Alpha spending of O'Brien and Fleming's type: the error up to a share of the examples in (0, 1].

    2 - 2 Phi(z / sqrt(fraction)), z being the upper alpha / 2 quantile: nearly nothing early, alpha at 1.
    """
    from scipy.special import ndtr, ndtri

    return float(2 * ndtr(ndtri(alpha / 2) / math.sqrt(fraction)))


@lru_cache
def boundaries(fractions: tuple[float, ...], alpha: float = ALPHA) -> tuple[float, ...]:
    """The boundary of each interim analysis: the largest one-sided p-value of its own that finds something.

    Under the null hypothesis some analysis reaches its boundary in `alpha` of cases, and no more whatever
    ends the run: exactly so for standardised sums of independent terms, nearly for signed-rank tests, and for
    what is combined of several as nearly as a single combination keeps its level. The fractions are the
    shares of the examples that each analysis has seen, rising within (0, 1], else `ValueError`. `alpha`, in
    (0, 1), is spent by the share 1, by `spent` before it.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr

    steps = list(pairwise((0.0, *fractions)))
    if not steps or min(b - a for a, b in steps) <= 0 or fractions[-1] > 1:
        raise ValueError(f"fractions must rise within (0, 1], not {fractions}")
    at, mass, found = np.zeros(1), np.ones(1), []
    for so_far, fraction in steps:
        step = math.sqrt(fraction - so_far)
        due = spent(fraction, alpha) - (spent(so_far, alpha) if so_far else 0.0)

        def excess(limit: float) -> float:
            """Probability to pass `limit` now and no limit before, minus the error rate to spend."""
            return float(mass @ ndtr((at - limit) / step)) - due  # noqa: B023  used up within the turn

        limit = float(brentq(excess, -_FAR, 40 * math.sqrt(fraction), xtol=1e-13))
        found.append(float(ndtr(-limit / math.sqrt(fraction))))
        nodes, weights = _gauss()
        low = -_FAR * math.sqrt(fraction)
        half = (limit - low) / 2
        new = low + half * (nodes + 1)
        density = np.exp(-(((new[:, None] - at) / step) ** 2) / 2) / (step * math.sqrt(2 * math.pi))
        at, mass = new, half * weights * (density @ mass)
    return tuple(found)


def repeated_log_p(log_p: npt.ArrayLike, fractions: tuple[float, ...], number: int) -> Floats:
    """Repeated p-values: what a p-value of one analysis is worth where there are several.

    The smallest level at which that analysis would meet its boundary (Jennison and Turnbull 2000, section
    9.2). The smallest over all analyses is at most a with probability a under the null hypothesis, for every
    a, whatever ends the run, so that it can be adjusted further, by Holm's method for one. `log_p` are
    natural logs of one-sided p-values of analysis `number`, from 1, of any shape; NaN stays NaN. The result
    is at least `log_p` and at most 0, interpolated between levels, exact at 0.05.
    """
    from scipy.special import log_ndtr, ndtri_exp

    logs = np.asarray(log_p, dtype=np.float64)
    own, overall = _deviates(fractions)
    with np.errstate(invalid="ignore"):
        deviate = ndtri_exp(logs)
        # Beyond the table all that was spent before is nothing beside what is spent now.
        beyond = math.log(2) + log_ndtr(ndtri_exp(logs - math.log(2)) * math.sqrt(fractions[number - 1]))
        within = log_ndtr(np.interp(deviate, own[:, number - 1], overall, right=math.inf))
    found = np.where(deviate < own[0, number - 1], beyond, within)
    return np.asarray(np.where(np.isnan(logs), np.nan, np.clip(found, logs, 0.0)))


@cache
def _gauss() -> tuple[Floats, Floats]:
    """Nodes and weights of the integration over [-1, 1]."""
    return np.polynomial.legendre.leggauss(_NODES)


@lru_cache
def _deviates(fractions: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Normal deviates of the boundaries of each analysis, shape (levels, analyses), and of the levels."""
    from scipy.special import ndtr, ndtri

    at = np.sort(np.append(np.linspace(*_LEVELS), ndtri(ALPHA)))
    return np.array([ndtri(boundaries(fractions, float(ndtr(z)))) for z in at]), at


class EarlyStopping(Schedule):
    """Stops rating a kind of damage once its verdict is decided."""

    name = "stop_when_resolved"
    column = "look"
    signed = "+looks"
    limit = "variants that are resolved early need fewer ratings"
    unrated = True

    def check(self, combination: str, doses: object) -> None:
        """Raise `InputError` where curves need all examples, and for a combination that stops by chance."""
        if doses:
            raise InputError(f"`doses`: cannot be used with `{self.name}`, as curves need all their examples")
        if combination == "printed":
            raise InputError(
                f"`{self.name}`: the combination 'printed' finds too much by chance to stop by it; "
                "allowed: hmp, hmp-asymptotic, joint"
            )

    def plan(
        self, candidates: Sequence[Candidate], metrics: Sequence[str], seed: int, dataset: str
    ) -> "InterimPlan":
        """The examples by interim analysis."""
        return InterimPlan(candidates, interim_numbers({c.example for c in candidates}, seed, dataset))

    def read(self, table: "pd.DataFrame", place: str) -> "InterimAnalyses | None":
        """The interim analyses in a ratings table, from its columns `look` and `status`; None without any.

        Raises `InputError` where they contradict each other.
        """
        import pandas as pd

        stopped = table["status"] == STOPPED
        if (
            "look" not in table
            or (table["look"].isna() | (table["look"].astype(str).str.strip() == "")).all()
        ):
            if stopped.any():
                raise InputError(
                    f"{place}: status '{STOPPED}' needs a column 'look' with the number of the interim "
                    "analysis that each example came with"
                )
            return None
        number = pd.to_numeric(table["look"], errors="coerce")
        by_example = number.groupby(table["example"], sort=False)
        last = int(number.max()) if number.max() < len(number) else 0
        same = number.notna().all() and (by_example.min() == by_example.max()).all()
        if not same or set(number) != set(range(1, last + 1)):
            raise InputError(
                f"{place}: column 'look': allowed: one number for each example, counted 1, 2, ... "
                "without a gap"
            )
        ended = (number[stopped].groupby(table["variant"]).min() - 1).to_dict()
        lasts = {name: int(ended.get(name, last)) for name in table["variant"].unique() if name != ORIGINAL}
        late = ~stopped & (number > table["variant"].map({**lasts, ORIGINAL: last}))
        if late.any() or min(lasts.values(), default=1) < 1:
            raise InputError(
                f"{place}: status '{STOPPED}' of a variant: allowed from look 2 on, at all later looks"
            )
        return InterimAnalyses({str(name): int(first) for name, first in by_example.min().items()}, lasts)


SCHEDULE = EarlyStopping()


@dataclass(frozen=True, slots=True)
class InterimAnalyses(Course):
    """The course of such a run, as its ratings table tells it; the analyses are numbered from 1 on."""

    schedule: ClassVar[Schedule] = SCHEDULE

    examples: Mapping[str, int]
    """Example -> the analysis before which it was asked about."""
    last: Mapping[str, int]
    """Variant -> the analysis at which it ended: where it was resolved, else the last of all."""

    @property
    def analyses(self) -> int:
        """How many there are."""
        return max(self.examples.values())

    @property
    def text(self) -> str:
        """All of it, in an order of its own."""
        return repr([sorted(self.examples.items()), sorted(self.last.items())])

    def size(self, examples: int) -> str:
        """The most examples that a variant could get, and a hash of what it got."""
        return f"<={examples}@{text_hash(self.text)}"

    def reached(self, variant: str, examples: int) -> int:
        """How many examples had been asked about when a variant ended."""
        if variant not in self.last:
            return examples
        return sum(number <= self.last[variant] for number in self.examples.values())

    def adjusted(self, d: float, variant: str) -> float:
        """D of a variant by its repeated p-value: at least 1 where it meets its boundary.

        Unchanged for a variant that is not among them.
        """
        if variant not in self.last:
            return d
        sizes = np.bincount(list(self.examples.values()))[1:].cumsum()
        fractions = tuple((sizes / sizes[-1]).tolist())
        return float(repeated_log_p(d * LOG_ALPHA, fractions, self.last[variant])) / LOG_ALPHA + 0.0


class InterimPlan:
    """The rating of one dataset, analysis by analysis."""

    def __init__(self, candidates: Sequence[Candidate], interim: Mapping[str, int]) -> None:
        self._ahead = list(candidates)
        self._interim = interim
        self._done = 0

    @property
    def left(self) -> int:
        """Texts that are not rated yet, of variants that are not resolved."""
        return len(self._ahead)

    def turn(self, so_far: RatedSoFar) -> list[Candidate]:
        """The texts that the next analysis needs."""
        turn: list[Candidate] = []
        while self._ahead and not turn:
            if self._done:
                self._ahead = _needed(self._ahead, so_far.decided())
            self._done += 1
            turn = [c for c in self._ahead if self._interim[c.example] == self._done]
            self._ahead = [c for c in self._ahead if self._interim[c.example] > self._done]
        return turn

    def number(self, example: str, variant: str) -> int:
        """The analysis before which an example is asked about."""
        return self._interim[example]


def interim_numbers(examples: Collection[str], seed: int, dataset: str) -> dict[str, int]:
    """Example -> the interim analysis before which it is asked about, from 1; drawn by seed and dataset."""
    rng = stream(seed, dataset, "looks")
    drawn = sorted((rng.random(), name) for name in sorted(examples))
    further = enumerate(np.diff(interim_sizes(len(drawn)), prepend=0).tolist(), 1)
    numbers = [number for number, more in further for _ in range(more)]
    return {name: number for (_, name), number in zip(drawn, numbers, strict=True)}


def _needed(ahead: Sequence[Candidate], resolved: Collection[str]) -> list[Candidate]:
    """The texts that are still to be rated: of variants that are not resolved, and the originals for them."""
    wanted = {c.example for c in ahead if c.variant not in {ORIGINAL, *resolved}}
    return [c for c in ahead if c.variant not in resolved and c.example in wanted]
