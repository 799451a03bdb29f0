"""D_avg and D_min of all judges of a table as bars, in the manner of figure 4 of Wang et al. (2025)."""

import textwrap
from typing import TYPE_CHECKING

from dhp.core.text import printable
from dhp.leaderboard.entries import judge_name
from dhp.leaderboard.tables import Table
from dhp.report.charts import COLOURS, drawn

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS = {"d_avg": "D_avg (breadth)", "d_min": "D_min (blind spot)"}
_LONGEST = 38  # characters in a line of a label


def bars(table: Table) -> "Markup":
    """The chart: a row for each judge, plain and weighted bars."""

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
