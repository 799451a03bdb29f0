"""What a command prints: lines and tables for people, plain values for programs; and the one printer."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from dhp.core.files import indented_json
from dhp.core.text import printable, spreadsheet_safe

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.text import Text

_NARROWEST = 16
"""Columns that the last cell of a row needs at least, if it may be wrapped."""
_NARROWEST_FIRST = 24
"""Columns to which the first cell of a row is wrapped at most, before a row takes several lines."""
_WIDEST_FIRST = 60
"""Columns to which the first cell of a row is wrapped at least, but for a longer word."""
_INDENT = 4
"""How much further in the other lines of a wrapped line begin."""
_GAP = 2
"""Columns between two cells."""
_BETWEEN = "  ·  "
"""Between the cells of a row that takes several lines."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table; a cell with its own style is a `rich.text.Text`, all others are plain text."""

    title: str
    headings: Sequence[str]
    """Empty for a table without headings, whose last column is wrapped."""
    rows: "Sequence[Sequence[str | Text]]"
    right: Collection[str] = ()
    """Headings of the columns that are aligned right."""
    styles: Sequence[str] = ()
    """Style of each row in a terminal; empty for none."""


@dataclass(frozen=True, slots=True)
class FirstThatFits:
    """Several forms of the same, the widest first: a terminal shows the first that fits, or the last."""

    forms: "Sequence[Sequence[Part]]"


Part: TypeAlias = "str | Text | TextTable | FirstThatFits"
"""A line, which is wrapped between words; a line with styles, of printable text; a table."""


@dataclass(frozen=True, slots=True)
class Printout:
    """What a command prints, in all its forms."""

    parts: Sequence[Part]
    """For people, and for Markdown."""
    data: object = None
    """Plain values, for JSON."""
    frame: "Callable[[], pd.DataFrame] | None" = None
    """Makes the table for CSV, to the last digit."""


def print_parts(parts: Sequence[Part], console: "Console") -> None:
    """Print lines and tables, no wider than the console."""
    for part in parts:
        if isinstance(part, str):
            _print_line(part, console)
        elif isinstance(part, TextTable):
            _print_table(part, console)
        elif isinstance(part, FirstThatFits):
            print_parts(next((form for form in part.forms if _fits(form, console)), part.forms[-1]), console)
        else:
            console.print(part, soft_wrap=bool(part.no_wrap))


def _fits(parts: Sequence[Part], console: "Console") -> bool:
    """Whether no table has to be broken."""
    for part in parts:
        if isinstance(part, FirstThatFits) and not any(_fits(form, console) for form in part.forms):
            return False
        if isinstance(part, TextTable) and _start_of_last(part) + _widths(part)[-1] > console.width:
            return False
    return True


