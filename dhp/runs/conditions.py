"""Conditions of a gate."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dhp.core.errors import InputError
from dhp.core.options import as_list, check_numbers, near_keywords, option

if TYPE_CHECKING:
    from dhp.runs.reader import RunSource


@near_keywords
@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What every result of a run must hold.

    Raises `InputError` without any condition, for one out of range or a share in place of per cent, and for a
    loss without an earlier run or the reverse.
    """

    min_detection: float | None = field(
        default=None,
        metadata=option(
            "Lowest allowed detection of every result, averaged over all kinds of damage.",
            metavar="PERCENT",
            low=0,
            high=100,
            percent=True,
        ),
    )
    must_notice: str | Collection[str] = field(
        default=(),
        metadata=option(
            "Kinds of damage that must be shown to be noticed (by either name), or all; may be repeated.",
            metavar="KIND,...",
            repeatable=True,
        ),
    )
    max_missing: float = field(
        default=10,
        metadata=option(
            "Largest share of its scores that any kind of text may lack.",
            metavar="PERCENT",
            low=0,
            high=100,
            percent=True,
        ),
    )
    max_pass: float | None = field(
        default=None,
        metadata=option(
            "Largest share of the damaged texts of any kind that may pass at the run's pass mark.",
            metavar="PERCENT",
            low=0,
            high=100,
            percent=True,
        ),
    )
    max_fail: float | None = field(
        default=None,
        metadata=option(
            "Largest share of the originals that may fail at the run's pass mark.",
            metavar="PERCENT",
            low=0,
            high=100,
            percent=True,
        ),
    )
    max_drop: float | None = field(
        default=None,
        metadata=option(
            "Largest allowed loss of detection against --against, in percentage points.",
            metavar="POINTS",
            low=0,
            high=100,
            percent=True,
        ),
    )
    max_shift: float | None = field(
        default=None,
        metadata=option(
            "Largest allowed shift of a metric's mean score against --against, in points of its scale.",
            metavar="POINTS",
            low=0,
        ),
    )
    against: "RunSource | None" = field(
        default=None,
        metadata=option(
            "An earlier run, with its ratings, for --max-drop and --max-shift.", metavar="OLD_RUN"
        ),
    )
    allow: str | Collection[str] = ()
    """Parts of the signature that may differ from the earlier run; see `dhp.runs.compare`."""
    require_proof: bool = field(default=False, metadata=option("Also fail if a condition is undecided."))
    ignore_controls: bool = field(default=False, metadata=option("Let a judge with a false alarm pass."))

    def __post_init__(self) -> None:
        from dhp.runs.alike import check_allowed

        check_allowed(as_list(self.allow))
        check_numbers(self)
        if (self.max_drop is None and self.max_shift is None) != (self.against is None):
            lone = "max_shift" if self.max_drop is None else "max_drop"
            raise InputError(
                f"`{lone}`: needs `against`, an earlier run"
                if self.against is None
                else "`against`: says what to compare with, and needs `max_drop` or `max_shift`"
            )
        limits = (self.min_detection, self.max_pass, self.max_fail, self.against)
        if all(limit is None for limit in limits) and not self.must_notice:
            raise InputError(
                "there is no condition; allowed: `min_detection`, `must_notice`, `max_pass`, `max_fail`, "
                "`max_drop`, `max_shift`"
            )
