"""The charts of a run as files for a paper: SVG and PDF, each with its figures as CSV."""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.analysis.results import Result
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
)
from dhp.report.columns import KIND, KINDS
from dhp.report.document import plain_row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PAINTED = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")
"""Properties of what matplotlib draws that hold a colour."""


def write_figures(results: Sequence[Result], folder: str | Path) -> list[Path]:
    """Write each chart of the results into a folder; returns the files, a chart after the other.

    They are the kinds of damage of each result with limits, D by dataset, marks and doses. Raises
    `InputError` if the folder cannot be written.
    """
    path, files = inner_folder(folder), list[Path]()
    for name, figure, rows in _figures(results):
        files += _written(path / _file_name(name, {each.stem for each in files}), figure, rows)
    return files


def _figures(results: Sequence[Result]) -> "Iterator[tuple[str, Figure, Sequence[Mapping[str, Any]]]]":
    for each in results:
        of = f"{each.dataset} {each.judge}"
        if each.damage:
            rows = (*each.variants, *each.controls)
            figures = [plain_row((KIND, *KINDS), row) for row in rows if row.detection is not None]
            yield f"kinds {of}", each.plot(), figures
        if each.sweep is not None:
            yield _painted(marks_drawing(each.sweep, of))
        if each.certainty is not None:
            yield _painted(certainty_drawing(each.certainty, of))
        if each.asking is not None:
            yield _painted(asking_drawing(each.asking, of))
        if each.curves:
            yield _painted(detection_drawing(each.curves, of))
    yield from map(_painted, discernment_drawings(results))


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
            colour = getattr(artist, f"get_{name}", lambda: None)()
            if isinstance(colour, str | tuple) and (meant := colours.get(to_hex(colour))):
                getattr(artist, f"set_{name}")((meant, artist.get_alpha() or 1.0))
    return drawing.name, figure, drawing.rows


def _light() -> dict[str, str]:
    """Name of a colour -> what it is on a light ground, as the style of the pages declares it."""
    style = (Path(__file__).parent / "assets" / "base.css").read_text(encoding="utf-8")
    return {
        name: match[1] for name in COLOURS if (match := re.search(rf"--{name}: light-dark\((#\w+),", style))
    }


def _written(stem: Path, figure: "Figure", rows: Sequence[Mapping[str, Any]]) -> Iterator[Path]:
    import pandas as pd
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "dhp", "pdf.fonttype": 42}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")
        for ending, metadata in (("svg", NOT_WRITTEN), ("pdf", {"CreationDate": None, "Creator": None})):
            path = stem.with_name(f"{stem.name}.{ending}")
            with writing(path) as file:
                figure.savefig(file, format=ending, metadata=metadata)
            yield path
    path = stem.with_name(f"{stem.name}.csv")
    with writing(path) as file:
        pd.DataFrame(rows).map(spreadsheet_safe).to_csv(file, index=False, lineterminator="\n")
    yield path


def _file_name(name: str, taken: set[str]) -> str:
    """Letters, digits, `_` and `-` alone; numbered if another chart has the name."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:80]
    number = next(k for k in range(1, len(taken) + 2) if (plain if k == 1 else f"{plain}-{k}") not in taken)
    return plain if number == 1 else f"{plain}-{number}"
