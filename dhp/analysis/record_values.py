"""What the records of `results.json` hold: numbers that are finite, or None, and no field that is unknown."""

import math
from collections.abc import Mapping

STRICT: Mapping[str, str | bool] = {"extra": "forbid", "allow_inf_nan": False}
"""How pydantic reads these records, as their `__pydantic_config__`. JSON has no NaN and no infinity."""


def finite(value: float) -> float | None:
    """The value as a plain float; None for NaN (undefined) and for infinity."""
    return float(value) if math.isfinite(value) else None
