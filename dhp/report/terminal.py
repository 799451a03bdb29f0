"""One table per result, readable without colour and in narrow terminals."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from dhp.report.reading import figure, most_hurt, notes, noticed, pairs
from dhp.results import Result, Results

_BAR_CELLS = 16
_BAR_END = 4.0  # D at the right end of a bar
_WIDE = 96
_NARROW = 72


def print_results(results: Results, console: Console) -> None:
    """Print a table for each result, with notes and the signature below."""
    for result in results:
        console.print()
        console.print(_table(result, console.width))
        for note in notes(result):
            console.print(f"  note: {escape(note)}", soft_wrap=True, highlight=False)
        console.print(f"  {escape(result.signature)}", style="dim", soft_wrap=True, highlight=False)


def _table(result: Result, width: int) -> Table:
    wide, narrow = width >= _WIDE, width < _NARROW
    title = f"{result.dataset}  ·  {result.model}  ·  n = {result.n}"
    table = Table(
        title=Text(title, style="bold"), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    if wide:
        table.add_column("level")
    table.add_column("variant", overflow="fold")
    table.add_column("D", justify="right")
    table.add_column("D_EW", justify="right")
    table.add_column("D ≥ 1")
    if wide:
        table.add_column("0   1           4")
    table.add_column("effect", justify="right")
    if not narrow:
        table.add_column("most hurt", overflow="fold")
    table.add_column("pairs", justify="right")
    level = None
    for row in result.variants:
        metric, effect = most_hurt(row)
        style = "" if row.d is None else "green" if row.d >= 1 else "yellow"
        cells = [
            Text(row.variant),
            Text(figure(row.d), style=style),
            Text(figure(row.d_ew)),
            Text(noticed(row.d), style=style),
            *([Text(_bar(row.d), style=style)] if wide else []),
            Text(figure(effect)),
            *([] if narrow else [Text(metric)]),
            Text(pairs(row)),
        ]
        table.add_row(*([Text("" if row.level == level else row.level)] if wide else []), *cells)
        level = row.level
    table.add_section()
    lead = [Text("")] if wide else []
    for name, d, d_ew in (
        ("D_avg", result.d_avg, result.d_avg_ew),
        (f"D_min  {result.d_min_variant or ''}", result.d_min, None),
        (f"D_min_EW  {result.d_min_variant_ew or ''}", None, result.d_min_ew),
    ):
        table.add_row(*lead, Text(name.rstrip()), Text(_total(d)), Text(_total(d_ew)), style="bold")
    return table


def _bar(d: float | None) -> str:
    """A bar of D with a mark at 1, where noticing begins."""
    filled = round(min(d or 0.0, _BAR_END) / _BAR_END * _BAR_CELLS)
    cells = ["█"] * filled + [" "] * (_BAR_CELLS - filled)
    one = round(_BAR_CELLS / _BAR_END)
    cells.insert(one, "│")
    return "".join(cells)


def _total(value: float | None) -> str:
    return "" if value is None else figure(value)
