"""Tables of comparable results, ranked with ties."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dhp.analysis.schedules import ALL
from dhp.core.errors import InputError
from dhp.core.progress import Progress, counted
from dhp.leaderboard.entries import Entry, score
from dhp.report.labels import group_letters
from dhp.runs.comparable import check_allowed
from dhp.runs.compare import DatasetComparison, compare_results, unpaired
from dhp.runs.reader import RunResult

Rule = Literal["paired", "intervals", "figures"]
MOST_PAIRED = 16
"""Judges that are compared by pairs; time grows with the square of their number."""
RULES: dict[Rule, str] = {
    "paired": "A rank is 1 + the number of judges that are significantly better: a higher detection, and "
    "no common group in the paired comparison of all judges on the same texts (label swaps by example, Holm "
    "over all pairs). Judges that share a group letter do not differ significantly at 0.05.",
    "intervals": "A rank is 1 + the number of judges whose 95 % interval of detection lies wholly above. "
    "Judges with overlapping intervals tie; a paired comparison on the same texts could tell some of them "
    f"apart, but takes the ratings of all, and no more than {MOST_PAIRED} judges.",
    "figures": "A rank is 1 + the number of judges with a higher detection; only equal figures tie, as "
    "intervals are not at hand.",
}
"""How ranks were found, for readers."""


@dataclass(frozen=True, slots=True)
class Row:
    """One result in its table."""

    entry: Entry
    rank: int | None
    """Rank from 1 on; equal ranks are ties. None where detection is undefined or there is no other judge."""
    tied: bool
    groups: str = ""
    """Letters of the groups it belongs to; empty without a paired comparison."""


@dataclass(frozen=True, slots=True)
class Table:
    """Results of the same data, texts, method, weights and statistics; protocols may differ."""

    parts: dict[str, str]
    """Parts of the signature that all runs share: name -> value."""
    task: str
    rule: Rule
    rows: tuple[Row, ...]
    """Rows by rank, then by detection."""
    comparison: DatasetComparison | None
    """Paired comparison, in the order of `compared`; None without one."""
    compared: tuple[Entry, ...]

    @property
    def priced(self) -> bool:
        """Whether the cost of any is known."""
        return any(entry.cost is not None for entry in self.entries)

    @property
    def prompted(self) -> bool:
        """Whether any judge was asked under a protocol."""
        return any(entry.result.asked for entry in self.entries)

    @property
    def sized(self) -> bool:
        """Whether the name of any says its size."""
        return any(entry.size is not None for entry in self.entries)

    @property
    def entries(self) -> list[Entry]:
        """The entries of the rows."""
        return [row.entry for row in self.rows]

    @property
    def dataset(self) -> str:
        """Name of the dataset, without the hash of its texts."""
        return self.rows[0].entry.result.dataset


def make_tables(
    entries: Sequence[Entry], allow: Collection[str] = (), progress: Progress | None = None
) -> list[Table]:
    """One table for each kind of result, by task and dataset, the fullest of a dataset first.

    `allow` names parts of the signature that may differ within a table, beside the protocol; see
    `dhp.runs.comparable`. `progress` is called as `progress(what, done, total, cost)`.
    """
    check_allowed(allow)
    kinds: dict[tuple[str, ...], list[Entry]] = {}
    for entry in sorted(entries, key=lambda e: e.key):
        kind = tuple(value for part, value in entry.shared.items() if part not in allow)
        names = sorted({m for v in entry.result.variants for m in v.metrics}) if "metrics" in allow else []
        kinds.setdefault((*kind, *names), []).append(entry)
    shown = counted(progress, "ranking judges", list(kinds.values()), lambda each: each[0].result.dataset)
    tables = [_table(members, allow, progress) for members in shown]
    return sorted(tables, key=lambda t: (t.task, t.dataset, -len(t.rows), tuple(t.parts.values())))


def overlap_ranks(intervals: Sequence[tuple[float, float]]) -> list[int]:
    """1 + the number of intervals that lie wholly above each one."""
    return [1 + sum(low > high for low, _ in intervals) for _, high in intervals]


def competition_ranks(scores: Sequence[float]) -> list[int]:
    """1 + the number of higher scores."""
    return [1 + sum(other > score for other in scores) for score in scores]


def group_ranks(scores: Sequence[float], groups: Sequence[Sequence[int]]) -> list[int]:
    """1 + the number of higher scores in no common group."""
    together = [{j for group in groups if i in group for j in group} for i in range(len(scores))]
    return [
        1 + sum(other > score and j not in together[i] for j, other in enumerate(scores))
        for i, score in enumerate(scores)
    ]


def _table(entries: Sequence[Entry], allow: Collection[str], progress: Progress | None) -> Table:
    there = [e for e in entries if score(e.result, "detection")[0] is not None]
    rule, ranks, comparison = _ranked(there, allow, progress)
    rows = []
    for entry in entries:
        place = there.index(entry) if entry in there else None
        rank = None if place is None or len(there) < 2 else ranks[place]
        letters = ""
        if comparison is not None and place is not None:
            letters = group_letters(comparison.scores["detection"].groups, place)
        rows.append(Row(entry, rank, ranks.count(rank) > 1 if rank else False, letters))
    rows.sort(key=lambda row: (row.rank or len(rows) + 1, -(score(row.entry.result, "detection")[0] or 0.0)))
    first = entries[0]
    shared = {part: value for part, value in first.shared.items() if part not in allow}
    return Table(shared, first.task, rule, tuple(rows), comparison, tuple(there))


def _ranked(
    entries: Sequence[Entry], allow: Collection[str], progress: Progress | None
) -> tuple[Rule, list[int], DatasetComparison | None]:
    """The rule that the results allow, the ranks by it, and the comparison that they come from."""
    rated = [RunResult(e.place, e.result, e.ratings) for e in entries if e.ratings is not None]
    apart = any(run.ratings.course.schedule is not ALL or run.result.curves for run in rated)
    paired = len(rated) == len(entries) and 2 <= len(rated) <= MOST_PAIRED and not apart
    if paired and unpaired(rated) is None:
        found = _comparison(rated, allow, progress)
        by_average = found.scores["detection"]
        if np.isfinite(by_average.point).all():
            return "paired", group_ranks(by_average.point.tolist(), by_average.groups), found
    intervals = [ends for e in entries if (ends := score(e.result, "detection")[1]) is not None]
    if entries and len(intervals) == len(entries):
        return "intervals", overlap_ranks(intervals), None
    return "figures", competition_ranks([score(e.result, "detection")[0] or 0.0 for e in entries]), None


def _comparison(
    rated: Sequence[RunResult], allow: Collection[str], progress: Progress | None
) -> DatasetComparison:
    for run in rated[1:]:
        if set(run.ratings.examples) != set(rated[0].ratings.examples):
            raise InputError(f"{run.place}: its ratings are of other examples than those of {rated[0].place}")
    dataset = rated[0].result.dataset
    return compare_results(dataset, rated, {"protocol", *allow}, ("detection",), progress)
