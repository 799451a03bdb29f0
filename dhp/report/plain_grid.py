"""The parts of a document as lines and grids of plain cells, for the printers of text.

Terminal, Markdown and LaTeX first bring every part into these (`flat`), so that each of them knows few
forms. A grid knows of each cell its text and its style. Rows that a table folds are one row of it, and
columns that only a page draws are left out.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dhp.core.shown import printable
from dhp.report.document import (
    Alarm,
    Block,
    Cell,
    Chart,
    Code,
    Column,
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
    from rich.text import Text


@dataclass(frozen=True, slots=True)
class Grid:
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


Flat: TypeAlias = str | Strong | Code | Edited | Grid | FirstThatFits
"""What a part becomes for the printers of text."""


def flat(parts: Iterable[Part]) -> Iterator[Flat]:
    """The parts as lines and grids; what is folded away on a page follows its title."""
    for part in parts:
        match part:
            case Table():
                yield _grid(part)
            case Listing(rows):
                yield Grid("", (), rows)
            case Facts(facts):
                yield Grid("", (), [*facts.items()])
            case Heading(text):
                yield Strong(text)
            case Note(text):
                # Notes mark code by back quotes, which plain text shows without.
                yield text.replace("`", "")
            case Alarm(text):
                yield f"warning: {text}"
            case Points(lines):
                yield from lines
            case Texts(texts):
                for label, text in texts.items():
                    yield Strong(label)
                    yield text
            case Chart(_, note):
                if note:
                    yield note
            case Fold(title, inner):
                yield Strong(title)
                yield from flat(inner)
            case Block(inner):
                yield from flat(inner)
            case str() | Strong() | Code() | Edited() | FirstThatFits():
                yield part
            case _:
                raise TypeError(f"{type(part).__name__} is no part of a document")


def _grid(table: Table[Any]) -> Grid:
    """A table as lines of plain cells; if it folds rows, those the same but for their names are one."""
    columns = [column for column in table.columns if not column.drawn]
    lines, row_styles, cell_styles = [], [], []
    for rows in _same_rows(table, columns):
        # Rows that are folded are alike, so the first of them has the cells of all.
        cells = [column.cell(rows[0]) for column in columns]
        line = [cell.line for cell in cells]
        if table.folded:
            line[0] = table.folded(rows)
        lines.append(line)
        row_styles.append(_row_style(table, rows[0]))
        cell_styles.append([_cell_style(cell) for cell in cells])
    right = [place for place, column in enumerate(columns) if column.right]
    headings = [column.heading for column in columns]
    return Grid(table.title, headings, lines, right, row_styles, cell_styles)


def _same_rows(table: Table[Any], columns: Sequence[Column[Any]]) -> list[list[Any]]:
    """The rows, those together that are the same but for their first cell if the table folds rows."""
    if not table.folded:
        return [[row] for row in table.rows]
    same: dict[object, list[Any]] = {}
    for row in table.rows:
        group = table.group(row) if table.group else None
        # The first cell names the rows, so it may differ; all others must read the same.
        others = [column.cell(row).line for column in columns[1:]]
        same.setdefault((group, *others), []).append(row)
    return list(same.values())


def _row_style(table: Table[Any], row: Any) -> str:
    # The verdict of a row decides its colour; `style` is for tables whose rows have none.
    if table.word is not None:
        return table.word(row).style
    return "" if table.style is None else table.style(row)


def _cell_style(cell: Cell) -> str:
    colour = "" if cell.word is None else cell.word.style
    return f"bold {colour}".rstrip() if cell.strong else colour


def marked(text: Edited) -> "Text":
    """What went in red strike-through as [-gone-], and what came in yellow as {+come+}."""
    from rich.text import Text

    line = Text(f"{printable(text.label)}: ", style="bold")
    # A text that came as a whole is a single piece, and marks around all of it would tell nothing.
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
