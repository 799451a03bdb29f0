"""Interim analyses of runs that stop early: the look of each example, and the last look of each variant."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL, STOPPED
from dhp.core.seeding import text_hash
from dhp.stats.discernment import LOG_ALPHA
from dhp.stats.sequential import repeated_log_p

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class InterimAnalyses:
    """The course of such a run, as its ratings table tells it; the analyses are numbered from 1 on."""

    examples: Mapping[str, int]
    """Example -> the analysis before which it was asked about."""
    last: Mapping[str, int]
    """Variant -> the analysis at which it ended: where it was resolved, else the last of all."""

    @property
    def analyses(self) -> int:
        """How many there are."""
        return max(self.examples.values())

    def reached(self, variant: str) -> int:
        """How many examples had been asked about when a variant ended."""
        return sum(number <= self.last[variant] for number in self.examples.values())

    def stopped_at(self, variant: str) -> int | None:
        """Number of examples, as `reached`; None for a variant that got all examples."""
        reached = self.reached(variant) if variant in self.last else len(self.examples)
        return reached if reached < len(self.examples) else None

    def adjusted(self, d: float, variant: str) -> float:
        """D of a variant by its repeated p-value: at least 1 where it meets its boundary.

        Unchanged for a variant that is not among them.
        """
        if variant not in self.last:
            return d
        sizes = np.bincount(list(self.examples.values()))[1:].cumsum()
        fractions = tuple((sizes / sizes[-1]).tolist())
        return float(repeated_log_p(d * LOG_ALPHA, fractions, self.last[variant])) / LOG_ALPHA + 0.0

    @property
    def course(self) -> str:
        """All of it, in an order of its own."""
        return repr([sorted(self.examples.items()), sorted(self.last.items())])

    @property
    def size(self) -> str:
        """Size for signatures: the most examples that a variant could get, and a hash of what it got."""
        return f"<={len(self.examples)}@{text_hash(self.course)}"


def read_interim_analyses(table: "pd.DataFrame", place: str) -> InterimAnalyses | None:
    """The interim analyses in a ratings table, from its columns `look` and `status`; None without any.

    Raises `InputError` where they contradict each other.
    """
    import pandas as pd

    stopped = table["status"] == STOPPED
    if "look" not in table or (table["look"].isna() | (table["look"].astype(str).str.strip() == "")).all():
        if stopped.any():
            raise InputError(
                f"{place}: status '{STOPPED}' needs a column 'look' with the number of the interim analysis "
                "that each example came with"
            )
        return None
    number = pd.to_numeric(table["look"], errors="coerce")
    by_example = number.groupby(table["example"], sort=False)
    last = int(number.max()) if number.max() < len(number) else 0
    same = number.notna().all() and (by_example.min() == by_example.max()).all()
    if not same or set(number) != set(range(1, last + 1)):
        raise InputError(
            f"{place}: column 'look': allowed: one number for each example, counted 1, 2, ... without a gap"
        )
    ended = (number[stopped].groupby(table["variant"]).min() - 1).to_dict()
    lasts = {name: int(ended.get(name, last)) for name in table["variant"].unique() if name != ORIGINAL}
    late = ~stopped & (number > table["variant"].map({**lasts, ORIGINAL: last}))
    if late.any() or min(lasts.values(), default=1) < 1:
        raise InputError(
            f"{place}: status '{STOPPED}' of a variant: allowed from look 2 on, at all later looks"
        )
    return InterimAnalyses({str(name): int(first) for name, first in by_example.min().items()}, lasts)
