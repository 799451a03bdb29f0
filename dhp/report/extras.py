"""What a run shows beside its variants: controls, attacks and dose-response curves."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dhp.analysis.results import Curve, Result
from dhp.core.text import printable
from dhp.report.labels import figure, most_changed, pairs, probe_verdict, threshold
from dhp.report.plain import plain_table


def print_extras(result: Result, console: Console) -> None:
    """Print a table each for the probes and for every curve, where there are any."""
    probes = [probes_table(result)] if result.controls or result.attacks else []
    for table in (*probes, *map(curve_table, result.curves)):
        console.print()
        console.print(table)


def probes_table(result: Result) -> Table:
    """What controls and attacks did."""
    table = plain_table("Controls must not lower a score, attacks must not raise one (two-sided test)")
    for heading in ("probe", "D", "verdict", "most changed", "effect", "pairs"):
        right = heading in ("D", "effect", "pairs")
        table.add_column(
            heading, justify="right" if right else "left", no_wrap=heading in ("probe", "verdict")
        )
    for row in (*result.controls, *result.attacks):
        verdict = probe_verdict(row)
        metric, effect = most_changed(row)
        style = "bold red" if verdict in ("lowered", "raised") and row.d is not None and row.d >= 1 else ""
        cells = (row.variant, figure(row.d), verdict, metric, figure(effect), pairs(row))
        table.add_row(*(Text(printable(cell), style=style) for cell in cells))
    return table


def curve_table(curve: Curve) -> Table:
    """D at each dose, a row a metric."""
    table = plain_table(f"{curve.perturber}: D at dose k, and the dose at which D passes 1")
    table.add_column("k", no_wrap=True)
    for dose in curve.doses:
        table.add_column(f"{dose}", justify="right")
    table.add_column("D = 1 at", justify="right")
    for name, line in curve.lines.items():
        cells = (name, *map(figure, line.d), threshold(curve, line))
        table.add_row(*(Text(printable(cell)) for cell in cells), style="bold" if name == "combined" else "")
    return table
