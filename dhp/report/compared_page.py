"""`dhp compare --html`: judges side by side, and of two the texts whose verdict changed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dhp.analysis.result_parts import VariantResult
from dhp.core.diff import Operation, diff
from dhp.core.text import printable
from dhp.report.compared import comparison_sentence
from dhp.report.findings import Matrix, findings, matrix_of
from dhp.report.labels import SIGNS, state
from dhp.report.snippet import snippet
from dhp.report.web import page
from dhp.runs.changed_pairs import ChangedKind, ChangedPair, changed_kinds
from dhp.runs.compare import DatasetComparison
from dhp.runs.reader import Run, RunResult

_SHOWN = 40
"""Texts of a kind of damage that are shown."""
_Key = tuple[str, str, str]
"""Dataset, example, variant."""
_Changes = Mapping[_Key, Sequence[tuple[Operation, str]]]


@dataclass(frozen=True, slots=True)
class _Set:
    """The judges of one dataset."""

    found: DatasetComparison
    matrix: Matrix
    heads: Sequence[tuple[str, str]]
    """Name of each judge, and its run where runs differ."""
    changed: Mapping[str, ChangedKind]
    """Variant -> the pairs in which two judges differ; empty for more judges."""

    @property
    def moved(self) -> Sequence[str]:
        """The kinds of damage whose verdict differs."""
        rows = [each for each in self.matrix.rows if None not in each.cells]
        return [row.variant for row in rows if len({state(cell) for cell in row.cells if cell}) > 1]

    def shown(self, variant: str) -> Sequence[ChangedPair]:
        """The texts of a kind whose verdict changed: of each direction the clearest."""
        pairs = self.changed[variant].pairs
        newly, no_longer = ([p for p in pairs if p.newly == way] for way in (True, False))
        return [*newly[: _SHOWN // 2], *no_longer[: _SHOWN // 2]]


def compared_page(
    rated: Mapping[str, Sequence[RunResult]], found: Sequence[DatasetComparison], runs: Iterable[Run] = ()
) -> str:
    """The page of a comparison: one file that needs no network, every text in it escaped.

    Parameters
    ----------
    rated
        Dataset -> the results that were compared.
    found
        What the comparison says.
    runs
        Where the texts of those results are; without them texts are named only.
    """
    sets = [_set(each, rated[each.dataset]) for each in found]
    wanted = {
        (each.found.dataset, pair.example, variant)
        for each in sets
        for variant in each.changed
        for pair in each.shown(variant)
    }
    rows = [cell for each in sets for row in each.matrix.rows for cell in row.cells if cell]
    return page(
        "compared.html",
        styles=("report.css",),
        sets=sets,
        two=all(len(each.heads) == 2 for each in sets),
        sentence=printable(comparison_sentence(found)),
        changes=_changes(runs, wanted),
        verdicts=_verdicts(rows),
        signs=SIGNS,
    )


def _set(found: DatasetComparison, entries: Sequence[RunResult]) -> _Set:
    seen = [findings(entry.result) for entry in entries]
    names = [each.judge for each in seen]
    names = names if len({*names}) == len(names) else [printable(name) for name in found.judges]
    places = [Path(entry.place).name for entry in entries]
    places = list(map(printable, places)) if len({*places}) > 1 else [""] * len(names)
    changed = changed_kinds(*entries) if len(entries) == 2 else {}
    return _Set(found, matrix_of(found.dataset, names, seen), list(zip(names, places, strict=True)), changed)


def _verdicts(rows: Iterable[VariantResult]) -> list[str]:
    said = {state(row) for row in rows}
    return [verdict for verdict in SIGNS if verdict in said]


def _changes(runs: Iterable[Run], wanted: Collection[_Key]) -> _Changes:
    """What was done to the texts: the first change to each, in one line."""
    originals: dict[tuple[str, str], str] = {}
    rows: dict[_Key, Mapping[str, Any]] = {}
    for run in runs:
        originals |= {(e["dataset"], e["id"]): e["output"] for e in run.examples}
        for row in run.perturbed:
            key = row["dataset"], row["example"], row["variant"]
            if key in wanted and row["text"] is not None:
                rows.setdefault(key, row)
    return {key: snippet(diff(originals[key[:2]], row["text"], row["level"])) for key, row in rows.items()}
