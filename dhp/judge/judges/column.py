"""The judge whose scores stand in a column."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dhp.core.errors import InputError, suggest
from dhp.core.records import ORIGINAL, Candidate, Rating
from dhp.core.seeding import text_hash
from dhp.core.specs import Scale, Task
from dhp.core.tables import as_text, read_table
from dhp.judge.api import WIDE, Judge, computed_task, metric_name, split_settings

_COLUMN_SETTINGS = ("better", "perturbed", "file")


@dataclass(frozen=True)
class ColumnJudge(Judge):
    """Gives the scores of a column: of the texts' own table, of pairs, or of a table of scores."""

    model: str
    column: str
    higher_is_better: bool
    perturbed: str | None = None
    """The column with the scores of degraded texts, in a table of pairs."""
    cells: Mapping[tuple[str, str], str] | None = None
    """(example, variant) -> score, of a table of scores."""
    settings: Mapping[str, object] = field(default_factory=dict)
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
        degraded = [c for c in candidates if c.variant != ORIGINAL]
        if self.cells is not None:
            self._check_table(originals, degraded)
        elif self.perturbed is not None:
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
                "table of pairs, ?file=FILE with the columns example, variant and this one"
            )
        else:
            known = dict.fromkeys(name for c in candidates for name in c.fields)
            if self.column not in known:
                raise InputError(
                    f"model '{self.model}': no column '{self.column}'; {suggest(self.column, known)}"
                )

    def _check_table(self, originals: Sequence[Candidate], degraded: Sequence[Candidate]) -> None:
        for name, side in (("original", originals), ("degraded text", degraded)):
            if side and all(self._cell(c) is None for c in side):
                place = f"example '{side[0].example}', variant '{side[0].variant}'"
                raise InputError(
                    f"model '{self.model}': the file has no score of any {name}, such as {place}"
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
        if self.cells is not None:
            return self.cells.get((c.example, c.variant))
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
    scores of the degraded texts (NAME is then that of the originals'), or `file=FILE` which table has the
    scores of all texts, with the columns `example`, `variant` (blank or `original` for originals) and NAME.
    Raises `InputError` for no name, an unknown setting, and a file that lacks a column or has a text twice.
    """
    name, settings = split_settings(model, _COLUMN_SETTINGS)
    column = name.removeprefix("column/")
    if not column:
        raise InputError(f"model '{model}': its column is missing; must have the form column/NAME")
    better = settings.get("better", "higher")
    if better not in ("higher", "lower"):
        raise InputError(f"model '{model}': better '{better}'; allowed: higher, lower")
    perturbed, file = settings.get("perturbed"), settings.get("file")
    if perturbed is not None and file is not None:
        raise InputError(
            f"model '{model}': perturbed and file are two ways to the scores; allowed: one of them"
        )
    cells = None if file is None else _cells(Path(file), column)
    identity = {} if cells is None else {"scores": text_hash(repr(sorted(cells.items())))}
    return ColumnJudge(model, column, better == "higher", perturbed, cells, identity)


def _cells(path: Path, column: str) -> dict[tuple[str, str], str]:
    table = read_table(path)
    table.need(["example", "variant", column])
    cells: dict[tuple[str, str], str] = {}
    for row in table.rows:
        variant = row.text("variant") if row.has("variant") else ORIGINAL
        text = (row.text("example"), variant)
        if text in cells:
            raise row.fault(f"duplicate score of example '{text[0]}', variant '{variant}'")
        if row.has(column):
            cells[text] = as_text(row.value(column)) or ""
    return cells
