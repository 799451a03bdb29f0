"""The page of detection and agreement: table, plots, correlation by samples."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

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
_BINS = 12
"""Bars of a distribution."""


def both_views_page(
    rows: Sequence[BothViews],
    measure: str,
    compared: BeforeAndAfter | None = None,
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
        Scores of originals and of this variant, for their correlations and distributions; none without.
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
        compared=compared,
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


def panels_chart(compared: BeforeAndAfter, variant: str) -> "Markup":
    """A panel for each judge: the distributions of its scores of originals and of degraded texts."""
    judges, originals, degraded = compared.judges, *compared.scores
    down = -(-len(judges) // _ACROSS)
    across = min(_ACROSS, len(judges))

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(down, across, squeeze=False).ravel()
        for axes in panels[len(judges) :]:
            axes.set_axis_off()
        for axes, judge, *sides in zip(panels, judges, originals, degraded, strict=False):
            bins = np.histogram_bin_edges(np.concatenate(sides), _BINS)
            for scores, name, colour in zip(sides, ("originals", variant), ("d", "ew"), strict=True):
                axes.hist(scores, bins, histtype="step", color=COLOURS[colour], label=name)
            axes.set_title(judge, fontsize=8, loc="left")
            axes.set_xlabel("mean score", fontsize=8)
        figure.legend(
            *panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False
        )

    means = "; ".join(
        f"{judge} {before.mean():.2f} and {after.mean():.2f}"
        for judge, before, after in zip(judges, originals, degraded, strict=True)
    )
    words = f"Distributions of scores of originals and of {variant}, with these means: {means}."
    return drawn(draw, 2.9 * across, 2.6 * down + 0.4, words)
