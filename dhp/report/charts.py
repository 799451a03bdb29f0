"""Charts as inline pictures by matplotlib, and curves of runs with doses.

Each chart is first a `Drawing`: a function that draws it, its size, words for those who cannot see it, and
its figures as rows. `drawn` makes a picture of it for a page, `dhp.report.figures` files for a paper. On a
page the colours of a picture are variables of the style sheet, so that it follows the light or dark theme.
"""

import io
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from dhp.analysis.doses import fitted_detection
from dhp.analysis.mark_sweep import MarkSweep
from dhp.analysis.results import DoseResponse, Result
from dhp.content.catalog import kind_name, variant_name
from dhp.report.columns import AVERAGES, PAPER, RUNS, weighed
from dhp.report.findings import by_judge
from dhp.report.labels import figure, percent, t75
from dhp.report.side_by_side import mean_detection, seen_by

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_NAMES = ("ink", "weak", "line", "page", "d", "ew", "yes", "no", "heat", "card")
COLOURS = {name: f"#fe{place:02x}01" for place, name in enumerate(_NAMES)}
"""Name of a colour of the page's style -> a colour that nothing else has, which stands for it in a figure.

`_inline` replaces it by the variable of the style, so that it follows the light or dark theme.
"""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart before it is drawn, with its figures."""

    name: str
    """What it shows, and of what."""
    draw: Callable[["Figure"], None]
    width: float
    """Inches."""
    height: float
    description: str
    """For those who cannot see it."""
    rows: Sequence[Mapping[str, object]]
    """The figures that it shows, a row for each mark."""

    def on_page(self) -> "Markup":
        """The chart as an inline picture."""
        return drawn(self.draw, self.width, self.height, self.description)


def drawn(draw: Callable[["Figure"], None], width: float, height: float, description: str) -> "Markup":
    """The figure that `draw` draws, as an inline picture; sizes are in inches.

    `description` says what it shows, for those who cannot see it. The same drawing gives the same text.
    """
    import logging

    from markupsafe import escape
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it warns of a cache that cannot be written
    buffer = io.StringIO()
    with rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the browser has fonts for what matplotlib's own lacks
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        figure.savefig(buffer, format="svg", transparent=True, metadata=NOT_WRITTEN)
    return _inline(buffer.getvalue(), width, escape(description))


def _inline(svg: str, width: float, description: str) -> "Markup":
    """A picture as matplotlib writes it, without what a page has already or has no use for."""
    from markupsafe import Markup

    box = re.search(r'viewBox="[^"]*"', svg)  # viewBox="0 0 345.6 194.4"
    assert box is not None
    # Without the XML head, the document type and the opening tag, which is written anew below.
    inner = svg[svg.index(">", svg.index("<svg")) + 1 :]
    # <metadata>...</metadata>, <style type="text/css">...</style>, whose rules would hold for the whole page
    inner = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", inner, flags=re.DOTALL)
    # Of the many ids that matplotlib gives, those that nothing refers to would only make the page longer.
    used = set(re.findall(r"#([\w.-]+)[)\"]", inner))  # url(#p1a2b), href="#m3c4d"
    inner = re.sub(r' id="([^"]*)"', lambda match: match[0] if match[1] in used else "", inner)
    # font-family: 'DejaVu Sans', sans-serif; the page has a font of its own
    inner = re.sub(r"font-family: [^;\"]*;? ?", "", inner)
    for name, colour in COLOURS.items():
        inner = inner.replace(colour, f"var(--{name})")
    return Markup(
        f'<svg class="chart" style="--width: {width:g}in" role="img" aria-label="{description}" '
        f"{box[0]}>{inner}"
    )


NOT_WRITTEN: dict[str, Any] = {"Date": None, "Creator": None}
"""Of a picture's metadata: the same drawing gives the same file."""
STYLE: dict[Any, Any] = {
    # Letters stay text, so that the page shows them in its own font.
    "svg.fonttype": "none",
    # Without it the ids in the picture differ from one drawing to the next.
    "svg.hashsalt": "dhp",
    "font.size": 9,
    # A `$` in the name of a judge or a dataset is no formula.
    "text.parse_math": False,
    "text.color": COLOURS["ink"],
    "axes.edgecolor": COLOURS["line"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.facecolor": "none",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": COLOURS["weak"],
    "ytick.color": COLOURS["weak"],
    "grid.color": COLOURS["line"],
}


_WIDTH = 8.6
"""Inches of a chart that takes the whole page."""
_NARROW = 5.4
"""Inches of a single panel."""
_HEIGHT = 2.7
"""Inches of a row of panels."""
_POINTS = 120
"""Points of a drawn curve: enough for it to look smooth."""
_BAR = 0.17
"""Inches of a bar."""
_SLIM = 4.8
"""Inches of a chart that is to be read on a phone."""
_FIRST_COLOURS = ("d", "ew", "yes", "weak")
"""Colours of bars and lines in their order; further ones begin anew, paler or with other marks."""
_DASHES: Sequence[Any] = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)))
"""Dashes of lines as matplotlib takes them: one for each round of colours."""
_MARKS = "os^Dv<>P"
"""Marks of points as matplotlib takes them."""
_MOST_JUDGES = 6
"""Judges that a chart of kinds of damage shows; of more, it shows the averages alone. Chosen."""


