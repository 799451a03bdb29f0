"""What a comparison of judges says, for terminal and page.

The sentence of two judges tells what changed from the first to the second; that of several, which detects
most. First comes what passes at a mark (`dhp.report.compared_marks`). The page shows for each dataset a
matrix of kinds and judges, the widest apart first, and of two judges the texts whose verdict changed.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from dhp.analysis.percent import whole_percent
from dhp.analysis.results import VariantResult
from dhp.content.catalog import kind_name
from dhp.core.diff import Operation, diff, snippet
from dhp.core.shown import printable
from dhp.core.verdicts import Verdict, verdicts_about
from dhp.report.columns import (
    DETECTION,
    DIFFERENCE,
    GOOD_FAILS,
    LOWEST,
    MEAN_PASS,
    NEWLY,
    NO_LONGER,
    run_columns,
)
from dhp.report.compared_marks import marks_of, marks_sentence, marks_table
from dhp.report.document import Part
from dhp.report.labels import listed, percent, percents
from dhp.report.matrix import Matrix, matrix_of
from dhp.report.shared_styles import agreement_parts
from dhp.report.side_by_side import mean_detection
from dhp.report.web import page
from dhp.runs.changed_pairs import ChangedKind, ChangedPair, changed_kinds
from dhp.runs.compare import DatasetComparison
from dhp.runs.reader import Run, RunResult

Seen = Mapping[str, Sequence[VariantResult]]
"""Judge -> one kind of damage as it saw it, on each dataset."""
_NAMED = 4
"""Kinds of damage that a sentence names."""
_BLIND = 0.5
_SAME = 1e-9
"""Figures that differ by less are equal."""


def comparison_sentence(comparisons: Sequence[DatasetComparison]) -> str:
    """What changed from the first of two judges to the second; of several judges which detects most.

    What passes at a mark comes first.
    """
    return "; ".join([*marks_sentence(comparisons), _by_detection(comparisons)])


def _by_detection(comparisons: Sequence[DatasetComparison]) -> str:
    judges = list(dict.fromkeys(chain.from_iterable(each.judges for each in comparisons)))
    if len(judges) == 2 and all(len(each.judges) == 2 for each in comparisons):
        return _change(comparisons)
    return _sentence(comparisons[0]) if len(comparisons) == 1 else _summary(comparisons, judges)


def _change(comparisons: Sequence[DatasetComparison]) -> str:
    """Whether the second judge notices more or less than the first, by how much, and which kinds."""
    old, new = comparisons[0].names
    if len(comparisons) == 1:
        overall = _change_on(comparisons[0])
    else:
        states = [each.scores["detection"].pairs[0].direction for each in comparisons]
        more, less = states.count(1), states.count(-1)
        overall = f"{new} notices more than {old} on {more} of {len(states)} sets, less on {less or 'none'}"
    kinds = [f"{heading}: {listed(names)}" for heading, names in _changed_names(comparisons).items() if names]
    return "; ".join([overall, *kinds, *_alarms(comparisons)])


def _change_on(comparison: DatasetComparison) -> str:
    """`v2 notices more than v1: 82 against 70 %, +12 points (6 to 18)`."""
    old, new = comparison.names
    by = comparison.scores["detection"]
    (pair,) = by.pairs
    if math.isnan(pair.difference):
        return f"{comparison.dataset}: detection is undefined"
    figures = f"{whole_percent(by.point[1])} against {whole_percent(by.point[0])} %"
    ends = "" if math.isnan(pair.low) else f" ({100 * pair.low:z.0f} to {100 * pair.high:z.0f})"
    points = f"{figures}, {100 * pair.difference:+z.0f} points{ends}"
    more = {1: "notices more than", -1: "notices less than", 0: "does not differ significantly from"}
    return f"{new} {more[pair.direction]} {old}: {points}"


def _changed_names(comparisons: Sequence[DatasetComparison]) -> dict[str, list[str]]:
    """Heading -> the kinds in which two judges differ significantly, on any data, the widest apart first.

    What the second notices and the first does not is new; the reverse is lost.
    """
    changes: dict[str, dict[str, None]] = {"new": {}, "lost": {}, "more of": {}, "less of": {}}
    for kind, _ in most_different(comparisons):
        for each in comparisons:
            pair = each.apart.get(kind)
            if pair is None or not pair.differs:
                continue
            rows = next(rows for rows in each.damage if rows[0].variant == kind)
            before, after = (row.state.is_good for row in rows)
            changes[_heading(before, after, up=pair.difference > 0)][kind_name(kind)] = None
    return {heading: list(names)[:_NAMED] for heading, names in changes.items()}


def _heading(before: bool, after: bool, *, up: bool) -> str:
    if up:
        return "new" if after and not before else "more of"
    return "lost" if before and not after else "less of"


def other_verdicts(comparison: DatasetComparison, names: Sequence[str]) -> dict[str, str]:
    """Variant -> what one of two judges says if only the other notices it, and why, for each such kind.

    In the order of `most_different`; `names` are those of the judges.
    """
    changed = {}
    for kind, seen in most_different([comparison]):
        rows = [seen[judge][0] for judge in comparison.judges]
        if len({row.state.is_good for row in rows}) > 1:
            name, row = next(each for each in zip(names, rows, strict=True) if not each[1].state.is_good)
            changed[kind] = f"{row.state} by {name}, {_reason(row)}"
    return changed


def _reason(row: VariantResult) -> str:
    """Why a kind of damage is not noticed, by its figure."""
    if row.detection is None or row.detection_ci is None:
        return "too few pairs"
    figures = f"{percent(row.detection)} ({percents(row.detection_ci)})"
    if row.state.like_edits:
        return f"{figures}: not shown to score lower than the harmlessly edited text"
    if row.state.is_open and row.detection_ci[0] > _BLIND:
        return f"{figures}: not proven in the test over all kinds, more examples decide"
    if row.state.is_open:
        return f"{figures}: the interval holds 50 %, more examples decide"
    return figures


def most_different(comparisons: Sequence[DatasetComparison]) -> list[tuple[str, Seen]]:
    """Each kind of damage with what each judge saw of it, the widest apart first."""
    kinds: dict[str, dict[str, list[VariantResult]]] = {}
    for each in comparisons:
        for rows in each.damage:
            for judge, row in zip(each.judges, rows, strict=True):
                kinds.setdefault(row.variant, {}).setdefault(judge, []).append(row)
    return sorted(kinds.items(), key=lambda item: -spread(item[1]))


def spread(seen: Seen) -> float:
    """How far the judges lie apart, in [0, 1]; below 0 if fewer than two have a figure."""
    means = [mean for mean in map(mean_detection, seen.values()) if mean is not None]
    return max(means) - min(means) if len(means) > 1 else -1.0


def _sentence(comparison: DatasetComparison) -> str:
    """Which judge detects most, how far the others are behind it, and who raises false alarms."""
    by, best = comparison.scores["detection"], _best(comparison)
    if not best:
        return f"{comparison.dataset}: detection is undefined"
    parts = [f"{', '.join(comparison.judges[k] for k in best)} detects most, {percent(by.point[best[0]])}"]
    near: list[str] = []
    behind: list[str] = []
    for k, is_near, less in _others(comparison):
        (near if is_near else behind).append(f"{comparison.judges[k]} ({less})")
    if near:
        parts.append(f"not significantly different: {', '.join(near)}")
    if behind:
        parts.append(f"detects significantly less: {', '.join(behind)}")
    return f"{comparison.dataset}: {'; '.join([*parts, *_alarms([comparison])])}"


def _summary(comparisons: Sequence[DatasetComparison], judges: Sequence[str]) -> str:
    """On how many datasets each judge detects most, or significantly less, and who raises false alarms."""
    most, behind = dict.fromkeys(judges, 0), dict.fromkeys(judges, 0)
    for each in comparisons:
        for k in _best(each):
            most[each.judges[k]] += 1
        for k, near, _ in _others(each):
            behind[each.judges[k]] += not near
    parts = []
    for words, counts in (("detects most", most), ("detects significantly less", behind)):
        named = [f"{judge} ({n} of {len(comparisons)} sets)" for judge, n in counts.items() if n]
        if named:
            parts.append(f"{words}: {', '.join(named)}")
    return "; ".join([*parts, *_alarms(comparisons)]) or "detection is undefined"


def _best(comparison: DatasetComparison) -> list[int]:
    """The judges with the highest detection."""
    points = comparison.scores["detection"].point.tolist()
    highest = max((point for point in points if not math.isnan(point)), default=math.nan)
    return [k for k, point in enumerate(points) if abs(point - highest) < _SAME]


def _others(comparison: DatasetComparison) -> Iterator[tuple[int, bool, str]]:
    """Each judge behind the best: whether it is not significantly different, and how far it is behind."""
    by, best = comparison.scores["detection"], _best(comparison)
    for pair in by.pairs:
        if not best or best[0] not in (pair.first, pair.second) or math.isnan(pair.p_adjusted):
            continue
        k = pair.second if pair.first == best[0] else pair.first
        if k in best:  # as good as the best one to the last digit
            continue
        less = f"{-100 * abs(pair.difference):z.0f} points, p = {pair.p_adjusted:.2g}"
        with_the_best = [group for group in by.groups if k in group and best[0] in group]
        yield k, bool(with_the_best), less


def _alarms(comparisons: Sequence[DatasetComparison]) -> list[str]:
    counts: dict[str, list[str]] = {}
    for each in comparisons:
        for judge, alarms in zip(each.judges, each.false_alarms, strict=True):
            if alarms:
                counts.setdefault(judge, []).append(each.dataset)
    named = [
        f"{judge} ({', '.join(data)})" if len(comparisons) > 1 else judge for judge, data in counts.items()
    ]
    return [f"false alarm: {', '.join(named)}"] if named else []


_SHOWN = 40
"""Texts of a kind of damage that are shown."""
_Key = tuple[str, str, str]
"""Dataset, example, variant."""
_Changes = Mapping[_Key, Sequence[tuple[Operation, str]]]


@dataclass(frozen=True, slots=True)
class _Set:
    """The judges of one dataset."""

    comparison: DatasetComparison
    matrix: Matrix
    heads: Sequence[tuple[str, str]]
    """Name of each judge, and its run if runs differ."""
    changed: Mapping[str, ChangedKind]
    """Variant -> the pairs in which two judges differ; empty for more judges."""

    @property
    def moved(self) -> Mapping[str, str]:
        """The kinds of damage whose verdict differs -> why, of two judges."""
        moved, reasons = {}, self.reasons
        for row in self.matrix.rows:
            states = {cell.state for cell in row.cells if cell is not None}
            if None not in row.cells and len(states) > 1:
                moved[row.variant] = reasons.get(row.variant, "another verdict")
        return moved

    @property
    def reasons(self) -> Mapping[str, str]:
        """Of two judges, variant -> what one says that the other notices, and why."""
        return other_verdicts(self.comparison, self.matrix.heads) if len(self.heads) == 2 else {}

    @property
    def at_marks(self) -> str:
        """The marks at which the judges are compared."""
        return marks_of([self.comparison])

    @property
    def marks_tables(self) -> list[Part]:
        """What passes and fails at these marks."""
        return [replace(table, titled=False) for table in marks_table([self.comparison])]

    def shown(self, variant: str) -> Sequence[ChangedPair]:
        """The texts of a kind whose verdict changed: of each direction the clearest."""
        pairs = self.changed[variant].pairs
        newly = [pair for pair in pairs if pair.newly]
        no_longer = [pair for pair in pairs if not pair.newly]
        return [*newly[: _SHOWN // 2], *no_longer[: _SHOWN // 2]]


def compared_page(
    rated: Mapping[str, Sequence[RunResult]],
    comparisons: Sequence[DatasetComparison],
    runs: Iterable[Run] = (),
) -> str:
    """The page of a comparison: one file that needs no network, every text in it escaped.

    Texts are read from `runs`; without them they are named only.
    """
    sets = [_set(each, rated[each.dataset]) for each in comparisons]
    wanted: set[_Key] = set()
    rows: list[VariantResult] = []
    for each in sets:
        for variant in each.changed:
            wanted |= {(each.comparison.dataset, pair.example, variant) for pair in each.shown(variant)}
        for row in each.matrix.rows:
            rows += [cell for cell in row.cells if cell is not None]
    return page(
        "compared.html",
        styles=("report.css", "matrix.css"),
        sets=sets,
        two=all(len(each.heads) == 2 for each in sets),
        sentence=printable(comparison_sentence(comparisons)),
        changes=_changes(runs, wanted),
        agreement_parts=agreement_parts,
        verdicts=_verdicts(rows),
        run_columns=run_columns,
        DETECTION=DETECTION,
        DIFFERENCE=DIFFERENCE,
        LOWEST=LOWEST,
        MEAN_PASS=MEAN_PASS,
        GOOD_FAILS=GOOD_FAILS,
        NEWLY=NEWLY,
        NO_LONGER=NO_LONGER,
    )


def _set(comparison: DatasetComparison, entries: Sequence[RunResult]) -> _Set:
    seen = [entry.result for entry in entries]
    names = [printable(name) for name in comparison.names]
    places = [Path(entry.place).name for entry in entries]
    # The run is named only where it tells something: not if all are of one, or are called as their runs.
    if len({*places}) == 1 or places == list(comparison.names):
        places = [""] * len(names)
    # Of three judges or more there is no before and after.
    changed = changed_kinds(*entries) if len(entries) == 2 else {}
    matrix = matrix_of(comparison.dataset, names, seen)
    order = [variant for variant, _ in most_different([comparison])]
    rows = sorted(matrix.rows, key=lambda row: order.index(row.variant))
    return _Set(
        comparison,
        replace(matrix, rows=tuple(rows)),
        list(zip(names, map(printable, places), strict=True)),
        changed,
    )


def _verdicts(rows: Iterable[VariantResult]) -> list[Verdict]:
    states = {row.state for row in rows}
    return [verdict for verdict in verdicts_about("damage") if verdict in states]


def _changes(runs: Iterable[Run], wanted: Collection[_Key]) -> _Changes:
    """What was done to the texts: the first change to each, in one line."""
    texts: dict[_Key, list[tuple[Operation, str]]] = {}
    for row in chain.from_iterable(run.pairs() for run in runs):
        key = row["dataset"], row["example"], row["variant"]
        if key in wanted and key not in texts and row["text"] is not None:
            texts[key] = snippet(diff(row["before"], row["text"], row["level"]))
    return texts
