"""The pictures of a probe: how many scores each change moves, and how scores go with the dose."""

from typing import TYPE_CHECKING

from dhp.plugins.probes.result import ProbeResult
from dhp.plugins.probes.statistics import Figure as Share
from dhp.plugins.probes.suite import LABELS
from dhp.report.charts import COLOURS, drawn
from dhp.report.labels import percent

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

_WIDTH = 4.6
"""Width of a picture in inches. Chosen."""
_ROW = 0.3
"""Height of a row in inches. Chosen."""


def probes_charts(result: ProbeResult) -> list["Markup"]:
    """The share of scores that each change moves, beside the same text again; and scores by dose."""
    charts = []
    moved, lines = _moved(result), _by_dose(result)
    if moved:
        height = 1.1 + _ROW * max(3, len(moved))
        charts.append(drawn(lambda page: _draw_moved(page, moved), _WIDTH, height, _moved_words(moved)))
    if lines:
        charts.append(drawn(lambda page: _draw_doses(page, lines), _WIDTH, 2.4, _by_dose_words(lines)))
    return charts


def _moved_words(moved: dict[str, tuple[Share, Share]]) -> str:
    """The picture for those who do not see it."""
    words = []
    for name, (share, again) in moved.items():
        words.append(f"{name} {percent(share.value)}, the same text again {percent(again.value)}")
    return f"Share of the scores that move: {'; '.join(words)}."


def _by_dose_words(lines: dict[str, dict[int, float]]) -> str:
    words = []
    for name, points in lines.items():
        changes = [f"{dose}: {change:+.0%}" for dose, change in points.items()]
        words.append(f"{name} {', '.join(changes)}")
    return f"Mean change of the score by dose, of the scale: {'; '.join(words)}."


def _moved(result: ProbeResult) -> dict[str, tuple[Share, Share]]:
    """What was done to a text -> share of scores that moved, and of those of the same text asked again."""
    moved = {LABELS[name]: (each.moved, each.again) for name, each in result.invariance.items()}
    padding = result.verbosity
    if padding and padding.net.n:
        # The largest dose stands for padding: the curve beside it has all of them.
        moved["padding raises"] = padding.doses[-1].rose, padding.again.rose
    return moved


def _by_dose(result: ProbeResult) -> dict[str, dict[int, float]]:
    """What grows with the dose -> dose -> mean change of the score against the original, of the scale."""
    lines: dict[str, dict[int, float]] = {}
    padding, damage = result.verbosity, result.calibration
    if padding and padding.net.n:
        lines["padding"] = {0: 0.0}  # the original itself
        for dose in padding.doses:
            if dose.change is not None:
                lines["padding"][dose.k] = dose.change
    if damage and damage.order.n:
        known = {dose: mean for dose, mean in damage.means.items() if mean is not None}
        first = known[min(known)]  # of the least damaged text, which is the original
        lines["damage"] = {dose: mean - first for dose, mean in known.items()}
    return lines


def _draw_moved(page: "Figure", moved: dict[str, tuple[Share, Share]]) -> None:
    axes = page.subplots()
    # Two marks a row: the changed text above, the same text asked again below.
    for row, (share, again) in enumerate(moved.values()):
        marks = (
            (again, row + 0.18, "weak", "same text again"),
            (share, row - 0.18, "d", "changed text"),
        )
        for figure, place, shade, name in marks:
            if figure.value is None:
                continue
            colour = COLOURS[shade]
            if figure.ci:
                axes.plot(figure.ci, (place, place), color=colour, linewidth=1.5, alpha=0.6)
            label = name if row == 0 else None  # once in the legend
            axes.plot(figure.value, place, "o", color=colour, markersize=5, label=label)
    axes.set_yticks(range(len(moved)), list(moved))
    axes.set_ylim(len(moved) - 0.5, -0.5)  # the first row on top
    axes.set_xlim(-0.03, 1.03)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.grid(axis="x", linewidth=0.6)
    axes.set_title("scores that move", fontsize=9.5, color=COLOURS["ink"], loc="left")
    page.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=2)


def _draw_doses(page: "Figure", lines: dict[str, dict[int, float]]) -> None:
    axes = page.subplots()
    looks = {"padding": ("ew", "s"), "damage": ("d", "o")}
    changes = [-0.1, 0.05]  # the axis shows these at least, so that noise looks small
    for name, points in lines.items():
        shade, marker = looks[name]
        colour = COLOURS[shade]
        axes.plot(list(points), list(points.values()), color=colour, marker=marker, markersize=4, label=name)
        changes += points.values()
    axes.axhline(0, color=COLOURS["weak"], linewidth=1, linestyle=(0, (3, 3)))
    axes.set_ylim(min(changes) - 0.02, max(changes) + 0.02)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:+.0%}")
    axes.set_xlabel("sentences of padding, or damages")
    axes.set_title("mean change, of the scale", fontsize=9.5, color=COLOURS["ink"], loc="left")
    page.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=2)
