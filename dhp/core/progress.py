"""Progress of the stages of a run: a bar on a terminal, elsewhere plain lines at growing distances.

A stage calls a `Progress`, and does not know who shows it: the command line (`progress_shown`), a function of
the caller, or nobody (`progress_of`).
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

from dhp.core.shown import printable

T = TypeVar("T")
Progress = Callable[[str, int, int, str], None]
"""Called as `progress(what, done, total, cost)`; a `total` of 1 is a stage that only begins and ends."""


@contextmanager
def stage(progress: Progress | None, what: str) -> Iterator[None]:
    """Tell that something begins, and that it has ended."""
    if progress:
        progress(what, 0, 1, "")
    yield
    if progress:
        progress(what, 1, 1, "")


def numbered(progress: Progress | None, number: int, of: int) -> Progress | None:
    """The same, with `(2 of 8)` behind what is done; unchanged if there is only one."""
    if progress is None or of == 1:
        return progress
    shown = progress
    return lambda what, done, total, cost: shown(f"{what} ({number} of {of})", done, total, cost)


def counted(
    progress: Progress | None, what: str, items: Sequence[T], name: Callable[[T], str] = str
) -> Iterator[T]:
    """The items one by one; tells before each how many are done of how many, and which one comes."""
    for done, item in enumerate(items):
        if progress:
            progress(what, done, len(items), name(item))
        yield item
    if progress and items:
        progress(what, len(items), len(items), "")


_FIRST_SECONDS, _MOST_SECONDS = 5.0, 300.0
"""Seconds before the first plain line, and the most between two; each distance is half as long again."""
_NARROW = 110
"""Columns of a terminal below which names take the room of the bar. Chosen."""


class Show(Protocol):
    """Shows how far something is."""

    def __call__(self, what: str, done: int, total: int | None, cost: str = "") -> None:
        """`what` is at `done` of `total`; `cost` so far. With a `total` of 1 only the name is shown."""


@contextmanager
def progress_shown(unit: str) -> Iterator[Show]:
    """Yields what shows progress on standard error."""
    if not sys.stderr.isatty():
        yield _plain(unit)
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars
    from rich.table import Column

    console = Console(stderr=True)
    # What is done, the time and the names have their place in any case; the bar needs what is left.
    narrow = console.width < _NARROW
    columns = [
        SpinnerColumn(),
        TextColumn("{task.fields[done]}", markup=False, table_column=Column(no_wrap=True)),
        TimeRemainingColumn(compact=True, table_column=Column(no_wrap=True)),
    ]
    if not narrow:
        columns.append(BarColumn(bar_width=12))
    columns += [
        TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
        TextColumn("{task.fields[cost]}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
    ]
    with Bars(*columns, console=console, transient=True, expand=True) as bar:
        tasks: dict[str, TaskID] = {}
        rates: dict[str, _Rate] = {}

        def show(what: str, done: int, total: int | None, cost: str = "") -> None:
            # The first call of a stage makes its line.
            if what not in tasks:
                tasks[what] = bar.add_task(printable(what), total=total, done="", cost="")
                rates[what] = _Rate(done)
            rate = rates[what].per_second(done)
            of_total = f"/{total:,}" if total else ""
            shown = "" if total == 1 else f"{done:,}{of_total} {unit}"
            speed = f", {rate:,.0f}/s" if rate >= 1 and total != 1 else ""
            bar.update(tasks[what], completed=done, done=shown, cost=f"{speed} {cost}".strip(" ,"))
            # A stage that has ended goes from the terminal, which shows what is under way.
            if done == total:
                bar.update(tasks[what], visible=False)

        yield show


class _Rate:
    """How fast something went since the start; what an earlier command did does not count."""

    def __init__(self, done: int) -> None:
        self._began = time.monotonic()
        self._first = done

    def per_second(self, done: int) -> float:
        seconds = time.monotonic() - self._began
        return (done - self._first) / seconds if seconds > 0 else 0.0


def _plain(unit: str) -> Show:
    printed, distance = time.monotonic(), _FIRST_SECONDS
    rates: dict[str, _Rate] = {}

    def show(what: str, done: int, total: int | None, cost: str = "") -> None:
        nonlocal printed, distance
        # The clock of a stage starts with its first call, also if no line is printed for it.
        rate = rates.setdefault(what, _Rate(done))
        # The end of a stage that has no numbers says nothing new.
        if (total == 1 and done) or time.monotonic() - printed < distance:
            return
        # Lines come at growing distances, as a log of many hours would be full of them.
        printed, distance = time.monotonic(), min(1.5 * distance, _MOST_SECONDS)
        of_total = f" of {total:,}" if total else ""
        parts = [] if total == 1 else [f"{done:,}{of_total} {unit}"]
        speed = rate.per_second(done)
        if speed and total and done < total:
            # Seconds, printed as minutes and seconds: `2:05 left`.
            left = round((total - done) / speed)
            parts.append(f"{speed:,.0f}/s, {left // 60}:{left % 60:02} left")
        if cost:
            parts.append(cost)
        state = ", ".join(parts)
        print(f"{printable(what)}: {state}" if parts else printable(what), file=sys.stderr)

    return show


@contextmanager
def progress_of(progress: Progress | bool | None) -> Iterator[Progress | None]:
    """Yields what a caller gave; for True what shows progress on a terminal or in a notebook."""
    if progress is True and (sys.stderr.isatty() or "ipykernel" in sys.modules):
        with progress_shown("done") as show:
            yield show
        return
    yield None if isinstance(progress, bool) else progress
