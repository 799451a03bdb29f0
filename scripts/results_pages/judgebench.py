"""JudgeBench: three reward models on pairs of which one answer is right, and o1-mini in both orders."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
from results_pages.parts import Grid, SetFigures, Table, audit_of, tabled
from results_pages.recorded_scores import read_recorded_scores
from results_pages.recorded_verdicts import (
    LabelledPair,
    RecordedAnswer,
    RecordedCell,
    read_judgebench_verdicts,
    recorded_cells,
    verdict_table,
)

import dhp
from dhp.analysis.results import Result
from dhp.core.records import ORIGINAL
from dhp.core.tables import read_table

KINDS = ("knowledge", "reasoning", "math", "code")
PUBLISHED = {
    "Skywork-Reward-Gemma-2-27B": (59.74, 66.33, 83.93, 50.00, 64.29),
    "o1-mini-2024-09-12": (58.44, 62.24, 82.14, 78.57, 65.71),
}
"""Accuracies that its authors print, in per cent: the kinds, and all pairs."""
_BATTLE = tabled("judgebench_verdicts", "dhp battle --recorded ratings.csv")
_ANALYZE = tabled("judgebench", "dhp analyze ratings.csv --details")
_BY_LENGTH = tabled("judgebench_by_length", "dhp analyze ratings.csv --details")


def judgebench(data: Path) -> SetFigures:
    """Detection by kind of question and by length, and the published accuracies beside our own counts."""
    verdicts = _verdicts(data)
    cells = recorded_cells(*verdicts)
    exact = dhp.AnalysisConfig(statistics="sign-flip")
    rated = dhp.analyze(judgebench_ratings(data))
    compared = dhp.analyze(verdict_table(*verdicts, "judgebench"), analysis=exact)
    alone = tuple(audit_of(r, r.model) for r in rated)
    both = tuple(audit_of(r, r.model, "both orders") for r in compared)
    grid = Grid(
        "Wrong answers rated lower",
        "The reward models score each answer alone. o1-mini sees both, in both orders: verdicts that flip "
        "with the order are ties.",
        (*alone, *both),
        (_ANALYZE, _BATTLE),
    )
    lengths = Grid(
        "By length",
        "The same scores of the reward models, split by which answer has more words.",
        tuple(audit_of(r, r.model) for r in dhp.analyze(judgebench_by_length(data))),
        (_BY_LENGTH,),
    )
    return SetFigures("judgebench", (grid, lengths), (_published(rated, cells),), (grid,))


def _verdicts(data: Path) -> tuple[list[RecordedAnswer], dict[str, LabelledPair]]:
    return read_judgebench_verdicts([data / "judgebench" / "verdicts_o1-mini.jsonl"])


def judgebench_verdicts(data: Path) -> pd.DataFrame:
    """What o1-mini preferred in both orders."""
    return verdict_table(*_verdicts(data), "judgebench")


def judgebench_ratings(data: Path) -> pd.DataFrame:
    """The scores of the reward models."""
    return read_recorded_scores("judgebench", data / "judgebench" / "reward_models.jsonl")


def judgebench_by_length(data: Path) -> pd.DataFrame:
    """The same, by which answer has more words."""
    return by_length(judgebench_ratings(data), data / "judgebench" / "reward_models.jsonl")


def by_length(scores: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The scores with the variants `worse answer longer` and `worse answer not longer` in place of kinds."""
    longer = {
        row.text("pair_id"): float(row.text("words_worse")) > float(row.text("words_better"))
        for row in read_table(path).rows
    }
    kinds = scores["example"].map(lambda pair: f"worse answer {'longer' if longer[pair] else 'not longer'}")
    return scores.assign(variant=scores["variant"].where(scores["variant"] == ORIGINAL, kinds))


def _published(rated: Iterable[Result], cells: Sequence[RecordedCell]) -> Table:
    """Right decisions, counted as the authors do, where they print a figure."""
    right = {r.model: _fell(r) for r in rated}
    for model in {cell.model for cell in cells}:
        right[model] = _together([cell for cell in cells if cell.model == model])
    rows = []
    for model, published in PUBLISHED.items():
        counted = [right[model][kind] for kind in KINDS]
        counted.append((sum(n for n, _ in counted), sum(n for _, n in counted)))
        shares = (f"{hits / pairs:.2%} ({hits} of {pairs})" for hits, pairs in counted)
        rows += [(model, "published", *(f"{p:.2f}%" for p in published)), (model, "counted here", *shares)]
    return Table(
        "Against the published accuracies",
        "Share of the pairs in which the right answer got the higher score, or the two verdicts together "
        "favour it; a tie counts as wrong. Detection above counts it half. The commands print these shares: "
        "the first as fell in its JSON, the second in the column together.",
        ("judge", "accuracy", *KINDS, "all"),
        tuple(rows),
        (tabled("judgebench", "dhp analyze ratings.csv --json"), _BATTLE),
        words=2,
    )


def _fell(result: Result) -> Mapping[str, tuple[int, int]]:
    """Kind -> pairs in which the right answer got the higher score, and all pairs."""
    return {v.variant: (round((v.metrics["score"].fell or 0.0) * v.n), v.n) for v in result.variants}


def _together(cells: Iterable[RecordedCell]) -> Mapping[str, tuple[int, int]]:
    return {cell.subset: (cell.correct_together, cell.n) for cell in cells}
