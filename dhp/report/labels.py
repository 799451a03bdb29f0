"""What figures say in plain words; shared by terminal and page."""

from collections.abc import Sequence

from dhp.analysis.result_parts import DoseResponse, DoseResponseLine, DoseThreshold, VariantResult
from dhp.analysis.results import Result
from dhp.core.text import printable

STATE_COLOURS = {"noticed": "green", "missed": "red", "undecided": "yellow"}
"""Of verdicts, in a terminal."""


def figure(value: float | None) -> str:
    """Two decimals, or a dash for undefined."""
    return "–" if value is None else f"{value:z.2f}"


def between(ends: tuple[float, float] | None) -> str:
    """The ends of an interval, or a dash for undefined."""
    if ends is None:
        return "–"
    return f"{ends[0]:z.2f}{' to ' if ends[0] < 0 else '–'}{ends[1]:z.2f}"


def state(row: VariantResult) -> str:
    """The verdict of a variant; `undefined` for results without verdicts."""
    return row.verdict or "undefined"


def percent(value: float | None) -> str:
    """A share in whole per cent, or a dash for undefined."""
    return "–" if value is None else f"{value:.0%}"


def percents(ends: tuple[float, float] | None) -> str:
    """The ends of an interval in per cent, or a dash for undefined."""
    return "–" if ends is None else f"{ends[0] * 100:.0f}–{ends[1] * 100:.0f}"


def noticed(value: float | None) -> str:
    """Whether a D passes the line at 1."""
    return "undefined" if value is None else "noticed" if value >= 1 else "missed"


def most_hurt(row: VariantResult) -> str:
    """The metric with the smallest p-value; `none` if its scores did not fall."""
    tested = {m: c for m, c in row.metrics.items() if c.log10_p is not None and c.mean_drop is not None}
    if not tested:
        return ""
    metric = min(tested, key=lambda m: (tested[m].log10_p, -(tested[m].mean_drop or 0.0)))
    return metric if (tested[metric].effect or 0.0) > 0 else "none"


def most_changed(row: VariantResult) -> tuple[str, float | None]:
    """The metric that says most, and its effect: one that was raised, else that with the smallest p-value."""
    tested = {m: c for m, c in row.metrics.items() if c.log10_p is not None}
    if not tested:
        return "", None
    risen = row.risen if probe_verdict(row) == "raised" else None
    metric = risen or min(tested, key=lambda m: (tested[m].log10_p, -abs(tested[m].mean_drop or 0.0)))
    return (metric if tested[metric].effect else "none"), tested[metric].effect


def probe_verdict(row: VariantResult) -> str:
    """What a control or an attack did to the scores."""
    if row.d is None or row.d < 1:
        return "undefined" if row.d is None else "passed over"
    return "raised" if row.level == "attack" and row.risen else "lowered"


def threshold(curve: DoseResponse, line: DoseResponseLine) -> str:
    """The dose at which D passes 1, with its interval; `≤` and `>` where it lies beyond the doses."""
    if line.threshold is None and line.low is None:
        return f"> {curve.doses[-1]}" if any(d is not None for d in line.d) else "–"

    def shown(dose: float | None) -> str:
        if dose is None:
            return f"> {curve.doses[-1]}"
        return f"{'≤ ' if dose <= curve.doses[0] else ''}{dose:.3g}"

    if line.low is None:  # examples in clusters
        return shown(line.threshold)
    return f"{shown(line.threshold)} [{shown(line.low)}, {shown(line.high)}]"


def t75(curve: DoseResponse) -> str:
    """T75 with its interval; `<` and `>` where it lies beyond the doses."""
    return _dose(curve.t75, curve)


def t75_isotonic(curve: DoseResponse) -> str:
    """T75 by isotonic regression, as `t75`."""
    return _dose(curve.t75_isotonic, curve)


def _dose(found: DoseThreshold | None, curve: DoseResponse) -> str:
    if found is None:
        return "–"

    def shown(dose: float | None) -> str:
        if dose is None:
            return f"> {curve.doses[-1]}"
        return f"{dose:.3g}" if dose else f"< {curve.doses[0]}"

    return f"{shown(found.value)} [{shown(found.low)}, {shown(found.high)}]"


def judge_name(result: Result) -> str:
    """The judge of a result, for readers."""
    return printable(result.judge)


def style_words(result: Result) -> tuple[str, ...]:
    """How the judge uses its scales, on at least half of the metrics: lenient, harsh, compressed."""
    words = [word for style in result.styles.values() for word in style.words or ()]
    return tuple(word for word in dict.fromkeys(words) if 2 * words.count(word) >= len(result.styles))


def pairs(row: VariantResult) -> str:
    """The pairs each test kept: one number, or the range over metrics."""
    counts = sorted({cell.n for cell in row.metrics.values()})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]}-{counts[-1]}"


def group_letters(groups: Sequence[Sequence[int]], k: int) -> str:
    """The letters of the groups that hold judge `k`: a to z, then a1 to z1, a2, ..."""
    return "".join(
        f"{chr(ord('a') + g % 26)}{g // 26 or ''}" for g, members in enumerate(groups) if k in members
    )
