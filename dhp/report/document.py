"""A document: what a command or a page says, as a list of parts.

A part is made from a result once, and each printer prints it in its own form: as text
`dhp.report.terminal_printer`, `dhp.report.markdown` and `dhp.report.latex`, for pages and notebooks
`dhp.report.web`. A printer leaves out what its form has no place for: a terminal shows no chart, Markdown no
link within a page.

A table has declared columns. A column knows the plain value of a row, for sorting and for files, and how
people read it; so a heading, a rounding and a meaning are written once for all printers.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Generic, TypeVar

from dhp.core.verdicts import Verdict
from dhp.report.labels import percents

Interval = tuple[float, float] | None
"""Confidence limits; None if there are none."""
Row = TypeVar("Row")
Other = TypeVar("Other")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell, with all that some printer shows of it."""

    text: str
    """As people read it, without limits."""
    limits: str = ""
    """Confidence limits, small beside the text."""
    value: Any = None
    """What it sorts by and what files hold: a number, a text, or None if undefined."""
    word: Verdict | None = None
    """The verdict whose colour it has."""
    strong: bool = False
    """Whether it stands out from its neighbours."""
    link: str = ""
    title: str = ""
    """What a page shows if the pointer rests on it."""
    small: str = ""
    """A remark beside the text."""
    shade: float | None = None
    """How dark a page shades it, from 0 to 1."""
    ends: Interval | None = None
    """Where a page draws the bar of a drawn cell, as shares."""

    @property
    def line(self) -> str:
        """The cell on one line. Its text keeps its spaces, which align it with those above and below."""
        return " ".join(filter(None, (self.text, self.limits, self.small)))


def text_or_dash(value: object) -> str:
    """A value as it is, or a dash for undefined."""
    return "–" if value is None else str(value)


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column of a table: declared once, shown by every printer."""

    heading: str
    value: Callable[[Row], Any]
    """The plain value, for files and for sorting: a number, a text, or None if undefined."""
    form: Callable[[Any], str] = text_or_dash
    """The value, which may be None, as people read it."""
    help: str = ""
    """Its meaning, in a sentence without a full stop."""
    words: Callable[[Row], str] | None = None
    """The cell as people read it, if the value does not say all; takes the place of `form`."""
    ends: Callable[[Row], Interval] | None = None
    """Confidence limits, shown next to it."""
    limits_form: Callable[[Any], str] = percents
    """The limits as people read them: by default as shares."""
    right: bool = True
    """Whether it is aligned right."""
    optional: bool = False
    """Whether it is left out if no row has anything to tell."""
    tells: Callable[[Row], bool] | None = None
    """Whether a row has something to tell; by default whether it has a value."""
    total: Callable[[Sequence[Row]], str] | None = None
    """The cell of several rows together; default: from the lowest value to the highest, or the texts."""
    details: int = 0
    """0: in every table; 1: in detailed ones; 2: in the fullest of a page. Files have every column."""
    names: bool = False
    """Whether its cells name their rows: a heading of the row on a page."""
    extra: Callable[[Row], Mapping[str, Any]] | None = None
    """Further fields of the `Cell`: word, strong, link, title, small, shade."""
    # Columns are keys of dicts, and a mapping has no hash.
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What the filters of a page know of the column."""
    drawn: bool = False
    """Whether it is a dot with a bar on a page, and nothing elsewhere."""

    @property
    def name(self) -> str:
        """Its name in files."""
        # `D_avg_EW` becomes `d_avg_ew`, `kinds with D < 1` becomes `kinds_with_d_1`.
        return re.sub("[^a-z0-9]+", "_", self.heading.lower()).strip("_")

    def on(self, part: "Callable[[Other], Row]") -> "Column[Other]":
        """The same column for rows that hold such a row as a part."""
        total = self.total

        def of_part(function: Callable[[Row], Any]) -> Callable[[Other], Any]:
            return lambda other: function(part(other))

        def total_of_parts(others: Sequence[Other]) -> str:
            assert total is not None
            return total([part(other) for other in others])

        # The rows change their type, which `replace` cannot tell. Forms stay: they take values, not rows.
        column: Column[Any] = self
        return replace(
            column,
            value=of_part(self.value),
            words=self.words and of_part(self.words),
            ends=self.ends and of_part(self.ends),
            tells=self.tells and of_part(self.tells),
            extra=self.extra and of_part(self.extra),
            total=total and total_of_parts,
        )

    def cell(self, row: Row) -> Cell:
        """The cell of a row: the one thing that printers ask for."""
        value = self.value(row)
        made = Cell(
            self.text(row),
            self.limits(row),
            value,
            word=value if isinstance(value, Verdict) else None,
            ends=self.ends(row) if self.ends else None,
        )
        return made if self.extra is None else replace(made, **self.extra(row))

    def limits(self, row: Row) -> str:
        """The confidence limits as people read them; empty if there are none."""
        ends = None if self.ends is None else self.ends(row)
        return "" if ends is None else self.limits_form(ends)

    def text(self, row: Row) -> str:
        """The cell as people read it, without limits."""
        return self.form(self.value(row)) if self.words is None else self.words(row)

    def shown(self, row: Row) -> str:
        """The cell as people read it."""
        # Without limits there would be a space at the end.
        return f"{self.text(row)} {self.limits(row)}".rstrip()

    def over(self, rows: Sequence[Row]) -> str:
        """The cell of several rows together as people read it."""
        if len(rows) == 1:
            return self.shown(rows[0])
        if self.total is not None:
            return self.total(rows)
        values = [value for value in map(self.value, rows) if value is not None]
        if values and all(isinstance(value, int | float) for value in values):
            # Each once: `70%` if lowest and highest read the same, else `70% to 82%`.
            return " to ".join(dict.fromkeys(self.form(end(values)).strip() for end in (min, max)))
        # Texts, or no value at all: each different cell once.
        return ", ".join(dict.fromkeys(map(self.shown, rows)))

    def has_something(self, row: Row) -> bool:
        """Whether the row has something to tell in this column."""
        return self.value(row) is not None if self.tells is None else self.tells(row)

    def plain(self, row: Row) -> Iterator[tuple[str, Any]]:
        """The cell as files hold it: name and value, with limits in two further columns."""
        yield self.name, self.value(row)
        if self.ends is not None:
            # Every row has both columns, also one without limits.
            low, high = self.ends(row) or (None, None)
            yield from ((f"{self.name}_low", low), (f"{self.name}_high", high))


