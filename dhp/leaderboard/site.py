"""The static site of a leaderboard: pages, charts, and the same tables as files.

`write_leaderboard` reads entries, ranks them in tables, and writes the site as a whole: the first page, one
that compares two judges, one for each dataset and model, and the tables as JSON, CSV, Markdown and LaTeX.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from dhp.analysis.results import results_schema
from dhp.core.errors import InputError
from dhp.core.files import indented_json
from dhp.core.options import as_list, near_keywords
from dhp.core.progress import Progress, counted, progress_of
from dhp.core.shown import printable
from dhp.core.writing import check_place, output_path, write_folder
from dhp.leaderboard import FOLDER
from dhp.leaderboard.entries import UNKNOWN, Entry, judge_names, score
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
from dhp.leaderboard.rows import SIZES, Row, shown_cost, size_class
from dhp.leaderboard.tables import (
    SCHEMA,
    Table,
    as_csv,
    as_json,
    as_markdown,
    judges_of,
    make_tables,
)
from dhp.report.charts import Point, drawn, line_with_intervals, mark_blind
from dhp.report.choice import Choice, Judge, JudgesOfSet
from dhp.report.columns import DETECTION, DIFFERENCE, LOWEST, run_columns
from dhp.report.labels import figure
from dhp.report.matrix import matrix_of
from dhp.report.web import page

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure


_MARKERS = "osD^vP*X"
_APART = 1.12
"""How many times as large the next labelled size is at least: closer labels would overlap."""


def sizes(table: Table) -> "Markup | None":
    """Detection by size, a line for each family and protocol; None if no family has two sizes."""
    several_protocols = len({each.protocol for each in table.results}) > 1
    families: dict[str, list[tuple[Point, str]]] = {}
    for entry in table.entries:
        share, ends = score(entry.result, "detection")
        if entry.family and entry.size and share is not None:
            name = f"{entry.family}, {entry.result.protocol}" if several_protocols else entry.family
            label = f"{entry.size:g}B {share:.0%} (D_avg {figure(entry.result.d_avg)})"
            families.setdefault(printable(name), []).append(((entry.size, share, ends), label))
    lines: dict[str, list[tuple[Point, str]]] = {}
    known: set[float] = set()
    has_line = False
    for name, of_family in sorted(families.items()):
        lines[name] = sorted(of_family, key=_place)
        of_sizes = set(map(_place, of_family))
        known |= of_sizes
        has_line = has_line or len(of_sizes) > 1
    if not has_line:
        return None

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        for number, (name, points) in enumerate(lines.items()):
            marker = _MARKERS[number % len(_MARKERS)]
            line_with_intervals(axes, [point for point, _ in points], name, marker=marker)
        mark_blind(axes)
        axes.set_xscale("log")
        shown: list[float] = []
        for size in sorted(known):
            if not shown or size > _APART * shown[-1]:
                shown.append(size)
        axes.set_xticks(shown, [f"{size:g}B" for size in shown])
        axes.minorticks_off()
        axes.set_xlabel("parameters")
        axes.set_ylabel("detection")
        figure.legend(loc="outside right upper", frameon=False)

    words = []
    for name, points in lines.items():
        labels = ", ".join(label for _, label in points)
        words.append(f"{name} {labels}")
    return drawn(draw, 9.2, 3.8, f"Lines: detection by size on {table.dataset}: {'; '.join(words)}.")


def _place(labelled: tuple[Point, str]) -> float:
    """Where a point stands on the axis."""
    return labelled[0][0]


def costs(table: Table) -> "Markup | None":
    """Detection by cost, a point for each judge with a known cost; None for fewer than two."""
    points: list[tuple[Point, str]] = []
    for entry in table.entries:
        share, ends = score(entry.result, "detection")
        if entry.cost is not None and share is not None:
            points.append(((entry.cost, share, ends), printable(table.names[entry.judge])))
    if len(points) < 2:
        return None
    points.sort(key=lambda each: (each[0][:2], each[1]))
    priced = [cost for cost in map(_place, points) if cost > 0]

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        for number, (point, name) in enumerate(points):
            marker = _MARKERS[number % len(_MARKERS)]
            line_with_intervals(axes, [point], name, marker=marker, linestyle="")
        mark_blind(axes)
        if len(priced) == len(points):
            axes.set_xscale("log")
        elif priced:  # logarithms have no place for a judge without any cost
            axes.set_xscale("symlog", linthresh=priced[0], linscale=0.3)
            axes.set_xlim(left=-priced[0] / 5)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.set_xlabel("cost per 1,000 judgements")
        axes.set_ylabel("detection")
        figure.legend(loc="outside right upper", frameon=False)

    words = "; ".join(f"{name} {shown_cost(cost)}, {share:.0%}" for (cost, share, _), name in points)
    return drawn(
        draw, 9.2, 3.8, f"Points: cost per 1,000 judgements and detection on {table.dataset}: {words}."
    )


DATA = "leaderboard.json"
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


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
            by_model.setdefault(row.entry.result.model, []).append((table, row))
    names = judge_names(chain.from_iterable(table.entries for table in tables))
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
    for dataset, mine in counted(progress, "drawing datasets", list(by_dataset.items()), itemgetter(0)):
        charted = [ChartedTable(table, sizes(table), costs(table)) for table in mine]
        parts = dataset_parts(charted, "../")
        made[dataset_file(dataset)] = _page("board_base.html", "../", title=dataset, parts=parts)
    for model, rows in counted(progress, "drawing judges", list(by_model.items()), itemgetter(0)):
        parts = model_parts(model, rows, printable(names[rows[0][1].entry.judge]), "../")
        made[model_file(model)] = _page("board_base.html", "../", title=model or "(no name)", parts=parts)
    return made


def _page(
    template: str,
    root: str,
    *,
    styles: Sequence[str] = ("board.css",),
    scripts: Sequence[str] = ("tables.js", "board.js"),
    **values: object,
) -> str:
    """A page of the site; `root` leads from its folder to that of the site."""
    # Names of others reach attributes and scripts, too, so the whole page is gone through.
    made = page(template, styles=("drawn.css", *styles), scripts=scripts, root=root, **values)
    return _CONTROLS.sub(lambda match: printable(match[0]), made)


def _best_two(tables: Sequence[Table]) -> list[Entry]:
    """The two best judges that stand in a table together; the best twice if none do."""
    judges = judges_of(tables)
    for place, (second, theirs) in enumerate(judges):
        for first, its in judges[:place]:
            if any(a is not None and b is not None for a, b in zip(its, theirs, strict=True)):
                return [first, second]
    return [entry for entry, _ in judges[:1]] * 2


def _options(tables: Sequence[Table]) -> dict[str, list[str]]:
    """The values of each filter."""
    entries = list(chain.from_iterable(table.entries for table in tables))
    classes = {size_class(entry) for entry in entries}
    return {
        "task": sorted({table.task for table in tables}),
        "dataset": sorted({table.dataset for table in tables}),
        "protocol": sorted({entry.result.protocol for entry in entries}),
        "provider": sorted({entry.provider for entry in entries}),
        "size": [name for name in (*dict(SIZES).values(), UNKNOWN) if name in classes],
    }


def _choice(tables: Sequence[Table]) -> Choice:
    """All judges, of which a page compares two."""
    names = judge_names(chain.from_iterable(table.entries for table in tables))
    place = {judge: number for number, judge in enumerate(sorted(names))}
    sets = []
    for table in tables:
        judges = [entry.judge for entry in table.entries]
        matrix = matrix_of(printable(table.dataset), [names[judge] for judge in judges], table.results)
        pairs = _pairs(table, lambda entry: place[entry.judge]) if table.comparison else ()
        sets.append(JudgesOfSet(matrix, [place[judge] for judge in judges], pairs))
    shown = [Judge(printable(names[judge])) for judge in place]
    return Choice(shown, [place[entry.judge] for entry in _best_two(tables)], sets)


def _pairs(table: Table, at: Callable[[Entry], int]) -> list[list[float]]:
    """Two judges, detection of the second less that of the first with limits, and the adjusted p-value."""
    assert table.comparison is not None
    pairs = table.comparison.scores["detection"].pairs
    return [
        [at(table.compared[p.first]), at(table.compared[p.second]), p.difference, p.low, p.high, p.p_adjusted]
        for p in pairs
        if math.isfinite(p.p_adjusted)
    ]


def _check_free(folder: Path, out: str | Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"`out` {out}: is a file; allowed: a new folder or that of an earlier site")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    try:
        check_place(folder / DATA)
        earlier = json.loads((folder / DATA).read_text(encoding="utf-8"))["schema"] == SCHEMA
    except (OSError, ValueError, KeyError, TypeError):
        earlier = False
    if not earlier:
        raise InputError(f"`out` {out}: holds other files; allowed: a new folder or that of an earlier site")
