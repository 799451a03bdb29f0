"""`dhp report`, `compare`, `gate` and `leaderboard`: what is made of finished runs."""

import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.options import Command, settings
from dhp.cli.output import CSV, DETAILS, HTML, JSON, LATEX, MARKDOWN, TABLE, print_out, say
from dhp.cli.protocol_options import ALLOW, dry_run_option
from dhp.core.checks import exclusive, requires
from dhp.core.files import write_lines
from dhp.core.progress import counted, progress_of, progress_shown
from dhp.core.text import printable
from dhp.leaderboard import FOLDER
from dhp.report.printout import FirstThatFits, Part, Printout, TextTable
from dhp.runs.conditions import Gate
from dhp.stats.defaults import RESAMPLES

if TYPE_CHECKING:
    from rich.text import Text

    from dhp.runs.compare import DatasetComparison
    from dhp.runs.reader import RunResult

    Rated = Mapping[str, Sequence[RunResult]]
    """Dataset -> the results that are compared."""
    Rows = list[tuple[str | Text, ...]]


@click.command(
    cls=Command,
    rules=(
        exclusive("table", "figures", "out"),
        exclusive("csv", "markdown", "latex"),
        *(requires(form, "table") for form in ("details", "csv", "markdown", "latex")),
    ),
)
@click.argument("run")
@click.option("--out", metavar="FILE.html", help="File of the report; default: report.html in the run.")
@click.option("--figures", metavar="DIR", help="Write each chart here as SVG, PDF and CSV instead.")
@TABLE
@DETAILS
@CSV
@MARKDOWN
@LATEX
def report(
    run: str,
    out: str | None,
    figures: str | None,
    table: bool,
    details: bool,
    csv: bool,
    markdown: bool,
    latex: bool,
) -> None:
    """Rebuild the report of a finished run, or print its table.

    RUN is the folder of the run. With --table the page stays as it is; --csv, --markdown and --latex are
    other forms of the table.

    Example: dhp report runs/one --table
    """
    if table:
        _print_table(run, details=details, csv=csv, markdown=markdown, latex=latex)
        return
    if figures is not None:
        _write_figures(figures, run)
        return
    from dhp.report.page import write_report

    with progress_shown("done") as show:
        path = write_report(run, out, show)
    say(f"written to {path}")


def _print_table(run: str, *, details: bool, **forms: bool) -> None:
    """Print the table of a run, or with `details` the tables of its kinds of damage, too."""
    from dhp.report.notebook import frame, runs_frame
    from dhp.report.terminal import doses_table, kinds_table, runs_tables
    from dhp.runs.reader import read_run

    results = read_run(run).results
    plain = [each for each in results if not each.curves]
    parts = runs_tables(plain) if plain else []
    parts += [doses_table(curve) for each in results for curve in each.curves]
    for each in plain if details else ():
        parts += ["", kinds_table(each, details=True)]
    made = Printout(parts, frame=partial(frame if details else runs_frame, results))
    print_out(made, **forms)


def _write_figures(folder: str, run: str) -> None:
    """Write the charts of a run."""
    from dhp.report.figures import write_figures
    from dhp.runs.reader import read_run

    files = write_figures(read_run(run).results, folder)
    say(*(f"written: {path}" for path in files))


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
    """Figures by data and by kind, under these names of the judges; without limits where it is narrow."""
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
    every = [entry.result for each in comparisons for entry in rated[each.dataset]]
    columns = [column for column in run_columns(every) if column in AVERAGES]
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


