"""Small open judges under changes that must not count: another order of the rubric, and length."""

from pathlib import Path

import pandas as pd
from results_pages.parts import SetFigures, Table, tabled

import dhp
from dhp.analysis.results import Result, VariantResult
from dhp.core.tables import read_table
from dhp.report.labels import percent, percents

_CHANGES = ("rubric_order: reversed", "rubric_order: random", "verbosity: verbose", "verbosity: terse")
_ANALYZE = tabled("small_judges", "dhp analyze ratings.csv --details")


def small_judges(data: Path) -> SetFigures:
    """The state of each harmless change, one row a judge."""
    results = dhp.analyze(small_judges_ratings(data))
    table = Table(
        "Changes that must not count",
        "Chance that a text got the lower score after a change of the prompt or of its length that must not "
        "count, ties half: a control, so 50 % is right. Scores are expected scores by token probabilities.",
        ("judge", "rubric reversed", "rubric shuffled", "wordy", "terse"),
        tuple((r.model, *_states(r)) for r in results),
        (_ANALYZE,),
        judges=False,
    )
    return SetFigures("small_judges", (), (table,), (table,))


def small_judges_ratings(data: Path) -> pd.DataFrame:
    """The expected scores of all judges."""
    table = read_table(data / "small_judges" / "scores.csv")
    table.need(["example", "variant", "score", "level", "model", "metric", "cluster"])
    return pd.DataFrame([row.values for row in table.rows], dtype=object)


def _states(result: Result) -> list[str]:
    controls = {row.variant: row for row in result.controls}
    return [_state(controls[change]) for change in _CHANGES]


def _state(row: VariantResult) -> str:
    return f"{row.state}, {percent(row.detection)} [{percents(row.detection_ci)}]"
