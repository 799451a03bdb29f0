"""`dhp compare`: which of several judges is better, as far as the same examples can tell."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import click

from dhp.cli.option_groups import ALLOW
from dhp.cli.output import output_console, print_json
from dhp.core.text import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dhp.analysis.result_parts import VariantResult
    from dhp.runs.compare import DatasetComparison
    from dhp.stats.compare import Comparison

_LONGEST = 24  # characters of a judge's name in a column
_SHOWN = {
    "detection": "detection",
    "auroc": "AUROC",
    "standardised_drop": "standardised drop",
    "d_avg": "D_avg",
}


@click.command()
@click.argument("run", nargs=-1, required=True)
@click.option("--allow", **ALLOW)
@click.option("--resamples", default=10_000, metavar="K", help="Random swaps of labels.")
@click.option("--json", is_flag=True, help="Print the figures as JSON.")
def compare(run: tuple[str, ...], allow: tuple[str, ...], resamples: int, json: bool) -> None:
    """Compare judges that rated the same texts.

    Prints what each noticed, damage by damage, then differences, intervals, ranks and groups. Each RUN is the
    folder of a finished run.

    Example: dhp compare runs/one runs/two
    """
    from dhp.core.terminal_progress import progress_of
    from dhp.runs.compare import compare_runs

    with progress_of(True) as show:
        found = compare_runs(run, allow=allow, resamples=resamples, progress=show)
    if json:
        print_json([each.to_json() for each in found])
        return
    console = output_console()
    for each in found:
        _print(each, console)


def _print(found: "DatasetComparison", console: "Console") -> None:
    from dhp.report.tables import print_table

    names = _short_names(found.judges)
    console.print()
    _print_damage(found, names, console)
    for quantity, comparison in found.scores.items():
        console.print()
        print_table(_ranks(found, names, comparison, _SHOWN[quantity]), console)
        console.print()
        print_table(_differences(names, comparison, _SHOWN[quantity]), console)
    console.print("judges that share a group letter cannot be told apart at 0.05", highlight=False)
    console.print()
    print_table(_shared_styles(found, names), console)
    console.print()
    console.print(printable(_sentence(found)), highlight=False, markup=False)


def _sentence(found: "DatasetComparison") -> str:
    """Which judge detects most, and which of the others are beyond doubt behind it."""
    from dhp.report.labels import percent

    by = found.scores["detection"]
    if not by.groups:
        return f"{found.dataset}: detection is undefined"
    best = by.groups[0][0]
    said = f"{found.dataset}: {found.judges[best]} detects most, {percent(by.point[best])}"
    near = [k for k in range(len(found.judges)) if k != best and any({k, best} <= {*g} for g in by.groups)]
    behind = [k for k in range(len(found.judges)) if k not in (best, *near) and not math.isnan(by.point[k])]
    for judges, words in ((near, "not told apart from it"), (behind, "detects less beyond doubt")):
        if judges:
            said += f"; {words}: {', '.join(found.judges[k] for k in judges)}"
    return said


def _short_names(judges: Sequence[str]) -> Sequence[str]:
    """The judges themselves, or J1, J2, ... where a name is too long for a column."""
    if max(map(len, judges)) <= _LONGEST:
        return judges
    return [f"J{place}" for place in range(1, len(judges) + 1)]


def _print_damage(found: "DatasetComparison", names: Sequence[str], console: "Console") -> None:
    """What each judge noticed, side by side, or one below the other where the terminal is too narrow."""
    from rich.columns import Columns
    from rich.padding import Padding
    from rich.text import Text

    from dhp.content.damage import variant_name
    from dhp.report.labels import STATE_COLOURS, percent, state
    from dhp.report.tables import fits

    def cell(row: "VariantResult") -> Text:
        return Text(f"{percent(row.detection)} {state(row)}", style=STATE_COLOURS.get(state(row), ""))

    title = f"{found.dataset}  ·  detection of each kind of damage  ·  n = {found.n}"
    console.print(Text(printable(title), style="bold"))
    if names != found.judges:
        for name, judge in zip(names, found.judges, strict=True):
            console.print(f"{name}  {printable(judge)}", highlight=False, markup=False)
    table = _table("", "damage", *map(printable, names))
    for rows in found.damage:
        table.add_row(variant_name(rows[0].variant), *map(cell, rows))
    if fits(table, console):
        console.print(table)
        return
    for rows in found.damage:
        console.print(variant_name(rows[0].variant), highlight=False, markup=False)
        cells = [
            Text(f"{printable(name)} ").append_text(cell(row)) for name, row in zip(names, rows, strict=True)
        ]
        console.print(Padding(Columns(cells, padding=(0, 3)), (0, 0, 0, 4)))


def _ranks(
    found: "DatasetComparison", names: Sequence[str], comparison: "Comparison", quantity: str
) -> "Table":
    from dhp.report.labels import group_letters

    title = f"{found.dataset}  ·  {quantity}  ·  n = {found.n}"
    table = _table(title, "judge", quantity, "95 %", "rank", "group")
    ranks, low, high = (
        each.tolist() for each in (comparison.rank, comparison.rank_low, comparison.rank_high)
    )
    for k in sorted(range(len(names)), key=lambda k: (math.isnan(ranks[k]), ranks[k])):
        ends = _between(comparison.low[k], comparison.high[k])
        rank = _number(ranks[k], "g")
        if not math.isnan(low[k]):
            rank += f" ({low[k]:g}–{high[k]:g})"
        letters = group_letters(comparison.groups, k)
        table.add_row(printable(names[k]), _shown(comparison.point[k]), ends, rank, letters)
    return table


def _differences(names: Sequence[str], comparison: "Comparison", quantity: str) -> "Table":
    table = _table(f"differences in {quantity}", "judges", "difference", "95 %", "p", "p (Holm)")
    for pair in comparison.pairs:
        judges = f"{names[pair.first]} – {names[pair.second]}"
        p_values = (_number(p, ".3g") for p in (pair.p, pair.p_holm))
        table.add_row(printable(judges), _shown(pair.difference), _between(pair.low, pair.high), *p_values)
    return table


def _shared_styles(found: "DatasetComparison", names: Sequence[str]) -> "Table":
    title = f"{found.dataset}  ·  how alike the judges rate (Spearman over texts, mean over metrics)"
    table = _table(title, "judges", *found.shared_styles)
    for first, second in combinations(range(len(names)), 2):
        judges = f"{names[first]} – {names[second]}"
        table.add_row(printable(judges), *(_shown(r[first, second]) for r in found.shared_styles.values()))
    return table


def _table(title: str, first: str, *figures: str) -> "Table":
    from dhp.report.tables import plain_table

    return plain_table(title, (first, *figures), right=figures)


def _shown(value: float) -> str:
    from dhp.report.labels import figure

    return figure(None if math.isnan(value) else value)


def _between(low: float, high: float) -> str:
    from dhp.report.labels import between

    return between(None if math.isnan(low) else (low, high))


def _number(value: float, form: str) -> str:
    return "–" if math.isnan(value) else f"{value:{form}}"
