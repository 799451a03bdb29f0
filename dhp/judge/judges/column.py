"""The judge whose scores stand in a column."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dhp.core.errors import InputError, suggest
from dhp.core.records import ORIGINAL, Candidate, Rating
from dhp.core.specs import Scale, Task
from dhp.judge.api import WIDE, Judge, computed_task, metric_name, split_settings

_COLUMN_SETTINGS = ("better", "perturbed")


@dataclass(frozen=True)
class ColumnJudge(Judge):
    """Gives the scores of a column of the texts' own table, or of a table of pairs."""

    model: str
    column: str
    higher_is_better: bool
    perturbed: str | None = None
    """The column with the scores of degraded texts, in a table of pairs."""
    protocol: str = "none"

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task with the column in place of its metrics; its scale is the range of the scores."""
        scores = [score for c in candidates if (score := self._score(self._cell(c))) is not None]
        ends = (min(scores), max(scores)) if len(set(scores)) > 1 else (-WIDE, WIDE)
        name = metric_name(self.column, otherwise="column")
        return computed_task(task, name, self.column, Scale(min=ends[0], max=ends[1]))

    def prepare(self, candidates: Sequence[Candidate], task: Task) -> None:
        """Raises `InputError` if no original, or no degraded text, has a score."""
        originals = [c for c in candidates if c.variant == ORIGINAL]
        if self.perturbed is not None:
            known = dict.fromkeys(name for c in candidates for name in c.columns)
            for column in (self.column, self.perturbed):
                if column not in known:
                    raise InputError(
                        f"model '{self.model}': no column '{column}' with numbers beside the pairs; "
                        f"{suggest(column, known) if known else 'allowed: a table of pairs that has one'}"
                    )
        elif originals:
            raise InputError(
                f"model '{self.model}': has no scores of degraded texts; allowed: ?perturbed=COLUMN in a "
                "table of pairs, or the judge recorded/FILE with the columns example, variant, score"
            )
        else:
            known = dict.fromkeys(name for c in candidates for name in c.fields)
            if self.column not in known:
                raise InputError(
                    f"model '{self.model}': no column '{self.column}'; {suggest(self.column, known)}"
                )

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating a text; an empty cell is failed, one that holds no number is unparsed."""
        (metric,) = task.metric_names
        for c in candidates:
            place, cell = (c.example, c.variant, metric, 0), self._cell(c)
            score = self._score(cell)
            if cell is None:
                yield Rating(*place, None, "failed", f"no value in column '{self.column}'")
            elif score is None:
                yield Rating(*place, None, "unparsed", cell)
            else:
                yield Rating(*place, score)

    def _cell(self, c: Candidate) -> str | None:
        if self.perturbed is not None:
            return c.columns.get(self.column if c.variant == ORIGINAL else self.perturbed)
        return c.fields.get(self.column)

    def _score(self, cell: str | None) -> float | None:
        try:
            score = float(cell or "")
        except ValueError:
            return None
        if not math.isfinite(score):
            return None
        return score if self.higher_is_better else -score


def column_judge(model: str, seed: int = 0) -> ColumnJudge:
    """The judge called `column/NAME?better=higher`.

    `better=lower` turns the sign. In the benchmark, `perturbed=COLUMN` says where a table of pairs holds the
    scores of the degraded texts (NAME is then that of the originals').
    Raises `InputError` for no name and an unknown setting.
    """
    name, settings = split_settings(model, _COLUMN_SETTINGS)
    column = name.removeprefix("column/")
    if not column:
        raise InputError(f"model '{model}': its column is missing; must have the form column/NAME")
    better = settings.get("better", "higher")
    if better not in ("higher", "lower"):
        raise InputError(f"model '{model}': better '{better}'; allowed: higher, lower")
    return ColumnJudge(model, column, better == "higher", settings.get("perturbed"))
