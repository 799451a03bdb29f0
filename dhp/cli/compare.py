"""`dhp compare`: judges that rated the same texts, side by side."""

import math
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.command import Command
from dhp.cli.output import HTML, JSON, print_out
from dhp.cli.protocol_options import ALLOW
from dhp.core.progress import counted, progress_of
from dhp.core.writing import write_lines
from dhp.report.printout import FirstThatFits, Part, Printout, TextTable
from dhp.stats.defaults import RESAMPLES

if TYPE_CHECKING:
    from rich.text import Text

    from dhp.runs.compare import DatasetComparison
    from dhp.runs.reader import RunResult

    Rated = Mapping[str, Sequence[RunResult]]
    """Dataset -> the results that are compared."""
    Rows = list[tuple[str | Text, ...]]


_LONGEST = 24  # characters of a judge's name in a column
_MOST_KINDS = 12
"""Kinds of damage that are shown."""
_LETTERS = "judges that share a letter do not differ significantly in detection (0.05)"
_OF_ONE = "largest difference first"
_OF_TWO = "largest difference first; * significant at 0.05, test and limits corrected over all kinds"
_OF_SEVERAL = "mean, and number of datasets in which it is noticed; largest difference first"
_REASONS = 4
"""Kinds with different verdicts of which the reason is printed."""
_ALARM = "! false alarm: harmless edits lower the score as damage does"


@click.command(cls=Command)
@click.argument("run", nargs=-1, required=True)
@ALLOW
@click.option("--resamples", default=RESAMPLES, metavar="K", help="Number of random label swaps.")
@JSON
@click.option(
    "--styles",
    is_flag=True,
    help="Also print how far the judges agree with each other, before and after damage.",
)
@HTML
def compare(
    run: tuple[str, ...],
    allow: tuple[str, ...],
    resamples: int,
    json: bool,
    styles: bool,
    html: str | None,
) -> None:
    """Compare judges that rated the same texts.

    Prints what each judge detects, by data and by kind of damage, and which judges differ significantly. Each
    RUN is the folder of a finished run, or each a table of ratings as dhp analyze reads it. The page of two
    judges has the texts whose verdict changed.

    Example: dhp compare runs/one runs/two
    """
    from dhp.report.compared import compared_page
    from dhp.runs.alike import rated_by_dataset
    from dhp.runs.compare import compare_rated
    from dhp.runs.reader import Run, read_run
    from dhp.runs.recorded import results_of_tables
    from dhp.stats.compare import QUANTITIES

    quantities, runs = QUANTITIES if json else ("detection",), list[Run]()
    with progress_of(True) as show:
        if all(Path(each).is_file() for each in run):
            rated = results_of_tables(*map(Path, run))
        else:
            runs = [read_run(folder) for folder in run]
            rated = rated_by_dataset(counted(show, "reading runs", runs, attrgetter("name")))
        comparisons = compare_rated(
            rated, allow=allow, resamples=resamples, quantities=quantities, progress=show
        )
    parts = _compared(comparisons, rated)
    if styles:
        parts += [part for each in comparisons for part in _styles(each)]
    if html is not None:
        write_lines(Path(html), [compared_page(rated, comparisons, runs)])
        parts += ["", f"page  {html}"]
    print_out(Printout(parts, [each.to_json() for each in comparisons]), json=json)


def _styles(comparison: "DatasetComparison") -> list[Part]:
    """How far the judges of a dataset agree with each other."""
    from dhp.report.shared_styles import HEADINGS, TITLE, by_chance, style_rows

    *_, scores = HEADINGS
    table = TextTable(
        f"{comparison.dataset}: {TITLE}", HEADINGS, style_rows(comparison), (*HEADINGS[1:3], scores)
    )
    return ["", table, by_chance(comparison.n)]


def _compared(comparisons: "Sequence[DatasetComparison]", rated: "Rated") -> list[Part]:
    """The tables and the sentence of a comparison."""
    from dhp.report.compared import comparison_sentence

    named = {judge: name for each in comparisons for judge, name in zip(each.judges, each.names, strict=True)}
    judges, names = list(named), list(named.values())
    short = [f"J{index}" for index in range(1, len(judges) + 1)]
    abbreviated = [
        *(f"{name}  {judge}" for name, judge in zip(short, judges, strict=True)),
        *_tables(comparisons, rated, judges, short),
    ]
    if max(map(len, names)) > _LONGEST or len({*names}) < len(names):
        return [*abbreviated, "", comparison_sentence(comparisons)]
    forms = FirstThatFits([_tables(comparisons, rated, judges, names), abbreviated])
    return [forms, "", comparison_sentence(comparisons)]


