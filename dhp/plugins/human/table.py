"""The table of `dhp correlate --table`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dhp.cli.options import refuse_surplus
from dhp.cli.output import OutputOptions
from dhp.core.errors import InputError
from dhp.core.options import option
from dhp.plugins.human.agreement import Agreement
from dhp.plugins.human.correlation import LEVELS, Level
from dhp.report.printout import Printout, TextTable

if TYPE_CHECKING:
    import pandas as pd

    from dhp.plugins.human.correlation import Coefficient, Level


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
    rows = [
        tuple(cell if isinstance(cell, str) else _figure(cell) for cell in row)
        for row in frame.itertuples(index=False, name=None)
    ]
    headings, last = list(names), ""
    for column in frame.columns[len(names) :]:
        metric, _, coefficient = column.rpartition(".")
        symbol = SYMBOLS[coefficient]
        headings.append(symbol if metric == last else f"{metric} {symbol}")
        last = metric
    return TextTable(title, headings, rows, headings[len(names) :])


def _figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:z.3f}"


_IN_TABLE = ("--table", "--csv", "--markdown", "--level", "--human", "--tau-c")
"""The options that --table takes."""


@dataclass(frozen=True)
class TableOptions:
    """One table of all judges, without intervals and tests."""

    table: bool = field(
        default=False,
        metadata=option("Print one table instead: judges, and their correlation by metric and coefficient."),
    )
    level: "tuple[Level, ...]" = field(
        default=(),
        metadata=option(
            "Only this level of that table, or with --csv or --markdown; may be repeated.",
            metavar="per_source|pooled|system",
            many=True,
        ),
    )

    def wanted(self, output: OutputOptions) -> bool:
        """Whether it is; raises `InputError` for options that contradict it or each other."""
        output.check()
        if output.json and self.table:
            raise InputError("--table and --json: contradict each other; give at most one")
        if not (self.table or output.csv or output.markdown):
            if self.level:
                raise InputError("--level: needs --table, --csv or --markdown")
            return False
        refuse_surplus("--table", _IN_TABLE)
        return True


def agreement_in_table(
    ratings: "str | pd.DataFrame",
    human: "str | pd.DataFrame",
    coefficients: "Sequence[Coefficient]",
    levels: "Sequence[Level]",
) -> Printout:
    """The table of these levels, or of all; errors as of `dhp.plugins.human.agreement.correlate`."""
    from dhp.plugins.human.agreement import correlate

    found = correlate(ratings, human, levels=levels or LEVELS, coefficients=coefficients, resamples=0)
    return Printout([agreement_table(found)], frame=found.to_frame)