def _print_line(line: str, console: "Console") -> None:
    from textwrap import fill

    from rich.text import Text

    shown = printable(line)
    if len(shown) > console.width:
        indent = " " * (len(shown) - len(shown.lstrip()) + _INDENT)
        shown = fill(
            shown, console.width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    console.print(Text(shown), soft_wrap=True)


def _print_table(table: TextTable, console: "Console") -> None:
    from rich.text import Text

    if table.title:
        console.print(Text(printable(table.title), style="bold"))
    words = [len(word) for row in table.rows for word in str(row[0]).split()] if table.headings else []
    first = min(_widths(table)[0], max(_WIDEST_FIRST, *words)) if words else _widths(table)[0]
    room = console.width - _start_of_last(table) + _widths(table)[0] - first
    needed = _widths(table)[-1]
    if room >= needed or not table.headings:
        _print_rows(table, max(room, _NARROWEST), first, console)
    elif first - (needed - room) >= _NARROWEST_FIRST:
        _print_rows(table, needed, first - (needed - room), console)
    else:
        _print_rows_on_several_lines(table, console)


def _print_rows(table: TextTable, room: int, first: int, console: "Console") -> None:
    """A row a line, with `first` columns for its first cell, which is wrapped, and `room` for its last."""
    from rich.text import Text

    widths, start = [first, *_widths(table)[1:]], _start_of_last(table)
    right = [heading in table.right for heading in table.headings] or [False] * len(widths)
    rows = [([Text(heading) for heading in table.headings], "bold")] if table.headings else []
    for cells, style in [*rows, *zip(_cells(table), _styles(table), strict=True)]:
        line = Text(style=style)
        cells[0], *below = cells[0].wrap(console, first) if len(cells) > 1 and cells[0] else cells[:1]
        for cell, width, aligned in zip(cells[:-1], widths, right, strict=False):
            cell.align("right" if aligned else "left", width)
            line.append_text(cell).append(" " * _GAP)
        last, further = cells[-1], []
        if not table.headings:
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


def _print_rows_on_several_lines(table: TextTable, console: "Console") -> None:
    """The first cell of each row, below it the others with their headings."""
    from rich.text import Text

    for (first, *others), style in zip(_cells(table), _styles(table), strict=True):
        first.stylize("bold")
        console.print(first)
        lines: list[Text] = []
        named = [
            Text(f"{heading} ").append_text(cell)
            for heading, cell in zip(table.headings[1:], others, strict=True)
            if cell
        ]
        for cell in named:
            if lines and lines[-1].cell_len + len(_BETWEEN) + cell.cell_len <= console.width - _INDENT:
                lines[-1].append(_BETWEEN).append_text(cell)
            else:
                lines.append(cell)
        for line in lines:
            console.print(Text(" " * _INDENT, style=style).append_text(line))


def _cells(table: TextTable) -> "list[list[Text]]":
    from rich.text import Text

    return [
        [Text(printable(cell)) if isinstance(cell, str) else cell.copy() for cell in row]
        for row in table.rows
    ]


def _styles(table: TextTable) -> Sequence[str]:
    return table.styles or [""] * len(table.rows)


def _widths(table: TextTable) -> list[int]:
    from rich.text import Text

    rows = [[Text(heading) for heading in table.headings]] if table.headings else []
    return [max(cell.cell_len for cell in column) for column in zip(*rows, *_cells(table), strict=True)]


def _start_of_last(table: TextTable) -> int:
    return sum(width + _GAP for width in _widths(table)[:-1])


def text_for_programs(printout: Printout, form: str) -> str:
    """The printout as `json`, `csv`, `markdown` or `latex`."""
    if form == "markdown":
        return "\n".join([*map(_markdown, printout.parts), ""])
    if form == "latex":
        return "\n".join([LATEX_HEAD, *map(_latex, printout.parts), ""])
    if form == "csv":
        assert printout.frame is not None
        return str(printout.frame().map(spreadsheet_safe).to_csv(index=False, lineterminator="\n"))
    return indented_json(printout.data)


def _markdown(part: Part) -> str:
    if isinstance(part, TextTable):
        return markdown_of(part)
    if isinstance(part, FirstThatFits):
        return "\n".join(map(_markdown, part.forms[0]))
    if isinstance(part, str):
        return f"- {markdown_cell(part)}" if part else ""
    return f"- {_code(part.plain)}" if part.no_wrap else f"**{markdown_cell(part.plain)}**\n"


def _latex(part: Part) -> str:
    if isinstance(part, TextTable):
        return latex_table(part.title, part.headings, [list(map(str, row)) for row in part.rows], part.right)
    if isinstance(part, FirstThatFits):
        return "\n".join(map(_latex, part.forms[0]))
    return f"% {' '.join(printable(str(part)).split())}" if part else ""


LATEX_HEAD = r"% \usepackage{booktabs}"
_LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
}


def latex_text(text: str) -> str:
    """The text for LaTeX, on one line."""
    return "".join(_LATEX.get(c, c) for c in " ".join(printable(text).split()))


def latex_table(
    caption: str, headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str]
) -> str:
    """A `table` for the package `booktabs`; the columns with the headings `right` are aligned right."""
    lines = [" & ".join(map(latex_text, row)) + r" \\" for row in (headings, *rows)]
    return "\n".join(
        [
            r"\begin{table}",
            *([rf"\caption{{{latex_text(caption)}}}"] if caption else []),
            rf"\begin{{tabular}}{{{''.join('r' if heading in right else 'l' for heading in headings)}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


_MARKS = re.compile(r"[\\`*\[\]<>|~$&#]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that Markdown would take for markup; an underscore only at the edge of a word."""


def markdown_of(table: TextTable) -> str:
    """The table under its title."""
    right = [column for column, heading in enumerate(table.headings) if heading in table.right]
    rows = [[markdown_cell(str(cell)) for cell in row] for row in table.rows]
    title = f"### {markdown_cell(table.title)}\n\n" if table.title else ""
    return f"{title}{markdown_table(table.headings, rows, right)}\n"


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]) -> str:
    """A table of cells that are Markdown already; the columns at the places `right` are aligned right."""
    from rich.cells import cell_len

    shown = [markdown_cell(heading) for heading in headings]
    cells = [[str(cell).strip() for cell in row] for row in rows]
    widths = [
        max(cell_len(heading) + 2, *(cell_len(row[place]) for row in cells), 3)
        for place, heading in enumerate(shown)
    ]

    def line(row: Sequence[str]) -> str:
        filled = []
        for place, cell in enumerate(row):
            gap = " " * (widths[place] - cell_len(cell))
            filled.append(gap + cell if place in right else cell + gap)
        return f"| {' | '.join(filled)} |"

    rule = [f"{'-' * (w + 1)}:" if place in right else f":{'-' * (w + 1)}" for place, w in enumerate(widths)]
    return "\n".join([line(shown), f"|{'|'.join(rule)}|", *map(line, cells)])


def markdown_cell(text: str) -> str:
    """The text on one line, without markup or control characters: for a cell of a table and elsewhere."""
    return _MARKS.sub(r"\\\g<0>", " ".join(printable(text).split()))


def _code(text: str) -> str:
    """The text as Markdown code, also if it holds back quotes."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, space = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{space}{printable(text)}{space}{fence}"
