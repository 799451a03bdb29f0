"""Schedules: which texts are rated next, given the ratings so far, and what that means for the figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from dhp.core.errors import one_of
from dhp.core.plugins import load_target, offered
from dhp.core.records import Candidate, Rating

if TYPE_CHECKING:
    import pandas as pd

    from dhp.stats.arrays import Floats, Ints
    from dhp.stats.psychometric import Psychometric


class RatedSoFar(Protocol):
    """The ratings of one judge on one dataset as they come in."""

    @property
    def ratings(self) -> Sequence[Rating]:
        """Those that came, in their order."""

    def decided(self) -> set[str]:
        """The kinds of damage that are noticed, missed or preferred, by the one rule of all runs."""


class Plan(Protocol):
    """The rating of one dataset by one judge under a schedule."""

    @property
    def left(self) -> int:
        """Texts that are still to be rated, at most."""

    def turn(self, so_far: RatedSoFar) -> Sequence[Candidate]:
        """The texts to rate next; none where the rating has ended."""

    def number(self, example: str, variant: str) -> int:
        """What the schedule's column says of the ratings of a text."""


class Schedule:
    """All texts are rated. A plug-in adds other schedules, which are subclasses."""

    name = "all"
    column = ""
    """The column by which a table of ratings tells that it followed this schedule."""
    signed = ""
    """What it adds to the part `statistics` of signatures."""
    label = ""
    """What it adds to the label of the analysis in manifests."""
    limit = ""
    """Why the estimated calls are an upper limit, in words."""
    doses: tuple[int, ...] = ()
    """The doses among which it chooses, where the user names none."""
    sparse = False
    """Whether it rates the variants on a part of the examples each: then the others are no gaps."""
    unrated = False
    """Whether what it leaves out stands in the table of ratings, with the status `stopped`."""
    pairwise = True
    """Whether judges may compare texts in place of rating them."""

    def check(self, combination: str, doses: object) -> None:
        """Raise `InputError` for a combination of p-values, or doses, that do not go with it."""

    def plan(
        self, candidates: Sequence[Candidate], metrics: Sequence[str], seed: int, dataset: str
    ) -> Plan | None:
        """How the texts of a dataset are rated; None where the ratings do not matter."""
        return None

    def read(self, table: "pd.DataFrame", place: str) -> "Course | None":
        """What a table of ratings tells of the schedule; None where it followed another one.

        Raises `InputError` with `place` where the table contradicts itself.
        """
        return None


ALL = Schedule()
"""The schedule of runs that rate all texts."""


@dataclass(frozen=True, slots=True)
class Course:
    """How the ratings of a judge on a dataset came about: the schedule, and what it did.

    Of a run of all texts; other schedules have their own.
    """

    schedule: ClassVar[Schedule] = ALL

    @property
    def analyses(self) -> int | None:
        """Analyses that share the error, with all kinds of damage in each; None for a single one."""
        return None

    @property
    def text(self) -> str:
        """What it adds to the hash of the ratings; may be empty."""
        return ""

    def size(self, examples: int) -> str:
        """The number of examples, for signatures."""
        return str(examples)

    def reached(self, variant: str, examples: int) -> int:
        """How many of the examples a variant could get."""
        return examples

    def adjusted(self, d: float, variant: str) -> float:
        """D of a variant, adjusted for several analyses."""
        return d

    def curve(
        self, doses: Sequence[int], differences: "Floats", clusters: "Ints | None"
    ) -> "Psychometric | None":
        """The psychometric curve where doses were chosen by the ratings; None where they were not.

        Parameters as of `dhp.stats.psychometric.psychometric`.
        """
        return None


COMPLETE = Course()
"""The course of runs that rate all texts."""


def find_schedule(name: str) -> Schedule:
    """A schedule by its name; raises `InputError` for an unknown one."""
    targets = offered("schedules")
    if name == ALL.name:
        return ALL
    one_of("schedule", name, [ALL.name, *targets])
    schedule: Schedule = load_target(targets[name][0])
    return schedule


def schedules() -> list[Schedule]:
    """The schedules that plug-ins add."""
    return [find_schedule(name) for name in offered("schedules")]


def read_course(table: "pd.DataFrame", place: str) -> Course:
    """How the ratings in a table came about; errors as of `Schedule.read`."""
    courses = (schedule.read(table, place) for schedule in schedules())
    return next((course for course in courses if course is not None), COMPLETE)
