"""Which damage is hard to see: the kinds of a set over all its judges, the easiest first.

So section 4.1 of the DHP paper (Wang et al. 2025) sorts them: from what all models notice to what few do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from results_pages.parts import Audit, Grid, SetFigures

from dhp.report.labels import percent


@dataclass(frozen=True, slots=True)
class Difficulty:
    """One kind of damage over the judges of a grid."""

    kind: str
    detection: float
    """Mean over the judges."""
    noticed: int
    judges: int
    least: tuple[float, str]
    """The lowest detection, and whose."""
    most: tuple[float, str]

    @property
    def cells(self) -> tuple[str, ...]:
        """As words."""
        ends = (f"{percent(share)} {judge}" for share, judge in (self.least, self.most))
        return self.kind, f"{self.noticed} of {self.judges}", percent(self.detection), *ends


HEADS = ("kind", "noticed by", "mean detection", "lowest", "highest")


def difficulties(sets: Sequence[SetFigures]) -> list[tuple[str, Grid, list[Difficulty]]]:
    """Name of the set, its grid and its kinds, the easiest first, of grids with several judges and kinds."""
    grids = [(each.name, part) for each in sets for part in each.shown if isinstance(part, Grid)]
    found = [(name, grid, _kinds(grid)) for name, grid in grids if len(grid.audits) > 1]
    return [(name, grid, kinds) for name, grid, kinds in found if len(kinds) > 1]


def _kinds(grid: Grid) -> list[Difficulty]:
    kinds = [_difficulty(kind, grid.audits) for kind in grid.kinds]
    known = [kind for kind in kinds if kind is not None]
    return sorted(known, key=lambda each: (-each.noticed / each.judges, -each.detection))


def _difficulty(kind: str, audits: Sequence[Audit]) -> Difficulty | None:
    """None for a kind that fewer than two judges were shown."""
    cells = []
    for audit in audits:
        cell = audit.cell(kind)
        if cell is not None:
            cells.append((cell, audit.name))
    shares = [(cell.detection, name) for cell, name in cells if cell.detection is not None]
    if len(shares) < 2:
        return None
    mean = sum(share for share, _ in shares) / len(shares)
    noticed = sum(cell.verdict.is_noticed for cell, _ in cells)
    return Difficulty(kind, mean, noticed, len(shares), min(shares), max(shares))
