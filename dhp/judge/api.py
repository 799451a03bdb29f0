"""What a judge is: something that rates texts independently of one another."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dhp.records import Rating
from dhp.specs import Task


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text under judgement, with what a judge may see beside it: never the original or another copy."""

    example: str
    """Id of the example; for the rating, not for the judge."""
    variant: str
    """For the rating, not for the judge."""
    text: str
    source: str
    fields: Mapping[str, str] = field(default_factory=dict)
    """The further fields that the task shows, such as `question`."""
    reference: str | None = None
    """A reference text other than the one under judgement, where the protocol shows one."""
    level: str | None = None
    """Of the variant; for the rating, not for the judge. None for the original."""


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
