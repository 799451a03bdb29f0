"""A judge's reasons against its verdicts, as a table."""

from collections.abc import Mapping, Sequence

from dhp.analysis.reasons import Named, together
from dhp.content.catalog import variant_name
from dhp.report.document import Column, Table
from dhp.report.labels import percent

_Row = tuple[str, Named]
"""What the damage is called, and its texts by verdict and reason."""
REASONS: Sequence[Column[_Row]] = (
    Column("damage", lambda row: row[0], right=False, names=True),
    Column("texts", lambda row: row[1].texts),
    Column("seen and named", lambda row: row[1].seen_named, help="seen; the reason names what was changed"),
    Column("seen, not named", lambda row: row[1].seen_only, help="seen for another reason, or for none"),
    Column(
        "named, yet passed",
        lambda row: row[1].named_only,
        help="named, and yet it passes the mark, or without one its score did not fall",
    ),
    Column("neither", lambda row: row[1].neither),
    Column(
        "named by chance",
        lambda row: row[1].by_chance,
        percent,
        "how often the reason about the undamaged text would name the same change",
    ),
)


def reasons_table(reasons: Mapping[str, Named]) -> Table[_Row]:
    """Damaged texts by verdict and reason: all of them, then each kind."""
    rows = [("all damage", together([*reasons.values()]))]
    if len(reasons) > 1:
        rows += [(variant_name(variant), named) for variant, named in reasons.items()]
    return Table("Reason against verdict", REASONS, rows, titled=False)
