"""A table of pointwise and pairwise detection of one model."""

from itertools import chain
from typing import TYPE_CHECKING

from rich.text import Text

from dhp.analysis.result_parts import Ends
from dhp.analysis.results import Result, Results
from dhp.content.damage import variant_name
from dhp.report.labels import percent, percents
from dhp.report.tables import plain_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_PAIRWISE = "pairwise:"


def print_both_ways(results: Results, console: "Console") -> None:
    """Print one table for each model and dataset that were asked in both ways; nothing else."""
    for one in results:
        for other in results:
            same = (one.model, one.dataset) == (other.model, other.dataset)
            if same and other.protocol.startswith(_PAIRWISE) and not one.protocol.startswith(_PAIRWISE):
                console.print()
                console.print(both_ways_table(one, other))


def both_ways_table(pointwise: Result, pairwise: Result) -> "Table":
    """Detection of each kind of damage in both ways, and of the whole run."""
    names = [p.protocol.partition("@")[0] for p in (pointwise, pairwise)]
    title = f"{pairwise.dataset}  ·  {pairwise.model}  ·  {names[0]} beside {names[1]}"
    figures = ("pointwise", "95 %", "pairwise", "95 %")
    table = plain_table(title, ("kind", *figures), right=figures)
    others = {row.variant: row for row in pairwise.variants}
    for row in pointwise.variants:
        if other := others.get(row.variant):
            both = (_cells(each.detection, each.detection_ci) for each in (row, other))
            table.add_row(*map(Text, (variant_name(row.variant), *chain(*both))))
    whole = (_cells(each.detection.avg, each.detection.ci["avg"]) for each in (pointwise, pairwise))
    table.add_row(*map(Text, ("all", *chain(*whole))), style="bold")
    return table


def _cells(detection: float | None, ends: Ends) -> tuple[str, str]:
    return percent(detection), percents(ends)
