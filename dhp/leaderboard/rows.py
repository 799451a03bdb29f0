"""The rows of a leaderboard, and the columns that stand beside those of `dhp.report.columns`."""

from dataclasses import dataclass

from dhp.leaderboard.entries import UNKNOWN, Entry
from dhp.report.document import Column


@dataclass(frozen=True, slots=True)
class Row:
    """One result in its table."""

    entry: Entry
    rank: int | None
    """Rank from 1 on; equal ranks are ties. None if detection is undefined or there is no other judge."""
    tied: bool
    groups: str = ""
    """Letters of the groups it belongs to; empty without a paired comparison."""


SIZES = ((3, "up to 3B"), (10, "3B to 10B"), (40, "10B to 40B"), (float("inf"), "40B and more"))
"""Classes of sizes for filters, from small to large: where each ends, in billions of parameters, and its
name.

The bounds are chosen.
"""


def size_class(entry: Entry) -> str:
    """The class of a model's size, for filters."""
    if entry.size is not None:
        for end, name in SIZES:
            if entry.size < end:
                return name
    return UNKNOWN


def shown_rank(row: Row) -> str:
    """A rank, with `=` if others have it too."""
    if row.rank is None:
        return "–"
    return f"{row.rank}=" if row.tied else str(row.rank)


def shown_cost(cost: float | None) -> str:
    """Two significant digits, whole numbers from 100 on, or a dash for unknown."""
    if cost is None:
        return "–"
    return f"{cost:.2g}" if cost < 100 else f"{cost:,.0f}"


def shown_size(billions: float | None) -> str:
    """Parameters in billions, or a dash for unknown."""
    return "–" if billions is None else f"{billions:g}B"


def _seconds(row: Row) -> str:
    """Median and 95th percentile, two significant digits each, or a dash for unknown."""
    latency = row.entry.result.latency
    if latency is None:
        return "–"
    median, most = latency
    return f"{median:.2g} / {most:.2g}"


def _scored(row: Row) -> str:
    ratings = row.entry.result.ratings
    return f"{ratings.get('scored', '–')} of {ratings.get('asked', '–')}"


def _way(protocol: str | None) -> str:
    """The name of a protocol, without the hash of its settings."""
    return (protocol or "–").partition("@")[0]


RANK = Column[Row](
    "rank", lambda r: r.rank, str, "1 + the number of judges that are better", words=shown_rank
)
MODEL = Column[Row]("model", lambda r: r.entry.result.model, str, "name of the judge's model", right=False)
PROTOCOL = Column[Row](
    "protocol",
    lambda r: r.entry.result.protocol if r.entry.result.asked else None,
    _way,
    "how the judge is asked",
    right=False,
    optional=True,
)
COST = Column[Row](
    "cost per 1,000",
    lambda r: r.entry.cost,
    shown_cost,
    "cost of 1,000 judgements, in the currency of the run's prices",
    optional=True,
)
SECONDS = Column[Row](
    "seconds",
    lambda r: None if r.entry.result.latency is None else r.entry.result.latency[0],
    str,
    "of a call, queues and networks included: the median, and what 95 % of the calls stay below",
    words=_seconds,
    optional=True,
)
BESIDE: tuple[Column[Row], ...] = (
    Column(
        "group",
        lambda r: r.groups or None,
        lambda letters: letters or "",
        "judges with a common letter do not differ significantly",
        right=False,
        optional=True,
    ),
    COST,
    SECONDS,
    Column(
        "size",
        lambda r: r.entry.size,
        shown_size,
        "parameters, as the model's name says",
        optional=True,
    ),
    PROTOCOL,
)
"""Columns after those of results; each is left out if no row has a value."""
SCORED = Column[Row](
    "scored",
    lambda r: r.entry.result.ratings.get("scored"),
    str,
    "answers with a score, of those asked for",
    words=_scored,
)
