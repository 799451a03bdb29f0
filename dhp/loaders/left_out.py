"""Rows of a user's data that cannot be used: few are left out with a note, more are refused."""

import logging
from collections.abc import Mapping, Sequence

from dhp.core.errors import InputError

MOST = 0.1
"""Share of the rows that may be left out. Chosen."""
_SHOWN = 20
"""Rows that a note names for each reason. Chosen."""


def leave_out(name: str, reasons: Mapping[str, Sequence[str]], total: int, *, strict: bool) -> None:
    """Note which rows are left out of the table `name`, counted by reason.

    `reasons` has reason -> places of rows, `total` is the number of all rows. Raises `InputError` if they are
    more than `MOST` of all, or if `strict` allows none.
    """
    count = sum(len(places) for places in reasons.values())
    if not count:
        return
    listed = "; ".join(f"{reason} ({_places(name, places)})" for reason, places in reasons.items())
    if strict or count > MOST * total:
        most = "`strict` allows none" if strict else "allowed: up to a tenth, which are left out"
        raise InputError(f"{name}: {count:,} of {total:,} rows cannot be used: {listed}; {most}")
    logging.getLogger("dhp").warning(
        "%s: %s of %s rows are left out: %s", name, f"{count:,}", f"{total:,}", listed
    )


def _places(name: str, places: Sequence[str]) -> str:
    """`row 3, row 7`, without the name of the table."""
    # The message has the name of the table once, at its start.
    shown = ", ".join(place.removeprefix(f"{name}: ") for place in places[:_SHOWN])
    more = len(places) - _SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown
