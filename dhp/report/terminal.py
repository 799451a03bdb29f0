"""Results and changed texts in the terminal, readable without colour and in narrow ones."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from dhp.analysis.result_parts import VariantResult
from dhp.analysis.results import Result, Results
from dhp.core.diff import diff
from dhp.core.text import printable
from dhp.report.labels import figure, most_hurt, pairs, percent, percents, state
from dhp.report.notes import notes
from dhp.report.tables import curve_table, plain_table, probes_table

_KEPT = 0.6  # share of the shorter text that is kept, below which marks would only confuse
_BAR_CELLS = 16
_BAR_END = 4.0  # D at the right end of a bar


@dataclass(frozen=True, slots=True)
class _Column:
    header: str
    cell: Callable[[VariantResult], str]
    justify: Literal["left", "right"] = "left"
    coloured: bool = False


def _bar(row: VariantResult) -> str:
    """A bar of D with a mark at 1, where noticing begins."""
    filled = round(min(row.d or 0.0, _BAR_END) / _BAR_END * _BAR_CELLS)
    cells = ["█"] * filled + [" "] * (_BAR_CELLS - filled)
    cells.insert(round(_BAR_CELLS / _BAR_END), "│")
    return "".join(cells)


_COLUMNS = (
    _Column("level", lambda row: row.level),
    _Column("variant", lambda row: row.variant),
    _Column("detection", lambda row: percent(row.detection), "right", coloured=True),
    _Column("95 %", lambda row: percents(row.detection_ci), "right"),
    _Column("verdict", state, coloured=True),
    _Column("D", lambda row: figure(row.d), "right"),
    _Column("D_EW", lambda row: figure(row.d_ew), "right"),
    _Column("0   1           4", _bar, coloured=True),
    _Column("effect", lambda row: figure(row.effect), "right"),
    _Column("most hurt", most_hurt),
    _Column("pairs", pairs, "right"),
)
BAR = _COLUMNS[7].header
_COLOURS = {"noticed": "green", "missed": "red", "undecided": "yellow"}
_DROPPED_FIRST = (BAR, "level", "most hurt", "effect", "95 %", "pairs", "D_EW")
"""Columns that a narrow terminal goes without, in this order."""


def print_results(results: Results, console: Console) -> None:
    """Print a table for each result, with notes and the signature below."""
    for place, result in enumerate(results):
        if place:
            console.print()
        console.print(_fitting_table(result, console))
        probes = [probes_table(result)] if result.controls or result.attacks else []
        for table in (*probes, *map(curve_table, result.curves)):
            console.print()
            console.print(table)
        for warning in result.warnings:
            console.print(f"  warning: {escape(printable(warning))}", style="bold red", soft_wrap=True)
        for note in notes(result):
            console.print(f"  note: {escape(printable(note))}", soft_wrap=True, highlight=False)
        signature = escape(printable(result.signature))
        console.print(f"  {signature}", style="dim", soft_wrap=True, highlight=False)


def _fitting_table(result: Result, console: Console) -> Table:
    """The table with as many columns as fit the console; without the bar where its cells would be `?`."""
    for count in range(console.options.ascii_only, len(_DROPPED_FIRST) + 1):
        table = result_table(result, _DROPPED_FIRST[:count])
        if Measurement.get(console, console.options.update(width=10_000), table).maximum <= console.width:
            break
    return table


def result_table(result: Result, dropped: Collection[str] = ()) -> Table:
    """One row a variant and one an average, without the columns `dropped`; the worst variant is bold."""
    judge = f"{result.model}  ·  {result.protocol}" if result.asked else result.model
    table = plain_table(f"{result.dataset}  ·  {judge}  ·  n = {result.n}")
    columns = [column for column in _COLUMNS if column.header not in dropped]
    for column in columns:
        table.add_column(column.header, justify=column.justify, overflow="fold")
    level = None
    levels = list(dict.fromkeys(row.level for row in result.variants))
    for row in sorted(result.variants, key=lambda row: levels.index(row.level)):
        style = _COLOURS.get(state(row), "")
        cells = [Text(printable(c.cell(row)), style=style if c.coloured else "") for c in columns]
        if columns[0].header == "level" and row.level == level:
            cells[0] = Text("")
        level = row.level
        worst = row.variant == result.d_min_variant and not result.curves
        table.add_row(*cells, style="bold" if worst else "")
    for shown in () if result.curves else _totals(result):
        table.add_row(*(Text(shown.get(c.header, "")) for c in columns), style="bold")
    return table


def _totals(result: Result) -> list[dict[str, str]]:
    """The rows of the averages: column -> what it shows."""
    rows = [
        {
            "variant": "D_avg",
            "D": figure(result.d_avg),
            "D_EW": figure(result.d_avg_ew),
            "effect": figure(result.effect_avg),
        },
        {"variant": f"D_min  {result.d_min_variant or ''}", "D": _total(result.d_min)},
        {"variant": f"D_min_EW  {result.d_min_variant_ew or ''}", "D_EW": _total(result.d_min_ew)},
    ]
    if (found := result.detection) is not None:
        lowest = f"lowest  {found.min_variant or ''}"
        rows[:0] = [
            {"variant": name, "detection": percent(value), "95 %": percents(found.ci[key])}
            for name, value, key in (("detection", found.avg, "avg"), (lowest, found.min, "min"))
        ]
    return [{**row, "variant": printable(row["variant"].rstrip())} for row in rows]


def _total(value: float | None) -> str:
    return "" if value is None else figure(value)


def before_after(label: str, before: str, after: str, level: str, remark: str = "") -> Text:
    """The degraded text with what went in red strike-through and what came in green.

    A text that was replaced as a whole shows as it is. Without colour, deletions show as [-gone-] and
    insertions as {+come+}. `level` is as for `dhp.core.diff.diff`.
    """
    before, after = printable(before), printable(after)
    line = Text(f"{printable(label)}{f' ({remark})' if remark else ''}: ", style="bold")
    found = diff(before, after, level)
    kept = sum(len(piece) for operation, piece in found if operation == "=")
    if kept < _KEPT * min(len(before), len(after)):
        return line.append(after, style="not bold green")
    for operation, piece in found:
        if operation == "-":
            line.append(f"[-{piece}-]", style="not bold red strike")
        elif operation == "+":
            line.append(f"{{+{piece}+}}", style="not bold green")
        else:
            line.append(piece, style="not bold")
    return line
