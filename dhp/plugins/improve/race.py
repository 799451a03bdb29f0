"""Which change of a prompt helps: chosen on one half of the texts, confirmed on the other.

A change helps if the detection of the changed judge, over all kinds of damage, is higher than that of the
judge as it was, on the same examples; at a pass mark, if damaged texts that pass and good texts that fail are
fewer, the two shares added. `dhp.stats.swap` tests it by sign flips of whole examples. On the
half that chooses, changes are compared at some looks, and one that is shown to be worse than the leader is
dropped. Whether the best one helps is decided on the other half alone, by one test at 5 %, one-sided. So its
level depends neither on the number of changes nor on the looks, which need no guarantee of their own.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from dhp.stats.swap import ALPHA

LOOKS = (1 / 3, 2 / 3, 1.0)
"""Shares of the half that chooses at which the changes are compared. Chosen: two chances to drop a loser."""
FEWEST = 20
"""Texts that are needed, ten in each half. Chosen; of gains with 24 texts in each half few are found, see
`scripts/improvements.py`."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What a second judge does better than a first, on the same examples.

    Its detection less that of the first; at a pass mark the sum of the two shares of errors of the first less
    that of the second.
    """

    difference: float
    """Above 0 if the second is better; between -1 and 1, of a sum between -2 and 2."""
    low: float
    """Lower 95 % confidence limit."""
    high: float
    """Upper confidence limit."""
    p: float
    """Two-sided, by sign flips of whole examples."""

    @property
    def p_better(self) -> float:
        """One-sided: small if the second judge is better."""
        return self.p / 2 if self.difference > 0 else 1 - self.p / 2

    @property
    def helps(self) -> bool:
        """Whether the second judge is shown to be better."""
        return self.difference > 0 and self.p_better <= ALPHA


class Unusable(Exception):
    """Raised of a change that cannot be tried, with the reason."""


Compare = Callable[[str, str, int], Gain]
"""Names of two judges and the number of a look -> their difference on the texts of this look.

Raises `Unusable` of the second judge.
"""


@dataclass(slots=True)
class Race:
    """What the half that chooses says."""

    gains: dict[str, Gain] = field(default_factory=dict)
    """Change -> its gain at its last look."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Change -> the number of the look at which it was dropped."""
    unusable: dict[str, str] = field(default_factory=dict)
    """Change -> why it could not be tried."""

    @contextmanager
    def usable(self, change: str) -> Iterator[None]:
        """Leaves a change out, with the reason, if it turns out that it cannot be tried."""
        try:
            yield
        except Unusable as e:
            self.gains.pop(change, None)
            self.unusable[change] = str(e)

    @property
    def best(self) -> str | None:
        """The change with the highest gain of those that were not dropped; None if none gains anything."""
        best, most = None, 0.0
        for name, gain in self.gains.items():
            if name not in self.dropped and gain.difference > most:
                best, most = name, gain.difference
        return best


def race(old: str, changes: Sequence[str], compare: Compare, looks: int = len(LOOKS)) -> Race:
    """Compare changes with the judge called `old`, look by look.

    A change is dropped if it is worse than the leader, one-sided, with an error of 5 % that all changes and
    all looks but the last share (Bonferroni).
    """
    outcome = Race()
    # With a single look nothing is dropped, and the number of comparisons would be 0.
    error = ALPHA / max(1, (looks - 1) * len(changes))
    for look in range(looks):
        for name in changes:
            if name in outcome.dropped or name in outcome.unusable:
                continue
            with outcome.usable(name):
                outcome.gains[name] = compare(old, name, look)
        if look == looks - 1:  # nothing is compared after it, so nothing need be dropped
            break
        # While no change gains anything, the judge as it was leads.
        leader = outcome.best or old
        for name in [*outcome.gains]:  # a copy: what turns out to be unusable leaves the gains
            if name == leader or name in outcome.dropped:
                continue
            with outcome.usable(name):
                # Both have been judged at this look, so nothing more is asked for the comparison.
                behind = outcome.gains[name] if leader == old else compare(leader, name, look)
                # One-sided: half of the two-sided p, as the difference lies on the side of the leader.
                if behind.difference < 0 and behind.p / 2 <= error:
                    outcome.dropped[name] = look
    return outcome
