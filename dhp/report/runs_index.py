"""The page of all finished runs in a folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dhp.analysis.percent import whole_percent
from dhp.analysis.results import Result
from dhp.content.catalog import variant_name
from dhp.core.errors import InputError
from dhp.core.files import write_lines
from dhp.core.signature import Signature, protocol_name
from dhp.core.text import printable
from dhp.report.columns import LOWEST, run_columns
from dhp.report.findings import Sentence, sentences
from dhp.report.labels import percent, percents, sets
from dhp.report.web import page
from dhp.runs.reader import MANIFEST, RESULTS, read_run

_NAMED = 2
"""The most datasets that a row names."""
_LONGEST_TREND = 4
"""The most runs whose detection a row tells."""


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
    """Names of its protocols; empty if no model was asked."""
    data: str
    results: Sequence[Result]
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
    every = [result for row in rows for result in row.results]
    text = page(
        "index.html",
        styles=("report.css",),
        scripts=("tables.js", "index.js"),
        rows=rows,
        trends=_trends(rows),
        columns=[c for c in run_columns(every) if c is not LOWEST],  # the sentence names kinds
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
    results = read_run(folder).results
    datasets = list(dict.fromkeys(each.dataset for each in results))
    report = folder / "report.html"
    return _Listed(
        name=printable(folder.name),
        path=str(folder),
        created=max(each.created for each in results),
        page=_link(report, beside) if report.is_file() else None,
        judges=list(dict.fromkeys(each.judge for each in results)),
        prompts=list(dict.fromkeys(protocol_name(e.protocol) for e in results if e.asked)),
        data=sets(datasets, _NAMED),
        results=results,
        sentences=sentences(results),
        cells=[cell for each in results for cell in _cells(each)],
    )


def _trends(rows: Sequence[_Listed]) -> dict[str, str]:
    """Path of a run -> detection of the runs before that it compares with, and its own: `70 → 82%`.

    These are of the same model on the same texts; only their prompts may differ. A run of several judges has
    none, nor has the first of its kind; of several datasets the mean counts.
    """
    series: dict[tuple[str, frozenset[tuple[str, ...]]], list[float]] = {}
    trends = {}
    for row in sorted(rows, key=lambda row: row.created):
        shares = [result.detection.avg for result in row.results if not result.curves]
        known = [share for share in shares if share is not None]
        if len(row.judges) > 1 or len(known) < len(row.results):
            continue
        signatures = (Signature.parse(result.signature) for result in row.results)
        measured = frozenset(tuple(each.comparable(["protocol"]).values()) for each in signatures)
        comparable = series.setdefault((row.results[0].model, measured), [])
        comparable.append(sum(known) / len(known))
        if len(comparable) > 1:
            trends[row.path] = f"{' → '.join(map(whole_percent, comparable[-_LONGEST_TREND:]))}%"
    return trends


def _link(path: Path, beside: Path) -> str:
    return quote(Path(relpath(path, beside)).as_posix())


def _cells(result: Result) -> list[list[Any]]:
    return [
        [
            result.dataset,
            result.judge,
            variant_name(row.variant),
            row.state,
            f"{row.state if row in result.probes else row.state.sign} {percent(row.detection)}",
            percents(row.detection_ci),
        ]
        for row in (*result.damage, *result.probes)
    ]
