"""How a command ends if many ratings have no score: with the reasons."""

from collections import Counter
from collections.abc import Mapping

from dhp.core.errors import StoppedEarly

_MANY, _MOST = 0.1, 0.5
"""Shares of ratings without a score: beyond the first it is said why, beyond the second the command ends as
one that was stopped. Both are chosen."""
_SHOWN = 3
"""Reasons of failed calls in the line. Chosen."""


def on_missing(name: str, counts: Mapping[str, int], failures: Mapping[str, int]) -> str | None:
    """The line on the ratings without a score, counted by cause; None if few lack one.

    `counts` are those of ratings by status, `failures` those of failed ones by reason, as far as it is known.
    Raises `StoppedEarly` with that line if most lack one.
    """
    asked = sum(counts.values())
    missing = asked - counts.get("scored", 0)
    if missing <= _MANY * asked:
        return None
    causes = "; ".join(_causes(counts, failures))
    line = f"{name}: {missing:,} of {asked:,} ratings have no score: {causes}"
    if missing > _MOST * asked:
        raise StoppedEarly(f"{line}; what has a score is kept: repeat the command once the cause is mended")
    return line


def _causes(counts: Mapping[str, int], failures: Mapping[str, int]) -> list[str]:
    """Causes with their counts, e.g. `136 failed: HTTP 400: no`; reasons that differ in numbers are one."""
    from dhp.core.shown import alike_but_numbers, printable

    causes = []
    rest = counts.get("failed", 0)
    for reason, count in list(alike_but_numbers(failures).items())[:_SHOWN]:
        in_one_line = " ".join(printable(reason).split())
        causes.append(f"{count:,} failed: {in_one_line}")
        rest -= count
    if rest:
        causes.append(f"{rest:,} failed of other reasons" if causes else f"{rest:,} failed")
    for status, count in Counter(counts).most_common():
        if count and status not in ("scored", "failed"):
            causes.append(f"{count:,} {status.replace('_', ' ')}")
    return causes
