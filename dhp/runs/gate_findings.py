"""What a gate finds in a run by itself: missing scores, false alarms, detection, kinds to be noticed.

Each condition is a generator of `Finding`s: those that are not met or undecided one by one, and if there is
none the one that met it with the least to spare. `shares_at_most` is the test that a share does not pass a
limit; conditions at the pass mark (`dhp.runs.marks`) use it too.
"""

import math
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from dhp.analysis.passing import PassShare
from dhp.analysis.results import Interval, Result, Results, VariantResult
from dhp.content.catalog import named_kinds, variant_name
from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL
from dhp.stats.discernment import holm
from dhp.stats.examples_needed import examples_to_separate

State = Literal["met", "undecided", "not met"]


class Finding(NamedTuple):
    """State of one condition."""

    state: State | Literal["open"]
    """`open` if harmless edits are not decided: that fails no gate, and is no pass either."""
    result: str
    """Name of the result, as in `result_name`."""
    words: str
    """In words, with its figure."""


def result_name(result: Result) -> str:
    """Dataset, model and, if there is one, protocol."""
    judge = f"{result.model}, {result.protocol}" if result.asked else result.judge
    return f"{result.dataset}, {judge}"


def figure(value: float | None, ends: Interval) -> str:
    """A detection in per cent with its interval."""
    interval = "" if ends is None else f" ({_points(ends[0]):.1f}–{_points(ends[1]):.1f})"
    return "undefined" if value is None else f"{_points(value):.1f} %{interval}"


def would_decide(n: int | None) -> str:
    """How many texts would decide."""
    return "no number of texts up to 100,000 would decide" if n is None else f"{n:,} texts would decide"


def _points(share: float) -> float:
    """The value in per cent with one decimal, as printed: the printed value decides."""
    return round(100 * share, 1)


def at_most(ends: tuple[float, float], most: float) -> State:
    """Whether a share keeps a limit in per cent: surely by its upper end, surely not by its lower one."""
    low, high = map(_points, ends)
    if high <= most:
        return "met"
    return "not met" if low > most else "undecided"


def shares_at_most(
    shares: Sequence[tuple[Result, PassShare, str]], most: float, event: str
) -> Iterator[Finding]:
    """Whether each share keeps a limit: met by its own interval, not met for all shares together (Holm)."""
    line = most / 100
    alone = []
    for _, share, _ in shares:
        # At 0 and 100 % there is nothing to test: the interval alone decides.
        alone.append(log_p_above(share, line) if 0 < line < 1 else 0.0)

    for (result, share, what), adjusted in zip(shares, holm(alone).tolist(), strict=True):
        state = at_most(share.ci, most)
        # The interval is of one share; that one of many lies above the limit must hold for all together.
        if state == "not met" and line > 0 and adjusted > math.log(_ERROR):
            state = "undecided"
        words = f"{what}: {figure(share.share, share.ci)}, at most {most:g} % allowed"
        if share.no_score:
            words += f"; {_points(share.no_score):.1f} % get no score, which the upper limit counts in"
        if state == "undecided" and line > 0 and share.n < texts_needed(share, line):
            words += f"; needs {texts_needed(share, line):,} texts without a {event}"
        yield Finding(state, result_name(result), words)


def missing_scores(results: Results, most: float) -> Iterator[Finding]:
    """Each result of which some kind of text lacks more of its scores than `most` per cent."""
    for result in results:
        over = [name for name, share in result.unscored.items() if _points(share) > most]
        if not over:
            continue
        # One finding a result names the worst kind and counts the others.
        worst = max(over, key=lambda name: result.unscored[name])
        originals = f" (originals {_points(result.unscored[ORIGINAL]):.1f} %)"
        text = "originals" if worst == ORIGINAL else f"{variant_name(worst)}{originals}"
        kinds = f", more than {most:g} % in {len(over)} of {len(result.unscored)} kinds of text"
        share = _points(result.unscored[worst])
        words = f"scores are missing for {share:.1f} % of {text}{kinds}"
        yield Finding("not met", result_name(result), words)


def false_alarms(results: Results) -> Iterator[Finding]:
    """Harmless edits that fail the gate, and those that are not decided."""
    for result in results:
        name = result_name(result)
        for row in result.controls:
            if row.state.is_bad:
                yield Finding("not met", name, _kind(row))
            elif row.state.is_open:
                yield Finding("open", name, _kind(row))
        if not result.controls:
            yield Finding("open", name, "the run has no harmless edits")


