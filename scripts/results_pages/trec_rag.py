"""TREC RAG: nine judges of 2026 on passages that people graded, a dose of relevance set by people."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from results_pages.asking import asking_table
from results_pages.parts import Grid, SetFigures, Table, audit_of, share_text, tabled

import dhp
from dhp.analysis.results import Result
from dhp.core.records import ORIGINAL
from dhp.core.tables import read_table
from dhp.report.labels import percent

_MARKS = (1, 2, 3)
_GRADES = ("grade 0", "grade 1", "grade 2")


def trec_rag(data: Path) -> SetFigures:
    """Detection of each grade, the mean score by grade, what passes at each mark, and who says nothing."""
    frame = trec_rag_ratings(data)
    at = {mark: dhp.analyze(frame, analysis=dhp.AnalysisConfig(pass_mark=mark)) for mark in _MARKS}
    grid = Grid(
        "Passages of a lower grade scored lower",
        "Each passage got one score from 0 to 3, alone. A pair is a passage that people graded 0, 1 or 2 and "
        "one of grade 3 on the same topic; tests take topics as a whole. A pair in which a passage got no "
        "score is a tie.",
        tuple(audit_of(r, r.model) for r in at[2]),
        (_command(2),),
    )
    passing = _passing(at)
    asking = asking_table([(mark, at[mark]) for mark in (2, 3)], (_command(2), _command(3)))
    return SetFigures("trec_rag", (grid,), (passing, _dose(frame), asking), (grid, passing))


def _command(mark: int) -> str:
    return tabled("trec_rag", f"dhp analyze ratings.csv --pass-mark {mark} --details")


def trec_rag_ratings(data: Path) -> pd.DataFrame:
    """The scores of all judges; their names as on the other pages."""
    table = read_table(data / "trec_rag" / "scores.csv")
    table.need(["example", "variant", "score", "metric", "model", "dataset", "cluster", "status"])
    frame = pd.DataFrame([row.values for row in table.rows], dtype=object)
    frame["model"] = [_name(str(model)) for model in frame["model"]]
    return frame


def _name(model: str) -> str:
    """`gpt-5.5` for `GPT-5.5 (reasoning=low)`."""
    return model.partition(" (")[0].lower().replace(" ", "-")


def _passing(at: Mapping[int, Sequence[Result]]) -> Table:
    rows = []
    for results in zip(*at.values(), strict=True):
        for mark, result in zip(at, results, strict=True):
            passes = {row.variant: row.passes for row in result.variants}
            fails = result.pass_mark.fails if result.pass_mark else None
            cells = map(share_text, [*(passes[grade] for grade in _GRADES), fails])
            silent = 1 - (result.read if result.read is not None else 1.0)
            rows.append((result.model, percent(silent), str(mark), *cells))
    return Table(
        "What passes at each mark",
        "Share of the passages with a score of the mark or more, and of those of grade 3 with less; exact "
        "95 % intervals over topics. What got no score counts as not passing and not failing; the upper "
        "limits take it in. No score: of all scores that the judge was asked for.",
        ("judge", "no score", "mark", *(f"{grade}: passes" for grade in _GRADES), "grade 3: fails"),
        tuple(rows),
        tuple(map(_command, _MARKS)),
    )


def _dose(frame: pd.DataFrame) -> Table:
    graded = (ORIGINAL, *reversed(_GRADES))
    rows = []
    for model, own in frame.groupby("model", sort=False):
        cells = []
        for variant in graded:
            scores = pd.to_numeric(own.loc[own["variant"] == variant, "score"]).dropna()
            cells.append(f"{scores.mean():.2f} ({len(scores)})" if len(scores) else "–")
        rows.append((str(model), *cells))
    return Table(
        "Score by people's grade",
        "Mean score, and in brackets the passages that got one. People's grades are the dose: from 3, which "
        "answers the question, to 0, which has nothing to do with it.",
        ("judge", "grade 3", "grade 2", "grade 1", "grade 0"),
        tuple(rows),
        ("python scripts/results.py DATA --only trec_rag --out pages",),
    )
