"""Processes that a process has started."""

from collections.abc import Iterator
from pathlib import Path


def descendants(pid: int) -> Iterator[int]:
    """The children of a process, and theirs; on Linux."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return
    for child in children:
        yield int(child)
        yield from descendants(int(child))


def helper_of(pid: int, program: str) -> int:
    """The process of this program that a command has started."""
    for each in descendants(pid):
        if program in Path(f"/proc/{each}/cmdline").read_text():
            return each
    raise LookupError(f"{program} was not started")
