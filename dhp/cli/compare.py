"""`dhp compare`: compare judges on the same examples."""

import math
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.options import Command
from dhp.cli.output import JSON, print_out
from dhp.cli.protocol_options import ALLOW, RELEASED
from dhp.stats.defaults import RESAMPLES

if TYPE_CHECKING:
    from rich.text import Text

    from dhp.analysis.results import VariantResult
    from dhp.report.printout import Part
    from dhp.runs.compare import DatasetComparison

    Rows = list[tuple[str | Text, ...]]

_LONGEST = 24  # characters of a judge's name in a column
_MOST_KINDS = 12
"""Kinds of damage that are shown."""
_BY_DATA = "detection in per cent by dataset; judges that share a letter do not differ significantly (0.05)"
_OF_ONE = "largest difference first"
_OF_TWO = "largest difference first; * significant at 0.05, corrected over all kinds"
_OF_SEVERAL = "mean, and number of datasets in which it is noticed; largest difference first"
_ALPHA = 0.05
_ALARM = "! false alarm: harmless edits lower the score as damage does"


@click.command(cls=Command)
@click.argument("run", nargs=-1, required=True)
@RELEASED
@ALLOW
@click.option("--resamples", default=RESAMPLES, metavar="K", help="Number of random label swaps.")
@JSON
@click.option(
    "--html", metavar="FILE", help="Also write a page; of two judges with the texts whose verdict changed."
)
def compare(
    run: tuple[str, ...],
    form: str | None,
    allow: tuple[str, ...],
    resamples: int,
    json: bool,
    html: str | None,
) -> None:
    """Compare judges that rated the same texts.

    Prints what each judge detects, by data and by kind of damage, and which judges differ significantly. Each
    RUN is the folder of a finished run; with --format a file of released scores.

    Example: dhp compare runs/one runs/two
    """
    from dhp.core.files import write_lines
    from dhp.core.progress import counted, progress_of
    from dhp.report.compared import compared_page
    from dhp.report.printout import Printout
    from dhp.runs.comparable import rated_by_dataset
    from dhp.runs.compare import compare_rated, recorded_results
    from dhp.runs.reader import Run, read_run
    from dhp.stats.compare import QUANTITIES

    quantities, runs = QUANTITIES if json else ("detection",), list[Run]()
    with progress_of(True) as show:
        if form is None:
            runs = [read_run(folder) for folder in run]
            rated = rated_by_dataset(counted(show, "reading runs", runs, attrgetter("name")))
        else:
            from dhp.loaders.released import read_recorded_scores

            rated = recorded_results(read_recorded_scores(form, *map(Path, run)))
        found = compare_rated(rated, allow=allow, resamples=resamples, quantities=quantities, progress=show)
    parts = _parts(found)
    if html is not None:
        write_lines(Path(html), [compared_page(rated, found, runs)])
        parts += ["", f"page  {html}"]
    print_out(Printout(parts, [each.to_json() for each in found]), json=json)


def _parts(comparisons: "Sequence[DatasetComparison]") -> "list[Part]":
    from dhp.report.compared import comparison_sentence
    from dhp.report.printout import FirstThatFits

    judges = list(dict.fromkeys(judge for each in comparisons for judge in each.judges))
    short = [f"J{index}" for index in range(1, len(judges) + 1)]
    abbreviated = [
        *(f"{name}  {judge}" for name, judge in zip(short, judges, strict=True)),
        *_tables(comparisons, judges, short),
    ]
    if max(map(len, judges)) > _LONGEST:
        return [*abbreviated, "", comparison_sentence(comparisons)]
    forms = FirstThatFits([_tables(comparisons, judges, judges), abbreviated])
    return [forms, "", comparison_sentence(comparisons)]


