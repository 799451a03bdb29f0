"""`dhp compare`: compare judges on the same examples."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.options import Command
from dhp.cli.output import output_console, print_json
from dhp.cli.text_options import ALLOW, RELEASED
from dhp.core.text import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from dhp.analysis.result_parts import VariantResult
    from dhp.runs.compare import DatasetComparison

    Rows = Sequence[tuple[str, list[Text]]]
    Seen = Mapping[str, Sequence[VariantResult]]

_LONGEST = 24  # characters of a judge's name in a column
_MOST_KINDS = 12
"""Kinds of damage that are shown."""
_BY_DATA = "detection in per cent by dataset; judges that share a letter do not differ significantly (0.05)"
_OF_ONE = "largest difference first"
_OF_TWO = "largest difference first; * significant at 0.05, corrected over all kinds"
_OF_SEVERAL = "mean, and number of datasets in which it is noticed; largest difference first"
_ALPHA = 0.05
_SAME = 1e-9
"""Figures that differ by less are equal."""
_ALARM = "! false alarm: harmless edits lower the score as damage does"


@click.command(cls=Command)
@click.argument("run", nargs=-1, required=True)
@RELEASED
@ALLOW
@click.option("--resamples", default=10_000, metavar="K", help="Number of random label swaps.")
@click.option("--json", is_flag=True, help="Print the figures as JSON, with AUROC, drops and D.")
def compare(
    run: tuple[str, ...], form: str | None, allow: tuple[str, ...], resamples: int, json: bool
) -> None:
    """Compare judges that rated the same texts.

    Prints what each judge detects, by data and by kind of damage, and which judges differ significantly. Each
    RUN is the folder of a finished run; with --format a file of released scores.

    Example: dhp compare runs/one runs/two
    """
    from dhp.core.terminal_progress import progress_of
    from dhp.loaders.recorded_scores import read_recorded_scores
    from dhp.runs.compare import compare_rated, compare_runs
    from dhp.runs.recorded_scores import recorded_results
    from dhp.stats.compare import QUANTITIES

    quantities = QUANTITIES if json else ("detection",)
    with progress_of(True) as show:
        if form is None:
            found = compare_runs(run, allow=allow, resamples=resamples, quantities=quantities, progress=show)
        else:
            rated = recorded_results(read_recorded_scores(form, *map(Path, run)))
            found = compare_rated(
                rated, allow=allow, resamples=resamples, quantities=quantities, progress=show
            )
    if json:
        print_json([each.to_json() for each in found])
        return
    _print(found, output_console())


def _print(comparisons: "Sequence[DatasetComparison]", console: "Console") -> None:
    judges = list(dict.fromkeys(judge for each in comparisons for judge in each.judges))
    two = len(comparisons) == 1 and len(judges) == 2
    further = ["difference"] * two
    by_data, narrow_data = (_by_data(comparisons, judges, limits=limits) for limits in (True, False))
    by_kind, narrow_kind = (_by_kind(comparisons, judges, narrow=narrow) for narrow in (False, True))
    names = [printable(judge) for judge in judges]
    fit = _fit(names, narrow_data, console) and _fit([*names, *further], narrow_kind, console)
    if max(map(len, names)) > _LONGEST or not fit:
        names = [f"J{index}" for index in range(1, len(judges) + 1)]
        for name, judge in zip(names, judges, strict=True):
            console.print(f"{name}  {printable(judge)}", highlight=False, markup=False)
    console.print()
    _print_matrix(_BY_DATA, names, by_data if _fit(names, by_data, console) else narrow_data, console)
    if any(alarms for each in comparisons for alarms in each.false_alarms):
        console.print(_ALARM, highlight=False)
    console.print()
    columns = [*names, *further]
    order = _OF_TWO if two else _OF_ONE if len(comparisons) == 1 else _OF_SEVERAL
    title = f"detection in per cent by kind, {order}"
    _print_matrix(title, columns, by_kind if _fit(columns, by_kind, console) else narrow_kind, console)
    if others := _others_in_words(comparisons):
        console.print(others, highlight=False)
    console.print()
    sentence = _sentence(comparisons[0]) if len(comparisons) == 1 else _summary(comparisons, judges)
    console.print(printable(sentence), highlight=False, markup=False)


def _by_data(comparisons: "Sequence[DatasetComparison]", judges: Sequence[str], *, limits: bool) -> "Rows":
    """A row for each dataset: detection of each judge, with 95 % limits and the letters of its groups."""
    from rich.text import Text

    from dhp.report.labels import group_letters, percents

    rows = []
    for each in comparisons:
        by, cells = each.scores["detection"], []
        for judge in judges:
            if judge not in each.judges or math.isnan(by.point[k := each.judges.index(judge)]):
                cells.append(Text("–"))
                continue
            ends = f" ({percents((by.low[k], by.high[k]))})" if limits and not math.isnan(by.low[k]) else ""
            alarm = " !" if each.false_alarms[k] else ""
            cells.append(Text(f"{100 * by.point[k]:.0f}{ends} {group_letters(by.groups, k)}{alarm}"))
        size = f", n = {each.n}" if limits else ""
        rows.append((f"{printable(each.dataset)}{size}", cells))
    return rows


def _by_kind(comparisons: "Sequence[DatasetComparison]", judges: Sequence[str], *, narrow: bool) -> "Rows":
    """A row for each kind of damage by which the judges differ most; of two judges their difference too."""
    from dhp.content.damage import variant_name

    rows = []
    for kind, seen in _most_different(comparisons)[:_MOST_KINDS]:
        cells = [_seen(seen.get(judge, ()), several=len(comparisons) > 1, narrow=narrow) for judge in judges]
        if len(judges) == 2 and len(comparisons) == 1:
            cells.append(_apart(comparisons[0], kind, limits=not narrow))
        rows.append((variant_name(kind), cells))
    return rows


def _others_in_words(comparisons: "Sequence[DatasetComparison]") -> str:
    """How far the judges are apart in the kinds that are not shown."""
    rest = [_spread(seen) for _, seen in _most_different(comparisons)[_MOST_KINDS:]]
    return f"{len(rest)} more kinds: {100 * max(0.0, rest[0]):.0f} points apart at most" if rest else ""


def _most_different(comparisons: "Sequence[DatasetComparison]") -> "list[tuple[str, Seen]]":
    """Each kind of damage with what each judge saw of it, the widest apart first."""
    kinds: dict[str, dict[str, list[VariantResult]]] = {}
    for each in comparisons:
        for rows in each.damage:
            for judge, row in zip(each.judges, rows, strict=True):
                kinds.setdefault(row.variant, {}).setdefault(judge, []).append(row)
    return sorted(kinds.items(), key=lambda item: -_spread(item[1]))


def _apart(comparison: "DatasetComparison", kind: str, *, limits: bool) -> "Text":
    """The difference of two judges in one kind of damage."""
    from rich.text import Text

    index = [rows[0].variant for rows in comparison.damage].index(kind)
    (pair,) = comparison.by_variant[index]
    if math.isnan(pair.difference):
        return Text("–")
    wide = limits and not math.isnan(pair.low)
    ends = f" ({100 * pair.low:z.0f} to {100 * pair.high:z.0f})" if wide else ""
    star = " *" if pair.p_holm <= _ALPHA else ""
    return Text(f"{100 * pair.difference:+z.0f}{ends}{star}", style="bold" if star else "")


def _spread(seen: "Seen") -> float:
    """How far the judges lie apart, in [0, 1]; below 0 where fewer than two have a figure."""
    means = [mean for rows in seen.values() if (mean := _mean(rows)) is not None]
    return max(means) - min(means) if len(means) > 1 else -1.0


def _mean(rows: "Sequence[VariantResult]") -> float | None:
    values = [row.detection for row in rows if row.detection is not None]
    return sum(values) / len(values) if values else None


def _seen(rows: "Sequence[VariantResult]", *, several: bool, narrow: bool) -> "Text":
    """Detection and verdict of a kind by one judge; of several data the mean, and how often noticed."""
    from rich.text import Text

    from dhp.report.labels import STATE_COLOURS

    if (mean := _mean(rows)) is None:
        return Text("–")
    verdicts = [row.verdict or "" for row in rows]
    said = verdicts[0] if not several else "" if narrow else f"{verdicts.count('noticed')}/{len(rows)}"
    style = STATE_COLOURS.get(verdicts[0], "") if len({*verdicts}) == 1 else ""
    return Text(f"{100 * mean:.0f} {said}".rstrip(), style=style)


def _table(title: str, names: Sequence[str], rows: "Rows") -> "Table":
    from dhp.report.tables import plain_table

    table = plain_table(title, ("", *names))
    for name, cells in rows:
        table.add_row(name, *cells)
    return table


def _fit(names: Sequence[str], rows: "Rows", console: "Console") -> bool:
    from dhp.report.tables import fits

    return fits(_table("", names, rows), console)


def _print_matrix(title: str, names: Sequence[str], rows: "Rows", console: "Console") -> None:
    """The judges side by side, or one after the other where the terminal is too narrow."""
    from rich.columns import Columns
    from rich.padding import Padding
    from rich.text import Text

    from dhp.report.tables import print_table

    if _fit(names, rows, console):
        print_table(_table(title, names, rows), console)
        return
    console.print(Text(title, style="bold"))
    for row, cells in rows:
        console.print(row, highlight=False, markup=False)
        named = [Text(f"{name} ").append_text(cell) for name, cell in zip(names, cells, strict=True)]
        console.print(Padding(Columns(named, padding=(0, 3)), (0, 0, 0, 4)))


def _sentence(comparison: "DatasetComparison") -> str:
    """Which judge detects most, how far the others are behind it, and who raises false alarms."""
    from dhp.report.labels import percent

    by, best = comparison.scores["detection"], _best(comparison)
    if not best:
        return f"{comparison.dataset}: detection is undefined"
    said = [f"{', '.join(comparison.judges[k] for k in best)} detects most, {percent(by.point[best[0]])}"]
    behind = {True: "not significantly different", False: "detects significantly less"}
    for near, words in behind.items():
        judges = [
            f"{comparison.judges[k]} ({less})" for k, is_near, less in _others(comparison) if is_near == near
        ]
        if judges:
            said.append(f"{words}: {', '.join(judges)}")
    return f"{comparison.dataset}: {'; '.join([*said, *_alarms([comparison])])}"


def _best(comparison: "DatasetComparison") -> list[int]:
    """The judges with the highest detection."""
    points = comparison.scores["detection"].point.tolist()
    highest = max((point for point in points if not math.isnan(point)), default=math.nan)
    return [k for k, point in enumerate(points) if abs(point - highest) < _SAME]


def _others(comparison: "DatasetComparison") -> Iterator[tuple[int, bool, str]]:
    """Each judge behind the best: whether it is not significantly different, and how far it is behind."""
    by, best = comparison.scores["detection"], _best(comparison)
    for pair in by.pairs:
        if not best or best[0] not in (pair.first, pair.second) or math.isnan(pair.p_holm):
            continue
        k, sign = (pair.second, 1) if pair.first == best[0] else (pair.first, -1)
        if k in best:
            continue
        low, high = sorted((100 * sign * pair.low, 100 * sign * pair.high))
        limits = "" if math.isnan(low) else f", {low:z.0f} to {high:z.0f}"
        less = f"{100 * sign * pair.difference:z.0f} points less{limits}, p = {pair.p_holm:.2g}"
        yield k, any({k, best[0]} <= {*group} for group in by.groups), less


def _summary(comparisons: "Sequence[DatasetComparison]", judges: Sequence[str]) -> str:
    """Number of datasets on which each judge detects most, or significantly less; and false alarms."""
    most, behind = dict.fromkeys(judges, 0), dict.fromkeys(judges, 0)
    for each in comparisons:
        for k in _best(each):
            most[each.judges[k]] += 1
        for k, near, _ in _others(each):
            behind[each.judges[k]] += not near
    said = [
        f"{words} {', '.join(f'{judge} on {n}' for judge, n in counts.items() if n)}"
        for words, counts in (
            (f"detects most on the {len(comparisons)} datasets:", most),
            ("detects significantly less:", behind),
        )
        if any(counts.values())
    ]
    return "; ".join([*said, *_alarms(comparisons)]) or "detection is undefined"


def _alarms(comparisons: "Sequence[DatasetComparison]") -> list[str]:
    counts: dict[str, list[str]] = {}
    for each in comparisons:
        for judge, alarms in zip(each.judges, each.false_alarms, strict=True):
            if alarms:
                counts.setdefault(judge, []).append(each.dataset)
    named = [
        f"{judge} ({', '.join(data)})" if len(comparisons) > 1 else judge for judge, data in counts.items()
    ]
    return [f"false alarm: {', '.join(named)}"] if named else []
