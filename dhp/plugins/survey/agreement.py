"""How far the experts of a survey agree: Fleiss' kappa, with an interval over experts."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from dhp.core.specs import Agreement

_COVERAGE = 0.95
"""Coverage of the interval."""
_FEWEST_FOR_INTERVAL = 3
"""Experts: if one of two is left out, the other has nobody to agree with."""
_ROUNDING = 1e-9
"""Standard error of kappa that is owed to floating point."""


def fleiss_kappa(votes: Sequence[Sequence[int]]) -> float | None:
    """Agreement beyond chance of several raters who each put every subject into one category.

    kappa = (P - P_e) / (1 - P_e) with P the mean share of agreeing pairs of raters of a subject and P_e the
    sum of the squared shares of the categories (Fleiss 1971, Psychological Bulletin 76, 378-382). Subjects
    may have different numbers of raters (Fleiss, Levin & Paik 2003, chapter 18); those with fewer than two
    are left out. `votes` has subjects x categories: how many raters chose the category. None if it is
    undefined: no subject with two raters, or all votes in one category.
    """
    rated = [row for row in votes if sum(row) > 1]  # a single rater agrees with nobody
    if not rated:
        return None
    categories = [sum(column) for column in zip(*rated, strict=True)]
    shares = [count / sum(categories) for count in categories]
    if max(shares) == 1:
        return None
    # `fsum` rounds once, at the end: the order of issues and experts changes no digit.
    by_chance = math.fsum(share**2 for share in shares)
    observed = math.fsum(_agreeing_pairs(row) for row in rated) / len(rated)
    return (observed - by_chance) / (1 - by_chance)


def _agreeing_pairs(row: Sequence[int]) -> float:
    """The share of pairs of raters of a subject that chose the same category."""
    n = sum(row)
    agreeing = sum(votes * (votes - 1) for votes in row)  # ordered pairs of raters of one category
    return agreeing / (n * (n - 1))


def agreement(
    answers: Sequence[Mapping[str, str | None]], issues: Sequence[str], metrics: Sequence[str]
) -> Agreement | None:
    """Fleiss' kappa of the experts, with its 95 % interval had other experts been asked about these issues.

    The interval is that of the jackknife over experts, kappa +- t(n - 1) * s with s^2 = (n - 1) / n * the sum
    of squared deviations of the kappas without one expert (Efron & Stein 1981, Annals of Statistics 9,
    586-596). A bootstrap would count an expert who is drawn twice as two who agree. There is no interval for
    fewer than three experts, nor if all of them answer alike. An expert's answers are issue -> the metric
    chosen, or None if there is no answer.
    """

    def kappa(sheets: Sequence[Mapping[str, str | None]]) -> float | None:
        counts = []
        for issue in issues:
            votes = Counter(sheet[issue] for sheet in sheets)
            counts.append([votes[metric] for metric in metrics])  # `None`, no answer, is none of them
        return fleiss_kappa(counts)

    whole, n = kappa(answers), len(answers)
    if whole is None:
        return None
    if n < _FEWEST_FOR_INTERVAL:
        return Agreement(kappa=whole)

    # The jackknife: kappa without each expert in turn.
    without = []
    for i in range(n):
        others = [*answers[:i], *answers[i + 1 :]]
        kappa_of_others = kappa(others)
        if kappa_of_others is None:  # without an interval: the remaining kappas would say too much
            return Agreement(kappa=whole)
        without.append(kappa_of_others)
    mean = math.fsum(without) / n
    squares = math.fsum((each - mean) ** 2 for each in without)
    error = math.sqrt((n - 1) / n * squares)
    if error < _ROUNDING:  # all answer alike
        return Agreement(kappa=whole)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + _COVERAGE) / 2)) * error
    return Agreement(kappa=whole, low=max(-1.0, whole - half), high=min(1.0, whole + half))