def _tables(
    comparisons: "Sequence[DatasetComparison]",
    rated: "Rated",
    judges: Sequence[str],
    names: Sequence[str],
) -> list[Part]:
    """Figures by data and by kind, under these names; without limits on a narrow terminal."""
    from dhp.report.columns import legend

    known = dict(zip(judges, names, strict=True))
    results = [entry.result for each in comparisons for entry in rated[each.dataset]]
    two = len(comparisons) == 1 and len(judges) == 2
    order = _OF_TWO if two else _OF_ONE if len(comparisons) == 1 else _OF_SEVERAL
    by_data = [[_by_data(comparisons, rated, known, limits=limits)] for limits in (True, False)]
    title, headings = (
        f"detection in per cent by kind, {order}",
        ("", *names, *([f"{names[1]} - {names[0]}"] if two else [])),
    )
    by_kind = [
        [TextTable(title, headings, _by_kind(comparisons, judges, narrow=narrow))] for narrow in (False, True)
    ]
    alarm = any(alarms for each in comparisons for alarms in each.false_alarms)
    others = _others_in_words(comparisons)
    return [
        "",
        FirstThatFits(by_data),
        *legend(results),
        *([_ALARM] if alarm else []),
        "",
        FirstThatFits(by_kind),
        *([others] if others else []),
        *(_reasons(comparisons[0], names) if two else []),
    ]


def _reasons(comparison: "DatasetComparison", names: Sequence[str]) -> list[str]:
    """Why one of two judges does not notice what the other does."""
    from dhp.content.catalog import variant_name
    from dhp.report.compared import other_verdicts

    lines = [f"≠ {variant_name(kind)}: {why}" for kind, why in other_verdicts(comparison, names).items()]
    more = [f"≠ {len(lines) - _REASONS} more kinds"] if len(lines) > _REASONS else []
    return ["", *lines[:_REASONS], *more] if lines else []


def _by_data(
    comparisons: "Sequence[DatasetComparison]", rated: "Rated", names: Mapping[str, str], *, limits: bool
) -> TextTable:
    """A row for each judge on each dataset: D of its run, detection with 95 % limits and letters."""
    from dhp.report.columns import AVERAGES, run_columns
    from dhp.report.labels import group_letters, percent, percents

    several = len(comparisons) > 1
    compared = [entry.result for each in comparisons for entry in rated[each.dataset]]
    columns = [column for column in run_columns(compared) if column in AVERAGES]
    rows: Rows = []
    for each in comparisons:
        by = each.scores["detection"]
        for k, (judge, entry) in enumerate(zip(each.judges, rated[each.dataset], strict=True)):
            known, bounded = not math.isnan(by.point[k]), limits and not math.isnan(by.low[k])
            ends = f" {percents((by.low[k], by.high[k]))}" if bounded else ""
            shown = f"{percent(by.point[k])}{ends} {group_letters(by.groups, k)}" if known else "–"
            data = [each.dataset if k == 0 else ""] if several else []
            cells = [column.shown(entry.result) for column in columns]
            rows.append((*data, names[judge], *cells, shown + " !" * bool(each.false_alarms[k])))
    title = f"by dataset; {_LETTERS}" if several else f"{each.dataset}, n = {each.n}; {_LETTERS}"
    heads = (*(["data"] if several else []), "judge", *(column.heading for column in columns), "detection")
    return TextTable(title, heads, rows, [column.heading for column in columns])


def _by_kind(comparisons: "Sequence[DatasetComparison]", judges: Sequence[str], *, narrow: bool) -> "Rows":
    """A row for each kind of damage by which the judges differ most; of two judges their difference too."""
    from dhp.content.catalog import variant_name
    from dhp.report.compared import most_different, other_verdicts
    from dhp.report.side_by_side import detection_cell

    rows: Rows = []
    several = len(comparisons) > 1
    for kind, seen in most_different(comparisons)[:_MOST_KINDS]:
        cells = [
            detection_cell(seen.get(judge, ()), sets=several, plain=several and narrow) for judge in judges
        ]
        mark = ""
        if len(judges) == 2 and not several:
            cells.append(_apart(comparisons[0], kind, limits=not narrow))
            mark = " ≠" if kind in other_verdicts(comparisons[0], judges) else ""
        rows.append((f"{variant_name(kind)}{mark}", *cells))
    return rows


def _others_in_words(comparisons: "Sequence[DatasetComparison]") -> str:
    """How far the judges are apart in the kinds that are not shown."""
    from dhp.report.compared import most_different, spread

    rest = [spread(seen) for _, seen in most_different(comparisons)[_MOST_KINDS:]]
    return f"{len(rest)} more kinds: {100 * max(0.0, rest[0]):.0f} points apart at most" if rest else ""


def _apart(comparison: "DatasetComparison", kind: str, *, limits: bool) -> "Text":
    """The difference of two judges in one kind of damage."""
    from rich.text import Text

    from dhp.report.columns import points_apart

    pair = comparison.apart[kind]
    return Text(points_apart(pair, limits=limits), style="bold" if pair.differs else "")
