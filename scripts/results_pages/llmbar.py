"""LLMBar: recorded ratings and verdicts of GPT-4, ChatGPT and LLaMA2 on 419 labelled pairs."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
from results_pages.parts import Audit, Grid, SetFigures, Table, audit_of, tabled
from results_pages.recorded_scores import read_recorded_scores
from results_pages.recorded_verdicts import (
    LabelledPair,
    RecordedAnswer,
    RecordedCell,
    compared_ways,
    read_llmbar_answers,
    read_llmbar_pairs,
    recorded_cells,
    verdict_table,
)

import dhp
from dhp.core.tables import read_table
from dhp.report.labels import percent, percents

RATES, COMPARES = "Rating", "Vanilla"
"""The protocols that stand in the overview: the plainest of each kind."""
_SUBSETS = ("Natural", "GPTInst", "GPTOut", "Manual", "Neighbor")


def llmbar(data: Path) -> SetFigures:
    """Pointwise and pairwise figures, one against the other, and position bias."""
    answers = _answers(data)
    cells = recorded_cells(*answers)
    rated = [_audit(r) for r in dhp.analyze(llmbar_ratings(data))]
    exact = dhp.AnalysisConfig(statistics="sign-flip")
    compared = [_audit(r) for r in dhp.analyze(verdict_table(*answers, "llmbar"), analysis=exact)]
    asks = (tabled("llmbar_verdicts", "dhp battle --recorded ratings.csv"),)
    page = ("python scripts/results.py DATA --only llmbar --out pages",)
    pointwise = Grid(
        "Each output rated alone",
        "A pair counts as noticed where the better output got the higher rating. The names are those of the "
        "release: Rating is the plain one.",
        tuple(rated),
        (tabled("llmbar", "dhp analyze ratings.csv --details"),),
    )
    pairwise = Grid(
        "Both outputs shown, in both orders",
        "A pair counts as noticed where the better output wins over both orders; verdicts that flip with the "
        "order, and pairs without a verdict, are ties.",
        tuple(compared),
        asks,
    )
    published = _published(cells, data / "llmbar" / "published.jsonl", page)
    tables = (_bias(cells, asks), _ways(cells, page), published)
    plain = tuple(a for a in (*rated, *compared) if a.way in (RATES, COMPARES))
    shown = Grid(
        "LLMBar",
        "Rating: each output rated alone. Vanilla: both outputs shown, in both orders.",
        plain,
        (*pointwise.commands, *asks),
    )
    return SetFigures("llmbar", (pointwise, pairwise), tables, (shown,))


def _answers(data: Path) -> tuple[list[RecordedAnswer], dict[str, LabelledPair]]:
    folder = data / "llmbar"
    pairs = read_llmbar_pairs(folder / "pairs.jsonl")
    return read_llmbar_answers(sorted(folder.glob("answers-*.jsonl")), pairs), pairs


def llmbar_ratings(data: Path) -> pd.DataFrame:
    """The ratings of outputs that were rated alone."""
    return read_recorded_scores("llmbar", data / "llmbar")


def llmbar_verdicts(data: Path) -> pd.DataFrame:
    """What was preferred in both orders, of outputs that were shown together."""
    return verdict_table(*_answers(data), "llmbar")


def _audit(result: dhp.Result) -> Audit:
    return audit_of(result, result.model, result.protocol)


def _by_judge(cells: Iterable[RecordedCell]) -> Mapping[tuple[str, str], dict[str, RecordedCell]]:
    found: dict[tuple[str, str], dict[str, RecordedCell]] = {}
    for cell in cells:
        found.setdefault((cell.model, cell.protocol), {})[cell.subset] = cell
    return found


def _bias(cells: Sequence[RecordedCell], commands: tuple[str, ...]) -> Table:
    rows = []
    for (model, protocol), own in _by_judge(c for c in cells if not c.pointwise).items():
        rows.append((model, protocol, *(_flips(own[s]) if s in own else "–" for s in _SUBSETS)))
    return Table(
        "Position bias",
        "Share of pairs whose verdict flips when the outputs change places, with Clopper and Pearson's 95 % "
        "interval; N stands in the grids.",
        ("judge", "protocol", *_SUBSETS),
        tuple(rows),
        commands,
        words=2,
    )


def _flips(cell: RecordedCell) -> str:
    bias = cell.figures.bias
    return "–" if bias is None else f"{percent(bias.share)} [{percents(bias.ci)}]"


def _ways(cells: Sequence[RecordedCell], commands: tuple[str, ...]) -> Table:
    rows = []
    for model in dict.fromkeys(c.model for c in cells):
        for way in compared_ways([c for c in cells if c.model == model]):
            ends = "–" if way.ci is None else f"{way.ci[0] * 100:+.0f} to {way.ci[1] * 100:+.0f}"
            shares = tuple(percent(share) for share in way.detections)
            figures = (str(way.n), *shares, f"{way.difference * 100:+.0f}", ends, f"{way.p:.2g}")
            rows.append((model, way.pairwise, way.pointwise, way.subset, *figures))
    return Table(
        "Shown together against rated alone",
        "Detection of the same judge on the same pairs, asked both ways with the same rules; the "
        "difference in "
        "points of per cent with its 95 % interval, and p by the two-sided exact sign-flip test, not "
        "corrected "
        "for the number of rows.",
        ("judge", "together", "alone", "kind", "N", "together", "alone", "difference", "95 %", "p"),
        tuple(rows),
        commands,
        words=4,
    )


def _published(cells: Sequence[RecordedCell], path: Path, commands: tuple[str, ...]) -> Table:
    """How many published counts equal ours; one row a judge."""
    known = {(c.model, c.protocol, c.subset): c for c in cells}
    counts: dict[str, list[bool]] = {}
    for row in read_table(path).rows:
        cell = known.get((row.text("model"), row.text("protocol"), row.text("subset")))
        if cell is not None:
            ours = (*cell.correct, cell.correct_both)
            theirs = tuple(_count(row.text(f"correct_{name}")) for name in ("False", "True", "both"))
            counts.setdefault(cell.model, []).append(ours == theirs)
    return Table(
        "Against the published counts",
        "Cells (protocol and kind) in which the pairs judged rightly as given, swapped and in both orders "
        "all "
        "equal the counts that the authors print.",
        ("judge", "cells equal", "cells published"),
        tuple((model, str(sum(same)), str(len(same))) for model, same in counts.items()),
        commands,
    )


def _count(text: str) -> int:
    return int(text.partition("/")[0])