def _tables(
    comparisons: "Sequence[DatasetComparison]", judges: Sequence[str], names: Sequence[str]
) -> "list[Part]":
    """Detection by data and by kind, under these names of the judges; without limits where it is narrow."""
    from dhp.report.printout import FirstThatFits, TextTable

    two = len(comparisons) == 1 and len(judges) == 2
    order = _OF_TWO if two else _OF_ONE if len(comparisons) == 1 else _OF_SEVERAL
    by_data = [
        [TextTable(_BY_DATA, ("", *names), _by_data(comparisons, judges, limits=limits))]
        for limits in (True, False)
    ]
    title, headings = (
        f"detection in per cent by kind, {order}",
        ("", *names, *(["difference"] if two else [])),
    )
    by_kind = [
        [TextTable(title, headings, _by_kind(comparisons, judges, narrow=narrow))] for narrow in (False, True)
    ]
    alarm = any(alarms for each in comparisons for alarms in each.false_alarms)
    others = _others_in_words(comparisons)
    return [
        "",
        FirstThatFits(by_data),
        *([_ALARM] if alarm else []),
        "",
        FirstThatFits(by_kind),
        *([others] if others else []),
    ]


def _by_data(comparisons: "Sequence[DatasetComparison]", judges: Sequence[str], *, limits: bool) -> "Rows":
    """A row for each dataset: detection of each judge, with 95 % limits and the letters of its groups."""
    from dhp.report.labels import group_letters, percents

    rows: Rows = []
    for each in comparisons:
        by, cells = each.scores["detection"], list[str]()
        for judge in judges:
            if judge not in each.judges or math.isnan(by.point[k := each.judges.index(judge)]):
                cells.append("–")
                continue
            ends = f" ({percents((by.low[k], by.high[k]))})" if limits and not math.isnan(by.low[k]) else ""
            alarm = " !" if each.false_alarms[k] else ""
            cells.append(f"{100 * by.point[k]:.0f}{ends} {group_letters(by.groups, k)}{alarm}")
        size = f", n = {each.n}" if limits else ""
        rows.append((f"{each.dataset}{size}", *cells))
    return rows


def _by_kind(comparisons: "Sequence[DatasetComparison]", judges: Sequence[str], *, narrow: bool) -> "Rows":
    """A row for each kind of damage by which the judges differ most; of two judges their difference too."""
    from dhp.content.catalog import variant_name
    from dhp.report.compared import most_different

    rows: Rows = []
    for kind, seen in most_different(comparisons)[:_MOST_KINDS]:
        cells = [_seen(seen.get(judge, ()), several=len(comparisons) > 1, narrow=narrow) for judge in judges]
        if len(judges) == 2 and len(comparisons) == 1:
            cells.append(_apart(comparisons[0], kind, limits=not narrow))
        rows.append((variant_name(kind), *cells))
    return rows


def _others_in_words(comparisons: "Sequence[DatasetComparison]") -> str:
    """How far the judges are apart in the kinds that are not shown."""
    from dhp.report.compared import most_different, spread

    rest = [spread(seen) for _, seen in most_different(comparisons)[_MOST_KINDS:]]
    return f"{len(rest)} more kinds: {100 * max(0.0, rest[0]):.0f} points apart at most" if rest else ""


def _apart(comparison: "DatasetComparison", kind: str, *, limits: bool) -> "Text":
    """The difference of two judges in one kind of damage."""
    from rich.text import Text

    pair = comparison.apart[kind]
    if math.isnan(pair.difference):
        return Text("–")
    wide = limits and not math.isnan(pair.low)
    ends = f" ({100 * pair.low:z.0f} to {100 * pair.high:z.0f})" if wide else ""
    star = " *" if pair.p_holm <= _ALPHA else ""
    return Text(f"{100 * pair.difference:+z.0f}{ends}{star}", style="bold" if star else "")


def _seen(rows: "Sequence[VariantResult]", *, several: bool, narrow: bool) -> "Text":
    """Detection and verdict of a kind by one judge; of several data the mean, and how often noticed."""
    from rich.text import Text

    from dhp.report.compared import mean_detection
    from dhp.report.labels import STATE_COLOURS

    if (mean := mean_detection(rows)) is None:
        return Text("–")
    verdicts = [row.verdict or "" for row in rows]
    said = verdicts[0] if not several else "" if narrow else f"{verdicts.count('noticed')}/{len(rows)}"
    style = STATE_COLOURS.get(verdicts[0], "") if len({*verdicts}) == 1 else ""
    return Text(f"{100 * mean:.0f} {said}".rstrip(), style=style)
