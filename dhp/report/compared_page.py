"""The page of a comparison of judges.

For each dataset there is a matrix of kinds and judges, the kinds that lie widest apart first. Of two judges
the page also has the texts whose verdict changed: `_set` finds the pairs, and `_changes` reads what was done
to their texts.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dhp.analysis.results import VariantResult
from dhp.core.diff import Operation, diff, snippet
from dhp.core.shown import printable
from dhp.core.verdicts import verdicts_about
from dhp.report.columns import (
    DETECTION,
    DIFFERENCE,
    GOOD_FAILS,
    LOWEST,
    MEAN_PASS,
    NEWLY,
    NO_LONGER,
    run_columns,
)
from dhp.report.compared import comparison_sentence, most_different, other_verdicts
from dhp.report.compared_marks import marks_of, marks_table
from dhp.report.document import Part
from dhp.report.matrix import Matrix, matrix_of
from dhp.report.shared_styles import agreement_parts
from dhp.report.web import page
from dhp.runs.changed_pairs import ChangedKind, ChangedPair, changed_kinds
from dhp.runs.compare import DatasetComparison
from dhp.runs.reader import Run, RunResult

_SHOWN = 40
"""Texts of a kind of damage that are shown; half of them for each direction. Chosen."""
_Key = tuple[str, str, str]
"""Dataset, example, variant."""
_Changes = Mapping[_Key, Sequence[tuple[Operation, str]]]


@dataclass(frozen=True, slots=True)
class _Set:
    """The judges of one dataset."""

    comparison: DatasetComparison
    matrix: Matrix
    heads: Sequence[tuple[str, str]]
    """Name of each judge, and its run if runs differ."""
    changed: Mapping[str, ChangedKind]
    """Variant -> the pairs in which two judges differ; empty for more judges."""

    @property
    def moved(self) -> Mapping[str, str]:
        """The kinds of damage whose verdict differs -> why, of two judges."""
        reasons = self.reasons
        moved = {}
        for row in self.matrix.rows:
            states = {cell.state for cell in row.cells if cell is not None}
            if None not in row.cells and len(states) > 1:
                moved[row.variant] = reasons.get(row.variant, "another verdict")
        return moved

    @property
    def reasons(self) -> Mapping[str, str]:
        """Of two judges, variant -> what one says that the other notices, and why."""
        if len(self.heads) != 2:
            return {}
        return other_verdicts(self.comparison, self.matrix.heads)

    @property
    def at_marks(self) -> str:
        """The marks at which the judges are compared."""
        return marks_of([self.comparison])

    @property
    def marks_tables(self) -> list[Part]:
        """What passes and fails at these marks."""
        return [replace(table, titled=False) for table in marks_table([self.comparison])]

    def shown(self, variant: str) -> Sequence[ChangedPair]:
        """The texts of a kind whose verdict changed: of each direction the clearest."""
        pairs = self.changed[variant].pairs
        newly = [pair for pair in pairs if pair.newly]
        no_longer = [pair for pair in pairs if not pair.newly]
        return [*newly[: _SHOWN // 2], *no_longer[: _SHOWN // 2]]


def compared_page(
    rated: Mapping[str, Sequence[RunResult]],
    comparisons: Sequence[DatasetComparison],
    runs: Iterable[Run] = (),
) -> str:
    """The page of a comparison: one file that needs no network, every text in it escaped.

    Texts are read from `runs`; without them they are named only.
    """
    sets = [_set(each, rated[each.dataset]) for each in comparisons]
    # Only the texts that the page shows are looked for, as runs hold many more.
    wanted: set[_Key] = set()
    rows: list[VariantResult] = []
    for each in sets:
        for variant in each.changed:
            for pair in each.shown(variant):
                wanted.add((each.comparison.dataset, pair.example, variant))
        for row in each.matrix.rows:
            rows += [cell for cell in row.cells if cell is not None]
    states = {row.state for row in rows}
    return page(
        "compared.html",
        styles=("report.css", "matrix.css"),
        sets=sets,
        two=all(len(each.heads) == 2 for each in sets),
        sentence=printable(comparison_sentence(comparisons)),
        changes=_changes(runs, wanted),
        agreement_parts=agreement_parts,
        # A verdict that no cell has needs no place in the key.
        verdicts=[verdict for verdict in verdicts_about("damage") if verdict in states],
        run_columns=run_columns,
        DETECTION=DETECTION,
        DIFFERENCE=DIFFERENCE,
        LOWEST=LOWEST,
        MEAN_PASS=MEAN_PASS,
        GOOD_FAILS=GOOD_FAILS,
        NEWLY=NEWLY,
        NO_LONGER=NO_LONGER,
    )


def _set(comparison: DatasetComparison, entries: Sequence[RunResult]) -> _Set:
    names = [printable(name) for name in comparison.names]
    folders = [Path(entry.place).name for entry in entries]
    # The run is named only if it tells something: not if all are of one, or are called as their runs.
    if len(set(folders)) == 1 or folders == list(comparison.names):
        folders = [""] * len(names)
    # Of three judges or more there is no before and after.
    changed = changed_kinds(*entries) if len(entries) == 2 else {}
    matrix = matrix_of(comparison.dataset, names, [entry.result for entry in entries])
    # The matrix has its kinds level by level; here those come first in which the judges differ most.
    order = [variant for variant, _ in most_different([comparison])]
    rows = sorted(matrix.rows, key=lambda row: order.index(row.variant))
    heads = list(zip(names, map(printable, folders), strict=True))
    return _Set(comparison, replace(matrix, rows=tuple(rows)), heads, changed)


def _changes(runs: Iterable[Run], wanted: Collection[_Key]) -> _Changes:
    """What was done to the texts: the first change to each, in one line."""
    texts: dict[_Key, list[tuple[Operation, str]]] = {}
    for run in runs:
        for row in run.pairs():
            key = row["dataset"], row["example"], row["variant"]
            # Runs on the same texts hold each pair again: the first one will do.
            if key in wanted and key not in texts and row["text"] is not None:
                texts[key] = snippet(diff(row["before"], row["text"], row["level"]))
    return texts