def discernment_charts(results: Sequence[Result]) -> "list[Markup]":
    """The pictures of `discernment_drawings`."""
    return [each.on_page() for each in discernment_drawings(results)]


def discernment_drawings(results: Sequence[Result]) -> list[Drawing]:
    """Bars of D, a chart for each dataset, with a line at D = 1, where p is 0.05.

    Bars are in groups: D_avg and D_min, with weights too if these are asked for, then each kind of damage;
    in a group there is one for each judge.
    """
    sets: dict[str, list[Result]] = {}
    for result in results:
        if not result.curves and not result.too_few:
            sets.setdefault(result.dataset, []).append(result)
    return [_discernment(name, of_set) for name, of_set in sets.items()]


def _discernment(dataset: str, results: Sequence[Result]) -> Drawing:
    groups = _discernment_groups(results)
    judges = [result.judge for result in results]
    rows: list[dict[str, object]] = []
    described = []
    for group, values in groups.items():
        words = []
        for judge, d in zip(judges, values, strict=True):
            words.append(f"{judge} {figure(d)}")
            rows.append({"dataset": dataset, "judge": judge, "of": group, "d": d})
        described.append(f"{group}: {', '.join(words)}")

    def draw(page: "Figure") -> None:
        axes = page.subplots()
        thick = 0.8 / len(judges)
        rounds = (len(judges) - 1) // len(_FIRST_COLOURS)
        for index, judge in enumerate(judges):
            beside = (index - (len(judges) - 1) / 2) * thick  # the bars of a group stand around its place
            places = [at + beside for at in range(len(groups))]
            this_round, colour = divmod(index, len(_FIRST_COLOURS))
            # An undefined D has a bar of length 0.
            values = [each[index] or 0.0 for each in groups.values()]
            axes.barh(
                places,
                values,
                thick * 0.9,
                color=COLOURS[_FIRST_COLOURS[colour]],
                alpha=1 - 0.55 * this_round / max(1, rounds),  # each round of colours is paler
                label=judge,
            )
        axes.axvline(1, color=COLOURS["no"], linewidth=1.2)
        axes.set_yticks(range(len(groups)), list(groups))
        # The first group stands at the top.
        axes.invert_yaxis()
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.set_xlabel("D; the line is D = 1, p = 0.05")
        axes.set_title(dataset, fontsize=9.5, color=COLOURS["ink"], loc="left")
        if len(judges) > 1:
            page.legend(loc="outside upper center", frameon=False)

    # Inches: for axis and title, for the groups, and for a line of the legend per judge.
    height = 0.9 + len(groups) * max(0.22, _BAR * len(judges)) + 0.18 * len(judges)
    words_for_all = f"Bars of D on {dataset}, 1 is p = 0.05. {'; '.join(described)}."
    return Drawing(f"D {dataset}", draw, _SLIM, height, words_for_all, rows)


