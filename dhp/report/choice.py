"""Judges of which a page shows two side by side, as its reader chooses."""

from collections.abc import Sequence
from dataclasses import dataclass

from dhp.report.matrix import Matrix


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge that can be chosen."""

    name: str
    run: str = ""
    """Name of its run, if a page has several."""
    path: str = ""
    """The run as a command takes it."""
    prompts: str = ""
    """Names of the prompts of the run."""

    @property
    def label(self) -> str:
        """What stands in the list of judges."""
        return f"{self.run}: {self.name}" if self.run else self.name


@dataclass(frozen=True, slots=True)
class JudgesOfSet:
    """The judges of one set: the page holds the figures of all, and its script shows two of them."""

    matrix: Matrix
    places: Sequence[int]
    """Place of each column among the judges of the page."""
    pairs: Sequence[Sequence[float]] = ()
    """Paired comparisons: places of two judges, detection of the second less that of the first with its 95 %
    limits, and the adjusted p-value."""

    def heads(self, judges: Sequence[Judge]) -> list[tuple[str, str]]:
        """Judge and run of each column, with the number of examples if these differ."""
        differ = len({result.n for result in self.matrix.columns}) > 1
        heads = []
        for place, result in zip(self.places, self.matrix.columns, strict=True):
            judge = judges[place]
            heads.append((judge.name, f"{judge.run}, {result.n} examples" if differ else judge.run))
        return heads


@dataclass(frozen=True, slots=True)
class Choice:
    """What `side_by_side.html` shows."""

    judges: Sequence[Judge]
    first: Sequence[int]
    """Places of the two that are shown as the page opens."""
    sets: Sequence[JudgesOfSet]
