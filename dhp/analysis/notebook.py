"""Results in notebooks and in one glance: a line, a table in HTML, a chart."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Protocol

from dhp.analysis.result_parts import RunDetection, VariantResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = {"noticed": "#2e7d32", "missed": "#c62828", "undecided": "#f9a825"}


class Shown(Protocol):
    """What of a result is shown; `dhp.analysis.results.Result` is one."""

    @property
    def model(self) -> str: ...
    @property
    def judge(self) -> str: ...
    @property
    def dataset(self) -> str: ...
    @property
    def variants(self) -> Sequence[VariantResult]: ...
    @property
    def detection(self) -> RunDetection | None: ...
    @property
    def d_avg(self) -> float | None: ...
    @property
    def d_min(self) -> float | None: ...


def line(result: Shown) -> str:
    """A result in one line: judge, data, what was noticed, detection, D."""
    verdicts = [row.verdict for row in result.variants]
    detected = result.detection.avg if result.detection else None
    return (
        f"{result.judge} on {result.dataset}: {verdicts.count('noticed')} of {len(verdicts)} noticed, "
        f"detection {_percent(detected)}, D_avg {_figure(result.d_avg)}, D_min {_figure(result.d_min)}"
    )


def html_table(results: Sequence[Shown]) -> str:
    """Tables for notebooks, one a result; all text is escaped."""
    return "".join(map(_section, results))


def plot(result: Shown) -> "Figure":
    """Detection of each variant with its limits, from 50 % to 100 %, coloured by verdict.

    Returns
    -------
    matplotlib.figure.Figure
        Drawn without a display; notebooks show it, `savefig` writes it.
    """
    from matplotlib.figure import Figure

    rows = [row for row in result.variants if row.detection is not None]
    figure = Figure(figsize=(7, 0.8 + 0.32 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(rows):
        value, colour = row.detection or 0.0, _COLOURS.get(row.verdict or "", "#777777")
        low, high = row.detection_ci or (value, value)
        axes.plot([low, high], [place, place], color=colour, linewidth=2)
        axes.plot([value], [place], "o", color=colour)
    axes.axvline(0.5, color="#777777", linewidth=1, linestyle=":")
    axes.set_yticks(range(len(rows)), [row.variant for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(min([0.5, *((row.detection_ci or (0.5, 1.0))[0] for row in rows)]) - 0.02, 1.02)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.set_xlabel("detection (50 % is blind)")
    axes.set_title(f"{result.dataset}: {result.model}", loc="left")
    return figure


def _section(result: Shown) -> str:
    rows = "".join(map(_row, result.variants))
    headings = "".join(f"<th>{name}</th>" for name in ("variant", "detection", "95 %", "verdict", "D"))
    return f"<p><b>{escape(line(result))}</b></p><table><tr>{headings}</tr>{rows}</table>"


def _row(row: VariantResult) -> str:
    ends = "–" if row.detection_ci is None else "–".join(_percent(end) for end in row.detection_ci)
    colour = _COLOURS.get(row.verdict or "", "#777777")
    cells = (escape(row.variant), _percent(row.detection), ends, _figure(row.d))
    name, detected, between, d = (f"<td>{cell}</td>" for cell in cells)
    verdict = f'<td style="color:{colour}">{escape(row.verdict or "undefined")}</td>'
    return f"<tr>{name}{detected}{between}{verdict}{d}</tr>"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
