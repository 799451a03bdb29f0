"""What a command prints: a document for people, plain values for programs; and the printers of text.

Terminal, Markdown and LaTeX first bring every part into lines and grids of plain cells (`_flat`), so that
each of them knows only these two. In a terminal a grid is never wider than the screen: its first cells are
wrapped, or each row takes several lines.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dhp.core.files import indented_json
from dhp.core.shown import printable, spreadsheet_safe
from dhp.report.document import (
    Alarm,
    Block,
    Cell,
    Chart,
    Code,
    Edited,
    Facts,
    FirstThatFits,
    Fold,
    Heading,
    Listing,
    Note,
    Part,
    Points,
    Strong,
    Table,
    Texts,
)

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
class Printout:
    """What a command prints, in all its forms."""

    parts: Sequence[Part]
    """For people."""
    data: object = None
    """Plain values, for JSON."""
    frame: "Callable[[], pd.DataFrame] | None" = None
    """Makes the table for CSV, to the last digit."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """A table as lines of plain cells."""

    title: str
    headings: Sequence[str]
    """Empty for a listing, whose last column is wrapped."""
    rows: Sequence[Sequence[str]]
    right: Collection[int] = ()
    """Places of the columns that are aligned right."""
    row_styles: Sequence[str] = ()
    """The style of each row in a terminal; empty for none."""
    cell_styles: Sequence[Sequence[str]] = ()
    """The style of each cell; empty for none."""


_Flat: TypeAlias = str | Strong | Code | Edited | _Grid | FirstThatFits
"""What a part becomes for the printers of text."""


def _flat(parts: Iterable[Part]) -> Iterator[_Flat]:
    """The parts as lines and grids; what is folded away on a page follows its title."""
    for part in parts:
        match part:
            case Table():
                yield _grid(part)
            case Listing(rows):
                yield _Grid("", (), rows)
            case Facts(facts):
                yield _Grid("", (), [*facts.items()])
            case Heading(text):
                yield Strong(text)
            case Note(text):
                yield text.replace("`", "")
            case Alarm(text):
                yield f"warning: {text}"
            case Points(lines):
                yield from lines
            case Texts(texts):
                for label, text in texts.items():
                    yield from (Strong(label), text)
            case Chart(_, note):
                yield from [note] if note else []
            case Fold(title, inner):
                yield Strong(title)
                yield from _flat(inner)
            case Block(inner):
                yield from _flat(inner)
            case str() | Strong() | Code() | Edited() | FirstThatFits():
                yield part
            case _:
                raise TypeError(f"{type(part).__name__} is no part of a document")


def _grid(table: Table[Any]) -> _Grid:
    """A table as lines of plain cells; if it folds rows, those the same but for their names are one."""
    columns = [column for column in table.columns if not column.drawn]
    same: dict[object, list[Any]] = {}
    for place, row in enumerate(table.rows):
        key: object = place  # no row is the same as another unless the table folds rows
        if table.folded:
            group = table.group(row) if table.group else None
            key = (group, *(column.cell(row).line for column in columns[1:]))
        same.setdefault(key, []).append(row)
    lines, row_styles, cell_styles = [], [], []
    for rows in same.values():
        cells = [column.cell(rows[0]) for column in columns]
        line = [cell.line for cell in cells]
        if table.folded:
            line[0] = table.folded(rows)
        lines.append(line)
        row_styles.append(_row_style(table, rows[0]))
        cell_styles.append([_cell_style(cell) for cell in cells])
    right = [place for place, column in enumerate(columns) if column.right]
    return _Grid(table.title, [c.heading for c in columns], lines, right, row_styles, cell_styles)


def _row_style(table: Table[Any], row: Any) -> str:
    if table.word is not None:
        return table.word(row).style
    return "" if table.style is None else table.style(row)


def _cell_style(cell: Cell) -> str:
    colour = "" if cell.word is None else cell.word.style
    return f"bold {colour}".rstrip() if cell.strong else colour


def print_parts(parts: Sequence[Part], console: "Console") -> None:
    """Print lines and tables, no wider than the console."""
    from rich.text import Text

    for part in _flat(parts):
        match part:
            case str():
                _print_line(part, console)
            case Strong(text):
                console.print(Text(printable(text), style="bold"))
            case Code(text, faint):
                style = "dim" if faint else ""
                console.print(Text(printable(text), style, no_wrap=True, overflow="ignore"), soft_wrap=True)
            case Edited():
                console.print(_marked(part))
            case _Grid():
                _print_grid(part, console)
            case FirstThatFits(forms):
                print_parts(next((form for form in forms if _fits(form, console)), forms[-1]), console)


def _marked(text: Edited) -> "Text":
    """What went in red strike-through as [-gone-], and what came in yellow as {+come+}."""
    from rich.text import Text

    line = Text(f"{printable(text.label)}: ", style="bold")
    whole = len(text.changes) == 1
    for operation, piece in text.changes:
        shown = printable(piece)
        if operation == "-":
            line.append(f"[-{shown}-]", style="not bold red strike")
        elif operation == "+":
            line.append(shown if whole else f"{{+{shown}+}}", style="not bold yellow")
        else:
            line.append(shown, style="not bold")
    return line


def _fits(parts: Sequence[Part], console: "Console") -> bool:
    """Whether no table has to be broken."""
    for part in _flat(parts):
        if isinstance(part, FirstThatFits) and not any(_fits(form, console) for form in part.forms):
            return False
        if isinstance(part, _Grid) and _start_of_last(part) + _widths(part)[-1] > console.width:
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


def _print_grid(table: _Grid, console: "Console") -> None:
    from rich.text import Text

    if table.title:
        console.print(Text(printable(table.title), style="bold"))
    widths = _widths(table)
    first = widths[0]
    words = " ".join(row[0] for row in table.rows).split() if table.headings else []
    if words:
        first = min(first, max(_WIDEST_FIRST, *map(len, words)))
    # A first cell that is wrapped gives the last one what it no longer takes.
    room = console.width - _start_of_last(table) + widths[0] - first
    lacking = widths[-1] - room
    if lacking <= 0 or not table.headings:
        _print_rows(table, max(room, _NARROWEST), first, console)
    elif first - lacking >= _NARROWEST_FIRST:
        _print_rows(table, widths[-1], first - lacking, console)
    else:
        _print_rows_on_several_lines(table, console)


def _print_rows(table: _Grid, room: int, first: int, console: "Console") -> None:
    """A row a line, with `first` columns for its first cell, which is wrapped, and `room` for its last."""
    from rich.text import Text

    widths, start = [first, *_widths(table)[1:]], _start_of_last(table)
    right = [place in table.right for place in range(len(widths))]
    rows = [([Text(heading) for heading in table.headings], "bold")] if table.headings else []
    for cells, style in [*rows, *zip(_cells(table), _styles(table), strict=True)]:
        line = Text(style=style)
        below: Sequence[Text] = ()
        if len(cells) > 1 and cells[0]:
            cells[0], *below = cells[0].wrap(console, first)
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


def _print_rows_on_several_lines(table: _Grid, console: "Console") -> None:
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


def _cells(table: _Grid) -> "list[list[Text]]":
    from rich.text import Text

    rows = []
    for row in table.rows:
        rows.append([Text(printable(cell)) for cell in row])
    for cells, styles in zip(rows, table.cell_styles, strict=False):  # a listing has no styles
        for cell, style in zip(cells, styles, strict=True):
            cell.stylize(style)
    return rows


def _styles(table: _Grid) -> Sequence[str]:
    return table.row_styles or [""] * len(table.rows)


def _widths(table: _Grid) -> list[int]:
    from rich.text import Text

    rows = _cells(table)
    if table.headings:
        rows.append([Text(heading) for heading in table.headings])
    widths = [0] * len(rows[0])
    for row in rows:
        widths = [max(width, cell.cell_len) for width, cell in zip(widths, row, strict=True)]
    return widths


def _start_of_last(table: _Grid) -> int:
    return sum(width + _GAP for width in _widths(table)[:-1])


def text_for_programs(printout: Printout, form: str) -> str:
    """The printout as `json`, `csv`, `markdown` or `latex`."""
    if form == "markdown":
        return "\n".join([*map(_markdown, _flat(printout.parts)), ""])
    if form == "latex":
        return "\n".join([LATEX_HEAD, *map(_latex, _flat(printout.parts)), ""])
    if form == "csv":
        assert printout.frame is not None
        return str(printout.frame().map(spreadsheet_safe).to_csv(index=False, lineterminator="\n"))
    return indented_json(printout.data)


def _markdown(part: _Flat) -> str:
    match part:
        case _Grid():
            return _markdown_of(part)
        case FirstThatFits(forms):
            return "\n".join(map(_markdown, _flat(forms[0])))
        case Strong(text):
            return f"**{markdown_cell(text)}**\n"
        case Code(text):
            return f"- {_code(text)}"
        case Edited():
            return f"- {markdown_cell(_marked(part).plain)}"
        case str():
            return f"- {markdown_cell(part)}" if part else ""


def _latex(part: _Flat) -> str:
    match part:
        case _Grid():
            return latex_table(part.title, part.headings, part.rows, part.right)
        case FirstThatFits(forms):
            return "\n".join(map(_latex, _flat(forms[0])))
        case Strong(text) | Code(text):
            return _comment(text)
        case Edited():
            return _comment(_marked(part).plain)
        case str():
            return _comment(part) if part else ""


def _comment(text: str) -> str:
    return f"% {' '.join(printable(text).split())}"


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
    caption: str, headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]
) -> str:
    """A `table` for the package `booktabs`; the columns at the places `right` are aligned right."""
    lines = [" & ".join(map(latex_text, row)) + r" \\" for row in rows]
    head = [" & ".join(map(latex_text, headings)) + r" \\", r"\midrule"] if headings else []
    width = max(map(len, [headings, *rows]))
    alignment = "".join("r" if place in right else "l" for place in range(width))
    return "\n".join(
        [
            r"\begin{table}",
            *([rf"\caption{{{latex_text(caption)}}}"] if caption else []),
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            *head,
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


_MARKS = re.compile(r"[\\`*\[\]<>|~$&#]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that Markdown would take for markup; an underscore only at the edge of a word."""


def _markdown_of(grid: _Grid) -> str:
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
