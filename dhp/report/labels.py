"""Labels of figures, shared by terminal, page and commands."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dhp.analysis.percent import whole_percent
from dhp.core.verdicts import Verdict

if TYPE_CHECKING:
    from dhp.analysis.mark_sweep import MarkSweep
    from dhp.analysis.results import DoseResponse, DoseThreshold, Result


def in_key(verdict: Verdict, floor: float) -> str:
    """A verdict in the key of a table or page: its sign, the word, and what it means."""
    explanation = verdict.explanation.format(floor=percent(floor))
    return f"{verdict.signed}: {explanation}" if explanation else verdict.signed


def figure(value: float | None) -> str:
    """Two decimals, or a dash for undefined."""
    return "–" if value is None else f"{value:z.2f}"


def score(value: float | None) -> str:
    """A score with at most two decimals: 8, 7.5; a dash for none."""
    # `8.00` and `7.50` lose their zeros, then `8.` its point.
    return "–" if value is None or math.isnan(value) else f"{value:z.2f}".rstrip("0").rstrip(".")


def p_value(p: float | None) -> str:
    """A p-value, or a dash for undefined; 0 is one that is too small for a number."""
    if not p:
        return "–" if p is None else "< 1e-300"
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"


def between(ends: tuple[float, float] | None) -> str:
    """The ends of an interval, or a dash for undefined."""
    if ends is None:
        return "–"
    low, high = ends
    dash = " to " if low < 0 else "–"  # a dash before a minus is hard to read
    return f"{low:z.2f}{dash}{high:z.2f}"


def in_brackets(ends: tuple[float, float]) -> str:
    """The ends of an interval in brackets, with two decimals."""
    return f"[{ends[0]:.2f}, {ends[1]:.2f}]"


def percents_in_brackets(ends: tuple[float, float]) -> str:
    """The ends of an interval in whole per cent, in brackets."""
    return f"[{percents(ends)}]"


def percent(value: float | None) -> str:
    """A share in whole per cent, or a dash for undefined."""
    return "–" if value is None else f"{whole_percent(value)}%"


def at_mark(share: float | None, most: float | None) -> str:
    """A share of texts on one side of a mark: a range if some got no score, as these may be on either."""
    # One share may be written with a decimal near a limit, so the texts are compared, not the numbers.
    low, high = percent(share), percent(most)
    return low if low == high else f"{low.rstrip('%')} to {high}"


def percents(ends: tuple[float, float] | None) -> str:
    """The ends of an interval in whole per cent, or a dash for undefined."""
    return "–" if ends is None else f"{whole_percent(ends[0])}–{whole_percent(ends[1])}"


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def shortened(kinds: Sequence[str], most: int) -> str:
    """Kinds of damage as `listed`; of more than `most` the first ones and how many more there are."""
    if len(kinds) <= most:
        return listed(kinds)
    return f"{', '.join(kinds[: most - 1])} and {len(kinds) - most + 1} more kinds"


def shared_folder(datasets: Sequence[str]) -> str:
    """What the names of several datasets begin with, up to the slash; empty if they do not agree."""
    if len(set(datasets)) < 2:
        return ""
    folder, slash, _ = datasets[0].partition("/")
    agree = slash and all(name.startswith(f"{folder}/") for name in datasets)
    return f"{folder}/" if agree else ""


def sets(datasets: Sequence[str], named: int = 1) -> str:
    """The names of up to `named` datasets; of more their number and what they have in common."""
    if len(datasets) <= named:
        return ", ".join(datasets)
    words = f"{len(datasets)} sets"
    shared = shared_folder(datasets)
    return f"{words} of {shared.removesuffix('/')}" if shared else words


def best_mark(sweep: "MarkSweep") -> str:
    """The mark with the fewest errors, and what it does on other texts."""
    at = sweep.marks.index(sweep.best)
    passing = []
    for shares in sweep.passes.values():
        share = shares[at]
        if share is not None:
            passing.append(share)
    sentence = f"Fewest errors at a mark of {sweep.best:g}"
    # Shares of the damaged and of the good texts without a score, which may be on either side of the mark.
    bad, good = sweep.no_score
    if passing:
        mean = sum(passing) / len(passing)
        fails = sweep.fails[at] or 0.0
        sentence += f": {at_mark(mean, mean + bad)} of the damaged texts pass and "
        sentence += f"{at_mark(fails, fails + good)} of the good ones fail"
    if bad or good:
        sentence += f", as {percent(bad)} of the damaged and {percent(good)} of the good ones get no score"
    if sweep.elsewhere is None:
        return f"{sentence}. It was chosen on these texts."
    elsewhere = " and ".join(map(percent, sweep.elsewhere))
    return f"{sentence}. It was chosen on these texts: on others expect about {elsewhere}."


def t75(curve: "DoseResponse") -> str:
    """T75 with its interval, and in words if it lies beyond the doses."""
    return _dose(curve.t75, curve.doses)


def _dose(threshold: "DoseThreshold | None", doses: Sequence[int]) -> str:
    if threshold is None:
        return "–"

    def shown(dose: float) -> str:
        # 0 stands for below the smallest dose.
        return f"{dose:.3g}" if dose else f"under {doses[0]}"

    value = "not reached" if threshold.value is None else shown(threshold.value)
    return f"{value}{dose_interval(threshold, doses, shown)}"


def dose_interval(threshold: "DoseThreshold", doses: Sequence[int], shown: Callable[[float], str]) -> str:
    """The interval of T75, after a space: ` [5 to 10]`, ` [under 1 to over 64]`; empty without one."""
    low, high = threshold.low, threshold.high
    if low is None:
        return ""

    def end(limit: float) -> str:
        return shown(limit) if limit else f"under {doses[0]}"  # 0 says below the smallest dose

    highest = f"over {doses[-1]}" if high is None else end(high)
    return f" [{end(low)} to {highest}]"


def style_words(result: "Result") -> tuple[str, ...]:
    """How the judge uses its scales, on at least half of the metrics: lenient, harsh, compressed."""
    counts = Counter[str]()
    for style in result.styles.values():
        counts.update(style.words or ())
    return tuple(word for word, count in counts.items() if 2 * count >= len(result.styles))


def group_letters(groups: Sequence[Sequence[int]], k: int) -> str:
    """The letters of the groups that hold judge `k`: a to z, then a1 to z1, a2, ..."""
    letters = ""
    for index, members in enumerate(groups):
        if k in members:
            # After z the letters begin anew, with a number: the 27th group is a1.
            turn, letter = divmod(index, 26)
            letters += f"{chr(ord('a') + letter)}{turn or ''}"
    return letters
