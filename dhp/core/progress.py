"""Progress of the stages of a run."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

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
    """The same, with `(2 of 8)` behind what is done; as it is where there is one only."""
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
