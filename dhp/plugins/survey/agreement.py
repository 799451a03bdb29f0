"""Agreement of experts: Fleiss' kappa with an interval."""

import math
from collections.abc import Mapping, Sequence

from dhp.core.weight_spec import Agreement

_COVERAGE = 0.95
_FEWEST_FOR_INTERVAL = 3


def fleiss_kappa(votes: Sequence[Sequence[int]]) -> float | None:
    """Agreement beyond chance of several raters who each put every subject into one category.

    kappa = (P - P_e) / (1 - P_e) with P the mean share of agreeing pairs of raters of a subject and P_e the
    sum of the squared shares of the categories (Fleiss 1971, Psychological Bulletin 76, 378-382). Subjects
    may have different numbers of raters (Fleiss, Levin & Paik 2003, chapter 18); those with fewer than two
    are left out.

    Parameters
    ----------
    votes
        Subjects x categories: how many raters chose the category.

    Returns
    -------
    At most 1; None where it is undefined: no subject with two raters, or all votes in one category.
    """
    rated = [row for row in votes if sum(row) > 1]
    total = sum(map(sum, rated))
    shares = [sum(column) / total for column in zip(*rated, strict=True)]
    by_chance = math.fsum(share**2 for share in shares)
    if not rated or max(shares) == 1:
        return None
    observed = math.fsum(_agreeing_pairs(row) for row in rated) / len(rated)
    return (observed - by_chance) / (1 - by_chance)


def _agreeing_pairs(row: Sequence[int]) -> float:
    n = sum(row)
    return sum(votes * (votes - 1) for votes in row) / (n * (n - 1))


def agreement(
    answers: Sequence[Mapping[str, str | None]], issues: Sequence[str], metrics: Sequence[str]
) -> Agreement | None:
    """Fleiss' kappa of the experts, with its 95 % interval had other experts been asked about these issues.

    The interval is that of the jackknife over experts, kappa +- t(n - 1) * s with s^2 = (n - 1) / n * the
    sum of squared deviations of the kappas without one expert (Efron & Stein 1981, Annals of Statistics 9,
    586-596). A bootstrap would count an expert who is drawn twice as two who agree. There is none for fewer
    than three experts, nor where all of them answer alike.

    Parameters
    ----------
    answers
        For each expert: issue -> the metric chosen, or None where there is no answer.
    issues, metrics
        What was asked about, and what could be chosen.
    """

    def kappa(sheets: Sequence[Mapping[str, str | None]]) -> float | None:
        return fleiss_kappa([[sum(s[i] == m for s in sheets) for m in metrics] for i in issues])

    whole, n = kappa(answers), len(answers)
    if whole is None:
        return None
    without = [k for i in range(n) if (k := kappa([*answers[:i], *answers[i + 1 :]])) is not None]
    if len(without) < max(n, _FEWEST_FOR_INTERVAL):
        return Agreement(kappa=whole)
    mean = math.fsum(without) / n
    error = math.sqrt((n - 1) / n * math.fsum((k - mean) ** 2 for k in without))
    if error < 1e-9:
        return Agreement(kappa=whole)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + _COVERAGE) / 2)) * error
    return Agreement(kappa=whole, low=max(-1.0, whole - half), high=min(1.0, whole + half))
