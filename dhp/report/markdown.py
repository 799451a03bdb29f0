"""The parts of a document as Markdown."""

import re
from collections.abc import Collection, Iterable, Sequence

from dhp.core.shown import printable
from dhp.report.document import Code, Edited, FirstThatFits, Part, Strong
from dhp.report.plain_grid import Flat, Grid, flat, marked


def markdown(parts: Iterable[Part]) -> str:
    """The parts as Markdown."""
    return "\n".join([*map(_part, flat(parts)), ""])


def _part(part: Flat) -> str:
    match part:
        case Grid():
            return _grid(part)
        case FirstThatFits(forms):
            return "\n".join(map(_part, flat(forms[0])))
        case Strong(text):
            return f"**{markdown_cell(text)}**\n"
        case Code(text):
            return f"- {_code(text)}"
        case Edited():
            return f"- {markdown_cell(marked(part).plain)}"
        case str():
            return f"- {markdown_cell(part)}" if part else ""


_MARKS = re.compile(r"[\\`*\[\]<>|~$&#]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that Markdown would take for markup: those of `a*b`, `<b>`, `_c_`.

An underscore is one only at the edge of a word: that of `D_avg` stays as it is.
"""


def _grid(grid: Grid) -> str:
    """The table under its title; of a listing a line for each row."""
    rows = [list(map(markdown_cell, row)) for row in grid.rows]
    if not grid.headings:
        return "\n".join(f"- {': '.join(filter(None, row))}" for row in rows)
    title = f"### {markdown_cell(grid.title)}\n\n" if grid.title else ""
    return f"{title}{markdown_table(grid.headings, rows, grid.right)}\n"


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]) -> str:
    """A table of cells that are Markdown already; the columns at the places `right` are aligned right."""
    from rich.cells import cell_len

    shown = list(map(markdown_cell, headings))
    cells = [list(map(str.strip, row)) for row in rows]
    widths = [max(cell_len(heading) + 2, 3) for heading in shown]
    for row in cells:
        widths = [max(width, cell_len(cell)) for width, cell in zip(widths, row, strict=True)]

    def line(row: Sequence[str]) -> str:
        filled = []
        for place, cell in enumerate(row):
            gap = " " * (widths[place] - cell_len(cell))
            filled.append(gap + cell if place in right else cell + gap)
        return f"| {' | '.join(filled)} |"

    rule = []
    for place, width in enumerate(widths):
        dashes = "-" * (width + 1)
        rule.append(f"{dashes}:" if place in right else f":{dashes}")
    return "\n".join([line(shown), f"|{'|'.join(rule)}|", *map(line, cells)])


def markdown_cell(text: str) -> str:
    """The text on one line, without markup or control characters: for a cell of a table and elsewhere."""
    return _MARKS.sub(r"\\\g<0>", " ".join(printable(text).split()))


def _code(text: str) -> str:
    """The text as Markdown code, also if it holds back quotes."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""  # parts the fence from a back quote of the text
    return f"{fence}{space}{printable(text)}{space}{fence}"
