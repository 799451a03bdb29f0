"""Detection and agreement with humans of the same judges, and their page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dhp.analysis.results import Result
from dhp.content.catalog import variant_name
from dhp.core.errors import InputError
from dhp.core.text import printable
from dhp.plugins.human.agreement import Agreement, mean_if_defined
from dhp.report.charts import COLOURS, drawn
from dhp.report.labels import figure as figure_of
from dhp.report.labels import style_words
from dhp.report.web import page
from dhp.runs.reader import Run, RunResult
from dhp.stats.arrays import Floats

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure


Correlations = tuple[tuple[float | None, ...], ...]
"""Judges x judges; None if undefined."""

CORRELATION = "per_source.spearman"
"""The one that is shown, by its name in an agreement."""


@dataclass(frozen=True, slots=True)
class BothViews:
    """One judge on one dataset."""

    judge: str
    correlation: float | None
    """Correlation with human scores, the mean over metrics; None without human scores, or undefined."""
    dataset: str | None = None
    """Name of the dataset whose texts were degraded; None for a judge without a run."""
    detection: float | None = None
    """Mean over levels and kinds of damage, in [0, 1]; 0.5 is blind."""
    detection_ci: tuple[float, float] | None = None
    """95 % confidence limits of the detection."""
    lowest: tuple[str, float] | None = None
    """The kind of damage with the lowest detection, and that."""
    style: tuple[str, ...] = ()
    """Use of the scales, on at least half of the metrics: lenient, harsh, compressed."""


def both_views(
    agreement: Agreement,
    runs: Sequence[Run],
) -> list[BothViews]:
    """A row for each result of the runs, then for judges that have none.

    A judge is met again by its model, and its protocol if there are several. Raises `InputError` if
    there are runs, but none of a judge of the agreement.
    """
    known = {judge.judge: judge.mean.get(CORRELATION) for judge in agreement.judges}
    rows, met = [], set()
    for result in (r for run in runs for r in run.results):
        name = next((n for n in (f"{result.model} ({result.protocol})", result.model) if n in known), None)
        met.add(name)
        rows.append(_row(name or f"{result.model} ({result.protocol})", known.get(name or ""), result))
    if runs and not met - {None}:
        models = ", ".join(dict.fromkeys(r.model for run in runs for r in run.results))
        raise InputError(f"runs: are of {models}; none of the ratings' judges: {', '.join(known)}")
    return [*rows, *(BothViews(name, value) for name, value in known.items() if name not in met)]


def correlation_by_samples(agreement: Agreement) -> dict[str, list[float | None]]:
    """Judge -> pooled Pearson correlation of the mean of its first 1, 2, ... samples, the mean over metrics.

    None if it is undefined by a metric; judges that answered once are left out.
    """
    by_metric: dict[str, list[float | None]] = {}
    for judge in agreement.judges:
        curves = [metric.by_samples for metric in judge.metrics]
        points = list(zip(*curves, strict=False))
        if points:
            by_metric[judge.judge] = [mean_if_defined(point) for point in points]
    return by_metric


def _row(judge: str, correlation: float | None, result: Result) -> BothViews:
    run = result.detection
    lowest = None if run.min is None else (run.min_variant or "", run.min)
    ends, style = run.ci["avg"], style_words(result)
    return BothViews(judge, correlation, result.dataset, run.avg, ends, lowest, style)


@dataclass(frozen=True, slots=True)
class BeforeAndAfter:
    """How judges score the same texts before and after damage (figure 2 of Wang et al. 2025)."""

    judges: tuple[str, ...]
    scores: Floats
    """Scores, each the mean over the metrics, shape (2, judges, examples), originals first."""
    correlations: tuple[Correlations, Correlations]
    """Pearson's rho of every two judges over the originals, and over the degraded texts."""


def before_and_after(rated: Sequence[RunResult], variant: str) -> BeforeAndAfter:
    """Scores before and after damage of the judges that rated the variant, and how far they correlate.

    Examples that lack a score of a metric of any of these judges on either side are left out. Raises
    `InputError` if no judge rated the variant, a judge rated it in two runs, or the judges have no example
    in common.
    """
    by_judge: dict[str, dict[tuple[str, str], Floats]] = {}
    for each in rated:
        if variant not in each.ratings.variants:
            continue
        result = each.result
        judge = printable(f"{result.model} ({result.protocol})" if result.asked else result.model)
        pairs_of = by_judge.setdefault(judge, {})
        if any(dataset == result.dataset for dataset, _ in pairs_of):
            raise InputError(f"{each.place}: {judge} rated '{variant}' in another run, too; allowed: one run")
        means = each.ratings.means[[0, 1 + each.ratings.variants.index(variant)]].mean(axis=1)
        pairs = zip(each.ratings.examples, means.T, strict=True)
        pairs_of |= {(result.dataset, name): pair for name, pair in pairs if not np.isnan(pair).any()}
    if not by_judge:
        known = ", ".join(dict.fromkeys(v for each in rated for v in each.ratings.variants))
        raise InputError(f"variant '{variant}': was not rated in these runs; allowed: {known}")
    common = sorted(set.intersection(*map(set, by_judge.values())))
    if not common:
        raise InputError(f"variant '{variant}': no example has scores of all of {', '.join(by_judge)}")
    scores = np.array([[pairs_of[key] for key in common] for pairs_of in by_judge.values()]).transpose(
        2, 0, 1
    )
    originals, degraded = scores
    return BeforeAndAfter((*by_judge,), scores, (_between_rows(originals), _between_rows(degraded)))


def _between_rows(scores: Floats) -> Correlations:
    """Pearson's rho of every two rows; None if undefined."""
    from dhp.plugins.human.correlation import row_correlations

    rows = (row_correlations(np.broadcast_to(row, scores.shape), scores, "pearson") for row in scores)
    return tuple(tuple(None if np.isnan(rho) else float(rho) for rho in row) for row in rows)


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

    `measure` says what the correlation is; `compared` has scores of originals and of `variant`, for their
    correlations and distributions; `by_samples` has judge -> correlation of the mean of its first 1, 2, ...
    samples.
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
