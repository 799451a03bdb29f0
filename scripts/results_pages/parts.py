"""What the results pages are made of: cells, audits of judges, grids, tables and sets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dhp.analysis.result_parts import Ends, VariantResult
from dhp.analysis.results import Result
from dhp.content.damage import variant_name
from dhp.core.records import parse_variant
from dhp.report.card import judge_cards
from dhp.report.labels import percent, percents, state
from dhp.report.overview import noticed_count

SIGNS = {"noticed": "●", "undecided": "◐", "missed": "○", "preferred": "▼"}
"""Verdict -> its sign, for those who do not see the colour."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one judge made of one kind of damage."""

    kind: str
    """In words."""
    n: int
    """Pairs."""
    detection: float | None
    ci: Ends
    d: float | None
    verdict: str
    """`noticed`, `undecided`, `missed`, or `preferred`: missed, and the upper limit lies below 50 %."""

    @property
    def sign(self) -> str:
        """Of the verdict."""
        return SIGNS.get(self.verdict, "–")


@dataclass(frozen=True, slots=True)
class Audit:
    """One judge, asked in one way, on one table of damage."""

    judge: str
    way: str
    """How it was asked; empty where there is one way only."""
    cells: tuple[Cell, ...]
    controls: tuple[Cell, ...]
    detection: float | None
    """Mean over the kinds, levels weighing the same."""
    ci: Ends
    noticed: str
    """How many kinds were noticed, of how many."""
    said: str
    """One sentence."""
    limits: tuple[str, ...]
    n: int
    """Examples."""
    signature: str

    @property
    def lowest(self) -> Cell | None:
        """The kind with the lowest detection, of those with five pairs or more."""
        known = [c for c in self.cells if c.detection is not None and c.n >= 5]
        return min(known, key=lambda c: c.detection or 0.0, default=None)

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


@dataclass(frozen=True, slots=True)
class Table:
    """Any other figures; the first column names the judge."""

    title: str
    note: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    commands: tuple[str, ...]
    words: int = 1
    """How many columns hold words, from the left."""
    signatures: tuple[str, ...] = ()


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
    (card,) = judge_cards([result])
    found = result.detection
    return Audit(
        judge,
        way,
        tuple(map(_cell, result.variants)),
        tuple(map(_cell, result.controls)),
        found.avg if found else None,
        found.ci["avg"] if found else None,
        noticed_count(result),
        card.summary,
        card.limits[:-1],
        result.n,
        result.signature,
    )


def _cell(row: VariantResult) -> Cell:
    n = min((c.n for c in row.metrics.values()), default=0)
    verdict = state(row)
    if verdict == "missed" and row.detection_ci is not None and row.detection_ci[1] < 0.5:
        verdict = "preferred"
    return Cell(variant_name(row.variant), n, row.detection, row.detection_ci, row.d, verdict)


def cell_text(cell: Cell | None) -> str:
    """`● 94 % 90–96`, or a dash."""
    if cell is None or cell.detection is None:
        return "–"
    return f"{cell.sign} {percent(cell.detection)} {percents(cell.ci)}"


def severity(variant: str) -> str:
    """The degree of a variant; empty without one."""
    return parse_variant(variant).degree or ""


def judges_of(sets: Iterable[SetFigures]) -> list[str]:
    """All judges, in order of appearance."""
    names: dict[str, None] = {}
    for each in sets:
        names |= dict.fromkeys(a.judge for grid in each.grids for a in grid.audits)
        names |= dict.fromkeys(row[0] for table in each.tables for row in table.rows)
    return list(names)


Place = tuple[SetFigures, Grid | Table, Sequence[object]]
"""Where a judge stands: the set, the grid or table, and its audits or rows there."""


def places_of(sets: Iterable[SetFigures], judge: str) -> list[Place]:
    """Where a judge stands, in the order of the pages."""
    found: list[Place] = []
    for each in sets:
        found += [(each, grid, [a for a in grid.audits if a.judge == judge]) for grid in each.grids]
        found += [(each, table, [row for row in table.rows if row[0] == judge]) for table in each.tables]
    return [place for place in found if place[2]]
