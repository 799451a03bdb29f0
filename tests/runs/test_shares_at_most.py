"""Limits of shares in a gate: Holm over all of them, and texts without which no limit can be met."""

from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from dhp.analysis.passing import PassShare
from dhp.analysis.results import Result
from dhp.runs.gate_findings import Finding, log_p_above, shares_at_most, texts_needed


class Named:
    """What a finding reads of a result."""

    dataset, model, protocol, judge, asked = "d", "m", "none", "m", False


def findings(passed: list[int], n: int, most: float) -> list[Finding]:
    shares = []
    for ones in passed:
        ends = binomtest(ones, n).proportion_ci(method="exact")
        share = PassShare(ones / n, (float(ends.low), float(ends.high)), n, n)
        shares.append((cast(Result, cast(Any, Named())), share, "texts pass"))
    return list(shares_at_most(shares, most, "pass"))


def test_the_p_of_a_share_is_the_binomial_one() -> None:
    share = PassShare(0.2, tuple(binomtest(20, 100).proportion_ci(method="exact")), 100, 100)
    assert np.exp(log_p_above(share, 0.1)) == pytest.approx(binom.sf(19, 100, 0.1))


def test_one_of_twelve_beyond_a_limit_may_be_chance() -> None:
    """17 of 100 is beyond 10 % by itself (p .021), not as the worst of twelve."""
    assert [each.state for each in findings([17], 100, 10)] == ["not met"]
    assert {each.state for each in findings([17] + [10] * 11, 100, 10)} == {"undecided"}
    assert next(each.state for each in findings([30] + [10] * 11, 100, 10)) == "not met"


@pytest.mark.slow
def test_a_judge_at_the_limit_seldom_fails() -> None:
    rng = np.random.default_rng(3)
    failed = [
        any(each.state == "not met" for each in findings(rng.binomial(100, 0.1, 12).tolist(), 100, 10))
        for _ in range(300)
    ]
    assert np.mean(failed) <= 0.05


@pytest.mark.parametrize("n", [35, 36])
def test_texts_that_a_limit_needs(n: int) -> None:
    """Of 35 texts without a pass up to 10.0 % may pass: 1 - .025 ** (1 / 36) is the first below."""
    (finding,) = findings([0], n, 10)
    assert ("needs 36 texts without a pass" in finding.words) == (finding.state == "undecided")


def test_texts_in_clusters_need_more() -> None:
    alike = PassShare(0.0, (0.0, 0.148), 100, 23.1)
    assert texts_needed(alike, 0.1) == 152
