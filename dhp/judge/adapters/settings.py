"""What a user says about a judge of their own: its scale, its threshold, what it is given."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from dhp.core.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """How a judge that is a function, or a scorer of a framework, is called and read.

    Raises
    ------
    InputError
        For a scale without extent, a threshold off it, or fewer than one thread.
    """

    scale: tuple[float, float] | None = None
    """The lowest and the highest score; None takes that of the scorer, or 0 and 1 for verdicts."""
    threshold: float | None = None
    """The score from which a text passes; with it the verdicts are analysed beside the scores."""
    lower_is_better: bool | None = None
    """Whether low scores are good; None leaves it to the scorer, where it says so."""
    version: str | None = None
    """Of the judge; with it its replies are stored, to be used again by the same version."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Parameter of the judge -> what it is given: `output` (the text under judgement), `source`, `reference`
    or a further field of the examples."""
    threads: int | None = None
    """Calls made at once; None takes the attribute `threads` of the judge, else 1. Asynchronous judges do
    without."""

    def __post_init__(self) -> None:
        if self.scale is not None:
            low, high = self.scale
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise InputError(
                    f"`judge_settings.scale`: {low:g}..{high:g}; allowed: two numbers, the lower one first"
                )
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise InputError(f"`judge_settings.threshold`: {self.threshold}; allowed: a number")
        if self.threads is not None and self.threads < 1:
            raise InputError(f"`judge_settings.threads`: {self.threads}; allowed: 1 or more")

    def says_anything(self) -> bool:
        """Whether any setting differs from its default."""
        return self != JudgeSettings()
