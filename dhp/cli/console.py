"""Where results are printed."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_WIDE = 200


def output_console() -> "Console":
    """As wide as the terminal; wide enough for every table where the output goes to a file or a pipe."""
    from rich.console import Console

    console = Console()
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Console(width=_WIDE)
