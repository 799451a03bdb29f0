"""When to ask a person: what is left for each share of texts, as a table."""

from collections.abc import Sequence

from dhp.analysis.certainty import Asked, Asking
from dhp.report.document import Column, Table
from dhp.report.labels import percent

_Rows = tuple[Asked, Asked]
"""Of one share: asked about any text, and about texts that pass only."""
ASKING: Sequence[Column[_Rows]] = (
    Column("texts to a person", lambda row: row[0].share, percent, "share of the texts that a person reads"),
    Column(
        "damaged that pass",
        lambda row: row[0].passing,
        percent,
        "damaged texts that still pass if the texts nearest to the mark go to a person",
        ends=lambda row: row[0].passing_ci,
    ),
    Column(
        "at random",
        lambda row: row[0].passing + row[0].gain[0],
        percent,
        "damaged texts that still pass if as many texts are drawn by lot",
    ),
    Column("good that fail", lambda row: row[0].failing, percent, "good texts that still fail"),
    Column("good sent", lambda row: row[0].good, percent, "good texts that go to a person"),
    Column("damaged sent", lambda row: row[0].damaged, percent, "damaged texts that go to a person"),
    Column("passing sent", lambda row: row[0].of_passing, percent, "of the texts that pass"),
    Column(
        "asking of passing only",
        lambda row: row[1].passing,
        percent,
        "damaged texts that still pass if a person is asked of passing texts only, as many as of all texts",
        ends=lambda row: row[1].passing_ci,
    ),
    Column(
        "of passing at random",
        lambda row: row[1].passing + row[1].gain[0],
        percent,
        "the same if these are drawn by lot among the texts that pass",
    ),
)


def asking_table(asking: Asking) -> Table[_Rows]:
    """What is left for each share of texts that go to a person."""
    rows = list(zip(asking.of_all, asking.of_passing, strict=True))
    return Table("When to ask a person", ASKING, rows, titled=False)
