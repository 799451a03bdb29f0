"""Blind spot: ten judges of 2026 on clean answers, subtle and obvious errors, and padded answers."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from results_pages.parts import Grid, SetFigures, Table, audit_of, share_text

import dhp
from dhp.analysis.mark_sweep import MarkSweep
from dhp.analysis.passing import PassShare
from dhp.analysis.results import Result
from dhp.core.records import ORIGINAL
from dhp.core.tables import Row, read_table
from dhp.report.labels import percent
from dhp.stats.pass_mark import share

MARK = 7
"""At which the pages read the judges; the tables give every other one too."""
_MARKS = range(10, 1, -1)
_NEAR = (6, MARK, 8)
_VARIANTS = {"clean": ORIGINAL, "subtle": "subtle error", "obvious": "obvious error", "padded": "padded"}
ERRORS = ("subtle error", "obvious error")
_RATINGS = "python scripts/results.py DATA --ratings blind_spot > ratings.csv"
_AT_MARK = f"{_RATINGS} && dhp analyze ratings.csv --pass-mark {MARK} --details"


def blind_spot(data: Path) -> SetFigures:
    """Detection by kind, what passes at each mark, and errors that a judge names and still lets through."""
    frame = blind_spot_ratings(data)
    marked = dhp.analyze(frame, analysis=dhp.AnalysisConfig(pass_mark=MARK))
    swept = {r.model: r.sweep for r in dhp.analyze(frame) if r.sweep}
    grid = Grid(
        "Wrong answers scored lower",
        "Each answer got one score from 1 to 10, alone. An error is a pair with the clean answer of its "
        "task; padding is a control on code and math.",
        tuple(audit_of(r, r.model) for r in marked),
        (_AT_MARK,),
    )
    passing = _at_mark(marked, swept)
    tables = (passing, _at_each_mark(swept), _known(_rows(data)))
    return SetFigures("blind_spot", (grid,), tables, (grid, passing))


def _rows(data: Path) -> Sequence[Row]:
    table = read_table(data / "blind_spot" / "scores.csv")
    table.need(["judge", "task", "domain", "variant", "condition", "score"])
    return table.rows


def blind_spot_ratings(data: Path) -> pd.DataFrame:
    """The plain scores as a table of ratings; padded summaries, which break their task, are left out."""
    rows = [
        {
            "model": row.text("judge"),
            "dataset": "blind_spot",
            "example": row.text("task"),
            "variant": _VARIANTS[row.text("variant")],
            "metric": "score",
            "score": float(row.text("score")),
            "level": "control" if row.text("variant") == "padded" else "error",
        }
        for row in _rows(data)
        if row.text("condition") == "plain"
        and (row.text("variant"), row.text("domain")) != ("padded", "summary")
    ]
    return pd.DataFrame(rows)


def _at_mark(marked: Sequence[Result], swept: Mapping[str, MarkSweep]) -> Table:
    rows = []
    for result in marked:
        passing = {row.variant: row.passes for row in result.variants}
        fails = result.pass_mark.fails if result.pass_mark else None
        sweep = swept[result.model]
        elsewhere = " and ".join(map(percent, sweep.elsewhere or ()))
        cells = [*(passing[kind] for kind in ERRORS), fails]
        rows.append((result.model, *map(share_text, cells), f"{sweep.best:g}", elsewhere))
    return Table(
        f"What passes at {MARK}",
        f"Share of the wrong answers with a score of {MARK} or more, and of the clean ones with less; exact "
        "95 % intervals of Clopper and Pearson over 42 tasks. Beside it the mark with the fewest errors, and "
        "the wrong answers that pass and the clean ones that fail if half of the tasks choose the mark and "
        "the others are judged by it.",
        ("judge", *(f"{kind}: passes" for kind in ERRORS), "clean: fails", "best mark", "errors elsewhere"),
        tuple(rows),
        (_AT_MARK, f"{_RATINGS} && dhp analyze ratings.csv --details"),
    )


def _at_each_mark(swept: Mapping[str, MarkSweep]) -> Table:
    rows = []
    for judge, sweep in swept.items():
        for kind in ERRORS:
            passes = (_at(sweep, sweep.passes[kind], mark, 0.0) for mark in _MARKS)
            rows.append((judge, f"{kind}: passes", *passes))
        rows.append((judge, "clean: fails", *(_at(sweep, sweep.fails, mark, 1.0) for mark in _MARKS)))
    return Table(
        "What passes at each mark",
        "Share of the 42 answers of a kind with a score of the mark or more; of clean answers with less.",
        ("judge", "answers", *map(str, _MARKS)),
        tuple(rows),
        (f"{_RATINGS} && dhp analyze ratings.csv --json",),
        words=2,
    )


def _at(sweep: MarkSweep, shares: Sequence[float | None], mark: int, beyond: float) -> str:
    """The share at a mark; at one that no answer got it is that of the next score above, if there is one."""
    return percent(next((s for m, s in zip(sweep.marks, shares, strict=True) if m >= mark), beyond))


def _known(rows: Sequence[Row]) -> Table:
    """Errors that the direct question brings to light, and the plain score lets pass."""
    plain = {
        (row.text("judge"), row.text("task")): float(row.text("score"))
        for row in rows
        if (row.text("variant"), row.text("condition")) == ("subtle", "plain")
    }
    answers: dict[str, dict[str, dict[str, str]]] = {}
    for row in rows:
        if row.text("condition") == "detect":
            own = answers.setdefault(row.text("judge"), {"subtle": {}, "clean": {}})
            own[row.text("variant")][row.text("task")] = row.text("score")
    cells = []
    for judge, own in answers.items():
        known = [plain[judge, task] for task, answer in own["subtle"].items() if answer == "yes"]
        row = [judge, _yes(own["subtle"].values()), _yes(own["clean"].values())]
        for mark in _NEAR:
            row.append(_share([score >= mark for score in known]))
        cells.append(tuple(row))
    heads = tuple(f"knows, passes at {mark}" for mark in _NEAR)
    return Table(
        "Knows but passes",
        "Asked directly whether the answer contains an error, how often the judge says yes; and of the "
        "subtle errors that it so knows, the share whose plain score passes all the same. Answers that are "
        "neither yes nor no are left out.",
        ("judge", "subtle error: yes", "clean: yes", *heads),
        tuple(cells),
        ("python scripts/results.py DATA --only blind_spot --out pages",),
    )


def _yes(answers: Iterable[str]) -> str:
    read = [answer == "yes" for answer in answers if answer in ("yes", "no")]
    return f"{sum(read)} of {len(read)}"


def _share(outcomes: Sequence[bool]) -> str:
    value, low, high = share(np.array(outcomes, dtype=float))
    return f"{share_text(PassShare(value, (low, high), len(outcomes)))}, {sum(outcomes)} of {len(outcomes)}"
