"""Originals and degraded texts as one table, for a judge that another program runs."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dhp.core.errors import InputError
from dhp.core.files import json_line
from dhp.perturb.perturbed_dataset import PerturbedDataset

SUFFIXES = (".csv", ".jsonl")
_OURS = ("dataset", "example", "variant", "level", "cluster")
_TEXTS = ("source", "reference", "output")


def check_suffix(path: str | Path) -> None:
    """Raise `InputError` for a file whose name ends otherwise; one without an ending is JSON Lines."""
    suffix = Path(path).suffix.lower()
    if suffix and suffix not in SUFFIXES:
        raise InputError(f"{path}: must end in {' or '.join(SUFFIXES)}")


def table_lines(made: Sequence[PerturbedDataset], path: str | Path) -> Iterator[str]:
    """The lines of a table in the format of `path`: CSV, else JSON Lines.

    A row is a text that a judge is to rate. Columns: `dataset, example, variant`, `level` (empty for an
    original), `cluster` if texts hang together, the further fields of the examples, `source`, `reference` if
    there is one, and `output`, the text itself.
    """
    rows = list[Mapping[str, str | None]]()
    for part in made:
        rows += _rows(part)

    # Our columns, the fields of the data, then the long texts; none that is empty in all rows.
    fields, filled = dict[str, None](), set[str]()
    for row in rows:
        for name, cell in row.items():
            fields[name] = None
            if cell:
                filled.add(name)
    further = [name for name in fields if name not in (*_OURS, *_TEXTS)]
    columns = [name for name in (*_OURS, *further, *_TEXTS) if name in filled]
    if Path(path).suffix.lower() != ".csv":
        for row in rows:
            yield json_line({name: row.get(name) for name in columns})
        return
    yield _csv_line(columns)
    for row in rows:
        yield _csv_line([row.get(name) or "" for name in columns])


def _rows(part: PerturbedDataset) -> Iterator[Mapping[str, str | None]]:
    clusters = part.dataset.clusters
    for text in part.candidates():
        yield {
            **text.fields,
            "dataset": part.dataset.name,
            "example": text.example,
            "variant": text.variant,
            "level": text.level,
            "cluster": clusters.get(text.example),
            "source": text.source,
            "reference": text.reference,
            "output": text.text,
        }


def _csv_line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()