def plain_row(columns: Iterable[Column[Row]], row: Row) -> dict[str, Any]:
    """A row of a file."""
    return dict(chain.from_iterable(column.plain(row) for column in columns))


def filled(columns: Iterable[Column[Row]], rows: Sequence[Row]) -> list[Column[Row]]:
    """The columns without optional ones that would tell nothing."""
    return [c for c in columns if not c.optional or any(map(c.has_something, rows))]


def shaded(heading: str, form: Callable[[Any], str]) -> Column[float | None]:
    """A column of figures from 0 to 1, the darker on a page the higher."""
    # Below 0, as a correlation may be, and undefined there is no shade.
    return Column(heading, lambda value: value, form, extra=lambda value: {"shade": max(value or 0, 0)})


def item(*keys: Any) -> Callable[[Any], Any]:
    """A part of a row by its place or name, or a part of that part; None if a mapping has no such name."""

    def part(row: Any) -> Any:
        for key in keys:
            row = row.get(key) if isinstance(row, Mapping) else row[key]
        return row

    return part


@dataclass(frozen=True)
class Table(Generic[Row]):
    """A table of declared columns."""

    title: str
    columns: Sequence[Column[Row]]
    rows: Sequence[Row]
    word: Callable[[Row], Verdict] | None = None
    """The verdict that colours a row in a terminal, and its dot on a page."""
    style: Callable[[Row], str] | None = None
    """The style of a row in a terminal, if no verdict gives it; as `rich` reads it."""
    folded: Callable[[Sequence[Row]], str] | None = None
    """The name of several rows that are the same but for their names: all but a page show these in one."""
    group: Callable[[Row], object] | None = None
    """The group of a row: a page leaves a gap between groups, and rows of two groups are never folded."""
    tags: Callable[[Row], Mapping[str, str]] | None = None
    """What the filters of a page know of a row: facet -> value."""
    css: str = "results"
    """How a page shows it: a class of its style sheets."""
    titled: bool = True
    """Whether a page shows its title, or tells it to screen readers alone."""
    start: float = 0.0
    """Where the tracks of a drawn column begin."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of texts without headings, whose last text is wrapped."""

    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class FirstThatFits:
    """Several forms of the same, the widest first.

    A terminal shows the first that fits, or the last; all other printers show the first.
    """

    # In quotes, as `Part` is declared at the end of the file.
    forms: "Sequence[Sequence[Part]]"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page, perhaps with a link."""

    text: str
    level: int = 2
    id: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Strong:
    """A sentence or title that stands out."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """Small print; what is in back quotes is code."""

    text: str


@dataclass(frozen=True, slots=True)
class Alarm:
    """A line that must not be missed."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A line that is shown as it is, and never wrapped in a terminal."""

    text: str
    faint: bool = False


@dataclass(frozen=True, slots=True)
class Edited:
    """A text with marked edits.

    A text that came as a whole, with nothing kept and nothing gone, has no marks.
    """

    label: str
    changes: Sequence[tuple[str, str]]
    """Pieces, each with `=` if it was kept, `-` if it went, `+` if it came."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts as they are, side by side where there is room, each under its label."""

    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Chart:
    """Pictures, each of which says in words what it shows; one that is None is not there."""

    pictures: Sequence[Any]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with a figure each."""

    facts: Mapping[str, str]
    css: str = "counts"


@dataclass(frozen=True, slots=True)
class Points:
    """Several lines of equal standing."""

    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Fold:
    """Parts that a page folds away under a title."""

    title: str
    parts: "Sequence[Part]"
    css: str = "all"


@dataclass(frozen=True, slots=True)
class Block:
    """Parts that a page shows together, and that its filters hide together."""

    parts: "Sequence[Part]"
    tags: Mapping[str, str] = field(default_factory=dict)


Part = (
    str
    | Strong
    | Heading
    | Note
    | Alarm
    | Code
    | Edited
    | Texts
    | Table[Any]
    | Listing
    | FirstThatFits
    | Chart
    | Facts
    | Points
    | Fold
    | Block
)
"""A part of a document; a text is a sentence, an empty one a blank line where a form has lines."""
