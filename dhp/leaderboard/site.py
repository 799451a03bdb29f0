"""The static site of a leaderboard: pages, charts, and the same tables as files.

`write_leaderboard` reads entries, ranks them in tables, and writes the site as a whole: the first page, one
that compares two judges, one for each dataset and model, and the tables as JSON, CSV, Markdown and LaTeX.
"""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path

from dhp.analysis.results import results_schema
from dhp.core.errors import InputError
from dhp.core.files import indented_json
from dhp.core.options import as_list, near_keywords
from dhp.core.progress import Progress, counted, progress_of
from dhp.core.shown import printable
from dhp.core.writing import check_place, output_path, write_folder
from dhp.leaderboard import FOLDER
from dhp.leaderboard.charts import costs, sizes
from dhp.leaderboard.entries import UNKNOWN, Entry, judge_names
from dhp.leaderboard.paper import as_latex
from dhp.leaderboard.parts import (
    ChartedTable,
    board_parts,
    dataset_file,
    dataset_parts,
    model_file,
    model_parts,
    shared_parts,
)
from dhp.leaderboard.reading import read_entries
from dhp.leaderboard.rows import SIZES, Row, size_class
from dhp.leaderboard.tables import (
    SCHEMA,
    Table,
    as_csv,
    as_json,
    as_markdown,
    judges_of,
    make_tables,
)
from dhp.report.choice import Choice, Judge, JudgesOfSet
from dhp.report.columns import DETECTION, DIFFERENCE, LOWEST, run_columns
from dhp.report.matrix import matrix_of
from dhp.report.web import page

DATA = "leaderboard.json"
"""The tables as JSON; its schema tells an earlier site from a folder of anything else."""


@near_keywords
def write_leaderboard(
    runs: str | Path | Sequence[str | Path],
    out: str | Path = FOLDER,
    *,
    allow: str | Collection[str] = (),
    progress: Progress | bool = True,
) -> Path:
    """Write a static site of many runs; returns its first page.

    Parameters
    ----------
    runs
        Run folders, results files, or folders of results files.
    out
        Folder of the site.
    allow
        Parts of the signature that may differ within a table: `metrics`; protocols may always.
    progress
        True shows it on terminals and in notebooks; a function is called as `f(what, done, total, cost)`.

    Raises
    ------
    InputError
        For a run whose figures do not follow from its ratings.
    """
    with progress_of(progress) as show:
        write_site(make_tables(read_entries(as_list(runs), show), as_list(allow), show), out, show)
    return Path(out) / "index.html"


def write_site(tables: Sequence[Table], out: str | Path, progress: Progress | None = None) -> None:
    """Write the site to a folder: whole, instead of an earlier one, or not at all.

    `index.html`, a page for each model and dataset, `compare.html`, `leaderboard.json`, `.csv`, `.md` and
    `.tex`, and `schema.json`, the JSON Schema of results files. Raises `InputError` for a folder that holds
    other things than an earlier site.
    """
    _check_free(output_path(out), out)
    files = {
        DATA: as_json(tables),
        "leaderboard.csv": as_csv(tables),
        "leaderboard.md": as_markdown(tables),
        "leaderboard.tex": as_latex(tables),
        "schema.json": indented_json(results_schema()),
        **pages(tables, progress),
    }
    write_folder(out, {name: text.encode() for name, text in files.items()})


def pages(tables: Sequence[Table], progress: Progress | None = None) -> dict[str, str]:
    """The pages by file name."""
    by_dataset: dict[str, list[Table]] = {}
    by_model: dict[str, list[tuple[Table, Row]]] = {}
    for table in tables:
        by_dataset.setdefault(table.dataset, []).append(table)
        for row in table.rows:
            # By the model alone: its protocols share a page.
            by_model.setdefault(row.entry.result.model, []).append((table, row))
    names = judge_names(_entries(tables))
    made = {
        "index.html": _page(
            "board_index.html",
            "",
            judges=len(judges_of(tables)),
            sets=len(by_dataset),
            facets=_options(tables),
            parts=board_parts(tables, names),
        ),
        "compare.html": _page(
            "board_compare.html",
            "",
            styles=("board.css", "matrix.css"),
            scripts=("side_by_side.js",),
            choice=_choice(tables),
            shared=[shared_parts(table) for table in tables],
            run_columns=run_columns,
            DETECTION=DETECTION,
            DIFFERENCE=DIFFERENCE,
            LOWEST=LOWEST,
        ),
    }
    for dataset, of_dataset in counted(progress, "drawing datasets", list(by_dataset.items()), itemgetter(0)):
        charted = [ChartedTable(table, sizes(table), costs(table)) for table in of_dataset]
        parts = dataset_parts(charted, "../")
        made[dataset_file(dataset)] = _page("board_base.html", "../", title=dataset, parts=parts)
    for model, results in counted(progress, "drawing judges", list(by_model.items()), itemgetter(0)):
        # A model may stand there under several protocols: the link to the comparison takes the first.
        _, first = results[0]
        parts = model_parts(results, printable(names[first.entry.judge]), "../")
        made[model_file(model)] = _page("board_base.html", "../", title=model or "(no name)", parts=parts)
    return made


