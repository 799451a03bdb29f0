"""The one kind of table that is printed: no lines, a bold title, columns two spaces apart."""

from rich.table import Table
from rich.text import Text

from dhp.core.text import printable


def plain_table(title: str) -> Table:
    """A table without columns; any title is shown as text."""
    return Table(
        title=Text(printable(title), style="bold"),
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
