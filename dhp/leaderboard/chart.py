"""Charts of all judges of a table: D_avg and D_min as bars, and detection by size within a family."""

import textwrap
from typing import TYPE_CHECKING

from dhp.core.text import printable
from dhp.leaderboard.entries import judge_name, score
from dhp.leaderboard.tables import Table
from dhp.report.charts import COLOURS, drawn

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS = {"d_avg": "D_avg (breadth)", "d_min": "D_min (blind spot)"}
_LONGEST = 38  # characters in a line of a label
_MARKERS = "osD^vP*X"
_APART = 1.12  # from one labelled size to the next


def bars(table: Table) -> "Markup":
    """A row for each judge, plain and weighted bars, in the manner of figure 4 of Wang et al. (2025)."""

    def draw(figure: "Figure") -> None:
        for number, axes in enumerate(figure.subplots(1, 2, sharey=True)):
            _panel(axes, table, list(_PANELS)[number])
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=2, frameon=False)

    height = 0.9 + 0.34 * len(table.rows)
    return drawn(draw, 9.2, height, f"Bars: D_avg and D_min of {len(table.rows)} judges on {table.dataset}")


def _panel(axes: "Axes", table: Table, quantity: str) -> None:
    places = range(len(table.rows))
    for end, colour, label, shift in (
        ("", "d", "plain", -0.18),
        ("_ew", "ew", "weighted (EW)", 0.18),
    ):
        results = [row.entry.result for row in table.rows]
        values = [getattr(r, quantity + end) for r in results]
        axes.barh(
            [p + shift for p in places], [d or 0.0 for d in values], 0.34, color=COLOURS[colour], label=label
        )
        for place, d in zip(places, values, strict=True):
            if d is None:
                axes.text(0, place + shift, " undefined", va="center", size=6.5, color=COLOURS["weak"])
    axes.axvline(1, color=COLOURS["weak"], linewidth=1, linestyle=(0, (3, 3)))
    names = [printable(judge_name(entry, table.entries)) for entry in table.entries]
    axes.set_yticks(list(places), [textwrap.fill(n, _LONGEST, max_lines=2, placeholder="…") for n in names])
    axes.set_ylim(len(table.rows) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_title(_PANELS[quantity], loc="left", fontsize=9)
    axes.tick_params(axis="y", length=0, labelcolor=COLOURS["ink"])


def sizes(table: Table) -> "Markup | None":
    """Detection by size, a line for each family and protocol; None where no family has two sizes."""
    families: dict[str, list[tuple[float, float, tuple[float, float]]]] = {}
    for entry in table.entries:
        share, ends = score(entry.result, "detection")
        if entry.family and entry.size and share is not None:
            protocols = {e.result.protocol for e in table.entries}
            name = entry.family + (f", {entry.result.protocol}" if len(protocols) > 1 else "")
            families.setdefault(printable(name), []).append((entry.size, share, ends or (share, share)))
    if not any(len({size for size, *_ in points}) > 1 for points in families.values()):
        return None

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        for number, (name, points) in enumerate(sorted(families.items())):
            x, y, ends = zip(*sorted(points), strict=True)
            (line,) = axes.plot(x, y, marker=_MARKERS[number % len(_MARKERS)], label=name)
            for place, (low, high) in zip(x, ends, strict=True):
                axes.plot([place, place], [low, high], color=line.get_color(), linewidth=1, alpha=0.6)
        axes.axhline(0.5, color=COLOURS["weak"], linewidth=1, linestyle=(0, (3, 3)))
        axes.set_xscale("log")
        shown: list[float] = []
        for size in sorted({size for points in families.values() for size, *_ in points}):
            shown += [size] if not shown or size > _APART * shown[-1] else []
        axes.set_xticks(shown, [f"{size:g}B" for size in shown])
        axes.minorticks_off()
        axes.set_xlabel("parameters")
        axes.set_ylabel("detection")
        figure.legend(loc="outside right upper", frameon=False)

    said = "; ".join(
        f"{name} {', '.join(f'{size:g}B {share:.0%}' for size, share, _ in sorted(points))}"
        for name, points in sorted(families.items())
    )
    return drawn(draw, 9.2, 3.8, f"Lines: detection by size on {table.dataset}: {said}.")