def _entries(tables: Sequence[Table]) -> list[Entry]:
    return list(chain.from_iterable(table.entries for table in tables))


def _page(
    template: str,
    root: str,
    *,
    styles: Sequence[str] = ("board.css",),
    scripts: Sequence[str] = ("tables.js", "board.js"),
    **values: object,
) -> str:
    """A page of the site; `root` leads from its folder to that of the site."""
    return page(template, styles=("drawn.css", *styles), scripts=scripts, root=root, **values)


def _best_two(tables: Sequence[Table]) -> list[Entry]:
    """The two best judges that stand in a table together; the best twice if none do."""
    judges = judges_of(tables)
    # `judges` go from the best on: each is held against those before it, so the best pair comes first.
    for place, (second, rows_of_second) in enumerate(judges):
        for first, rows_of_first in judges[:place]:
            # Both have a place for each table, which is None if the judge has no row there.
            for one, other in zip(rows_of_first, rows_of_second, strict=True):
                if one is not None and other is not None:
                    return [first, second]
    best, _ = judges[0]
    return [best, best]


def _options(tables: Sequence[Table]) -> dict[str, list[str]]:
    """The values of each filter."""
    entries = _entries(tables)
    classes = {size_class(entry) for entry in entries}
    from_small_to_large = [name for _, name in SIZES]
    return {
        "task": sorted({table.task for table in tables}),
        "dataset": sorted({table.dataset for table in tables}),
        "protocol": sorted({entry.result.protocol for entry in entries}),
        "provider": sorted({entry.provider for entry in entries}),
        # In the order of sizes, where the other filters are in that of the alphabet.
        "size": [name for name in (*from_small_to_large, UNKNOWN) if name in classes],
    }


def _choice(tables: Sequence[Table]) -> Choice:
    """All judges, of which a page compares two."""
    names = judge_names(_entries(tables))
    numbers = {judge: number for number, judge in enumerate(sorted(names))}
    sets = []
    for table in tables:
        judges = [entry.judge for entry in table.entries]
        matrix = matrix_of(printable(table.dataset), [names[judge] for judge in judges], table.results)
        sets.append(JudgesOfSet(matrix, [numbers[judge] for judge in judges], _pairs(table, numbers)))
    # In the order of `numbers`, so that the place of a judge is its number.
    shown = [Judge(printable(names[judge])) for judge in numbers]
    return Choice(shown, [numbers[entry.judge] for entry in _best_two(tables)], sets)


def _pairs(table: Table, numbers: Mapping[tuple[str, str], int]) -> list[list[float]]:
    """Each compared pair as the script of the page reads it; empty without a paired comparison.

    A pair is six numbers: those of the two judges, the difference in detection (second less first), its lower
    and upper limit, and the adjusted p-value.
    """
    if table.comparison is None:
        return []
    pairs = []
    for pair in table.comparison.scores["detection"].pairs:
        first, second = table.compared[pair.first], table.compared[pair.second]
        if math.isfinite(pair.p_adjusted):  # JSON has no NaN
            judges = [numbers[first.judge], numbers[second.judge]]
            pairs.append([*judges, pair.difference, pair.low, pair.high, pair.p_adjusted])
    return pairs


def _check_free(folder: Path, out: str | Path) -> None:
    """Raise `InputError` if the folder holds anything but an earlier site."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"`out` {out}: is a file; allowed: a new folder or that of an earlier site")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    try:
        check_place(folder / DATA)
        schema = json.loads((folder / DATA).read_text(encoding="utf-8"))["schema"]
    except (OSError, ValueError, KeyError, TypeError):  # no such file, no JSON, or JSON of another form
        schema = None
    if schema != SCHEMA:
        raise InputError(f"`out` {out}: holds other files; allowed: a new folder or that of an earlier site")
