"""Options on judges of the user's own: functions, and scorers of frameworks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from dhp.cli.option_groups import option, pair_map
from dhp.core.errors import InputError

if TYPE_CHECKING:
    from dhp.judge.adapters.settings import JudgeSettings


@dataclass(frozen=True)
class JudgeOptions:
    """Judges of your own (python:MODULE:OBJECT, python:FILE.py:OBJECT)."""

    scale: str | None = option(
        "--scale",
        metavar="LOW..HIGH",
        help="Of its scores, e.g. 0..1, or of a prompt for a --metric of your own; 10..1: lower is better.",
    )
    threshold: float | None = option(
        "--threshold", type=float, metavar="X", help="Score from which a text passes: analyse verdicts, too."
    )
    lower_is_better: bool | None = option(
        "--lower-is-better/--higher-is-better", help="Which scores are good; default: as the scorer says."
    )
    judge_version: str | None = option(
        "--judge-version", metavar="TEXT", help="Keep its replies for this version of it."
    )
    map: tuple[str, ...] = option(
        "--map",
        multiple=True,
        metavar="PARAMETER=FIELD",
        help="Give this parameter output, source, reference, question, ...",
    )
    judge_threads: int | None = option(
        "--judge-threads", type=click.IntRange(min=1), metavar="K", help="Calls at once, if not asynchronous."
    )

    def metric_scale(self, models: Sequence[str]) -> str | None:
        """The scale, where it is that of a metric and not that of the scores of a function."""
        return None if any(model.startswith("python:") for model in models) else self.scale

    def settings(self, models: Sequence[str]) -> "JudgeSettings":
        """For `dhp.run`."""
        from dhp.judge.adapters.settings import JudgeSettings

        return JudgeSettings(
            scale=_scale(self.scale) if self.metric_scale(models) is None else None,
            threshold=self.threshold,
            lower_is_better=self.lower_is_better,
            version=self.judge_version,
            fields=judge_fields(self.map),
            threads=self.judge_threads,
        )


def _scale(given: str | None) -> tuple[float, float] | None:
    if given is None:
        return None
    low, dots, high = given.partition("..")
    try:
        return float(low), float(high if dots else "")
    except ValueError:
        raise InputError(f"--scale '{given}': must have the form LOW..HIGH, e.g. 0..1") from None


def judge_fields(pairs: Sequence[str]) -> dict[str, str]:
    """`PARAMETER=FIELD` pairs as a mapping."""
    return pair_map("--map", pairs, "PARAMETER=FIELD", "answer=output")
