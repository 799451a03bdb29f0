"""`column/NAME`: scores that stand in a column of the user's table, as a judge of one criterion."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dhp.core.errors import InputError, suggest
from dhp.core.records import ORIGINAL, Candidate, Rating
from dhp.core.specs import Scale, Task
from dhp.judge.api import Judge, split_settings
from dhp.judge.metrics.judge import computed_metric

_WIDEST = 1e9
"""Bound of the scale of a column whose scale is not known."""


@dataclass(frozen=True)
class ColumnJudge(Judge):
    """Gives the scores of a column; texts that were degraded have none there."""

    model: str
    column: str
    higher_is_better: bool
    protocol: str = "none"

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task with the column in place of its metrics."""
        name = re.sub(r"[^a-z0-9]+", "_", self.column.lower()).strip("_")
        if not re.match(r"[a-z]", name):
            name = f"column_{name}"
        return task.model_copy(
            update={
                "metrics": [computed_metric(name, self.column, Scale(min=-_WIDEST, max=_WIDEST))],
                "translations": {},
            }
        )

    def prepare(self, candidates: Sequence[Candidate], task: Task) -> None:
        """Raises `InputError` where no text has the column, and in a benchmark."""
        if any(c.variant == ORIGINAL for c in candidates):
            raise InputError(
                f"model '{self.model}': degraded texts have no column of scores; allowed: dhp judge, or dhp "
                "analyze with a table of ratings"
            )
        known = dict.fromkeys(name for c in candidates for name in c.fields)
        if self.column not in known:
            raise InputError(
                f"model '{self.model}': no column '{self.column}'; {suggest(self.column, known)}"
            )

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating a text; an empty cell is failed, one that holds no number is unparsed."""
        (metric,) = task.metric_names
        for c in candidates:
            place, cell = (c.example, c.variant, metric, 0), c.fields.get(self.column)
            if cell is None:
                yield Rating(*place, None, "failed", f"no value in column '{self.column}'")
                continue
            try:
                score = float(cell)
            except ValueError:
                score = math.nan
            if math.isfinite(score):
                yield Rating(*place, score if self.higher_is_better else -score)
            else:
                yield Rating(*place, None, "unparsed", cell)


def column_judge(model: str, seed: int = 0) -> ColumnJudge:
    """The judge called `column/NAME?better=higher`; `better=lower` turns the sign.

    Raises
    ------
    InputError
        For no name, or an unknown setting.
    """
    column, settings = split_settings(model.removeprefix("column/"))
    if not column:
        raise InputError(f"model '{model}': its column is missing; must have the form column/NAME")
    if unknown := [key for key in settings if key != "better"]:
        raise InputError(
            f"model '{model}': unknown setting '{unknown[0]}'; {suggest(unknown[0], ['better'])}"
        )
    better = settings.get("better", "higher")
    if better not in ("higher", "lower"):
        raise InputError(f"model '{model}': better '{better}'; allowed: higher, lower")
    return ColumnJudge(model, column, better == "higher")
