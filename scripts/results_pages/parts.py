"""What the results pages are made of: cells, audits of judges, grids, tables and sets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pandas as pd

from dhp.analysis.passing import PassShare
from dhp.analysis.results import Interval, Result, VariantResult
from dhp.content.catalog import variant_name
from dhp.core.errors import InputError
from dhp.core.records import IDENTITY
from dhp.core.verdicts import Verdict
from dhp.report.findings import control_words, sentences
from dhp.report.labels import percent, percents
from dhp.runs.compare import compare_rated
from dhp.runs.rated_tables import recorded_results
from dhp.stats.compare import Pair


@dataclass(frozen=True, slots=True)
class Cell:
    """What one judge made of one kind of damage, or of a control."""

    kind: str
    """In words."""
    n: int
    """Pairs."""
    detection: float | None
    """Of the metric that sees the damage best."""
    ci: Interval
    metric: str
    """That metric; empty where there is one only."""
    d: float | None
    verdict: Verdict
    """Of damage; of a control its state."""


@dataclass(frozen=True, slots=True)
class Audit:
    """One judge, asked in one way, on one table of damage."""

    judge: str
    way: str
    """How it was asked; empty where there is one way only."""
    result: Result
    cells: tuple[Cell, ...]
    controls: tuple[Cell, ...]
    """Without the same text again, which says nothing of a judge that repeats its answers."""
    said: str
    """One sentence."""

    @property
    def detection(self) -> float | None:
        """Mean over the kinds, levels weighing the same."""
        return self.result.detection.avg

    @property
    def ci(self) -> Interval:
        """The 95 % interval of the mean."""
        return self.result.detection.ci["avg"]

    @property
    def noticed(self) -> str:
        """How many kinds were noticed, of how many."""
        return self.result.noticed_of

    @property
    def harmless(self) -> str:
        """The state of harmless edits."""
        return control_words(self.result.control)

    @property
    def name(self) -> str:
        """The judge, and how it was asked if there are several ways."""
        return f"{self.judge}, {self.way}" if self.way else self.judge

    @property
    def lowest(self) -> Cell | None:
        """The kind with the lowest detection, of those with five pairs or more."""
        known = [c for c in self.cells if c.detection is not None and c.n >= 5]
        return min(known, key=lambda c: c.detection or 0.0, default=None)

    @property
    def pairs(self) -> str:
        """Pairs a kind: one number, or the fewest and the most."""
        counts = sorted({c.n for c in self.cells}) or [0]
        return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"

    def result_of(self, kind: str) -> VariantResult:
        """Of a kind of damage that the judge was shown."""
        (row,) = [row for row in self.result.variants if row.variant == kind]
        return row

    def passes(self, kind: str) -> PassShare:
        """What passes of a kind of damage at the pass mark, if there is one."""
        share = self.result_of(kind).passes
        assert share is not None
        return share

    def cell(self, kind: str) -> Cell | None:
        """Of a kind of damage."""
        return next((c for c in self.cells if c.kind == kind), None)


@dataclass(frozen=True, slots=True)
class Grid:
    """Judges against kinds of damage."""

    title: str
    note: str
    audits: tuple[Audit, ...]
    commands: tuple[str, ...]
    """Each prints the figures of some or all rows."""

    @property
    def kinds(self) -> list[str]:
        """The columns, in the order of the first judge that has them."""
        return list(dict.fromkeys(c.kind for a in self.audits for c in a.cells))

    @property
    def controlled(self) -> bool:
        """Whether some judge was shown harmless edits."""
        return any(a.controls for a in self.audits)


@dataclass(frozen=True, slots=True)
class Table:
    """Any other figures; the first column names the judge, or two that are compared."""

    title: str
    note: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    commands: tuple[str, ...]
    words: int = 1
    """How many columns hold words, from the left."""
    signatures: tuple[str, ...] = ()
    judges: bool = True
    """Whether the first column is a judge, with a page."""


@dataclass(frozen=True, slots=True)
class SetFigures:
    """All that was found on one set."""

    name: str
    grids: tuple[Grid, ...]
    tables: tuple[Table, ...]
    shown: tuple[Grid | Table, ...]
    """What stands in the overview."""
    left_out: tuple[str, ...] = ()
    """What could not be made here, and why."""


def audit_of(result: Result, judge: str, way: str = "") -> Audit:
    """What a result says of its judge."""
    (sentence,) = sentences([result])
    return Audit(
        judge,
        way,
        result,
        tuple(map(_cell, result.variants)),
        tuple(_cell(row) for row in result.controls if row.variant != IDENTITY),
        sentence.text.replace("_", " "),
    )


def _cell(row: VariantResult) -> Cell:
    kind = variant_name(row.variant).replace("_", " ")
    metric = row.best_metric or "" if len(row.metrics) > 1 else ""
    return Cell(kind, row.n, row.detection, row.detection_ci, metric, row.d, row.state)


def cell_text(cell: Cell | None) -> str:
    """`● 94 % 90–96`, or a dash."""
    if cell is None or cell.detection is None:
        return "–"
    return f"{cell.verdict.sign} {percent(cell.detection)} {percents(cell.ci)}"


def judges_of(sets: Iterable[SetFigures]) -> list[str]:
    """All judges, in order of appearance."""
    names: dict[str, None] = {}
    for each in sets:
        names |= dict.fromkeys(a.judge for grid in each.grids for a in grid.audits)
        names |= dict.fromkeys(row[0] for table in each.tables if table.judges for row in table.rows)
    return list(names)


Place = tuple[SetFigures, Grid | Table, Sequence[object]]
"""Where a judge stands: the set, the grid or table, and its audits or rows there."""


def places_of(sets: Iterable[SetFigures], judge: str) -> list[Place]:
    """Where a judge stands, in the order of the pages."""
    found: list[Place] = []
    for each in sets:
        for grid in each.grids:
            found.append((each, grid, [audit for audit in grid.audits if audit.judge == judge]))
        for table in each.tables:
            if table.judges:
                found.append((each, table, [row for row in table.rows if row[0] == judge]))
    return [place for place in found if place[2]]


def differences(frame: pd.DataFrame, command: str) -> Table:
    """Every two judges by detection, over all kinds and of each.

    Parameters
    ----------
    frame
        Recorded scores of several judges of one set.
    command
        Prints the same figures.
    """
    (found,) = compare_rated(recorded_results(frame))
    kinds = [variant_name(rows[0].variant).replace("_", " ") for rows in found.damage]
    columns = (found.scores["detection"].pairs, *found.by_variant)
    names = [name.removesuffix(" (none)") for name in found.judges]
    shown: dict[tuple[int, int], list[str]] = {}
    for column in columns:
        for pair in column:
            shown.setdefault((pair.first, pair.second), []).append(_shown(pair))
    rows = tuple(
        (f"{names[one]} – {names[other]}", *shown[one, other])
        for one, other in combinations(range(len(names)), 2)
    )
    return Table(
        "Judges against each other",
        "Detection of the second less that of the first in points of per cent, with limits, "
        f"over the {found.n:,} examples that all judges rated; labels are swapped prompt by prompt. * tells "
        "judges apart at 0.05: the mean over all pairs of judges (Holm), the kinds over all pairs and kinds.",
        ("judges", "mean", *kinds),
        rows,
        (command,),
        judges=False,
    )


def _shown(pair: Pair) -> str:
    ends = f"{pair.low * 100:+z.0f} to {pair.high * 100:+z.0f}"
    return f"{pair.difference * 100:+z.0f} [{ends}]{' *' if pair.differs else ''}"


def tabled(name: str, command: str) -> str:
    """A command on the ratings of a set, behind the one that makes their table, `ratings.csv`."""
    return f"python scripts/results.py DATA --ratings {name} > ratings.csv && {command}"


def share_text(found: PassShare | None) -> str:
    """`29% [16–45]`, or a dash."""
    return "–" if found is None else f"{percent(found.share)} [{percents(found.ci)}]"


def published_text(path: Path) -> str:
    """A published file that dhp has no reader for; raises `InputError` if it cannot be read."""
    try:
        return path.read_text("utf-8")
    except OSError as e:
        raise InputError(f"{path}: cannot be read: {e.strerror}; allowed: the file as published") from e
