"""Scales as users write them."""

import re

from dhp.core.errors import InputError

_ENDS = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:\.\.+|:|-|–)\s*(-?\d+(?:\.\d+)?)\s*")


def scale_ends(scale: object, name: str) -> tuple[float, float]:
    """The first and the last number of a scale, given as `1..10` or as two numbers; `name` is for messages.

    Raises `InputError` for anything else.
    """
    ends: object = scale
    if isinstance(scale, str):
        found = _ENDS.fullmatch(scale)
        ends = found.groups() if found else None
    try:
        first, last = map(float, ends)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise InputError(
            f"{name} {scale}: must have the form FIRST..LAST, e.g. 1..10, or be two numbers"
        ) from None
    return first, last
