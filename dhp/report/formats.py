"""Results in other forms: JSON, a table of comma-separated values, Markdown for pull requests."""

import json
import re
from collections.abc import Collection, Sequence

from rich.table import Table
from rich.text import Text
from tabulate import tabulate

from dhp.analysis.results import Result, Results
from dhp.core.text import printable, spreadsheet_safe
from dhp.report.notes import notes
from dhp.report.tables import curve_table, probes_table
from dhp.report.terminal import BAR, result_table

_MARKS = re.compile(r"[\\`*\[\]<>|~$&#]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that Markdown would take for markup; an underscore only at the edge of a word."""


def json_text(results: Results) -> str:
    """What `results.json` holds."""
    return json.dumps(results.to_dict(), ensure_ascii=False, indent=1) + "\n"


def csv_text(results: Results) -> str:
    """Comma-separated values, one row a (model, protocol, dataset, variant, metric), to the last digit.

    An empty cell is undefined.
    """
    frame = results.to_frame().map(lambda cell: spreadsheet_safe(cell) if isinstance(cell, str) else cell)
    return str(frame.to_csv(index=False, lineterminator="\n"))


def markdown_text(results: Results) -> str:
    """The tables of the terminal, with averages and worst variant in bold and the notes as a list."""
    return "\n".join(map(_section, results))


def _section(result: Result) -> str:
    tables = [result_table(result, dropped=(BAR,))]
    if result.controls or result.attacks:
        tables.append(probes_table(result))
    tables += map(curve_table, result.curves)
    said = [f"**warning: {markdown_cell(warning)}**" for warning in result.warnings]
    said += map(markdown_cell, notes(result))
    said.append(_code(result.signature))
    return "\n".join([*map(_table, tables), *(f"- {line}" for line in said), ""])


def _table(table: Table) -> str:
    assert isinstance(table.title, Text)
    rows = zip(*(column.cells for column in table.columns), strict=True)
    shown = [
        [_cell(cell, str(row.style)) for cell in cells] for row, cells in zip(table.rows, rows, strict=True)
    ]
    right = [place for place, column in enumerate(table.columns) if column.justify == "right"]
    headings = [str(column.header) for column in table.columns]
    return f"### {markdown_cell(table.title.plain)}\n\n{markdown_table(headings, shown, right)}\n"


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]) -> str:
    """A table of cells that are Markdown already; the columns at the places `right` are aligned right."""
    aligned = ["right" if place in right else "left" for place in range(len(headings))]
    shown = [markdown_cell(heading) for heading in headings]
    return str(tabulate(rows, shown, tablefmt="pipe", disable_numparse=True, colalign=aligned))


def _cell(cell: object, row_style: str) -> str:
    assert isinstance(cell, Text)
    text = markdown_cell(cell.plain)
    return f"**{text}**" if text and "bold" in f"{row_style} {cell.style}" else text


def markdown_cell(text: str) -> str:
    """The text on one line, without markup or control characters: for a cell of a table and elsewhere."""
    return _MARKS.sub(r"\\\g<0>", " ".join(printable(text).split()))


def _code(text: str) -> str:
    """As code, whatever marks of code it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, space = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{space}{printable(text)}{space}{fence}"
