"""What a judge is: something that rates texts independently of one another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from dhp.records import Example, Rating
from dhp.specs import Task


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text under judgement. `variant` is for bookkeeping; a judge must not look at it."""

    example: Example
    variant: str
    text: str


class Judge(Protocol):
    """A model, or a classical metric, under a protocol."""

    model: str
    """`provider/name`."""
    protocol: str
    """How it is asked and read."""

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """Ratings of every candidate on every metric of the task, in any order.

        The score of a candidate depends on its text, source and fields (and the sources of the whole
        data set), never on another candidate's text.
        """
        ...
