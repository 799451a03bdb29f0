"""The page of all finished runs in a folder.

It has a table with a line for each run, its sentences below, and two judges side by side, as the reader
chooses. A trend tells how the detection of a model moved over runs on the same texts, e.g. under new prompts.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from os.path import relpath
from pathlib import Path
from urllib.parse import quote

from dhp.analysis.percent import whole_percent
from dhp.analysis.results import Result
from dhp.core.errors import InputError
from dhp.core.shown import printable
from dhp.core.signature import Signature, protocol_name
from dhp.core.writing import RUN, held_in, write_lines
from dhp.report.choice import Choice, Judge, JudgesOfSet
from dhp.report.columns import DETECTION, DIFFERENCE, LOWEST, MEAN_PASS, run_columns
from dhp.report.document import Column, Table
from dhp.report.findings import Sentence, by_judge, sentences
from dhp.report.labels import sets
from dhp.report.matrix import matrix_of
from dhp.report.web import page
from dhp.runs.reader import RESULTS, read_run

_NAMED = 2
"""The most datasets that a row names."""
_LONGEST_TREND = 4
"""The most runs whose detection a row tells. Chosen."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """A run as a row of the page."""

    name: str
    """Name of the run's folder."""
    path: str
    """Path of the run's folder, as a command takes it."""
    created: str
    """Time of creation, in UTC."""
    page: str | None
    """Path of its report, relative to the index."""
    judges: Sequence[str]
    prompts: Sequence[str]
    """Names of its protocols; empty if no model was asked."""
    results: Sequence[Result]
    sentences: Sequence[Sentence]
    """One sentence per judge."""

    @property
    def data(self) -> str:
        """Names of its datasets, or how many there are."""
        return sets(list(dict.fromkeys(each.dataset for each in self.results)), _NAMED)


def holds_runs(folder: str | Path) -> bool:
    """Whether the folder is no run itself, but holds finished runs."""
    return not (Path(folder) / RESULTS).is_file() and any(Path(folder).glob(f"*/{RESULTS}"))


def write_index(folder: str | Path, out: str | Path | None = None) -> Path:
    """Write the page of all finished runs in a folder, by default `index.html` in it; returns its path.

    Runs that are not finished, or of another version, are named on the page and left out.
    """
    path = Path(folder) / "index.html" if out is None else Path(out)
    rows: list[_Listed] = []
    left_out: list[tuple[str, str | None]] = []
    for each in sorted(Path(folder).iterdir()):
        if not (each / RESULTS).is_file():
            # A folder that holds anything else is passed over.
            if held_in(each) == RUN:
                partial = each / "report.html"
                link = _link(partial, path.parent) if partial.is_file() else None
                left_out.append((f"{printable(each.name)}: not finished", link))
            continue
        try:
            rows.append(_listed(each, path.parent))
        except InputError as e:
            left_out.append((str(e), None))
    rows.sort(key=lambda row: row.created, reverse=True)
    text = page(
        "index.html",
        styles=("report.css", "matrix.css"),
        scripts=("tables.js", "side_by_side.js"),
        runs=_runs_table(rows),
        listed=rows,
        left_out=left_out,
        folder=printable(str(folder)),
        choice=_choice(rows),
        run_columns=run_columns,
        DETECTION=DETECTION,
        DIFFERENCE=DIFFERENCE,
        LOWEST=LOWEST,
    )
    write_lines(path, [text])
    return path


def _runs_table(rows: Sequence[_Listed]) -> Table[_Listed]:
    """One line for each run; what it says in a sentence stands below the table."""
    every = list(chain.from_iterable(row.results for row in rows))
    figures = [column for column in run_columns(every) if column not in _TOO_WIDE]
    trends = _trends(rows)
    columns = [*_ABOUT, *map(_of_run, figures)]
    if trends:
        columns.append(replace(_TREND, value=lambda row: trends.get(row.path)))
    return Table("Runs", columns, rows, css="runs stacked", titled=False)


def _of_run(column: Column[Result]) -> Column[_Listed]:
    """A column of results for rows that hold several of them, without limits."""

    def words(row: _Listed) -> str:
        return column.over(row.results) if len(row.results) > 1 else column.text(row.results[0])

    return Column(
        column.heading,
        # Several results have no one value, but words (`over`).
        lambda row: column.value(row.results[0]) if len(row.results) == 1 else None,
        help=column.help,
        words=words,
        right=column.right or column.ends is not None,
    )


