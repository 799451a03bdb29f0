"""The parts of a document in a terminal: lines and grids that are no wider than the screen.

A grid that is too wide first has its first cells wrapped (`_print_rows`). If that does not give room enough,
each row takes several lines: its first cell, and below it the others with their headings
(`_print_rows_on_several_lines`). `rich` measures and colours the texts.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dhp.core.shown import printable
from dhp.report.document import Code, Edited, FirstThatFits, Part, Strong
from dhp.report.plain_grid import Grid, flat, marked

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_NARROWEST = 16
"""Columns that the last cell of a row needs at least, if it may be wrapped."""
_NARROWEST_FIRST = 24
"""The fewest columns that first cells are wrapped to; with fewer a row takes several lines."""
_WIDEST_FIRST = 60
"""The most columns of the first cell of a row, unless it has a longer word."""
_INDENT = 4
"""How much further in the other lines of a wrapped line begin."""
_GAP = 2
"""Columns between two cells."""
_BETWEEN = "  ·  "
"""Between the cells of a row that takes several lines."""


def print_parts(parts: Sequence[Part], console: "Console") -> None:
    """Print lines and tables, no wider than the console."""
    from rich.text import Text

    for part in flat(parts):
        match part:
            case str():
                _print_line(part, console)
            case Strong(text):
                console.print(Text(printable(text), style="bold"))
            case Code(text, faint):
                style = "dim" if faint else ""
                console.print(Text(printable(text), style, no_wrap=True, overflow="ignore"), soft_wrap=True)
            case Edited():
                console.print(marked(part))
            case Grid():
                _print_grid(part, console)
            case FirstThatFits(forms):
                print_parts(_first_that_fits(forms, console), console)


def _first_that_fits(forms: Sequence[Sequence[Part]], console: "Console") -> Sequence[Part]:
    for form in forms:
        if _fits(form, console):
            return form
    return forms[-1]


def _fits(parts: Sequence[Part], console: "Console") -> bool:
    """Whether no table has to be broken."""
    for part in flat(parts):
        if isinstance(part, FirstThatFits) and not any(_fits(form, console) for form in part.forms):
            return False
        if isinstance(part, Grid) and _start_of_last(part) + _widths(part)[-1] > console.width:
            return False
    return True


def _print_line(line: str, console: "Console") -> None:
    from textwrap import fill

    from rich.text import Text

    shown = printable(line)
    if len(shown) > console.width:  # `rich` would break words and lose the indent
        indent = " " * (len(shown) - len(shown.lstrip()) + _INDENT)
        shown = fill(
            shown, console.width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    console.print(Text(shown), soft_wrap=True)


def _print_grid(table: Grid, console: "Console") -> None:
    from rich.text import Text

    if table.title:
        console.print(Text(printable(table.title), style="bold"))
    widths = _widths(table)
    first = _width_of_first(table, widths[0])
    # A first cell that is wrapped gives the last one what it no longer takes.
    room = console.width - _start_of_last(table) + widths[0] - first
    lacking = widths[-1] - room
    # All fits, or it is a listing, which wraps its last cell.
    if lacking <= 0 or not table.headings:
        _print_rows(table, max(room, _NARROWEST), first, console)
    # The first cell can give what is lacking, and stays wide enough to be read.
    elif first - lacking >= _NARROWEST_FIRST:
        _print_rows(table, widths[-1], first - lacking, console)
    else:
        _print_rows_on_several_lines(table, console)


def _width_of_first(table: Grid, widest: int) -> int:
    """The width of the first cells: that of the widest, or what they are wrapped to if that is too wide."""
    words: list[str] = []
    if table.headings:
        for row in table.rows:
            words += row[0].split()
    if not words:
        return widest
    # A word that is longer is not broken: the column is as wide as it.
    return min(widest, max(_WIDEST_FIRST, *map(len, words)))


def _print_rows(table: Grid, room: int, first: int, console: "Console") -> None:
    """A row a line, with `first` columns for its first cell, which is wrapped, and `room` for its last."""
    from rich.text import Text

    widths = [first, *_widths(table)[1:]]
    start = _start_of_last(table)
    right = [place in table.right for place in range(len(widths))]
    rows = list(zip(_cells(table), _styles(table), strict=True))
    if table.headings:
        rows.insert(0, ([Text(heading) for heading in table.headings], "bold"))
    for cells, style in rows:
        line = Text(style=style)
        below: Sequence[Text] = ()
        if len(cells) > 1 and cells[0]:
            # `wrap` returns lines: the first stands in the row, the others below it.
            cells[0], *below = cells[0].wrap(console, first)
        # Not strict: the widths also have that of the last cell, which is put at the end below.
        for cell, width, aligned in zip(cells[:-1], widths, right, strict=False):
            cell.align("right" if aligned else "left", width)
            line.append_text(cell).append(" " * _GAP)
        last = cells[-1]
        further: Sequence[Text] = ()
        if not table.headings:  # of a listing the last text is wrapped, too
            last, *further = last.wrap(console, room)
        if right[-1]:
            last.align("right", widths[-1])
        line.append_text(last).rstrip()
        console.print(line, soft_wrap=True)
        for more in further:
            console.print(Text(" " * start).append_text(more), soft_wrap=True)
        for more in below:
            more.rstrip()
            console.print(Text(" " * _GAP, style=style).append_text(more), soft_wrap=True)


def _print_rows_on_several_lines(table: Grid, console: "Console") -> None:
    """The first cell of each row, below it the others with their headings."""
    from rich.text import Text

    for (first, *others), style in zip(_cells(table), _styles(table), strict=True):
        first.stylize("bold")
        console.print(first)
        lines: list[Text] = []
        room = console.width - _INDENT
        for heading, cell in zip(table.headings[1:], others, strict=True):
            if not cell:
                continue
            named = Text(f"{heading} ").append_text(cell)
            if lines and lines[-1].cell_len + len(_BETWEEN) + named.cell_len <= room:
                lines[-1].append(_BETWEEN).append_text(named)
            else:
                lines.append(named)
        for line in lines:
            console.print(Text(" " * _INDENT, style=style).append_text(line))


def _cells(table: Grid) -> "list[list[Text]]":
    from rich.text import Text

    rows = []
    for row in table.rows:
        rows.append([Text(printable(cell)) for cell in row])
    for cells, styles in zip(rows, table.cell_styles, strict=False):  # a listing has no styles
        for cell, style in zip(cells, styles, strict=True):
            cell.stylize(style)
    return rows


def _styles(table: Grid) -> Sequence[str]:
    return table.row_styles or [""] * len(table.rows)


def _widths(table: Grid) -> list[int]:
    from rich.text import Text

    rows = _cells(table)
    if table.headings:
        rows.append([Text(heading) for heading in table.headings])
    widths = [0] * len(rows[0])
    for row in rows:
        # `cell_len` counts columns of the screen, of which a Chinese character takes two.
        widths = [max(width, cell.cell_len) for width, cell in zip(widths, row, strict=True)]
    return widths


def _start_of_last(table: Grid) -> int:
    return sum(width + _GAP for width in _widths(table)[:-1])