@click.command(cls=Command, rules=(exclusive("dry_run", "junit"), exclusive("dry_run", "history")))
@click.argument("run")
@ALLOW
@click.option(
    "--junit", metavar="FILE", help="Write the outcome of each condition to this file as JUnit XML."
)
@click.option(
    "--history",
    metavar="FILE.jsonl",
    help="Add the outcome to this file, and draw all that it holds on FILE.html.",
)
@dry_run_option("Only print the chance that a judge that did not change fails this gate.")
@settings("conditions", Gate)
def gate(
    run: str,
    allow: tuple[str, ...],
    junit: str | None,
    history: str | None,
    dry_run: bool,
    conditions: Gate,
) -> None:
    """Exit with 1 unless every result of a run is good enough.

    One line says why. RUN is the folder of a finished run.

    A limit is met where the lower end of the interval reaches it, not met where the upper end lies below.
    What is undecided passes, and the line says how many texts would decide.

    Example: dhp gate runs/new --min-detection 80 --against runs/old --max-drop 5
    """
    from rich.text import Text

    from dhp.report.gate_history import add_to_history
    from dhp.report.junit import junit_xml
    from dhp.runs.gate import check_run
    from dhp.runs.gate_chance import chance_of_failing

    conditions = replace(conditions, allow=allow)
    if dry_run:
        with progress_of(True) as show:
            chance = chance_of_failing(run, conditions, progress=show)
        say(str(chance))
        return
    start = time.perf_counter()
    outcome = check_run(run, conditions)
    seconds = time.perf_counter() - start
    for doubt in outcome.doubts:
        logging.getLogger("dhp").warning("warning: %s", doubt)
    if junit:
        write_lines(Path(junit), [junit_xml(outcome, seconds, require_proof=conditions.require_proof)])
    if history:
        against = None if conditions.against is None else str(conditions.against)
        add_to_history(Path(history), run, against, outcome)
    say(Text(printable(outcome.sentence), no_wrap=True))
    if not outcome.passed:
        raise click.exceptions.Exit(1)


class _SiteUnlessNamed(click.Group):
    """Runs `site` where no command is named, so that runs can follow directly."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = bool(args) and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named else ["site", *args])


@click.group(cls=_SiteUnlessNamed)
def leaderboard() -> None:
    """Write a static site of many runs, or add results.

    dhp leaderboard RUN... --out DIR; dhp leaderboard add FILE --to BOARD.
    """


@leaderboard.command(cls=Command)
@click.argument("run", nargs=-1)
@click.option("--out", default=FOLDER, metavar="DIR", help="Folder of the site.")
@LATEX
@ALLOW
def site(run: tuple[str, ...], out: str, latex: bool, allow: tuple[str, ...]) -> None:
    """Write a leaderboard as a static site.

    The site holds pages, the tables as JSON, CSV, Markdown and LaTeX, and the JSON Schema of results files,
    schema.json. Each RUN is a run folder, a results file, or a folder of them. Results of unlike
    data, texts, method, weights, statistics or size stand in separate tables. A run is refused whose figures
    do not follow from its ratings; intervals are not computed anew.

    --latex prints one table of judges and sets for a paper instead.

    Example: dhp leaderboard runs/one runs/two --out site/
    """
    from dhp.leaderboard.entries import read_entries
    from dhp.leaderboard.paper import as_latex
    from dhp.leaderboard.site import write_site
    from dhp.leaderboard.tables import make_tables

    with progress_of(True) as show:
        tables = make_tables(read_entries(run, show), allow, show)
        if not latex:
            write_site(tables, out, show)
    if latex:
        click.echo(as_latex(tables), nl=False)
        return
    count = sum(len(table.rows) for table in tables)
    page = f"{out.rstrip('/')}/index.html"
    say(f"{page}: {_number(count, 'result')} in {_number(len(tables), 'table')}")


@leaderboard.command(cls=Command)
@click.argument("file")
@click.option("--to", "board", required=True, metavar="BOARD", help="Folder of results files to add it to.")
@click.option(
    "--ratings", metavar="FILE", help="Ratings of these results; all figures are recomputed from them."
)
@click.option("--weights", metavar="FILE", help="Expert weights of these results, unless bundled with dhp.")
def add(file: str, board: str, ratings: str | None, weights: str | None) -> None:
    """Check a results file and add it to a board.

    FILE is a run folder or a results.json; the schema is schema.json in every site. With --ratings, and for a
    run folder, a file is refused whose figures do not follow from its ratings.

    Example: dhp leaderboard add results.json --to board --ratings ratings.parquet
    """
    from dhp.leaderboard.entries import add_results

    for path in add_results(file, board, ratings=ratings, weights=weights):
        say(f"written: {path}")


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
