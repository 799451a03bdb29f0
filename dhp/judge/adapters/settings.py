"""Settings of a user's own judge: scale, direction, fields."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from dhp.core.checks import Checked
from dhp.core.options import option, pairs_like, scale_ends


def _ordered_scale(settings: "JudgeSettings") -> str | None:
    if settings.ends is None:
        return None
    low, high = settings.ends
    if math.isfinite(low) and math.isfinite(high) and low < high:
        return None
    return f"`judge_settings.scale` {low:g}..{high:g}: must be two numbers, the lower one first"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings(Checked):
    """Judges of your own: functions, and scorers of frameworks.

    Raises
    ------
    InputError
        For a scale without extent, or fewer than one thread.
    """

    rules = (_ordered_scale,)
    parameter = "judge_settings"

    scale: tuple[float, float] | str | None = None
    """The lowest and the highest score, as two numbers or a text `0..1`; default: those of the scorer, or 0
    and 1 for verdicts."""
    lower_is_better: bool | None = option(
        "Which scores are better; default: as the scorer declares.",
        default=None,
        name="--lower-is-better/--higher-is-better",
    )
    version: str | None = option(
        "Version of your judge; replies are cached for each version.",
        default=None,
        name="--judge-version",
        metavar="TEXT",
    )
    fields: Mapping[str, str] = option(
        "Field passed to a parameter of your judge: output, source, reference or a further field.",
        default_factory=dict,
        name="--map",
        metavar="PARAMETER=FIELD",
        repeatable=True,
        read=pairs_like("PARAMETER=FIELD", "answer=output"),
    )
    threads: int | None = option(
        "Number of concurrent calls of your judge, if it is not asynchronous.",
        default=None,
        name="--judge-threads",
        metavar="K",
        ge=1,
    )

    @property
    def ends(self) -> tuple[float, float] | None:
        """The scale as two numbers."""
        return None if self.scale is None else scale_ends(self.scale, "`judge_settings.scale`")
