"""Weights as heat maps and tables."""

from collections.abc import Mapping
from typing import Any

from dhp.core.specs import Weights
from dhp.report.document import Column, Note, Table, item, shaded
from dhp.report.labels import figure
from dhp.report.web import document_page


def weights_page(weights: Weights) -> str:
    """The weights of each task as a heat map, on one self-contained page."""
    title = f"Weights {weights.weights}, version {weights.version}"
    tables = [weights_table(task, rows) for task, rows in weights.tasks.items()]
    return document_page(title, _LEAD, [*tables, *map(Note, about(weights))])


_LEAD = "How much each metric should suffer from each perturbation; a row sums to 1."


def about(weights: Weights) -> list[str]:
    """Where weights come from: provenance, date, experts, agreement; one line each."""
    lines = [f"provenance: {weights.provenance}"]
    if weights.date is not None:
        lines.append(f"date: {weights.date}")
    if weights.experts is not None:
        roles = f" ({', '.join(weights.roles)})" if weights.roles else ""
        lines.append(f"experts: {weights.experts}{roles}")
    for task, agreement in weights.agreement.items():
        line = f"agreement, {task}: Fleiss' kappa {agreement.kappa:.2f}"
        if agreement.low is not None:
            line += f", 95 % interval {agreement.low:.2f} to {agreement.high:.2f}"
        lines.append(line)
    if weights.otherwise is not None:
        lines.append(f"perturbers without a row: {weights.otherwise}")
    return lines


def weights_table(task: str, rows: Mapping[str, Mapping[str, float]]) -> Table[Any]:
    """The weights of a task, the darker the heavier."""
    columns = [Column[Any]("perturber", item(0), names=True, right=False)]
    metrics = next(iter(rows.values()), {})
    columns += [shaded(metric, figure).on(item(1, metric)) for metric in metrics]
    return Table(task, columns, [*rows.items()], css="map")
