"""`dhp compare`: judges that rated the same texts, side by side.

`_compared` makes the parts of the output: figures by dataset (`_by_data`), then by kind of damage
(`_by_kind`), then the sentence. Each table has a second form for narrow terminals: without limits, or with
short names of judges.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dhp.cli.command import Command
from dhp.cli.options import settings
from dhp.cli.output import OutputOptions, print_out
from dhp.cli.protocol_options import ALLOW
from dhp.core.progress import counted, progress_of
from dhp.core.writing import write_lines
from dhp.report.document import Column, FirstThatFits, Interval, Part, Table, item
from dhp.report.labels import group_letters, percent
from dhp.report.printout import Printout
from dhp.stats.defaults import RESAMPLES

if TYPE_CHECKING:
    from dhp.analysis.results import Result
    from dhp.runs.compare import DatasetComparison
    from dhp.runs.reader import RunResult

    Rated = Mapping[str, Sequence[RunResult]]
    """Dataset -> the results that are compared."""


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
@settings("output", OutputOptions, only=("json", "html"))
@click.option(
    "--styles",
    is_flag=True,
    help="Also print how far the judges agree with each other, before and after damage.",
)
def compare(
    run: tuple[str, ...],
    allow: tuple[str, ...],
    resamples: int,
    styles: bool,
    output: OutputOptions,
) -> None:
    """Compare judges that rated the same texts.

    Prints what each judge detects, by data and by kind of damage, and which judges differ significantly. Each
    RUN is the folder of a finished run or of several, or each a table of ratings as dhp analyze reads it. The
    page of two judges has the texts whose verdict changed.

    Example: dhp compare runs/one runs/two
    """
    from dhp.report.compared_page import compared_page
    from dhp.runs.alike import rated_by_dataset
    from dhp.runs.compare import compare_rated
    from dhp.runs.rated_tables import results_of_tables
    from dhp.runs.reader import Run, read_run, run_folders
    from dhp.stats.compare import QUANTITIES

    quantities, runs = QUANTITIES if output.json else ("detection",), list[Run]()
    with progress_of(True) as show:
        if all(Path(each).is_file() for each in run):
            rated = results_of_tables(*map(Path, run))
        else:
            runs = [read_run(folder) for folder in run_folders(run)]
            rated = rated_by_dataset(counted(show, "reading runs", runs, attrgetter("name")))
        comparisons = compare_rated(
            rated, allow=allow, resamples=resamples, quantities=quantities, progress=show
        )
    parts = _compared(comparisons, rated)
    if styles:
        for each in comparisons:
            parts += _styles(each)
    if output.html is not None:
        write_lines(Path(output.html), [compared_page(rated, comparisons, runs)])
        parts += ["", f"page  {output.html}"]
    print_out(Printout(parts, [each.to_json() for each in comparisons]), replace(output, html=None))


def _styles(comparison: "DatasetComparison") -> list[Part]:
    """How far the judges of a dataset agree with each other."""
    from dhp.report.shared_styles import agreement_table, by_chance

    return ["", agreement_table(comparison), by_chance(comparison.n)]


def _compared(comparisons: "Sequence[DatasetComparison]", rated: "Rated") -> list[Part]:
    """The tables and the sentence of a comparison."""
    from dhp.report.compared import comparison_sentence

    named: dict[str, str] = {}
    for each in comparisons:
        named.update(zip(each.judges, each.names, strict=True))
    judges, names = list(named), list(named.values())
    short = [f"J{index}" for index in range(1, len(judges) + 1)]
    key = [f"{name}  {judge}" for name, judge in zip(short, judges, strict=True)]
    abbreviated = [*key, *_tables(comparisons, rated, judges, short)]
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
    from dhp.report.compared_marks import marks_table

    known = dict(zip(judges, names, strict=True))
    results: list[Result] = []
    for each in comparisons:
        results += [entry.result for entry in rated[each.dataset]]
    two = len(comparisons) == 1 and len(judges) == 2
    order = _OF_TWO if two else _OF_ONE if len(comparisons) == 1 else _OF_SEVERAL
    by_data = [[_by_data(comparisons, rated, known, limits=limits)] for limits in (True, False)]
    title = f"detection in per cent by kind, {order}"
    by_kind = [[_by_kind(title, comparisons, judges, names, narrow=narrow)] for narrow in (False, True)]
    parts: list[Part] = ["", FirstThatFits(by_data), *legend(results)]
    if any(any(each.false_alarms) for each in comparisons):
        parts.append(_ALARM)
    for table in marks_table(comparisons, known):
        parts += ["", table]
    parts += ["", FirstThatFits(by_kind)]
    others = _others_in_words(comparisons)
    if others:
        parts.append(others)
    if two:
        parts += _reasons(comparisons[0], names)
    return parts


def _reasons(comparison: "DatasetComparison", names: Sequence[str]) -> list[str]:
    """Why one of two judges does not notice what the other does."""
    from dhp.content.catalog import variant_name
    from dhp.report.compared import other_verdicts

    lines = [f"≠ {variant_name(kind)}: {why}" for kind, why in other_verdicts(comparison, names).items()]
    if len(lines) > _REASONS:
        lines[_REASONS:] = [f"≠ {len(lines) - _REASONS} more kinds"]
    return ["", *lines] if lines else []


@dataclass(frozen=True, slots=True)
class _JudgeOfSet:
    """A judge on a dataset, as one of those compared there."""

    judge: str
    """Its name in the table."""
    place: int
    """Which of the judges of the dataset it is."""
    result: "Result"
    comparison: "DatasetComparison"


def _by_data(
    comparisons: "Sequence[DatasetComparison]", rated: "Rated", names: Mapping[str, str], *, limits: bool
) -> Table[_JudgeOfSet]:
    """A row for each judge on each dataset: D of its run, detection with 95 % limits and letters."""
    from dhp.report.columns import AVERAGES, run_columns

    rows = []
    for each in comparisons:
        for place, (judge, entry) in enumerate(zip(each.judges, rated[each.dataset], strict=True)):
            rows.append(_JudgeOfSet(names[judge], place, entry.result, each))
    several = len(comparisons) > 1
    title = "by dataset" if several else f"{comparisons[0].dataset}, n = {comparisons[0].n}"
    results = [row.result for row in rows]
    averages = [column for column in run_columns(results) if column in AVERAGES]
    columns = [
        *([_DATA] if several else []),
        _JUDGE,
        *(column.on(attrgetter("result")) for column in averages),
        _COMPARED if limits else replace(_COMPARED, ends=None),
    ]
    return Table(f"{title}; {_LETTERS}", columns, rows)


def _compared_detection(row: _JudgeOfSet) -> float | None:
    point = float(row.comparison.scores["detection"].point[row.place])
    return None if math.isnan(point) else point


def _compared_limits(row: _JudgeOfSet) -> Interval:
    of = row.comparison.scores["detection"]
    low, high = float(of.low[row.place]), float(of.high[row.place])
    return None if math.isnan(low) or _compared_detection(row) is None else (low, high)


def _letters_and_alarm(row: _JudgeOfSet) -> str:
    """The groups of a judge, and the mark of a false alarm."""
    known = _compared_detection(row) is not None
    letters = group_letters(row.comparison.scores["detection"].groups, row.place) if known else ""
    return f"{letters}{' !' if row.comparison.false_alarms[row.place] else ''}".strip()


_DATA = Column[_JudgeOfSet]("data", lambda row: row.comparison.dataset if row.place == 0 else "", right=False)
_JUDGE = Column[_JudgeOfSet]("judge", lambda row: row.judge, right=False, names=True)
_COMPARED = Column[_JudgeOfSet](
    "detection",
    _compared_detection,
    percent,
    ends=_compared_limits,
    extra=lambda row: {"small": _letters_and_alarm(row)},
    right=False,
)


def _by_kind(
    title: str,
    comparisons: "Sequence[DatasetComparison]",
    judges: Sequence[str],
    names: Sequence[str],
    *,
    narrow: bool,
) -> Table[Any]:
    """A row for each kind of damage by which the judges differ most; of two judges their difference too."""
    from dhp.content.catalog import variant_name
    from dhp.report.compared import most_different, other_verdicts
    from dhp.report.side_by_side import judge_columns

    several = len(comparisons) > 1
    two = len(judges) == 2 and not several
    others = other_verdicts(comparisons[0], judges) if two else {}

    def kind_in_words(kind: str) -> str:
        return f"{variant_name(kind)} ≠" if kind in others else variant_name(kind)

    kind = Column[str]("", variant_name, words=kind_in_words, right=False, names=True)
    detections = judge_columns(judges, names, sets=several, plain=several and narrow)
    columns = [kind.on(item(0)), *(column.on(item(1)) for column in detections)]
    if two:
        columns.append(_apart(comparisons[0], names, limits=not narrow).on(item(0)))
    return Table(title, columns, most_different(comparisons)[:_MOST_KINDS])


def _others_in_words(comparisons: "Sequence[DatasetComparison]") -> str:
    """How far the judges are apart in the kinds that are not shown."""
    from dhp.report.compared import most_different, spread

    rest = [spread(seen) for _, seen in most_different(comparisons)[_MOST_KINDS:]]
    return f"{len(rest)} more kinds: {100 * max(0.0, rest[0]):.0f} points apart at most" if rest else ""


def _apart(comparison: "DatasetComparison", names: Sequence[str], *, limits: bool) -> Column[str]:
    """The difference of two judges in a kind of damage."""
    from dhp.report.columns import DIFFERENCE, points_apart

    column = replace(
        DIFFERENCE,
        heading=f"{names[1]} - {names[0]}",
        words=lambda pair: points_apart(pair, limits=limits),
        extra=lambda pair: {"strong": pair.differs},
        right=False,
    )
    return column.on(lambda kind: comparison.apart[kind])
