"""The charts of a run as files for a paper: SVG and PDF, each with its figures as CSV."""

import re
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.analysis.results import Result
from dhp.core.errors import InputError
from dhp.core.shown import spreadsheet_safe
from dhp.core.writing import inner_folder, writing
from dhp.report.certainty_charts import asking_drawing, certainty_drawing
from dhp.report.charts import (
    COLOURS,
    NOT_WRITTEN,
    STYLE,
    Drawing,
    detection_drawing,
    discernment_drawings,
    marks_drawing,
    overview_drawing,
)
from dhp.report.columns import KIND, KINDS
from dhp.report.document import plain_row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PAINTED = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")
"""Properties of what matplotlib draws that hold a colour."""
_LONGEST = 80
"""Characters of a file's name, before its number and ending: all file systems take as many."""
CHARTS = ("overview", "kinds", "D", "marks", "certainty", "doses")
"""Charts that can be asked for by name."""


def write_figures(results: Sequence[Result], folder: str | Path, charts: Collection[str] = ()) -> list[Path]:
    """Write charts of the results into a folder; returns the files, a chart after the other.

    `charts` are names of `CHARTS`. By default several results have a chart of judges (or of the sets of one
    judge) by kinds of damage, a single result one of its kinds with limits, doses their curves. Raises
    `InputError` if the folder cannot be written or a name is unknown.
    """
    unknown = [name for name in charts if name not in CHARTS]
    if unknown:
        raise InputError(f"charts: unknown chart '{unknown[0]}'; allowed: {', '.join(CHARTS)}")
    results = [each.without_secrets() for each in results]  # in an SVG or a PDF no word can be found
    plain = [each for each in results if each.damage]
    chosen = charts or ("overview" if len(plain) > 1 else "kinds", "doses")
    path = inner_folder(folder)
    files: list[Path] = []
    for name, figure, rows in _figures(results, chosen):
        file_name = _file_name(name, taken={each.stem for each in files})
        files += _written(path / file_name, figure, rows)
    return files


def _figures(
    results: Sequence[Result], chosen: Collection[str]
) -> "Iterator[tuple[str, Figure, Sequence[Mapping[str, Any]]]]":
    plain = [each for each in results if each.damage]
    if "overview" in chosen and plain:
        yield _painted(overview_drawing(plain))
    if "kinds" in chosen:
        for each in plain:
            known = [row for row in (*each.variants, *each.controls) if row.detection is not None]
            rows = [plain_row((KIND, *KINDS), row) for row in known]
            yield f"kinds {each.dataset} {each.judge}", each.plot(), rows
    for each in results:
        for chart, drawing in _drawings(each):
            if chart in chosen:
                yield _painted(drawing)
    if "D" in chosen:
        yield from map(_painted, discernment_drawings(results))


def _drawings(result: Result) -> Iterator[tuple[str, Drawing]]:
    """Name of a chart -> a drawing of a result."""
    of = f"{result.dataset} {result.judge}"
    if result.sweep is not None:
        yield "marks", marks_drawing(result.sweep, of)
    if result.certainty is not None and result.certainty.bins:
        yield "certainty", certainty_drawing(result.certainty, of)
    if result.asking is not None:
        yield "certainty", asking_drawing(result.asking, of)
    if result.curves:
        yield "doses", detection_drawing(result.curves, of)


def _painted(drawing: Drawing) -> "tuple[str, Figure, Sequence[Mapping[str, Any]]]":
    """A chart of a page in the colours of the light page, on no ground."""
    from matplotlib import rc_context
    from matplotlib.colors import to_hex
    from matplotlib.figure import Figure

    light = _light()
    colours = {COLOURS[name]: colour for name, colour in light.items()}
    with rc_context(STYLE):
        figure = Figure(figsize=(drawing.width, drawing.height), layout="constrained")
        drawing.draw(figure)
        figure.draw_without_rendering()  # ticks and their labels are made here
    for artist in figure.findobj():
        for name in _PAINTED:
            # Not all that is drawn has each property; a collection has one colour for each of its parts.
            colour = getattr(artist, f"get_{name}", lambda: None)()
            meant = colours.get(to_hex(colour)) if isinstance(colour, str | tuple) else None
            if meant:
                getattr(artist, f"set_{name}")((meant, artist.get_alpha() or 1.0))
    return drawing.name, figure, drawing.rows


def _light() -> dict[str, str]:
    """Name of a colour -> what it is on a light ground, as the style of the pages declares it."""
    style = (Path(__file__).parent / "assets" / "base.css").read_text(encoding="utf-8")
    colours = {}
    for name in COLOURS:
        declared = re.search(rf"--{name}: light-dark\((#\w+),", style)  # --ink: light-dark(#1b1e23, #e8eaed)
        if declared:
            colours[name] = declared[1]
    return colours


def _written(stem: Path, figure: "Figure", rows: Sequence[Mapping[str, Any]]) -> Iterator[Path]:
    import pandas as pd
    from matplotlib import rc_context

    # 42 embeds fonts as TrueType, not as type 3, which is matplotlib's default.
    with rc_context({"svg.hashsalt": "dhp", "pdf.fonttype": 42}), warnings.catch_warnings():
        # It warns of each character that its font lacks.
        warnings.filterwarnings("ignore", "Glyph")
        for ending, metadata in (("svg", NOT_WRITTEN), ("pdf", {"CreationDate": None, "Creator": None})):
            path = stem.with_name(f"{stem.name}.{ending}")
            with writing(path) as file:
                figure.savefig(file, format=ending, metadata=metadata)
            yield path
    path = stem.with_name(f"{stem.name}.csv")
    with writing(path) as file:
        # The same line ends on every system; and no cell that a spreadsheet would take for a formula.
        pd.DataFrame(rows).map(spreadsheet_safe).to_csv(file, index=False, lineterminator="\n")
    yield path


def _file_name(name: str, taken: set[str]) -> str:
    """Letters, digits, `_` and `-` alone; numbered if another chart has the name."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:_LONGEST]  # D mini/x mock/y: D-mini-x-mock-y
    numbered = plain
    number = 1
    while numbered in taken:
        number += 1
        numbered = f"{plain}-{number}"
    return numbered
