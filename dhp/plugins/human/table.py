"""One table of how judges correlate with human scores: terminal, CSV and Markdown."""

import math
from collections.abc import Mapping

from dhp.core.text import spreadsheet_safe
from dhp.plugins.human.agreement import Agreement
from dhp.plugins.human.correlation import Level
from dhp.report.formats import markdown_of
from dhp.report.tables import TextTable

LEVEL_NAMES: Mapping[Level, str] = {
    "per_source": "within sources",
    "pooled": "all items",
    "system": "systems",
}
"""Level -> what is correlated, as tables call it."""


SYMBOLS: Mapping[str, str] = {"pearson": "r", "spearman": "ρ", "kendall": "τ", "kendall-c": "τ-c"}


def agreement_table(agreement: Agreement) -> TextTable:
    """A row a level and judge, a column a metric and coefficient; to three decimals, a dash for undefined.

    A metric is named over the first of its columns alone; a level that is the only one in the title alone.
    """
    frame = agreement.to_frame()
    title = "correlation with human scores: Pearson's r, Spearman's ρ, Kendall's τ"
    levels = frame.pop("level").map(LEVEL_NAMES)
    if levels.nunique() == 1:
        title = f"{title}; {levels[0]}"
    else:
        frame.insert(0, "level", levels)
    names = [column for column in frame.columns if column in ("level", "judge")]
    rows = (
        tuple(cell if isinstance(cell, str) else _figure(cell) for cell in row)
        for row in frame.itertuples(index=False, name=None)
    )
    headings, last = list(names), ""
    for column in frame.columns[len(names) :]:
        metric, _, coefficient = column.rpartition(".")
        symbol = SYMBOLS[coefficient]
        headings.append(symbol if metric == last else f"{metric} {symbol}")
        last = metric
    return TextTable(title, tuple(headings), tuple(rows), frozenset(headings[len(names) :]))


def _figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:z.3f}"


def agreement_csv(agreement: Agreement) -> str:
    """The table as comma-separated values, to the last digit; an empty cell is undefined."""
    frame = agreement.to_frame().map(spreadsheet_safe)
    return str(frame.to_csv(index=False, lineterminator="\n"))


def agreement_markdown(agreement: Agreement) -> str:
    """The table in Markdown."""
    return markdown_of(agreement_table(agreement))