def detections(results: Results, least: float) -> Iterator[Finding]:
    """Detection of each result below the limit, and the lowest detection that reaches it."""
    held = []  # of each result that reaches the limit: lower end, name, words
    for result in results:
        name = result_name(result)
        value, ends = result.detection.avg, result.detection.ci["avg"]
        if value is None or ends is None:
            yield Finding("not met", name, "detection is undefined, no kind of damage has five pairs")
            continue
        words = f"detection {figure(value, ends)}"
        if _points(ends[1]) < least:
            yield Finding("not met", name, f"{words} is below {least:g} %")
        elif _points(ends[0]) < least:
            n = examples_to_separate(result.n, value, *ends, least / 100)
            yield Finding("undecided", name, f"{words} may or may not reach {least:g} %, {would_decide(n)}")
        else:
            held.append((ends[0], name, words))
    if held:
        _, name, words = min(held)
        in_all = " in all" if len(results) > 1 else ""
        yield Finding("met", name, f"{words}, {least:g} % or more{in_all}")


def demanded_kinds(results: Results, names: Iterable[str]) -> list[str]:
    """The variants that must be noticed; raises `InputError` for one that no result has."""
    variants: list[str] = []
    for result in results:
        variants += [row.variant for row in result.variants if row.variant not in variants]
    demanded: list[str] = []
    try:
        for name in names:
            demanded += named_kinds(name, variants)
    except InputError as e:
        raise InputError(f"`must_notice` {e}") from None
    return demanded


def noticed_kinds(results: Results, demanded: Collection[str]) -> Iterator[Finding]:
    """Of each result how many kinds are not shown to be noticed, then each of them, the worst first.

    Must is proof: what is undecided is not met. If all are noticed, the one with the lowest detection.
    """
    held = []  # of each kind that is noticed: detection, name of the result, words
    for result in results:
        name = result_name(result)
        lacking = []
        kinds = [row for row in result.damage if row.variant in demanded]
        for row in kinds:
            if row.state.is_good:
                held.append((row.detection or 0.0, name, _kind(row)))
            else:
                lacking.append(row)
        if lacking:
            plural = "s" if len(kinds) > 1 else ""
            count = f"{len(lacking)} of {len(kinds)} kind{plural}"
            yield Finding("not met", name, f"not shown to notice {count}")
        for row in lacking:
            yield Finding("not met", name, _kind_to_decide(row))
    if held:
        _, name, words = min(held)
        more = f", the lowest of {len(held)} kinds noticed" if len(held) > 1 else ""
        yield Finding("met", name, f"{words}{more}")


def _kind_to_decide(row: VariantResult) -> str:
    """A kind that is not noticed, with the number of texts that would decide it if it is undecided."""
    if not row.n:
        return f"{variant_name(row.variant)} has no pair of scores"
    more = f", {row.outlook}" if row.state.may_change else ""
    return f"{_kind(row)}{more}"


def _kind(row: VariantResult) -> str:
    """A kind of damage, or a control, with its verdict and detection."""
    return f"{variant_name(row.variant)}: {row.state}, {figure(row.detection, row.detection_ci)}"


_ERROR = 0.025
"""The error of each limit of a 95 % interval."""


def log_p_above(share: PassShare, line: float) -> float:
    """Natural log of the p-value that the true share is `line` or less, in (0, 1); one-sided, exact."""
    from scipy.special import betainc

    if share.independent is None or share.ci[0] <= line:
        return 0.0  # the interval holds the line
    # P(X >= ones) for X binomial (independent, line) is an incomplete beta function, also for a count of
    # independent texts that is no whole number, as clusters make it.
    ones = share.share * share.independent
    p = float(betainc(ones, share.independent - ones + 1, line))
    # A p-value too small for a float is 0, which has no logarithm.
    return math.log(max(p, sys.float_info.min))


def texts_needed(share: PassShare, most: float) -> int:
    """Texts like these of which none may pass to show that no more than `most` do, in (0, 1)."""
    # None of n independent texts passes with the chance (1 - most) ** n: solved for n at the error.
    independent = math.log(_ERROR) / math.log(1 - most)
    # Clusters take more texts for as many independent ones. The 1e-9 keeps rounding from adding a text.
    return math.ceil(independent * share.n / (share.independent or 1.0) - 1e-9)
