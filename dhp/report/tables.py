"""The kind of table that is printed, and those for controls, attacks and dose-response curves."""

from collections.abc import Collection, Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from dhp.analysis.result_parts import DoseResponse
from dhp.analysis.results import Result
from dhp.content.damage import kind_name, variant_name
from dhp.core.text import printable
from dhp.report.labels import figure, most_changed, pairs, percent, probe_verdict, t75, threshold


def plain_table(title: str, headings: Sequence[str] = (), right: Collection[str] = ()) -> Table:
    """A table without rows and lines, its columns two spaces apart; any title is shown as text.

    The columns with a heading of `right` are aligned right; cells are broken where the console is too narrow.
    """
    table = Table(
        title=Text(printable(title), style="bold"),
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", overflow="fold")
    return table


def print_table(table: Table, console: Console) -> None:
    """A table below its title, which may be wider than it is."""
    if table.title:
        console.print(table.title)
        table.title = None
    console.print(table)


def joined(parts: Sequence[str], width: int) -> list[str]:
    """The parts in as few lines as hold them, none broken while it fits in a line of its own."""
    lines: list[str] = []
    for part in parts:
        if lines and len(line := f"{lines[-1]}  ·  {part}") <= width:
            lines[-1] = line
        else:
            lines.append(part)
    return lines


def fits(table: Table, console: Console, spare: int = 0) -> bool:
    """Whether every line of a table fits, with so many columns to spare."""
    wanted = Measurement.get(console, console.options.update(width=10_000), table)
    return wanted.maximum + spare <= console.width


def probes_table(result: Result) -> Table:
    """What controls and attacks did."""
    said = ["controls must not lower a score"] * bool(result.controls)
    said += ["attacks must not raise one (two-sided test)"] * bool(result.attacks)
    table = plain_table(", ".join(said).capitalize())
    for heading in ("probe", "D", "verdict", "most changed", "effect", "pairs"):
        right = heading in ("D", "effect", "pairs")
        table.add_column(heading, justify="right" if right else "left", no_wrap=heading != "probe")
    for row in (*result.controls, *result.attacks):
        verdict = probe_verdict(row)
        metric, effect = most_changed(row)
        style = "bold red" if verdict in ("lowered", "raised") and row.d is not None and row.d >= 1 else ""
        cells = (variant_name(row.variant), figure(row.d), verdict, metric, figure(effect), pairs(row))
        table.add_row(*(Text(printable(cell), style=style) for cell in cells))
    return table


def curve_table(curve: DoseResponse) -> Table:
    """D at each dose, a row a metric."""
    table = plain_table(f"{kind_name(curve.perturber)}: D at dose k, the dose at which D passes 1, and T75")
    table.add_column("k", no_wrap=True)
    for dose in curve.doses:
        table.add_column(f"{dose}", justify="right")
    table.add_column("D = 1 at", justify="right")
    for name, line in curve.lines.items():
        cells = (name, *map(figure, line.d), threshold(curve, line))
        table.add_row(*(Text(printable(cell)) for cell in cells), style="bold" if name == "combined" else "")
    if curve.detection:
        cells = ("detection", *map(percent, curve.detection), f"T75 {t75(curve)}")
        table.add_row(*(Text(printable(cell)) for cell in cells), style="bold")
    return table
