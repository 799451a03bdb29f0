"""Display of results in notebooks: one line, an HTML table, a chart."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Protocol

from dhp.analysis.result_parts import Ends, RunDetection, VariantResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = {
    "noticed": "#0f5f73",
    "faint": "#7a9aa1",
    "as harmless edits": "#7d4f99",
    "missed": "#b35a06",
    "preferred": "#b3261e",
    "false alarm": "#b3261e",
    "raised": "#b3261e",
}
_GREY = "#6b7280"


class ShownResult(Protocol):
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
    def controls(self) -> Sequence[VariantResult]: ...
    @property
    def detection(self) -> RunDetection: ...


def line(result: ShownResult) -> str:
    """A result in one line: judge, data, what was noticed, detection, the lowest kind, false alarms."""
    verdicts = [row.verdict for row in result.variants]
    run = result.detection
    said = (
        f"{result.judge} on {result.dataset}: {verdicts.count('noticed')} of {len(verdicts)} noticed, "
        f"detection {_with_ends(run.avg, run.ci['avg'])}"
    )
    if run.min_variant is not None:
        said += f", lowest {_percent(run.min)} ({run.min_variant})"
    alarms = [row.variant for row in result.controls if row.verdict == "false alarm"]
    return f"{said}, false alarm on {', '.join(alarms)}" if alarms else said


def html_table(results: Sequence[ShownResult]) -> str:
    """Tables for notebooks, one per result; all text is escaped."""
    return "".join(map(_section, results))


def plot(result: ShownResult) -> "Figure":
    """Detection of each kind of damage and control with its limits, coloured by verdict; 50 % is blind.

    It is drawn without a display; notebooks show it, `savefig` writes it.
    """
    from matplotlib.figure import Figure

    rows = [row for row in (*result.variants, *result.controls) if row.detection is not None]
    figure = Figure(figsize=(7, 0.8 + 0.32 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(rows):
        value, colour = row.detection or 0.0, _COLOURS.get(row.verdict or "", _GREY)
        low, high = row.detection_ci or (value, value)
        axes.plot([low, high], [place, place], color=colour, linewidth=2)
        axes.plot([value], [place], "o", color=colour)
    axes.axvline(0.5, color=_GREY, linewidth=1, linestyle=":")
    axes.set_yticks(range(len(rows)), [row.variant for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(min([0.5, *((row.detection_ci or (0.5, 1.0))[0] for row in rows)]) - 0.02, 1.02)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.set_xlabel("detection (50 % is blind)")
    axes.set_title(f"{result.dataset}: {result.model}", loc="left")
    return figure


def _section(result: ShownResult) -> str:
    rows = "".join(_row(row) for row in (*result.variants, *result.controls))
    headings = "".join(
        f"<th>{name}</th>" for name in ("kind", "detection", "verdict", "best metric", "pairs")
    )
    return f"<p><b>{escape(line(result))}</b></p><table><tr>{headings}</tr>{rows}</table>"


def _row(row: VariantResult) -> str:
    colour = _COLOURS.get(row.verdict or "", _GREY)
    cells = (
        f"<td>{escape(row.variant)}</td>",
        f"<td>{_with_ends(row.detection, row.detection_ci)}</td>",
        f'<td style="color:{colour}">{escape(row.verdict or "–")}</td>',
        f"<td>{escape(row.best_metric or '–')}</td>",
        f"<td>{row.n}</td>",
    )
    return f"<tr>{''.join(cells)}</tr>"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _with_ends(value: float | None, ends: Ends) -> str:
    return _percent(value) if ends is None else f"{_percent(value)} [{ends[0]:.0%}–{ends[1]:.0%}]"
