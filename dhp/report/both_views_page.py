"""The page of both views on judges: a table, a scatter plot, and scores before and after one perturbation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dhp.report.both_views import BeforeAndAfter, BothViews
from dhp.report.charts import COLOURS, drawn
from dhp.report.web import page

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

_ACROSS = 3
"""Panels in a row."""


def both_views_page(
    rows: Sequence[BothViews], measure: str, compared: Sequence[BeforeAndAfter] = (), variant: str = ""
) -> str:
    """The page as one self-contained file.

    Parameters
    ----------
    rows
        Judges.
    measure
        What the correlation is, in words.
    compared, variant
        Scores on originals and on this variant, for panels; none without.
    """
    return page(
        "both_views.html",
        styles=["report.css"],
        scripts=["tables.js"],
        rows=rows,
        measure=measure,
        plot=views_chart(rows, measure) if any(r.detection and r.correlation for r in rows) else "",
        panels=panels_chart(compared, variant) if compared else "",
        variant=variant,
    )


def views_chart(rows: Sequence[BothViews], measure: str) -> "Markup":
    """Detection against correlation, a point for each judge; judges with a marked style are hollow."""
    shown = [r for r in rows if r.detection is not None and r.correlation is not None]

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        for row in shown:
            face = COLOURS["page"] if row.style else COLOURS["d"]
            x, y = row.correlation or 0.0, row.detection or 0.0
            if row.detection_ci:
                axes.plot([x, x], row.detection_ci, color=COLOURS["weak"], linewidth=1)
            axes.plot([x], [y], "o", ms=7, mfc=face, mec=COLOURS["d"])
            label = row.judge + (f" ({', '.join(row.style)})" if row.style else "")
            axes.annotate(label, (x, y), xytext=(6, 4), textcoords="offset points")
        axes.axhline(0.5, color=COLOURS["weak"], linewidth=1, linestyle=(0, (3, 3)))
        axes.set_ylim(min([0.45, *(r.detection or 0 for r in shown)]) - 0.05, 1.02)
        axes.set_xlabel(measure)
        axes.set_ylabel("detection")
        axes.margins(x=0.3)

    values = "; ".join(f"{r.judge} {r.correlation:.2f} and {r.detection:.2f}" for r in shown)
    return drawn(draw, 8.6, 4.4, f"Points: {measure} and detection of each judge: {values}.")


def panels_chart(compared: Sequence[BeforeAndAfter], variant: str) -> "Markup":
    """A panel for each judge: its score of the original against that of the degraded text."""
    down = -(-len(compared) // _ACROSS)
    across = min(_ACROSS, len(compared))

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(down, across, squeeze=False).ravel()
        for axes in panels[len(compared) :]:
            axes.set_axis_off()
        for axes, each in zip(panels, compared, strict=False):
            ends = [f(each.originals + each.degraded, default=0.0) for f in (min, max)]
            axes.plot(ends, ends, color=COLOURS["weak"], linewidth=1)
            axes.plot(each.originals, each.degraded, "o", ms=3.5, alpha=0.5, color=COLOURS["d"])
            rho = "undefined" if each.correlation is None else f"{each.correlation:.2f}"
            axes.set_title(f"{each.judge}\nrho = {rho}, N = {len(each.originals)}", fontsize=8, loc="left")
            axes.set_xlabel("original", fontsize=8)
            axes.set_ylabel(variant, fontsize=8)

    rhos = "; ".join(
        f"{c.judge} {'undefined' if c.correlation is None else f'{c.correlation:.2f}'}" for c in compared
    )
    return drawn(
        draw, 2.9 * across, 3.0 * down, f"Scores of originals against {variant}, with Pearson's rho: {rhos}."
    )
