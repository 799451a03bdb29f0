"""`index.html` of a folder of runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dhp.content.damage import variant_name
from dhp.core.errors import InputError
from dhp.core.files import write_lines
from dhp.core.text import printable
from dhp.report.findings import Findings, Sentence, findings, sentences
from dhp.report.labels import SIGNS, percent, percents, shared_folder, state
from dhp.report.web import page
from dhp.runs.reader import MANIFEST, RESULTS, read_run

_NAMED = 2
"""The most datasets that a row names."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """A run as a row of the page."""

    name: str
    """Name of the run's folder."""
    path: str
    """Path of the run's folder, as a command takes it."""
    created: str
    """Time of creation, in UTC."""
    page: str | None
    """Path of its report, relative to the index."""
    judges: Sequence[str]
    prompts: Sequence[str]
    """Names of its protocols; empty where no model was asked."""
    data: str
    noticed: str
    sentences: Sequence[Sentence]
    """One sentence per judge."""
    cells: Sequence[Sequence[str]]
    """Dataset and judge, kind of damage, verdict, what is shown, interval: for the comparison of two runs."""


def holds_runs(folder: str | Path) -> bool:
    """Whether it is not a run itself, but holds finished runs."""
    return not (Path(folder) / RESULTS).is_file() and any(Path(folder).glob(f"*/{RESULTS}"))


def write_index(folder: str | Path, out: str | Path | None = None) -> Path:
    """Write the page of all finished runs in a folder, by default `index.html` in it; returns its path.

    Runs that are not finished, or of another version, are named on the page and left out.
    """
    path = Path(folder) / "index.html" if out is None else Path(out)
    rows, left_out = [], []
    for each in sorted(Path(folder).iterdir()):
        if not (each / RESULTS).is_file():
            if (each / MANIFEST).is_file():
                left_out.append(f"{printable(each.name)}: not finished")
            continue
        try:
            rows.append(_listed(each, path.parent))
        except InputError as e:
            left_out.append(str(e))
    rows.sort(key=lambda row: row.created, reverse=True)
    text = page(
        "index.html",
        styles=("report.css",),
        scripts=("tables.js", "index.js"),
        rows=rows,
        left_out=left_out,
        folder=printable(str(folder)),
        runs=[
            {"name": r.name, "path": r.path, "judges": r.judges, "prompts": r.prompts, "cells": r.cells}
            for r in rows
        ],
    )
    write_lines(path, [text])
    return path


def _listed(folder: Path, beside: Path) -> _Listed:
    found = [findings(result) for result in read_run(folder).results]
    datasets = list(dict.fromkeys(each.dataset for each in found))
    rows = [row for each in found if not each.too_few for row in each.damage]
    seen = sum(state(row) == "noticed" for row in rows)
    report = folder / "report.html"
    return _Listed(
        name=printable(folder.name),
        path=str(folder),
        created=max(each.result.created for each in found),
        page=_link(report, beside) if report.is_file() else None,
        judges=list(dict.fromkeys(each.judge for each in found)),
        prompts=list(dict.fromkeys(e.result.protocol.partition("@")[0] for e in found if e.result.asked)),
        data=_data(datasets),
        noticed=f"{seen} of {len(rows)}" if rows else "–",
        sentences=sentences(found),
        cells=[cell for each in found for cell in _cells(each)],
    )


def _data(datasets: Sequence[str]) -> str:
    if len(datasets) <= _NAMED:
        return ", ".join(datasets)
    shared = shared_folder(datasets)
    return f"{len(datasets)} sets{f' of {shared[:-1]}' if shared else ''}"


def _link(path: Path, beside: Path) -> str:
    return quote(Path(relpath(path, beside)).as_posix())


def _cells(findings: Findings) -> list[list[Any]]:
    return [
        [
            findings.dataset,
            findings.judge,
            variant_name(row.variant),
            state(row),
            f"{SIGNS.get(state(row), state(row))} {percent(row.detection)}",
            percents(row.detection_ci),
        ]
        for row in (*findings.damage, *findings.probes)
    ]
