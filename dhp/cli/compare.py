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


_LONGEST = 24
"""Characters of a judge's name in a column; with a longer one all are called J1, J2, ..., and a key stands
above. Chosen, not measured."""
_MOST_KINDS = 12
"""Kinds of damage that are shown. Chosen: they fill half a screen."""
_LETTERS = "judges that share a letter do not differ significantly in detection (0.05)"
_OF_ONE = "largest difference first"
_OF_TWO = "largest difference first; * significant at 0.05, test and limits corrected over all kinds"
_OF_SEVERAL = "mean, and number of datasets in which it is noticed; largest difference first"
"""Ends of the title above the kinds of damage: on one dataset, for two judges on it, on several datasets."""
_REASONS = 4
"""Kinds with different verdicts of which the reason is printed. Chosen: more are seldom read."""
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

    # Tables show detection alone; the other quantities would take time for nothing.
    quantities = QUANTITIES if output.json else ("detection",)
    runs: list[Run] = []
    with progress_of(True) as show:
        # Files are tables of ratings; else each must be a folder of runs.
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
    # Without `html`: the page is written above, and `print_out` would write one of the printed parts over it.
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
    short: list[str] = []
    abbreviated: list[Part] = []  # first the key of the short names, then the tables
    for number, judge in enumerate(judges, 1):
        short.append(f"J{number}")
        abbreviated.append(f"J{number}  {judge}")
    abbreviated += _tables(comparisons, rated, judges, short)

    # Judges of several datasets may have equal names: what tells two apart on one is not unique on all.
    too_long = max(map(len, names)) > _LONGEST
    if too_long or len({*names}) < len(names):
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
    # Only then has a kind one difference, which has a column of its own.
    two = len(comparisons) == 1 and len(judges) == 2

    with_limits = _by_data(comparisons, rated, known, limits=True)
    without_limits = _by_data(comparisons, rated, known, limits=False)
    parts: list[Part] = ["", FirstThatFits([[with_limits], [without_limits]]), *legend(results)]
    if any(any(each.false_alarms) for each in comparisons):
        parts.append(_ALARM)
    for table in marks_table(comparisons, known):
        parts += ["", table]

    if two:
        order = _OF_TWO
    elif len(comparisons) == 1:
        order = _OF_ONE
    else:
        order = _OF_SEVERAL
    title = f"detection in per cent by kind, {order}"
    wide = _by_kind(title, comparisons, judges, names, narrow=False)
    narrow = _by_kind(title, comparisons, judges, names, narrow=True)
    parts += ["", FirstThatFits([[wide], [narrow]])]
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

    reasons = other_verdicts(comparison, names)
    if not reasons:
        return []
    lines = [""]
    for kind in list(reasons)[:_REASONS]:
        lines.append(f"≠ {variant_name(kind)}: {reasons[kind]}")
    if len(reasons) > _REASONS:
        lines.append(f"≠ {len(reasons) - _REASONS} more kinds")
    return lines


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
    columns = [_DATA, _JUDGE] if several else [_JUDGE]
    columns += [column.on(attrgetter("result")) for column in averages]
    columns.append(_COMPARED if limits else replace(_COMPARED, ends=None))
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
    marks = []
    if _compared_detection(row) is not None:
        marks.append(group_letters(row.comparison.scores["detection"].groups, row.place))
    if row.comparison.false_alarms[row.place]:
        marks.append("!")
    return " ".join(marks).strip()


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
    # A row is a kind and what was seen of it.
    columns = [kind.on(item(0))]
    columns += [column.on(item(1)) for column in detections]
    if two:
        columns.append(_apart(comparisons[0], names, limits=not narrow).on(item(0)))
    return Table(title, columns, most_different(comparisons)[:_MOST_KINDS])


def _others_in_words(comparisons: "Sequence[DatasetComparison]") -> str:
    """How far the judges are apart in the kinds that are not shown."""
    from dhp.report.compared import most_different, spread

    # The table has the first ones.
    rest = most_different(comparisons)[_MOST_KINDS:]
    if not rest:
        return ""
    _, seen = rest[0]  # the most different one comes first
    points = 100 * max(0.0, spread(seen))
    return f"{len(rest)} more kinds: {points:.0f} points apart at most"


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
