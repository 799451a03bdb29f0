"""The charts of a result: D by variant, scores before and after."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dhp.analysis.result_parts import ResponseStyle, VariantResult
from dhp.analysis.results import Result
from dhp.content.damage import variant_name
from dhp.report.charts import COLOURS, drawn
from dhp.report.labels import figure

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 8.6  # inches
_BAR = 0.38  # height of a bar, of 1 a variant
_NARROWEST = 40  # bars on a scale; where scores are closer they are drawn in bins
_BINS = 20  # as results hold the distribution of many scores
_PIECES = 20  # of a bin that does not fit the bins drawn
_FEWEST_TICKS = 3.0  # points of a scale from which ticks are whole numbers


def discernment_chart(rows: Sequence[VariantResult]) -> "Markup":
    """Bars of D, and of D_EW where it differs, for each variant, beside the line at 1."""
    weighted = any(row.d != row.d_ew for row in rows)

    def draw(page: "Figure") -> None:
        axes = page.subplots()
        _bars(axes, rows, "d", -0.5 if weighted else 0.0, "D")
        if weighted:
            _bars(axes, rows, "d_ew", 0.5, "D_EW")
        axes.axvline(1, color=COLOURS["ink"], linewidth=1)
        axes.set_yticks(range(len(rows)), [variant_name(row.variant) for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0, labelcolor=COLOURS["ink"])
        axes.spines["left"].set_visible(False)
        _square_root(axes, max(_values(rows), default=1.0))
        for place in range(1, len(rows)):
            if rows[place].level != rows[place - 1].level:
                axes.axhline(place - 0.5, color=COLOURS["line"], linewidth=0.8)
        for place, row in enumerate(rows):
            if row.d is None:
                axes.text(0, place, " undefined", va="center", color=COLOURS["weak"])
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)

    values = (
        f"{variant_name(r.variant)} {figure(r.d)}{f' and {figure(r.d_ew)}' if weighted else ''}" for r in rows
    )
    return drawn(
        draw,
        _WIDTH,
        1.0 + (0.36 if weighted else 0.26) * len(rows),
        f"Bars of D{' and of D_EW' if weighted else ''} for each variant and a line "
        f"at 1: {'; '.join(values)}.",
    )


def _bars(axes: "Axes", rows: Sequence[VariantResult], name: str, side: float, label: str) -> None:
    places = [i + side * _BAR for i in range(len(rows))]
    values = [getattr(row, name) or 0.0 for row in rows]
    colour = COLOURS["d" if name == "d" else "ew"]
    axes.barh(places, values, height=_BAR, color=colour, label=label)


def _values(rows: Sequence[VariantResult]) -> list[float]:
    return [d for row in rows for d in (row.d, row.d_ew) if d is not None]


def _square_root(axes: "Axes", largest: float) -> None:
    """A square-root scale from 0: what lies about 1 is told apart beside a D of 20."""
    top = max(largest * 1.05, 1.5)
    axes.set_xscale("function", functions=(lambda x: abs(x) ** 0.5, lambda x: x**2))
    axes.set_xlim(0, top)
    ticks = [0.0, 1.0]
    for step in (0.25, 0.5, 2, 4, 7, 10, 15, 20, 30, 45, 65, 90, 120, 160, 200, 300):
        gap = min(abs(step**0.5 - tick**0.5) for tick in ticks)
        if step <= top and gap >= 0.06 * top**0.5:
            ticks.append(step)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="x", linewidth=0.6)


def scores_chart(result: Result) -> "Markup":
    """How the scores of each metric are distributed: originals above the line, degraded texts below it."""
    styles = result.styles
    columns = min(len(styles), 4)
    lines = math.ceil(len(styles) / columns)

    def draw(page: "Figure") -> None:
        every = page.subplots(lines, columns, squeeze=False, sharey=True).ravel()
        bars = {metric: score_bars(style, result.scales.get(metric)) for metric, style in styles.items()}
        top = max(height for each in bars.values() for height in (*each.originals, *each.degraded))
        for axes, (metric, style) in zip(every, styles.items(), strict=False):
            _scores(axes, style, bars[metric])
            axes.set_title(metric, fontsize=9.5, color=COLOURS["ink"])
            axes.set_ylim(-top * 1.12, top * 1.12)
        for place, axes in enumerate(every):
            axes.set_visible(place < len(styles))
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
        for first in every[: len(styles) : columns]:
            for name, height in (("originals", 0.75), ("degraded", 0.25)):
                first.text(
                    -0.02,
                    height,
                    name,
                    transform=first.transAxes,
                    rotation=90,
                    ha="right",
                    va="center",
                    color=COLOURS["weak"],
                )

    said = "; ".join(
        f"{metric}: originals mean {s.originals.mean:.2f}, degraded {s.degraded.mean:.2f}"
        for metric, s in styles.items()
    )
    width = _WIDTH if columns > 2 else 2.6 * columns + 0.4
    return drawn(draw, width, 2.1 * lines, f"Distribution of scores by metric: {said}.")


@dataclass(frozen=True, slots=True)
class ScoreBars:
    """The bars of one metric: a score each, or where there are many a bin each."""

    places: Sequence[float]
    width: float
    originals: Sequence[float]
    """Shares of the texts, one a bar."""
    degraded: Sequence[float]
    ends: tuple[float, float]
    """Of the axis."""


def score_bars(style: ResponseStyle, scale: tuple[float, float] | None) -> ScoreBars:
    """The bars of a metric with this scale, one a score, or 20 bins where scores lie too close for that."""
    parts = [{float(s): n for s, n in p.histogram.items()} for p in (style.originals, style.degraded)]
    used = sorted({score for part in parts for score in part})
    low, high = scale or (used[0], used[-1])
    low, high = min(low, used[0]), max(high, used[-1])
    gap = min([b - a for a, b in pairwise(used)], default=high - low)
    if gap * _NARROWEST >= high - low:
        width = 0.85 * min(gap, (high - low) / 6 or 1.0)
        originals, degraded = ([part.get(score, 0.0) for score in used] for part in parts)
        return ScoreBars(used, width, originals, degraded, (low - width, high + width))
    edges = np.linspace(low, high, _BINS + 1)
    step = float(edges[1] - edges[0])
    originals, degraded = (_in_bins(part, edges) for part in parts)
    return ScoreBars((edges[:-1] + step / 2).tolist(), step, originals, degraded, (low - step, high + step))


def _in_bins(part: Mapping[float, float], edges: npt.NDArray[np.float64]) -> list[float]:
    """The shares of scores in bins; a score that stands for a bin itself is spread over that."""
    scores, shares = np.array(list(part)), np.array(list(part.values()))
    gaps = np.diff(scores)
    if len(scores) == _BINS and np.allclose(gaps, gaps[0]):
        offsets = (np.arange(_PIECES) + 0.5) / _PIECES - 0.5
        scores = np.clip((scores[:, None] + gaps[0] * offsets).ravel(), edges[0], edges[-1])
        shares = np.repeat(shares / _PIECES, _PIECES)
    return [float(share) for share in np.histogram(scores, edges, weights=shares)[0]]


def _scores(axes: "Axes", style: ResponseStyle, bars: ScoreBars) -> None:
    from matplotlib.ticker import MaxNLocator

    for mean, shares, sign, colour in (
        (style.originals.mean, bars.originals, 1, "d"),
        (style.degraded.mean, bars.degraded, -1, "ew"),
    ):
        heights = np.array(shares)
        there = heights > 0
        axes.bar(np.array(bars.places)[there], sign * heights[there], width=bars.width, color=COLOURS[colour])
        axes.plot(mean, 0, "^" if sign < 0 else "v", color=COLOURS["ink"], markersize=5, zorder=3)
    axes.axhline(0, color=COLOURS["weak"], linewidth=0.8)
    axes.set_xlim(*bars.ends)
    whole = bars.ends[1] - bars.ends[0] >= _FEWEST_TICKS
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7 if whole else 4, integer=whole))