def _judges(row: _Listed) -> str:
    return row.judges[0] if len(row.judges) == 1 else f"{len(row.judges)} judges"


_ABOUT: tuple[Column[_Listed], ...] = (
    Column("run", lambda row: row.name, names=True, right=False, extra=lambda row: {"link": row.page or ""}),
    Column(
        "date", lambda row: row.created[:10], right=False, extra=lambda row: {"small": row.created[11:16]}
    ),
    Column("judge", _judges, right=False, extra=lambda row: {"title": ", ".join(row.judges)}),
    Column("data", lambda row: row.data, right=False, extra=lambda row: {"title": row.data}),
)
# Without values here: `_runs_table` puts in the trends of the runs on its page.
_TREND = Column[_Listed](
    "trend",
    lambda row: None,
    help="detection of the last runs of this model on these texts; prompts may differ",
)
_TOO_WIDE = (LOWEST, MEAN_PASS)
"""Columns that the line of a run has no place for: its sentence says the same."""


def _listed(folder: Path, beside: Path) -> _Listed:
    results = read_run(folder).results
    report = folder / "report.html"
    return _Listed(
        name=printable(folder.name),
        path=str(folder),
        created=max(each.created for each in results),
        page=_link(report, beside) if report.is_file() else None,
        judges=list(dict.fromkeys(each.judge for each in results)),
        # Not of results for which no language model was asked: their protocol is `none` or `unknown`.
        prompts=list(dict.fromkeys(protocol_name(each.protocol) for each in results if each.asked)),
        results=results,
        sentences=sentences(results),
    )


def _trends(rows: Sequence[_Listed]) -> dict[str, str]:
    """Path of a run -> detection of the runs before that it compares with, and its own: `70 → 82%`.

    These are of the same model on the same texts; only their prompts may differ. A run of several judges has
    none, nor has the first of its kind; of several datasets the mean counts.
    """
    series: dict[tuple[str, frozenset[tuple[str, ...]]], list[float]] = {}
    trends = {}
    # From the oldest on, so that each run finds those before it in its series.
    for row in sorted(rows, key=lambda row: row.created):
        shares = []
        for result in row.results:
            if not result.curves and result.detection.avg is not None:
                shares.append(result.detection.avg)
        if len(row.judges) > 1 or len(shares) < len(row.results):  # a mean over fewer sets would jump
            continue
        comparable = series.setdefault((row.results[0].model, _measured(row.results)), [])
        comparable.append(sum(shares) / len(shares))
        if len(comparable) > 1:
            last = map(whole_percent, comparable[-_LONGEST_TREND:])
            trends[row.path] = f"{' → '.join(last)}%"
    return trends


def _measured(results: Sequence[Result]) -> frozenset[tuple[str, ...]]:
    """What was measured: equal for runs that differ in their prompts only."""
    measured = set()
    for result in results:
        parts = Signature.parse(result.signature).comparable(["protocol"])
        measured.add(tuple(parts.values()))
    return frozenset(measured)


def _link(path: Path, beside: Path) -> str:
    return quote(Path(relpath(path, beside)).as_posix())


def _choice(rows: Sequence[_Listed]) -> Choice | None:
    """The judges of all runs; first of all the newest, beside the one before it on the same data.

    None without two judges on common data.
    """
    judges: list[Judge] = []
    by_dataset: dict[str, list[tuple[int, Result]]] = {}
    for row in rows:
        for name, results in by_judge(row.results).items():
            for result in results:
                if not result.curves:
                    # The place of a judge is its number in `judges`, to which it is added below.
                    by_dataset.setdefault(result.dataset, []).append((len(judges), result))
            judges.append(Judge(name, row.name, shlex.quote(row.path), ", ".join(row.prompts)))
    sets_of_several = []
    pairs = []
    for dataset, placed in by_dataset.items():
        if len(placed) < 2:
            continue
        places = [place for place, _ in placed]
        columns = [result for _, result in placed]
        matrix = matrix_of(dataset, [judges[place].name for place in places], columns)
        sets_of_several.append(JudgesOfSet(matrix, places))
        # The rows begin with the newest run, so the first two are the newest judges of the dataset.
        pairs.append((places[0], places[1]))
    if not pairs:
        return None
    # The rows begin with the newest run, so the smallest places are those of the newest judges.
    newest, before = min(pairs)
    return Choice(judges, (before, newest), sets_of_several)
