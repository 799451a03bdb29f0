"""`report.html` of a run and `index.html` of a folder of runs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dhp.analysis.results import WORST_FIRST, Result, VariantResult
from dhp.content.catalog import descriptions, variant_name
from dhp.core.errors import InputError
from dhp.core.files import write_lines
from dhp.core.options import near_keywords
from dhp.core.progress import Progress, numbered, progress_of, stage
from dhp.core.records import parse_variant
from dhp.core.text import printable
from dhp.report.advice import advice, notes
from dhp.report.charts import detection_chart, judges_chart
from dhp.report.explorer import MOST_EXAMPLES, explorer_data
from dhp.report.findings import (
    Sentence,
    Texts,
    by_judge,
    matrices,
    misses,
    sentences,
)
from dhp.report.labels import SIGNS, percent, percents, sets
from dhp.report.web import page
from dhp.runs.reader import MANIFEST, RESULTS, Run, read_run

if TYPE_CHECKING:
    from markupsafe import Markup


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
    found = read_run(folder).results
    datasets = list(dict.fromkeys(each.dataset for each in found))
    rows = [row for each in found if not each.too_few for row in each.damage]
    seen = sum(row.state == "noticed" for row in rows)
    report = folder / "report.html"
    return _Listed(
        name=printable(folder.name),
        path=str(folder),
        created=max(each.created for each in found),
        page=_link(report, beside) if report.is_file() else None,
        judges=list(dict.fromkeys(each.judge for each in found)),
        prompts=list(dict.fromkeys(e.protocol.partition("@")[0] for e in found if e.asked)),
        data=sets(datasets, _NAMED),
        noticed=f"{seen} of {len(rows)}" if rows else "–",
        sentences=sentences(found),
        cells=[cell for each in found for cell in _cells(each)],
    )


def _link(path: Path, beside: Path) -> str:
    return quote(Path(relpath(path, beside)).as_posix())


def _cells(result: Result) -> list[list[Any]]:
    return [
        [
            result.dataset,
            result.judge,
            variant_name(row.variant),
            row.state,
            f"{SIGNS.get(row.state, row.state)} {percent(row.detection)}",
            percents(row.detection_ci),
        ]
        for row in (*result.damage, *result.probes)
    ]


_LOWEST = 0.4
"""Where the charts of detection start at the latest."""
_OPEN = 8
"""Results whose charts show as the page opens."""


def html_report(run: Run, progress: Progress | None = None) -> str:
    """The report of a run: the sentence, the matrix, what to do next, then each result and its texts.

    `progress` is called as `progress(what, done, total, cost)`, chart by chart.

    One file that needs no network; every text in it is escaped, and all but the pairs of texts can be read
    without JavaScript. Raises `InputError` where a file of the run cannot be read.
    """
    found, curves, together = list(run.results), list["Markup | None"](), judges_chart(run.results)
    for number, each in enumerate(found, 1):
        with stage(numbered(progress, number, len(found)), "drawing the charts of the report"):
            curves.append(detection_chart(each.curves) if each.curves and together is None else None)
    with stage(progress, "packing the texts of the report"):
        pairs = explorer_data(run)
    several = len(found) > 1
    rows = [row for each in found for row in (*each.variants, *each.probes)]
    judged = [row for each in found for row in each.damage]
    return page(
        "report.html",
        styles=("report.css", "maps.css", "explorer.css"),
        scripts=("tables.js", "explorer.js"),
        found=found,
        curves=curves,
        notes=notes,
        repeats_of=_repeats,
        several=several,
        opened=len(found) <= _OPEN,
        sentences=sentences(found),
        matrices=[(m, [found.index(f) for f in m.columns]) for m in matrices(found)] if several else [],
        advice={judge: said for judge, of in by_judge(found).items() if (said := advice(of))},
        misses=misses(run.rated, _texts(run)),
        verdicts=[v for v in reversed(WORST_FIRST) if any(row.state == v for row in judged)],
        signs=SIGNS,
        start=_start(judged),
        damage=_damage(rows),
        controls=list(
            dict.fromkeys(parse_variant(r.variant).perturber for r in rows if r.level == "control")
        ),
        judges_chart=together,
        explorer=pairs,
        prompts=run.prompts,
        manifest=json.dumps(run.manifest, ensure_ascii=False, indent=1),
        made=str(run.manifest.get("created", ""))[:10],
        perturb_usage=run.manifest.get("usage_of_perturb_model", {}),
    )


@near_keywords
def write_report(
    run: str | Path, out: str | Path | None = None, progress: Progress | bool | None = True
) -> Path:
    """Write the page of a finished run, by default into its folder; returns its path.

    Of a folder that holds finished runs the page lists them: `index.html`. Raises `InputError` for a folder
    that holds none.
    """
    if holds_runs(run):
        return write_index(run, out)
    found = read_run(run)
    with progress_of(progress) as show:
        text = html_report(found, show)
    path = found.folder / "report.html" if out is None else Path(out)
    write_lines(path, [text])
    return path


def _repeats(result: Result) -> list[str]:
    """The figures on single scores that are defined for a metric at least."""
    columns = dict.fromkeys(name for figures in result.repeats.values() for name in figures)
    return [n for n in columns if any(f.get(n) is not None for f in result.repeats.values())]


def _start(rows: Sequence[VariantResult]) -> float:
    """Where all charts of detection start, in tenths."""
    lows = [row.detection_ci[0] for row in rows if row.detection_ci is not None]
    return int(10 * min([_LOWEST, *lows])) / 10


def _damage(rows: Sequence[VariantResult]) -> dict[str, str]:
    """Perturber -> what it does to a text, in a sentence."""
    known = descriptions()
    names = dict.fromkeys(parse_variant(row.variant).perturber for row in rows)
    return {name: known.get(name) or "A perturber of your own." for name in names}


def _texts(run: Run) -> Mapping[str, Texts]:
    """Dataset -> (example, variant) -> its row, of the examples shown."""
    found: dict[str, dict[tuple[str, str], Mapping[str, Any]]] = {r.dataset: {} for r in run.results}
    for row in run.pairs(MOST_EXAMPLES):
        found.setdefault(row["dataset"], {})[row["example"], row["variant"]] = row
    return found