def _discernment_groups(results: Sequence[Result]) -> dict[str, list[float | None]]:
    """An average or a kind of damage -> its D by each judge."""
    groups: dict[str, list[float | None]] = {}
    for column in PAPER if weighed(results) else RUNS:
        if column in AVERAGES:
            groups[column.heading] = [column.value(result) for result in results]
    if len(results) <= _MOST_JUDGES:
        for place, result in enumerate(results):
            for row in result.variants:
                kind = groups.setdefault(variant_name(row.variant), [None] * len(results))
                kind[place] = row.d
    return groups


def overview_drawing(results: Sequence[Result]) -> Drawing:
    """Detection of each kind by each judge, the mean over its sets; of one judge by set.

    A cell is the darker the further detection lies from 50 %, blue above and orange below.
    """
    judges = list(by_judge(results))
    several = len(judges) > 1
    if several:
        names = judges
        seen = seen_by([(each.judge, each) for each in results])
    else:
        names = list(dict.fromkeys(each.dataset for each in results))
        seen = seen_by([(each.dataset, each) for each in results])
    rows: list[dict[str, object]] = []
    for kind, by_name in seen.items():
        for name in names:
            mean = mean_detection(by_name.get(name, ()))
            rows.append({"kind": variant_name(kind), "of": name, "detection": mean})

    def draw(page: "Figure") -> None:
        axes = page.subplots()
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylim(len(seen) - 0.5, -0.5)
        for place, row in enumerate(rows):
            # The drawing's figures come kind by kind, so the place of a row tells its line and its column.
            y, x = divmod(place, len(names))
            share = row["detection"]
            # A name that has no such kind leaves its cell empty.
            if not isinstance(share, float):
                continue
            strength = min(1.0, abs(share - 0.5) / 0.5)
            colour = COLOURS["d" if share >= 0.5 else "heat"]
            # A cell is a bar from y - 0.47 to y + 0.47; what is missing to 1 is the gap between cells.
            axes.bar(x, 0.94, 0.96, y - 0.47, color=colour, alpha=0.08 + 0.5 * strength)
            axes.text(x, y, percent(share), ha="center", va="center", fontsize=8)
        axes.set_yticks(range(len(seen)), [variant_name(kind) for kind in seen])
        # Long names would run into each other.
        turn = 0 if max(map(len, names)) <= 12 else 30
        axes.set_xticks(range(len(names)), names, rotation=turn, ha="left" if turn else "center")
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)

    words = "; ".join(f"{row['kind']}, {row['of']}: {row['detection']}" for row in rows)
    height = 1.1 + 0.25 * len(seen)
    width = min(_WIDTH, 2.6 + 0.95 * len(names))
    return Drawing("kinds by judge" if several else "kinds by set", draw, width, height, words, rows)


def marks_drawing(sweep: MarkSweep, of: str = "") -> Drawing:
    """What passes at each mark: a line for each kind of damage, and one for the good texts that fail."""
    kinds: dict[str, list[tuple[float | None, ...]]] = {}
    for name, shares in sweep.passes.items():
        kinds.setdefault(kind_name(name), []).append(shares)

    def draw(page: "Figure") -> None:
        axes = page.subplots()
        for index, (kind, rows) in enumerate(kinds.items()):
            colour = COLOURS[_FIRST_COLOURS[index % len(_FIRST_COLOURS)]]
            # The degrees of a kind share colour and marks; the width of the line tells them apart.
            for degree, shares in enumerate(rows):
                axes.plot(
                    sweep.marks,
                    _drawable(shares),
                    color=colour,
                    marker=_MARKS[index % len(_MARKS)],
                    markersize=3.5,
                    linewidth=1 + degree,
                    label=kind if degree == 0 else None,
                )
        axes.plot(
            sweep.marks,
            _drawable(sweep.fails),
            color=COLOURS["no"],
            linewidth=2.4,
            label="good texts that fail",
        )
        axes.axvline(sweep.best, color=COLOURS["weak"], linewidth=0.8, linestyle=(0, (3, 3)))
        axes.set_ylim(-0.02, 1.02)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.set_xlabel("mark")
        axes.set_title("damaged texts that pass", fontsize=9.5, color=COLOURS["ink"], loc="left")
        page.legend(loc="outside right center", frameon=False, fontsize=8)

    lines = {**sweep.passes, "good texts that fail": sweep.fails}
    rows: list[dict[str, object]] = []
    for name, line in lines.items():
        for mark, share in zip(sweep.marks, line, strict=True):
            rows.append({"mark": mark, "of": name, "share": share})
    return Drawing(f"marks {of}", draw, _WIDTH, 3.2, _marks_in_words(sweep), rows)


