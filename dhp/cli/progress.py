"""Progress on a terminal as a bar, elsewhere as a plain line every few seconds."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dhp.text import printable

_SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def progress_shown(unit: str) -> Iterator[Callable[[str, int, int | None], None]]:
    """Yields `show(what, done, total)`, which writes to standard error."""
    if not sys.stderr.isatty():
        yield _plain(unit)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    description = TextColumn("{task.description}", markup=False)
    columns = (description, BarColumn(), TextColumn(f"{{task.completed:,.0f}} {unit}"))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(printable(what), total=total)
            bar.update(tasks[what], completed=done)
            if done == total:
                bar.update(tasks[what], visible=False)

        yield show


def _plain(unit: str) -> Callable[[str, int, int | None], None]:
    said = time.monotonic()

    def show(what: str, done: int, total: int | None) -> None:
        nonlocal said
        if done != total and time.monotonic() - said < _SECONDS_BETWEEN_LINES:
            return
        said = time.monotonic()
        print(f"{printable(what)}: {done:,}{f' of {total:,}' if total else ''} {unit}", file=sys.stderr)

    return show
