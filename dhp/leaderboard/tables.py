"""Tables of comparable results, ranked with ties, and their exports.

Results that share all that must agree stand in one table. Ranks come from the best rule that the results
allow (`RULES`): a paired comparison on the same texts, else intervals, else the plain figures.
"""

import math
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from dhp.analysis.results import Result
from dhp.core.errors import InputError
from dhp.core.files import indented_json
from dhp.core.progress import Progress, counted
from dhp.core.shown import spreadsheet_safe
from dhp.leaderboard.entries import Entry, judge_names
from dhp.leaderboard.rows import BESIDE, COST, MODEL, PROTOCOL, RANK, Row
from dhp.report.columns import legend, run_columns
from dhp.report.document import Column, filled
from dhp.report.labels import group_letters
from dhp.report.markdown import markdown_cell, markdown_table
from dhp.runs.alike import check_allowed
from dhp.runs.compare import DatasetComparison, compare_results, unpaired
from dhp.runs.reader import RunResult

Rule = Literal["paired", "intervals", "figures"]
MOST_PAIRED = 16
"""Chosen: so many judges of a table are compared by pairs. Time grows with the square of their number."""
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


# Without slots: cached properties need a place for what they computed.
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
    # Sorted, so that the site does not depend on the order of the paths.
    for entry in sorted(entries, key=lambda entry: entry.key):
        kind = [value for part, value in entry.shared.items() if part not in allow]
        if "metrics" in allow:  # scales may differ then, and the names of metrics still may not
            kind += sorted(entry.metrics)
        kinds.setdefault(tuple(kind), []).append(entry)
    shown = counted(progress, "ranking judges", list(kinds.values()), lambda kind: kind[0].result.dataset)
    tables = [_table(members, allow, progress) for members in shown]
    return sorted(tables, key=_place)


def _place(table: Table) -> tuple[object, ...]:
    """Sorts tables by task and dataset, the fullest first; its parts make the order sure."""
    return table.task, table.dataset, -len(table.rows), tuple(table.parts.values())


def overlap_ranks(intervals: Sequence[tuple[float, float]]) -> list[int]:
    """1 + the number of intervals that lie wholly above each one."""
    # The lower ends beyond an upper end belong to the intervals above it; bisection counts them.
    lows = sorted(low for low, _ in intervals)
    ranks = []
    for _, high in intervals:
        above = len(lows) - bisect_right(lows, high)
        ranks.append(1 + above)
    return ranks


def competition_ranks(scores: Sequence[float]) -> list[int]:
    """1 + the number of higher scores."""
    # A score is an interval of no width.
    return overlap_ranks([(score, score) for score in scores])


def group_ranks(scores: Sequence[float], groups: Sequence[Sequence[int]]) -> list[int]:
    """1 + the number of higher scores that share no group with each one."""
    # By place of a judge: the places of all that share a group with it.
    together: list[set[int]] = [set() for _ in scores]
    for group in groups:
        for member in group:
            together[member].update(group)
    ranks = []
    for lower, near in zip(scores, together, strict=True):
        rank = 1
        for place, other in enumerate(scores):
            if other > lower and place not in near:
                rank += 1
        ranks.append(rank)
    return ranks


def _table(entries: Sequence[Entry], allow: Collection[str], progress: Progress | None) -> Table:
    """The table of results that share all that must agree."""
    # Judges without detection get a row, but no rank.
    placed = [entry for entry in entries if entry.detection is not None]
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
    last = len(rows) + 1  # judges without a rank
    rows.sort(key=lambda row: (row.rank or last, -(row.entry.detection or 0.0)))
    first = entries[0]
    shared = {part: value for part, value in first.shared.items() if part not in allow}
    return Table(shared, first.task, rule, tuple(rows), comparison, tuple(placed))


def _ranked(
    entries: Sequence[Entry], allow: Collection[str], progress: Progress | None
) -> tuple[Rule, list[int], DatasetComparison | None]:
    """The rule that the results allow, the ranks by it, and the comparison that they come from."""
    comparison = _paired(entries, allow, progress)
    if comparison is not None:
        by_average = comparison.scores["detection"]
        return "paired", group_ranks(by_average.point.tolist(), by_average.groups), comparison
    detections, intervals = [], []
    for entry in entries:
        # All have a detection here: the 0 only satisfies the type checker.
        detections.append(entry.detection or 0.0)
        if entry.detection_ends is not None:
            intervals.append(entry.detection_ends)
    # A judge without an interval could not be placed among the others, so all must have one.
    if entries and len(intervals) == len(entries):
        return "intervals", overlap_ranks(intervals), None
    return "figures", competition_ranks(detections), None


