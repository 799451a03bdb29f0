"""Results and changed texts in the terminal, readable without colour and in narrow ones."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dhp.analysis.result_parts import VariantResult
from dhp.analysis.results import Result, Results
from dhp.content.damage import variant_name
from dhp.core.diff import diff
from dhp.core.text import printable
from dhp.report.labels import STATE_COLOURS, figure, judge_name, most_hurt, pairs, percent, percents, state
from dhp.report.notes import notes
from dhp.report.overview import print_overview
from dhp.report.tables import curve_table, fits, joined, plain_table, print_table, probes_table

_KEPT = 0.6  # share of the shorter text that is kept, below which marks would only confuse
_BAR_CELLS = 16
_NAME_CELLS = 30
_BARRED = 70  # columns from which two lines a variant have room for a bar


@dataclass(frozen=True, slots=True)
class _Column:
    header: str
    cell: Callable[[VariantResult], str]
    justify: Literal["left", "right"] = "left"
    coloured: bool = False


def _bar(row: VariantResult) -> str:
    """A bar of detection from 50 %, which is blind, to 100 %."""
    share = (row.detection or 0.0) * 2 - 1
    return "│" + "█" * round(max(share, 0.0) * _BAR_CELLS)


def _d(row: VariantResult) -> str:
    return figure(row.d) + ("*" if row.saturated else "")


_COLUMNS = (
    _Column("level", lambda row: row.level),
    _Column("variant", lambda row: variant_name(row.variant)),
    _Column("50 %        100 %", _bar, coloured=True),
    _Column("detection", lambda row: percent(row.detection), "right", coloured=True),
    _Column("95 %", lambda row: percents(row.detection_ci), "right"),
    _Column("verdict", state, coloured=True),
    _Column("D", _d, "right"),
    _Column("D_EW", lambda row: figure(row.d_ew), "right"),
    _Column("effect", lambda row: figure(row.effect), "right"),
    _Column("most hurt", most_hurt),
    _Column("pairs", pairs, "right"),
)
BAR = _COLUMNS[2].header


def print_results(results: Results, console: Console, *, details: bool = False) -> None:
    """Print what the judges see and miss, last.

    Parameters
    ----------
    results
        Of any judges and datasets.
    console
        Where to; in a narrow one a variant takes two lines.
    details
        Whether each result's own table shows, as it does where there is only one.
    """
    details = details or len(results) == 1
    for place, result in enumerate(results if details else ()):
        if place:
            console.print()
        _print_result(result, console)
    for result in () if details else results:
        for table in map(curve_table, result.curves):
            print_table(table, console)
    _print_notes(results, console)
    print_overview(results, console)


def _print_result(result: Result, console: Console) -> None:
    dropped: list[list[str]] = [[BAR]] if console.options.ascii_only else [[], [BAR]]
    tables = (result_table(result, columns) for columns in dropped)
    if fitting := next((table for table in tables if fits(table, console)), None):
        console.print(fitting)
    else:
        _print_in_two_lines(result, console)
    if result.controls or result.attacks:
        console.print()
        _print_probes(result, console)
    for table in map(curve_table, result.curves):
        console.print()
        print_table(table, console)


def _print_probes(result: Result, console: Console) -> None:
    """A row a control or attack, or two lines."""
    table = probes_table(result)
    if fits(table, console):
        print_table(table, console)
        return
    console.print(table.title)
    headings = [str(column.header) for column in table.columns]
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        row = {heading: str(cell) for heading, cell in zip(headings, cells, strict=True)}
        console.print(Text(f"{row.pop('probe'):<{_NAME_CELLS}}  {row.pop('verdict')}", style="bold"))
        for part in joined([f"{heading} {cell}" for heading, cell in row.items()], console.width - 4):
            console.print(Text(f"    {part}", style="dim"))


def _print_in_two_lines(result: Result, console: Console) -> None:
    """Each variant as its name and verdict, and its figures below."""
    console.print(Text(_title(result), style="bold"))
    barred = not console.options.ascii_only and console.width >= _BARRED
    for row in result.variants:
        style = STATE_COLOURS.get(state(row), "")
        line = Text(f"{variant_name(row.variant):<{_NAME_CELLS}}  ", style="bold")
        line.append(f"{percent(row.detection):>5}  {state(row):<10}", style=f"not bold {style}")
        console.print(line.append(f" {_bar(row)}" if barred else "", style=f"not bold {style}"))
        figures = [f"95 % {percents(row.detection_ci)}", f"D {_d(row)}", f"D_EW {figure(row.d_ew)}"]
        figures += [f"effect {figure(row.effect)}", f"{pairs(row)} pairs"]
        figures += [f"most hurt {hurt}"] if (hurt := most_hurt(row)) else []
        for part in joined(figures, console.width - 4):
            console.print(f"    {part}", style="dim", highlight=False)


def _print_notes(results: Results, console: Console) -> None:
    """Warnings, notes and signatures; what several results share is said once."""
    said: dict[tuple[str, bool], list[Result]] = {}
    for result in results:
        for warning in result.warnings:
            said.setdefault((warning, True), []).append(result)
        for note in notes(result):
            said.setdefault((note, False), []).append(result)
    for (line, warned), about in said.items():
        where = f" [{_about(about, results)}]" if len(results) > 1 else ""
        kind, style = ("warning", "bold red") if warned else ("note", "")
        _print_line(f"{kind}: {line}{where}", style, console)
    for result in results:
        console.print(Text(f"  {printable(result.signature)}", style="dim"), soft_wrap=True)


def _print_line(line: str, style: str, console: Console) -> None:
    """On a terminal wrapped between words, elsewhere whole."""
    if console.is_terminal:
        console.print(Padding(Text(printable(line), style=style), (0, 0, 0, 2)))
    else:
        console.print(Text(f"  {printable(line)}", style=style), soft_wrap=True)


def _about(some: Sequence[Result], results: Results) -> str:
    """Which of the results these are: `all`, datasets, or with several judges, judges on datasets."""
    if len(some) == len(results):
        return "all"
    if len({judge_name(r) for r in results}) == 1:
        return ", ".join(dict.fromkeys(r.dataset for r in some))
    named: dict[str, list[str]] = {}
    for result in some:
        named.setdefault(judge_name(result), []).append(result.dataset)
    return "; ".join(f"{judge} on {', '.join(datasets)}" for judge, datasets in named.items())


def _title(result: Result) -> str:
    judge = judge_name(result)
    return printable(f"{result.dataset}  ·  {judge}  ·  n = {result.n}")


def result_table(result: Result, dropped: Collection[str] = ()) -> Table:
    """One row a variant and one an average, without the columns `dropped`; the worst variant is bold."""
    table = plain_table(_title(result))
    weighed = ["D_EW"] if result.weights == "uniform" else []
    columns = [column for column in _COLUMNS if column.header not in (*dropped, *weighed)]
    for column in columns:
        table.add_column(column.header, justify=column.justify, overflow="fold")
    level = None
    levels = list(dict.fromkeys(row.level for row in result.variants))
    for row in sorted(result.variants, key=lambda row: levels.index(row.level)):
        style = STATE_COLOURS.get(state(row), "")
        cells = [Text(printable(c.cell(row)), style=style if c.coloured else "") for c in columns]
        if columns[0].header == "level" and row.level == level:
            cells[0] = Text("")
        level = row.level
        worst = row.variant == result.d_min_variant and not result.curves
        table.add_row(*cells, style="bold" if worst else "")
    for total in () if result.curves else _totals(result):
        table.add_row(*(Text(total.get(c.header, "")) for c in columns), style="bold")
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
        {"variant": f"D_min  {_worst(result.d_min_variant)}", "D": _total(result.d_min)},
        {"variant": f"D_min_EW  {_worst(result.d_min_variant_ew)}", "D_EW": _total(result.d_min_ew)},
    ]
    if result.weights == "uniform":
        rows.pop()
    if (found := result.detection) is not None:
        lowest = f"lowest  {_worst(found.min_variant)}"
        rows[:0] = [
            {"variant": name, "detection": percent(value), "95 %": percents(found.ci[key])}
            for name, value, key in (("detection", found.avg, "avg"), (lowest, found.min, "min"))
        ]
    return [{**row, "variant": printable(row["variant"].rstrip())} for row in rows]


def _worst(variant: str | None) -> str:
    return "" if variant is None else variant_name(variant)


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