def _marks_in_words(sweep: MarkSweep) -> str:
    at = sweep.marks.index(sweep.best)
    passing = [f"{variant_name(name)} {percent(shares[at])} pass" for name, shares in sweep.passes.items()]
    shown = f"at {sweep.best:g}: {'; '.join(passing)}; {percent(sweep.fails[at])} of the good texts fail"
    return f"Damaged texts that pass and good texts that fail by mark; {shown}."


def detection_drawing(curves: Sequence[DoseResponse], of: str = "") -> Drawing:
    """Detection by dose with the fitted curve, a panel for each perturber; T75 with its interval at 75 %."""
    panels: list[_Panel] = []
    described = []
    for curve in curves:
        kind = kind_name(curve.perturber)
        panels.append((kind, [("detection", curve)]))
        described.append(f"{kind}: {_points(curve)}, T75 {t75(curve)}")
    return _panels(panels, f"Detection by dose: {'; '.join(described)}.", f"doses {of}")


def judges_chart(results: Sequence[Result]) -> "Markup | None":
    """The curves of all judges in one chart, a panel for each perturber of a dataset; None for one judge."""
    panels: dict[tuple[str, str], list[tuple[str, DoseResponse]]] = {}
    for result in results:
        for curve in result.curves:
            panels.setdefault((curve.perturber, result.dataset), []).append((result.judge, curve))
    shown = {about: lines for about, lines in panels.items() if len(lines) > 1}
    if not shown:
        return None
    several = len({dataset for _, dataset in shown}) > 1
    titled: list[_Panel] = []
    described = []
    for (perturber, dataset), lines in shown.items():
        title = f"{kind_name(perturber)}, {dataset}" if several else kind_name(perturber)
        titled.append((title, lines))
        thresholds = [f"{judge} T75 {t75(curve)}" for judge, curve in lines]
        described.append(f"{title}: {', '.join(thresholds)}")
    words = f"Detection by dose, a line for each judge: {'; '.join(described)}."
    return _panels(titled, words, "doses").on_page()


_Panel = tuple[str, Sequence[tuple[str, DoseResponse]]]
"""Title, and the curves with the label of each."""