def _paired(
    entries: Sequence[Entry], allow: Collection[str], progress: Progress | None
) -> DatasetComparison | None:
    """The paired comparison of all judges on the same texts; None if the results do not allow one.

    Raises `InputError` if ratings are of different examples, although the results say they are the same.
    """
    rated = []
    for entry in entries:
        if entry.ratings is None or entry.result.curves:  # an average over doses means nothing
            return None
        rated.append(RunResult(entry.place, entry.result, entry.ratings))
    if not 2 <= len(rated) <= MOST_PAIRED:
        return None
    first = rated[0]
    for run in rated[1:]:
        if set(run.ratings.examples) != set(first.ratings.examples):
            raise InputError(f"{run.place}: its ratings are of other examples than those of {first.place}")
    if unpaired(rated) is not None:
        return None
    # Protocols may differ within a table (`Entry.kind`).
    comparison = compare_results(rated, {"protocol", *allow}, progress)
    # A judge may have no average over the texts that all judges have rated.
    has_averages = np.isfinite(comparison.scores["detection"].point).all()
    return comparison if has_averages else None


def judges_of(tables: Sequence[Table]) -> list[tuple[Entry, list[Row | None]]]:
    """Each judge with its row in every table, by mean rank, then by mean detection."""
    first_entries: dict[tuple[str, str], Entry] = {}
    rows_of: dict[tuple[str, str], list[Row | None]] = {}
    for number, table in enumerate(tables):
        for row in table.rows:
            judge = row.entry.judge
            first_entries.setdefault(judge, row.entry)
            # A place for each table, None where the judge does not turn up.
            rows_of.setdefault(judge, [None] * len(tables))[number] = row

    def order(judge: tuple[str, str]) -> tuple[object, ...]:
        rows = [row for row in rows_of[judge] if row is not None]
        ranks = [row.rank for row in rows if row.rank is not None]
        # A judge that has a rank nowhere comes after all others.
        mean_rank = sum(ranks) / len(ranks) if ranks else math.inf
        detections = [row.entry.detection or 0.0 for row in rows]
        return mean_rank, -sum(detections) / len(detections), judge

    return [(first_entries[judge], rows_of[judge]) for judge in sorted(rows_of, key=order)]


SCHEMA = "dhp.leaderboard/2"
"""Name and version of the form of `leaderboard.json`."""


def as_json(tables: Sequence[Table]) -> str:
    """The tables with all figures (schema `dhp.leaderboard/2`)."""
    records = []
    for table in tables:
        rows = [_record(row) for row in table.rows]
        records.append({**table.parts, "task": table.task, "rule": table.rule, "rows": rows})
    return indented_json({"schema": SCHEMA, "tables": records})


def as_csv(tables: Sequence[Table]) -> str:
    """One line a result, what its table shares included; intervals as two columns, `_low` and `_high`."""
    import pandas as pd

    lines: list[dict[str, object]] = []
    for number, table in enumerate(tables, 1):
        for row in table.rows:
            record = _record(row)
            for name in ("detection", "lowest_detection"):
                # A cell cannot hold two numbers.
                low, high = record.pop(f"{name}_ci") or (None, None)
                record[f"{name}_low"] = low
                record[f"{name}_high"] = high
            lines.append({"table": number, "task": table.task, **table.parts, "rule": table.rule, **record})
    # As objects, so that whole numbers stay whole beside cells without a value.
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
        rows = []
        for row in table.rows:
            rows.append([markdown_cell(cell) for cell in _cells(table, row)])
        parts += [
            f"## {markdown_cell(table.dataset)}",
            f"{markdown_cell(shared)}. {RULES[table.rule]}",
            markdown_table(headings, rows, right),
            *(markdown_cell(line) for line in legend(table.results)),
        ]
    return "\n\n".join(parts) + "\n"


def _record(row: Row) -> dict[str, Any]:
    """All figures of a row, as JSON and CSV have them."""
    entry = row.entry
    r = entry.result
    noticed = [kind for kind in r.variants if kind.state.is_good]
    return {
        "rank": row.rank,
        "tied": row.tied,
        "groups": row.groups,
        "model": r.model,
        "provider": entry.provider,
        "size_billions": entry.size,
        "protocol": r.protocol,
        "noticed": len(noticed),
        "kinds": len(r.variants),
        "detection": entry.detection,
        "lowest_detection": r.detection.min,
        "detection_ci": entry.detection_ends,
        "lowest_detection_ci": r.detection.ci["min"],
        "read": r.read,
        "lowest_kind": r.detection.min_variant,
        "harmless_edits": r.harmless_edits,
        "d_avg": r.d_avg,
        "d_min": r.d_min,
        "d_avg_ew": r.d_avg_ew,
        "d_min_ew": r.d_min_ew,
        "cost_per_1000": entry.cost,
        "latency": r.latency,
        "asked": r.ratings.get("asked"),
        "scored": r.ratings.get("scored"),
        "created": r.created,
        "signature": r.signature,
    }


def _cells(table: Table, row: Row) -> list[str]:
    """The cells of a row in Markdown."""
    result = row.entry.result
    return [
        RANK.shown(row),
        MODEL.shown(row),
        result.protocol,  # with its hash, which `PROTOCOL` leaves out: prompts of one name may differ
        *(column.shown(result) for column in table.columns),
        COST.shown(row),
    ]
