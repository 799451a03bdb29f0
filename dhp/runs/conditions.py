"""Conditions of a gate."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dhp.core.checks import Checked, is_stated, requires, together
from dhp.core.options import as_list, option

if TYPE_CHECKING:
    from dhp.runs.reader import RunSource


def _allowed_parts(gate: "Gate") -> None:
    from dhp.runs.alike import check_allowed

    check_allowed(as_list(gate.allow))


_CONDITIONS = ("min_detection", "must_notice", "max_pass", "max_fail", "max_drop", "max_shift")
"""Settings of which a gate needs one at least."""


def _any_condition(gate: "Gate") -> str | None:
    if any(is_stated(gate, name) for name in _CONDITIONS):
        return None
    return f"there is no condition; allowed: {', '.join(f'`{name}`' for name in _CONDITIONS)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Checked):
    """What every result of a run must hold.

    Raises `InputError` without any condition, for one out of range or a share in place of per cent, and for a
    loss without an earlier run or the reverse.
    """

    rules = (
        _allowed_parts,
        together("against", "max_drop", "max_shift"),
        requires("ask", "max_pass"),
        _any_condition,
    )

    min_detection: float | None = option(
        "Lowest allowed detection of every result, averaged over all kinds of damage.",
        default=None,
        metavar="PERCENT",
        ge=0,
        le=100,
        percent=True,
    )
    must_notice: str | Collection[str] = option(
        "Kinds of damage that must be shown to be noticed (by either name), or all; may be repeated.",
        default=(),
        metavar="KIND,...",
        repeatable=True,
    )
    max_missing: float = option(
        "Largest share of its scores that any kind of text may lack.",
        default=10,
        metavar="PERCENT",
        ge=0,
        le=100,
        percent=True,
    )
    max_pass: float | None = option(
        "Largest share of the damaged texts of any kind that may pass at the run's pass mark.",
        default=None,
        metavar="PERCENT",
        ge=0,
        le=100,
        percent=True,
    )
    ask: float | None = option(
        "For --max-pass: share of the texts that a person reads, of those that pass and are nearest to the "
        "mark: 5, 10, 20 or 50.",
        default=None,
        metavar="PERCENT",
        gt=0,
        le=100,
        percent=True,
    )
    max_fail: float | None = option(
        "Largest share of the originals that may fail at the run's pass mark.",
        default=None,
        metavar="PERCENT",
        ge=0,
        le=100,
        percent=True,
    )
    max_drop: float | None = option(
        "Largest allowed loss of detection against --against, in percentage points.",
        default=None,
        metavar="POINTS",
        ge=0,
        le=100,
        percent=True,
    )
    max_shift: float | None = option(
        "Largest allowed shift of a metric's mean score against --against, in points of its scale.",
        default=None,
        metavar="POINTS",
        ge=0,
    )
    against: "RunSource | None" = option(
        "An earlier run, with its ratings, for --max-drop and --max-shift.", default=None, metavar="OLD_RUN"
    )
    allow: str | Collection[str] = ()
    """Parts of the signature that may differ from the earlier run; see `dhp.runs.compare`."""
    require_proof: bool = option("Also fail if a condition is undecided.", default=False)
    ignore_controls: bool = option("Let a judge with a false alarm pass.", default=False)
