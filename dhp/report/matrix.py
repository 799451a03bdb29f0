"""Matrices of kinds and judges, or of kinds and metrics."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from dhp.analysis.results import Result, VariantResult
from dhp.content.catalog import kind_name
from dhp.core.records import parse_variant
from dhp.report.labels import shared_folder


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One kind of damage, control or attack, in all columns of a matrix."""

    variant: str
    level: str
    cells: tuple[VariantResult | None, ...]
    """A cell is None if the column has no such kind."""
    spans: tuple[int, ...]
    """How many rows each cell reaches over; 0 if it is that of a row above."""

    @property
    def stand_in(self) -> str | None:
        """The rule that made the texts of a column for want of a language model."""
        for cell in self.cells:
            if cell is not None and cell.stand_in:
                return cell.stand_in
        return None


@dataclass(frozen=True, slots=True)
class Matrix:
    """Kinds of damage against datasets, or against the judges on one dataset."""

    title: str
    """Judge or dataset that all columns have in common."""
    heads: tuple[str, ...]
    columns: tuple[Result, ...]
    rows: tuple[MatrixRow, ...]
    """Kinds of damage, level by level, the degrees of a kind together."""
    probes: tuple[MatrixRow, ...]
    """Rows of controls, then of attacks."""
    few: tuple[MatrixRow, ...] = ()
    """Kinds of damage that at most half of the columns have; they are no rows."""


def matrices(results: Sequence[Result]) -> list[Matrix]:
    """One matrix of kinds and datasets for a single judge; for several judges one per dataset."""
    plain = [each for each in results if not each.curves]
    judges = list(dict.fromkeys(each.judge for each in plain))
    if len(judges) == 1:
        data = [each.dataset for each in plain]
        heads = [name.removeprefix(shared_folder(data)) for name in data]
        return [_folded(matrix_of(judges[0], heads, plain))]
    datasets: dict[str, list[Result]] = {}
    for each in plain:
        datasets.setdefault(each.dataset, []).append(each)
    made = []
    for name, of_set in datasets.items():
        made.append(matrix_of(name, [each.judge for each in of_set], of_set))
    return made


def matrix_of(title: str, heads: Sequence[str], columns: Sequence[Result]) -> Matrix:
    """The matrix of some results, a column for each."""
    return Matrix(
        title,
        tuple(heads),
        tuple(columns),
        _rows([each.variants for each in columns]),
        _rows([each.probes for each in columns]),
    )


def _folded(matrix: Matrix) -> Matrix:
    """The matrix without rows that are half empty, as datasets have kinds of their own."""
    rows: list[MatrixRow] = []
    few: list[MatrixRow] = []
    # `_rows` has put the degrees of a kind beside each other, so `groupby` meets each kind once.
    for _, group in groupby(matrix.rows, lambda row: kind_name(row.variant)):
        of_kind = list(group)
        merged = _merged(of_kind)
        missing = min(row.cells.count(None) for row in merged)
        # The fullest row decides: it stays if more than half of the columns have it.
        if 2 * missing < len(matrix.columns):
            rows += merged
        else:
            few += of_kind
    return replace(matrix, rows=tuple(rows), few=tuple(few))


def _merged(rows: list[MatrixRow]) -> list[MatrixRow]:
    """The rows of a kind; a column that has no degrees of it has one cell that reaches over all rows."""
    # Suites may have a kind in degrees or as a whole, so the sets of a judge may hold both.
    wholes = [row for row in rows if parse_variant(row.variant).degree is None]
    if not wholes or len(rows) == 1:
        return rows
    whole = wholes[0]
    degrees = [row for row in rows if row is not whole]
    merged = []
    height = len(degrees)  # how many rows a cell without degrees reaches over: it stands in the first
    for row in degrees:
        cells, spans = list(row.cells), [1] * len(row.cells)
        for place, over in enumerate(whole.cells):
            if over is None:
                continue
            if cells[place] is not None:  # a column has the kind in both ways
                return rows
            cells[place], spans[place] = over, height
        merged.append(replace(row, cells=tuple(cells), spans=tuple(spans)))
        # The cell of the first row covers those of the rows below it.
        height = 0
    return merged


def _rows(columns: Sequence[Sequence[VariantResult]]) -> tuple[MatrixRow, ...]:
    """A row for each variant, level by level and kind by kind in order of appearance."""
    known: dict[str, str] = {}
    cells: dict[str, list[VariantResult | None]] = {}
    for index, column in enumerate(columns):
        for row in column:
            known[row.variant] = row.level
            cells.setdefault(row.variant, [None] * len(columns))[index] = row
    order_of_levels = list(dict.fromkeys(known.values()))
    order_of_kinds = list(dict.fromkeys(map(kind_name, known)))

    def place(variant: str) -> tuple[int, int]:
        return order_of_levels.index(known[variant]), order_of_kinds.index(kind_name(variant))

    spans = (1,) * len(columns)
    rows = []
    for variant in sorted(known, key=place):
        rows.append(MatrixRow(variant, known[variant], tuple(cells[variant]), spans))
    return tuple(rows)
