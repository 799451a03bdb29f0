"""Tables of comparable results, ranked with ties, and their exports.

Results that share all that must agree stand in one table. Ranks come from the best rule that the results
allow (`RULES`): a paired comparison on the same texts, else intervals, else the plain figures.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np

from dhp.analysis.results import Result
from dhp.core.errors import InputError
from dhp.core.files import indented_json
from dhp.core.progress import Progress, counted
from dhp.core.shown import spreadsheet_safe
from dhp.leaderboard.entries import Entry, judge_names, score
from dhp.leaderboard.rows import BESIDE, COST, MODEL, PROTOCOL, RANK, Row
from dhp.report.columns import legend, run_columns
from dhp.report.document import Column, filled
from dhp.report.labels import group_letters
from dhp.report.printout import markdown_cell, markdown_table
from dhp.runs.alike import check_allowed
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


@dataclass(frozen=True)
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

    @cached_property
    def entries(self) -> list[Entry]:
        """The entries of the rows."""
        return [row.entry for row in self.rows]

    @cached_property
    def results(self) -> list[Result]:
        """The results of the rows."""
        return [entry.result for entry in self.entries]

    @cached_property
    def columns(self) -> list[Column[Result]]:
        """The figures of a row."""
        return run_columns(self.results)

    @cached_property
    def beside(self) -> list[Column[Row]]:
        """What else is known of a row: its groups, cost, time, size and protocol."""
        return filled(BESIDE, self.rows)

    @cached_property
    def names(self) -> dict[tuple[str, str], str]:
        """Names of the judges by model and protocol."""
        return judge_names(self.entries)

    @property
    def dataset(self) -> str:
        """Name of the dataset, without the hash of its texts."""
        return self.rows[0].entry.result.dataset


def make_tables(
    entries: Sequence[Entry], allow: Collection[str] = (), progress: Progress | None = None
) -> list[Table]:
    """One table for each kind of result, by task and dataset, the fullest of a dataset first.

    `allow` names parts of the signature that may differ within a table, beside the protocol; see
    `dhp.runs.compare`. `progress` is called as `progress(what, done, total, cost)`.
    """
    check_allowed(allow)
    kinds: dict[tuple[str, ...], list[Entry]] = {}
    for entry in sorted(entries, key=lambda e: e.key):
        kind = [value for part, value in entry.shared.items() if part not in allow]
        if "metrics" in allow:  # scales may differ then, and the names of metrics still may not
            kind += sorted(set(chain.from_iterable(row.metrics for row in entry.result.variants)))
        kinds.setdefault(tuple(kind), []).append(entry)
    shown = counted(progress, "ranking judges", list(kinds.values()), lambda each: each[0].result.dataset)
    tables = [_table(members, allow, progress) for members in shown]
    return sorted(tables, key=lambda t: (t.task, t.dataset, -len(t.rows), tuple(t.parts.values())))


def overlap_ranks(intervals: Sequence[tuple[float, float]]) -> list[int]:
    """1 + the number of intervals that lie wholly above each one."""
    lows = sorted(low for low, _ in intervals)
    return [1 + len(lows) - bisect_right(lows, high) for _, high in intervals]


def competition_ranks(scores: Sequence[float]) -> list[int]:
    """1 + the number of higher scores."""
    ordered = sorted(scores)
    return [1 + len(ordered) - bisect_right(ordered, score) for score in scores]


def group_ranks(scores: Sequence[float], groups: Sequence[Sequence[int]]) -> list[int]:
    """1 + the number of higher scores in no common group."""
    together: list[set[int]] = [set() for _ in scores]
    for group in groups:
        for member in group:
            together[member].update(group)
    ranks = []
    for lower, near in zip(scores, together, strict=True):
        higher = [j for j, other in enumerate(scores) if other > lower and j not in near]
        ranks.append(1 + len(higher))
    return ranks


def _table(entries: Sequence[Entry], allow: Collection[str], progress: Progress | None) -> Table:
    placed = [e for e in entries if score(e.result, "detection")[0] is not None]
    rule, ranks, comparison = _ranked(placed, allow, progress)
    rows = []
    for entry in entries:
        rank, letters = None, ""
        if entry in placed:
            place = placed.index(entry)
            if len(placed) > 1:
                rank = ranks[place]
            if comparison is not None:
                letters = group_letters(comparison.scores["detection"].groups, place)
        tied = rank is not None and ranks.count(rank) > 1
        rows.append(Row(entry, rank, tied, letters))
    # Judges without a rank come last.
    rows.sort(key=lambda row: (row.rank or len(rows) + 1, -(score(row.entry.result, "detection")[0] or 0.0)))
    first = entries[0]
    shared = {part: value for part, value in first.shared.items() if part not in allow}
    return Table(shared, first.task, rule, tuple(rows), comparison, tuple(placed))


def _ranked(
    entries: Sequence[Entry], allow: Collection[str], progress: Progress | None
) -> tuple[Rule, list[int], DatasetComparison | None]:
    """The rule that the results allow, the ranks by it, and the comparison that they come from."""
    rated = [RunResult(e.place, e.result, e.ratings) for e in entries if e.ratings is not None]
    apart = any(run.result.curves for run in rated)
    # An average over doses means nothing, so runs with doses have none to compare by.
    paired = len(rated) == len(entries) and 2 <= len(rated) <= MOST_PAIRED and not apart
    for run in rated[1:] if paired else ():
        if set(run.ratings.examples) != set(rated[0].ratings.examples):
            raise InputError(f"{run.place}: its ratings are of other examples than those of {rated[0].place}")
    if paired and unpaired(rated) is None:
        comparison = compare_results(rated, {"protocol", *allow}, progress)
        by_average = comparison.scores["detection"]
        if np.isfinite(by_average.point).all():
            return "paired", group_ranks(by_average.point.tolist(), by_average.groups), comparison
    ends = (score(entry.result, "detection")[1] for entry in entries)
    intervals = [each for each in ends if each is not None]
    if entries and len(intervals) == len(entries):
        return "intervals", overlap_ranks(intervals), None
    return "figures", competition_ranks([score(e.result, "detection")[0] or 0.0 for e in entries]), None


def judges_of(tables: Sequence[Table]) -> list[tuple[Entry, list[Row | None]]]:
    """Each judge with its row in every table, by mean rank, then by mean detection."""
    by_judge: dict[tuple[str, str], list[Row | None]] = {}
    for number, table in enumerate(tables):
        for row in table.rows:
            key = (row.entry.result.model, row.entry.result.protocol)
            by_judge.setdefault(key, [None] * len(tables))[number] = row

    def mean_rank(rows: Sequence[Row | None]) -> float:
        ranks = [row.rank for row in rows if row is not None and row.rank is not None]
        return sum(ranks) / len(ranks) if ranks else float("inf")

    def mean_detection(rows: Sequence[Row | None]) -> float:
        figures = [score(row.entry.result, "detection")[0] or 0.0 for row in rows if row is not None]
        return sum(figures) / len(figures)

    order = sorted(by_judge, key=lambda key: (mean_rank(by_judge[key]), -mean_detection(by_judge[key]), key))
    judges = []
    for key in order:
        rows = by_judge[key]
        first = next(row for row in rows if row is not None)
        judges.append((first.entry, rows))
    return judges


SCHEMA = "dhp.leaderboard/2"
_QUANTITIES = ("detection", "lowest_detection")
_DETAILS = ("d_avg", "d_min", "d_avg_ew", "d_min_ew")


def as_json(tables: Sequence[Table]) -> str:
    """The tables with all figures (schema `dhp.leaderboard/2`)."""
    records = []
    for table in tables:
        rows = list(map(_record, table.rows))
        records.append({**table.parts, "task": table.task, "rule": table.rule, "rows": rows})
    return indented_json({"schema": SCHEMA, "tables": records})


def as_csv(tables: Sequence[Table]) -> str:
    """One line a result, what its table shares included; intervals as two columns, `_low` and `_high`."""
    import pandas as pd

    lines: list[dict[str, object]] = []
    for number, table in enumerate(tables, 1):
        for row in table.rows:
            record = _record(row)
            for name in _QUANTITIES:
                low, high = record.pop(f"{name}_ci") or (None, None)
                record |= {f"{name}_low": low, f"{name}_high": high}
            lines.append({"table": number, "task": table.task, **table.parts, "rule": table.rule, **record})
    frame = pd.DataFrame(lines, dtype=object).map(spreadsheet_safe)
    return frame.to_csv(index=False, lineterminator="\n")


def as_markdown(tables: Sequence[Table]) -> str:
    """A heading, what they share and a table each."""
    parts = ["# Leaderboard"]
    for table in tables:
        shared = ", ".join(f"{name} {value}" for name, value in table.parts.items())
        columns: list[Column[Any]] = [RANK, MODEL, PROTOCOL, *table.columns, COST]
        headings = [column.heading for column in columns]
        right = [place for place, column in enumerate(columns) if column.right]
        rows = [list(map(markdown_cell, _cells(table, row))) for row in table.rows]
        parts += [
            f"## {markdown_cell(table.dataset)}",
            f"{markdown_cell(shared)}. {RULES[table.rule]}",
            markdown_table(headings, rows, right),
            *map(markdown_cell, legend(table.results)),
        ]
    return "\n\n".join(parts) + "\n"


def _record(row: Row) -> dict[str, Any]:
    entry: Entry = row.entry
    r = entry.result
    scores = {name: score(r, name) for name in _QUANTITIES}
    return {
        "rank": row.rank,
        "tied": row.tied,
        "groups": row.groups,
        "model": r.model,
        "provider": entry.provider,
        "size_billions": entry.size,
        "protocol": r.protocol,
        "noticed": sum(row.state.is_good for row in r.variants),
        "kinds": len(r.variants),
        **{name: value for name, (value, _) in scores.items()},
        **{f"{name}_ci": ends for name, (_, ends) in scores.items()},
        "read": r.read,
        "lowest_kind": r.detection.min_variant,
        "harmless_edits": r.harmless_edits,
        **{name: getattr(r, name) for name in _DETAILS},
        "cost_per_1000": entry.cost,
        "latency": r.latency,
        "asked": r.ratings.get("asked"),
        "scored": r.ratings.get("scored"),
        "created": r.created,
        "signature": r.signature,
    }


def _cells(table: Table, row: Row) -> list[str]:
    """The short row of a table to be printed."""
    r = row.entry.result
    return [
        *(RANK.shown(row), MODEL.shown(row), r.protocol),  # with its hash: prompts of one name may differ
        *(column.shown(r) for column in table.columns),
        COST.shown(row),
    ]
