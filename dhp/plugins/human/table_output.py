"""`dhp correlate --table`: the correlation of all judges in one table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dhp.cli.options import stated
from dhp.cli.output import output_console, print_for_programs
from dhp.core.errors import InputError
from dhp.core.options import option

if TYPE_CHECKING:
    import pandas as pd

    from dhp.plugins.human.correlation import Coefficient, Level

_IN_TABLE = ("--table", "--csv", "--markdown", "--level", "--human", "--tau-c")
"""The options that --table takes."""


@dataclass(frozen=True)
class TableOptions:
    """One table of all judges, without intervals and tests."""

    table: bool = field(
        default=False,
        metadata=option("Print one table instead: judges, and their correlation by metric and coefficient."),
    )
    csv: bool = field(default=False, metadata=option("Print that table as CSV."))
    markdown: bool = field(default=False, metadata=option("Print that table in Markdown."))
    level: "tuple[Level, ...]" = field(
        default=(),
        metadata=option(
            "With --table: only this level; may be repeated.", metavar="per_source|pooled|system", many=True
        ),
    )

    def wanted(self, *, json: bool) -> bool:
        """Whether it is; raises `InputError` for options that contradict it or each other."""
        asked = {"--csv": self.csv, "--markdown": self.markdown, "--json": json}
        forms = [name for name, wanted in asked.items() if wanted]
        if len(forms) > 1 or (json and self.table):
            both = " and ".join(forms if len(forms) > 1 else ["--table", "--json"])
            raise InputError(f"{both}: contradict each other; give at most one")
        if not (self.table or self.csv or self.markdown):
            if self.level:
                raise InputError("--level: needs --table, --csv or --markdown")
            return False
        if surplus := [each for each in stated() if each not in _IN_TABLE]:
            raise InputError(f"{surplus[0]}: is not for --table; allowed: {', '.join(_IN_TABLE)}")
        return True


def print_table(
    ratings: "str | pd.DataFrame",
    human: "str | pd.DataFrame",
    coefficients: "Sequence[Coefficient]",
    form: TableOptions,
) -> None:
    """Print it in the form that is wanted; errors as of `dhp.plugins.human.agreement.correlate`."""
    from dhp.plugins.human.agreement import correlate
    from dhp.plugins.human.correlation import LEVELS
    from dhp.plugins.human.table import agreement_csv, agreement_markdown, agreement_table

    found = correlate(ratings, human, levels=form.level or LEVELS, coefficients=coefficients, resamples=0)
    if form.csv:
        print_for_programs(agreement_csv(found))
    elif form.markdown:
        print_for_programs(agreement_markdown(found))
    else:
        agreement_table(found).printed(output_console())
