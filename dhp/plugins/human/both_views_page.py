"""The page of detection and agreement: table, plots, correlation by samples."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dhp.content.damage import variant_name
from dhp.plugins.human.both_views import BeforeAndAfter, BothViews
from dhp.report.charts import COLOURS, drawn
from dhp.report.labels import figure as figure_of
from dhp.report.web import page

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

_ASSETS = Path(__file__).parent / "assets"

_ACROSS = 3
"""Panels in a row."""


def both_views_page(
    rows: Sequence[BothViews],
    measure: str,
    compared: Sequence[BeforeAndAfter] = (),
    variant: str = "",
    by_samples: Mapping[str, Sequence[float | None]] = {},
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
    by_samples
        Judge -> correlation of the mean of its first 1, 2, ... samples.
    """
    drawable = [row for row in rows if row.detection is not None and row.correlation is not None]
    return page(
        _ASSETS / "both_views.html",
        styles=["report.css"],
        scripts=["tables.js"],
        rows=rows,
        measure=measure,
        plot=views_chart(drawable, measure) if drawable else "",
        samples=samples_chart(by_samples) if by_samples else "",
        panels=panels_chart(compared, variant_name(variant)) if compared else "",
        variant=variant_name(variant) if variant else "",
    )


def views_chart(shown: Sequence[BothViews], measure: str) -> "Markup":
    """Detection against correlation: a point per judge, hollow for one of marked style."""

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        for row in shown:
            x, y = row.correlation or 0.0, row.detection or 0.0
            label = f"{row.judge} ({', '.join(row.style)})" if row.style else row.judge
            if row.detection_ci:
                axes.plot([x, x], row.detection_ci, color=COLOURS["weak"], linewidth=1)
            face = COLOURS["page"] if row.style else COLOURS["d"]
            axes.plot([x], [y], "o", ms=7, mfc=face, mec=COLOURS["d"])
            axes.annotate(label, (x, y), xytext=(6, 4), textcoords="offset points")
        axes.axhline(0.5, color=COLOURS["weak"], linewidth=1, linestyle=(0, (3, 3)))
        axes.set_ylim(min([0.45, *(r.detection or 0 for r in shown)]) - 0.05, 1.02)
        axes.margins(x=0.3)
        axes.set_ylabel("detection")
        axes.set_xlabel(measure)

    values = "; ".join(f"{r.judge} {r.correlation:.2f} and {r.detection:.2f}" for r in shown)
    return drawn(draw, 8.6, 3.6, f"Points: {measure} and detection of each judge: {values}.")


def samples_chart(curves: Mapping[str, Sequence[float | None]]) -> "Markup":
    """Correlation with human scores against the number of samples, a line for each judge."""

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        for judge, curve in curves.items():
            values = [float("nan") if value is None else value for value in curve]
            axes.plot(range(1, len(values) + 1), values, marker="o", ms=4, label=judge)
        axes.set_xlabel("samples averaged")
        axes.set_ylabel("Pearson over all items")
        axes.set_xticks(range(1, 1 + max(len(curve) for curve in curves.values())))
        figure.legend(loc="outside right upper", frameon=False)

    ends = "; ".join(f"{judge} {figure_of(c[0])} to {figure_of(c[-1])}" for judge, c in curves.items())
    return drawn(draw, 8.6, 3.4, f"Lines: correlation by the number of samples: {ends}.")


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