def _panels(panels: Sequence[_Panel], description: str, name: str) -> Drawing:
    """A chart of panels, two per row, with a common axis and, for several lines, a legend."""
    columns = min(len(panels), 2)
    rows = math.ceil(len(panels) / columns)
    lowest = 0.45  # of all panels, as they share their axis
    points: list[dict[str, object]] = []
    for title, lines in panels:
        for label, curve in lines:
            for dose, detection in zip(curve.doses, curve.detection, strict=False):
                points.append({"of": title, "line": label, "dose": dose, "detection": detection})
                if detection is not None:
                    lowest = min(lowest, detection - 0.03)

    def draw(page: "Figure") -> None:
        # By label, so that the legend names a judge once and not once a panel.
        labels: dict[str, Any] = {}
        # An array of shape (rows, columns), made flat: panel after panel, row by row.
        every = page.subplots(rows, columns, squeeze=False, sharey=True).ravel()
        # With an odd number of panels the last place stays empty.
        for axes in every[len(panels) :]:
            axes.set_visible(False)
        # The first panel of each row; the others share its axis.
        for axes in every[::columns]:
            axes.set_ylabel("detection")
        for axes, (title, lines) in zip(every, panels, strict=False):
            for index, (label, curve) in enumerate(lines):
                _psychometric(axes, curve, index, label)
            axes.axhline(0.5, color=COLOURS["weak"], linewidth=1)
            axes.axhline(0.75, color=COLOURS["weak"], linewidth=0.8, linestyle=(0, (3, 3)))
            axes.set_ylim(lowest, 1.02)
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
            doses = sorted(set(chain.from_iterable(curve.doses for _, curve in lines)))
            _label(axes, title, doses, doses if len(doses) <= 8 else _round(doses))
            handles, names = axes.get_legend_handles_labels()
            labels |= dict(zip(names, handles, strict=True))
        if len(labels) > 1:
            # As many columns as keep within the chart: an inch holds about 11 characters, a mark takes 4.
            fit = max(1, int(_WIDTH * 11 / (4 + max(map(len, labels)))))
            ncols = min(len(labels), fit)
            page.legend(labels.values(), labels, loc="outside upper center", ncols=ncols, frameon=False)

    width = _WIDTH if columns > 1 else _NARROW
    legend = 0.4 if len(panels[0][1]) > 1 else 0.0
    return Drawing(name, draw, width, _HEIGHT * rows + legend, description, points)


def _psychometric(axes: "Axes", curve: DoseResponse, index: int, label: str) -> None:
    colour = COLOURS[("d", "ew", "ink", "weak")[index % 4]]
    dash = _DASHES[index // 4 % len(_DASHES)]  # the next one when all colours were used
    mark = _MARKS[index % len(_MARKS)]
    axes.plot(
        curve.doses,
        _drawable(curve.detection),
        mark,
        color=colour,
        markersize=5,
        label=label,
        zorder=3,
    )
    # Even steps of the logarithm: small doses have room on a logarithmic axis, and need their points there.
    at = np.geomspace(curve.doses[0], curve.doses[-1], _POINTS)
    fitted = fitted_detection(curve, at.tolist())
    # No curve was fitted: straight lines join the points.
    if fitted is None:
        axes.plot(curve.doses, _drawable(curve.detection), color=colour, linestyle=dash, linewidth=0.8)
    else:
        axes.plot(at, fitted, color=colour, linestyle=dash, linewidth=1.6)
    # No threshold to draw: T75 was not reached (None), or lies below the smallest dose (0).
    if curve.t75 is not None and curve.t75.value:
        low, high = curve.t75.low, curve.t75.high
        # An end beyond the doses is drawn at the last one that was tried.
        ends = (low or curve.doses[0], curve.doses[-1] if high is None else high)
        axes.plot(ends, (0.75, 0.75), color=colour, linewidth=4, alpha=0.35, solid_capstyle="butt")
        axes.plot([curve.t75.value], [0.75], "|", color=colour, markersize=12, markeredgewidth=2)


def _label(axes: "Axes", title: str, doses: Sequence[int], shown: Sequence[int]) -> None:
    """The title and the axis of doses, of which some are labelled."""
    # Doses over a wide range would crowd at the left of a linear axis; 8 is chosen.
    axes.set_xscale("log" if doses[-1] / doses[0] >= 8 else "linear")
    axes.set_xticks(shown, [str(dose) for dose in shown])
    # A logarithmic axis would add ticks at doses that nobody tried.
    axes.minorticks_off()
    axes.set_xlabel("dose")
    axes.set_title(title, fontsize=9.5, color=COLOURS["ink"])


def _round(doses: Sequence[int]) -> list[int]:
    """The doses to label: each at least half as large again as the last one."""
    kept = [doses[0]]
    for dose in doses[1:]:
        if dose >= 1.5 * kept[-1]:
            kept.append(dose)
    return kept


def _points(curve: DoseResponse) -> str:
    points = zip(curve.doses, curve.detection, strict=False)
    return ", ".join(f"dose {dose} {percent(detection)}" for dose, detection in points)


def _drawable(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]
