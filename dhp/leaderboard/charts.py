"""The charts of a dataset on a leaderboard: detection by size and by cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dhp.analysis.results import Interval
from dhp.core.shown import printable
from dhp.leaderboard.entries import Entry
from dhp.leaderboard.rows import shown_cost
from dhp.leaderboard.tables import Table
from dhp.report.charts import COLOURS, drawn
from dhp.report.labels import figure

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "osD^vP*X"
"""Shapes of matplotlib for the points of lines, so that colours are not all that tells lines apart."""
_APART = 1.12
"""The next size with a label is at least this many times as large: closer labels would overlap.

Chosen: 7B and 8B both get a label."""


@dataclass(frozen=True, slots=True)
class _Point:
    """A judge on a chart."""

    place: float
    """Where it stands on the axis: its size or its cost."""
    detection: float
    ends: Interval
    words: str
    """What is said of it to those who cannot see the chart."""


_Lines = Mapping[str, Sequence[_Point]]
"""Name in the legend -> the points of a line."""


def sizes(table: Table) -> "Markup | None":
    """Detection by size, a line for each family and protocol; None if no family has two sizes."""
    lines = _families(table)
    known_sizes: set[float] = set()
    has_line = False
    for points in lines.values():
        sizes_of_family = {point.place for point in points}
        known_sizes |= sizes_of_family
        has_line = has_line or len(sizes_of_family) > 1
    if not has_line:
        return None

    labelled: list[float] = []
    for size in sorted(known_sizes):
        if not labelled or size > _APART * labelled[-1]:
            labelled.append(size)

    def axis(axes: "Axes") -> None:
        axes.set_xscale("log")
        axes.set_xticks(labelled, [f"{size:g}B" for size in labelled])
        # On a log scale matplotlib may label ticks between ours, too.
        axes.minorticks_off()
        axes.set_xlabel("parameters")

    described = []
    for name, points in lines.items():
        in_words = ", ".join(point.words for point in points)
        described.append(f"{name} {in_words}")
    description = f"Lines: detection by size on {table.dataset}: {'; '.join(described)}."
    return _picture(lines, axis, description)


def _families(table: Table) -> dict[str, list[_Point]]:
    """Family -> its points by size, of the judges whose names say a family and a size."""
    protocols = {result.protocol for result in table.results}
    families: dict[str, list[_Point]] = {}
    for entry in table.entries:
        detection, ends = entry.detection, entry.detection_ends
        if not entry.family or not entry.size or detection is None:
            continue
        name = entry.family
        if len(protocols) > 1:  # one line through several protocols would not show the effect of size
            name += f", {entry.result.protocol}"
        words = f"{entry.size:g}B {detection:.0%} (D_avg {figure(entry.result.d_avg)})"
        families.setdefault(printable(name), []).append(_Point(entry.size, detection, ends, words))
    lines: dict[str, list[_Point]] = {}
    for name in sorted(families):
        lines[name] = sorted(families[name], key=lambda point: point.place)
    return lines


def costs(table: Table) -> "Markup | None":
    """Detection by cost, a point for each judge with a known cost; None for fewer than two."""

    def by_cost(entry: Entry) -> tuple[float, float, str]:
        return entry.cost or 0.0, entry.detection or 0.0, table.names[entry.judge]

    lines: dict[str, list[_Point]] = {}
    for entry in sorted(table.entries, key=by_cost):
        if entry.cost is not None and entry.detection is not None:
            name = printable(table.names[entry.judge])
            words = f"{name} {shown_cost(entry.cost)}, {entry.detection:.0%}"
            lines[name] = [_Point(entry.cost, entry.detection, entry.detection_ends, words)]
    if len(lines) < 2:
        return None
    points = [of_judge[0] for of_judge in lines.values()]
    # In the order of costs: the first one is the lowest price.
    priced = [point.place for point in points if point.place > 0]

    def axis(axes: "Axes") -> None:
        if len(priced) == len(points):
            axes.set_xscale("log")
        elif priced:
            # A cost of 0 has no logarithm. This scale is linear from 0 to the lowest price. The figures are
            # chosen: that part is narrow, and the point at 0 stands away from the edge.
            axes.set_xscale("symlog", linthresh=priced[0], linscale=0.3)
            axes.set_xlim(left=-priced[0] / 5)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("cost per 1,000 judgements")

    words = "; ".join(point.words for point in points)
    description = f"Points: cost per 1,000 judgements and detection on {table.dataset}: {words}."
    return _picture(lines, axis, description)


def _picture(lines: _Lines, axis: "Callable[[Axes], None]", description: str) -> "Markup":
    """The lines with the interval of each point; `axis` sets the scale that the points stand on."""

    def draw(page: "Figure") -> None:
        axes = page.subplots()
        for number, (name, points) in enumerate(lines.items()):
            places = [point.place for point in points]
            detections = [point.detection for point in points]
            marker = _MARKERS[number % len(_MARKERS)]
            # The intervals below take the colour that matplotlib gave to this line.
            (line,) = axes.plot(places, detections, label=name, marker=marker)
            for point in points:
                if point.ends is not None:
                    upright = [point.place, point.place]
                    axes.plot(upright, point.ends, color=line.get_color(), linewidth=1, alpha=0.6)
        # A dashed line where a blind judge stands.
        axes.axhline(0.5, color=COLOURS["weak"], linewidth=1, linestyle=(0, (3, 3)))
        axis(axes)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.set_ylabel("detection")
        page.legend(loc="outside right upper", frameon=False)

    return drawn(draw, 9.2, 3.8, description)
