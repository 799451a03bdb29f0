"""What `dhp improve` says: a line for each change, and what was confirmed."""

from collections.abc import Iterator, Sequence

from dhp.analysis.results import Result
from dhp.cli.language_models import assumptions, bills_table
from dhp.content.catalog import variant_name
from dhp.llm.estimate import CostEstimate, Estimate
from dhp.plugins.improve.errors import errors_of
from dhp.plugins.improve.race import Gain
from dhp.plugins.improve.trials import Outcome, Trials, change_of
from dhp.report.document import Part
from dhp.report.labels import at_mark, percent

_FEW = 50
"""Texts of the other half below which a gain is confirmed only if it is large, or looks so by chance: with 24
texts true gains of 5 to 9 points are printed as 11 (`scripts/improvements.py`, docs/improve.md)."""


def heading(trials: Trials) -> str:
    """What is about to be done."""
    first, second = len(trials.halves[0]), len(trials.halves[1])
    name = trials.asked.dataset.name
    return f"{trials.asked.model} on {name}: {first} texts to choose a change by, {second} to confirm it"


def planned(estimates: Sequence[Estimate]) -> list[Part]:
    """What each change takes at most, a row each, what that rests on, and all of it together."""
    # All are of one model and one set of texts, so the first speaks for them.
    first = estimates[0]
    rows = [(each.protocol, [each.bill]) for each in estimates]
    table = bills_table(f"{first.model} on {first.dataset}", rows)
    return [table, *assumptions(first), "", _total([each.bill for each in estimates])]


def _total(bills: Sequence[CostEstimate]) -> str:
    calls = sum(bill.calls for bill in bills)
    tokens = sum(bill.prompt_tokens + bill.completion_tokens for bill in bills)
    costs = [bill.cost for bill in bills if bill.cost is not None]
    money = f", cost {sum(costs):,.2f}" if costs else ""
    return (
        f"all together: {calls:,} calls, {tokens:,.0f} tokens{money}, at most: changes that lose are dropped "
        "early, and without a gain nothing is confirmed"
    )


def lines(outcome: Outcome) -> Iterator[str]:
    """A line for the judge as it was, and for each change."""
    result = outcome.as_it_was.result
    errors = errors_words([result])
    if errors is not None:
        yield f"as it was: {errors}"
        yield "points: fewer damaged texts that pass and good texts that fail, both shares added"
    elif result.detection.avg is not None:
        yield f"as it was: detection {percent(result.detection.avg)}"

    # The best change first; at the end those that could not be tried.
    race = outcome.race
    what = "cost" if outcome.priced else "tokens"
    for name in sorted(race.gains, key=lambda name: -race.gains[name].difference):
        line = f"{change_of(name).label}: {_points(race.gains[name])}, {_cost(outcome.costs[name], what)}"
        if name in race.dropped:
            line += f", dropped after {outcome.looks[race.dropped[name]]} texts"
        yield line
    for name, reason in race.unusable.items():
        yield f"{change_of(name).label}: not tried: {reason}"


def confirmed_lines(outcome: Outcome) -> Iterator[str]:
    """What the other half says."""
    best, gain = outcome.race.best, outcome.confirmed
    if best is None or gain is None:
        yield _why_nothing(outcome)
        return

    label = change_of(best).label
    verdict = "it helps" if gain.helps else "not shown to help"
    yield f"{label}, on the other {outcome.n[1]} texts: {_points(gain)}, {_p(gain.p_better)}: {verdict}"
    errors = errors_words([judge.result for judge in outcome.judges])
    if errors is not None:
        yield f"there {errors}"
    if outcome.n[1] < _FEW:
        too_large = "; this one is likely printed too large" if gain.helps else ""
        yield f"with fewer than {_FEW} texts to confirm by, only large gains are found{too_large}"
    if not gain.helps:
        yield "nothing helped"
    elif outcome.alarms:
        names = ", ".join(variant_name(each) for each in outcome.alarms)
        yield f"but it also lowers scores for harmless edits: {names}"


def _why_nothing(outcome: Outcome) -> str:
    """Why no change was confirmed: none gained anything, or there was nothing to gain."""
    if outcome.race.gains or outcome.race.unusable:
        return "nothing helped"
    if errors_of(outcome.as_it_was) is None:
        return "nothing to improve: all damage is detected"
    return "nothing to improve: no text is on the wrong side of the mark"


def errors_words(judges: Sequence[Result]) -> str | None:
    """`at your mark of 7, 59% of damaged texts pass and 0% of good ones fail`, with those of a second judge.

    None without a mark.
    """
    passing, failing, marks = [], [], []
    for each in judges:
        mean, mark = each.mean_passing, each.pass_mark
        if mean is None or mark is None or mark.fails is None:
            return None
        passing.append(at_mark(*mean))
        failing.append(at_mark(mark.fails.share, mark.fails.most))
        marks.append(mark.mark)
    mark_words = " and ".join(dict.fromkeys(marks))  # a wider scale has another mark: "7 and 70"
    # The new judge stands first: "35% instead of 59%".
    damaged = " instead of ".join(reversed(passing))
    good = " instead of ".join(reversed(failing))
    return f"at your mark of {mark_words}, {damaged} of damaged texts pass and {good} of good ones fail"


def _points(gain: Gain) -> str:
    # Rounded to whole numbers, as f"{-0.2:.0f}" is "-0".
    low, high = round(100 * gain.low), round(100 * gain.high)
    points = round(100 * gain.difference)
    sign = "+" if points > 0 else ""
    return f"{sign}{points} points ({low} to {high})"


def _p(p: float) -> str:
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"


def _cost(share: float, what: str) -> str:
    percent = round(100 * share)
    return f"{percent:+,d} % {what}" if percent else f"same {what}"
