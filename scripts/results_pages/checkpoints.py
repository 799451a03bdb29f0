"""MSLC24: metrics and judges on twelve training checkpoints of one translation system against the last."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from results_pages.parts import Audit, Grid, SetFigures, Table, audit_of, cell_text, published_text

import dhp
from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL

CHECKPOINTS = "ABCDEFGHIJKL"
LAST = "M"
_ANALYZE = (
    "python scripts/results.py DATA --ratings mslc24 > ratings.csv && dhp analyze ratings.csv --details"
)


def mslc24(data: Path) -> SetFigures:
    """Detection by checkpoint, and the first one that each judge no longer tells from the last."""
    audits = [audit_of(r, r.model) for r in dhp.analyze(mslc24_ratings(data))]
    audits.sort(key=lambda a: -(a.detection or 0.0))
    grid = Grid(
        "Earlier checkpoints scored lower",
        "A pair is one sentence as an earlier checkpoint and as the last one translated it. Intervals take "
        "the sentences of a document together.",
        tuple(audits),
        (_ANALYZE,),
    )
    first = _first_not_told(audits)
    return SetFigures("mslc24", (grid,), (first,), (first,))


def mslc24_ratings(data: Path) -> pd.DataFrame:
    """Scores by metric, checkpoint and sentence; `checkpoint A` was saved first, the original is the last."""
    folder = data / "mslc24"
    files = sorted((folder / "metric-scores" / "en-de").glob("*.seg.score"))
    if not files:
        raise InputError(f"{folder}: holds no metric-scores/en-de/*.seg.score; allowed: the files of MSLC24")
    letters = {number: mark.rstrip("*") for number, mark in _cells(folder / "mapping" / "en-de.tsv")}
    documents = [document for _, document in _cells(folder / "documents" / "en-de.docs")]
    rows = []
    for path in files:
        sentences: dict[str, int] = {}
        for _, number, score in _cells(path):
            sentence = sentences[number] = sentences.get(number, -1) + 1
            letter = letters[number]
            rows.append(
                {
                    "model": f"{path.name.removesuffix('.seg.score').rpartition('-')[0]} (MSLC24)",
                    "dataset": "mslc24",
                    "example": f"{sentence:03}",
                    "variant": ORIGINAL if letter == LAST else f"checkpoint {letter}",
                    "metric": "score",
                    "score": float(score),
                    "level": "checkpoint",
                    "cluster": documents[sentence],
                }
            )
    return pd.DataFrame(rows).sort_values("variant", kind="stable")  # for columns in the order of training


def _cells(path: Path) -> Iterator[list[str]]:
    return (line.split("\t") for line in published_text(path).splitlines())


def _first_not_told(audits: list[Audit]) -> Table:
    rows = []
    for audit in audits:
        cells = [audit.cell(f"checkpoint {letter}") for letter in CHECKPOINTS]
        told = [cell is not None and cell.verdict.is_good for cell in cells]
        first = CHECKPOINTS[told.index(False)] if False in told else "–"
        rows.append((audit.judge, first, audit.noticed, *map(cell_text, (cells[0], *cells[-3:]))))
    return Table(
        "The first checkpoint no longer told from the last",
        "In the order of training, A to L, the first one whose translations are not noticed as worse than "
        "those of M; how many of the twelve are; and detection of the first and of the three before M.",
        ("judge", "first not told", "noticed", "A", *CHECKPOINTS[-3:]),
        tuple(rows),
        (_ANALYZE,),
    )
