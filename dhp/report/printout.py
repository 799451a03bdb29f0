"""What a command prints: a document for people, plain values for programs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dhp.core.files import indented_json
from dhp.core.shown import spreadsheet_safe
from dhp.report.document import Part
from dhp.report.latex import latex
from dhp.report.markdown import markdown

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Printout:
    """What a command prints, in all its forms."""

    parts: Sequence[Part]
    """For people."""
    data: object = None
    """Plain values, for JSON."""
    frame: "Callable[[], pd.DataFrame] | None" = None
    """Makes the table for CSV, to the last digit."""


def text_for_programs(printout: Printout, form: str) -> str:
    """The printout as `json`, `csv`, `markdown` or `latex`."""
    if form == "markdown":
        return markdown(printout.parts)
    if form == "latex":
        return latex(printout.parts)
    if form == "csv":
        assert printout.frame is not None
        return str(printout.frame().map(spreadsheet_safe).to_csv(index=False, lineterminator="\n"))
    return indented_json(printout.data)
