"""Which examples came when, and how far each variant got, in a run that stops what is resolved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL, STOPPED
from dhp.core.seeding import text_hash

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Looks:
    """The course of such a run, as its ratings table tells it."""

    examples: Mapping[str, int]
    """Example -> the look before which it was its turn, from 1 on."""
    last: Mapping[str, int]
    """Variant -> the look at which it ended: where it was resolved, else the last of all."""

    def reached(self, variant: str) -> int:
        """How many examples had had their turn when a variant ended."""
        return sum(look <= self.last[variant] for look in self.examples.values())

    def stopped_at(self, variant: str) -> int | None:
        """As `reached`; None for a variant that got all examples."""
        reached = self.reached(variant) if variant in self.last else len(self.examples)
        return reached if reached < len(self.examples) else None

    @property
    def course(self) -> str:
        """All of it, in an order of its own."""
        return repr([sorted(self.examples.items()), sorted(self.last.items())])

    @property
    def size(self) -> str:
        """For signatures: the most examples that a variant could get, and a hash of what it got."""
        return f"<={len(self.examples)}@{text_hash(self.course)}"


def read_looks(table: "pd.DataFrame", place: str) -> Looks | None:
    """The looks in a ratings table, from its columns `look` and `status`; None where it tells of none.

    Raises `InputError` where they contradict each other.
    """
    import pandas as pd

    stopped = table["status"] == STOPPED
    if "look" not in table or (table["look"].isna() | (table["look"].astype(str).str.strip() == "")).all():
        if stopped.any():
            raise InputError(
                f"{place}: status '{STOPPED}' needs a column 'look' that says when examples came"
            )
        return None
    look = pd.to_numeric(table["look"], errors="coerce")
    by_example = look.groupby(table["example"], sort=False)
    last = int(look.max()) if look.max() < len(look) else 0
    same = look.notna().all() and (by_example.min() == by_example.max()).all()
    if not same or set(look) != set(range(1, last + 1)):
        raise InputError(
            f"{place}: column 'look': allowed: one number for each example, 1, 2, ... without a gap"
        )
    ended = (look[stopped].groupby(table["variant"]).min() - 1).to_dict()
    lasts = {name: int(ended.get(name, last)) for name in table["variant"].unique() if name != ORIGINAL}
    late = ~stopped & (look > table["variant"].map({**lasts, ORIGINAL: last}))
    if late.any() or min(lasts.values(), default=1) < 1:
        raise InputError(f"{place}: a variant is '{STOPPED}' at a look before which it was asked about")
    return Looks({str(name): int(turn) for name, turn in by_example.min().items()}, lasts)
