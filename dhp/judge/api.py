"""What a judge is: something that rates texts independently of one another."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from dhp.core.records import Candidate, Rating
from dhp.core.specs import Task


class Judge(Protocol):
    """A model, or a classical metric, under a protocol."""

    model: str
    """`provider/name`."""
    protocol: str
    """How it is asked and read."""

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """Ratings of every candidate on every metric of the task, in any order.

        The score of a candidate depends on its text, source and fields (and the sources of the whole
        dataset), never on another candidate's text. What a judge leaves unrated counts as failed.

        Called once a dataset, or, where variants are stopped when they are resolved, several times, each
        time with other examples. A judge that must know the whole dataset may have a method
        `prepare(candidates, task)`, which is called with all candidates before.
        """
        ...
