"""Weights as heat maps and tables."""

from collections.abc import Mapping

from dhp.core.specs import Weights
from dhp.report.printout import TextTable
from dhp.report.web import page


def weights_page(weights: Weights) -> str:
    """The weights of each task as a heat map, on one self-contained page without script."""
    return page("weights.html", styles=("maps.css",), weights=weights, about=about(weights))


def about(weights: Weights) -> list[str]:
    """Where weights come from: provenance, date, experts, agreement; one line each."""
    lines = [f"provenance: {weights.provenance}"]
    if weights.date is not None:
        lines.append(f"date: {weights.date}")
    if weights.experts is not None:
        roles = f" ({', '.join(weights.roles)})" if weights.roles else ""
        lines.append(f"experts: {weights.experts}{roles}")
    for task, agreement in weights.agreement.items():
        interval = (
            "" if agreement.low is None else f", 95 % interval {agreement.low:.2f} to {agreement.high:.2f}"
        )
        lines.append(f"agreement, {task}: Fleiss' kappa {agreement.kappa:.2f}{interval}")
    if weights.otherwise is not None:
        lines.append(f"perturbers without a row: {weights.otherwise}")
    return lines


def weights_table(task: str, rows: Mapping[str, Mapping[str, float]]) -> TextTable:
    """The weights of a task for a terminal; in colour, the darker the heavier."""
    from rich.text import Text

    metrics = list(next(iter(rows.values()), {}))
    cells: list[list[str | Text]] = [
        [perturber, *(Text(f"{row[metric]:.2f}", style=_heat(row[metric])) for metric in metrics)]
        for perturber, row in rows.items()
    ]
    return TextTable(task, ("perturber", *metrics), cells, metrics)


def _heat(weight: float) -> str:
    """Black on white to orange."""
    return f"black on rgb(255,{round(255 - 115 * weight)},{round(255 - 210 * weight)})"
