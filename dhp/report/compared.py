"""What is said of a comparison of judges, for terminal and page.

`comparison_sentence` first says what passes at a mark (`dhp.report.compared_marks`), then how the judges
differ in detection: of two judges what changed from the first to the second (`_change`), of several on one
set which detects most (`_most_on`), on several sets how often each does (`_most_on_sets`). `most_different`
sorts the kinds of damage by how far the judges lie apart in them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from dhp.analysis.percent import whole_percent
from dhp.analysis.results import VariantResult
from dhp.content.catalog import kind_name
from dhp.report.compared_marks import marks_sentence
from dhp.report.labels import listed, percent, percents
from dhp.report.side_by_side import mean_detection
from dhp.runs.compare import DatasetComparison

Seen = Mapping[str, Sequence[VariantResult]]
"""Judge -> one kind of damage as it saw it, on each dataset."""
_NAMED = 4
"""Kinds of damage that a sentence names."""
_BLIND = 0.5
"""The detection of a judge that guesses."""
_SAME = 1e-9
"""Figures that differ by less are equal: they differ by the order in which floats were added."""


def comparison_sentence(comparisons: Sequence[DatasetComparison]) -> str:
    """What changed from the first of two judges to the second; of several judges which detects most.

    What passes at a mark comes first.
    """
    return "; ".join([*marks_sentence(comparisons), _by_detection(comparisons)])


def _by_detection(comparisons: Sequence[DatasetComparison]) -> str:
    judges = list(dict.fromkeys(chain.from_iterable(each.judges for each in comparisons)))
    if len(judges) == 2 and all(len(each.judges) == 2 for each in comparisons):
        return _change(comparisons)
    if len(comparisons) == 1:
        return _most_on(comparisons[0])
    return _most_on_sets(comparisons, judges)


def _change(comparisons: Sequence[DatasetComparison]) -> str:
    """Whether the second judge notices more or less than the first, by how much, and which kinds."""
    old, new = comparisons[0].names
    if len(comparisons) == 1:
        overall = _change_on(comparisons[0])
    else:
        # The direction is that of a significant difference; 0 means that none is shown.
        directions = [each.scores["detection"].pairs[0].direction for each in comparisons]
        # Of several sets no figure is said: the sentence counts the sets.
        more, less = directions.count(1), directions.count(-1)
        overall = (
            f"{new} notices more than {old} on {more} of {len(directions)} sets, less on {less or 'none'}"
        )
    parts = [overall]
    for heading, kinds in _changed_kinds(comparisons).items():
        if kinds:
            parts.append(f"{heading}: {listed(kinds[:_NAMED])}")
    return "; ".join([*parts, *_alarms(comparisons)])


def _change_on(comparison: DatasetComparison) -> str:
    """`v2 notices more than v1: 82 against 70 %, +12 points (6 to 18)`."""
    old, new = comparison.names
    detection = comparison.scores["detection"]
    # Of two judges there is one pair.
    (pair,) = detection.pairs
    if math.isnan(pair.difference):
        return f"{comparison.dataset}: detection is undefined"
    figures = f"{whole_percent(detection.point[1])} against {whole_percent(detection.point[0])} %"
    ends = "" if math.isnan(pair.low) else f" ({100 * pair.low:z.0f} to {100 * pair.high:z.0f})"
    points = f"{figures}, {100 * pair.difference:+z.0f} points{ends}"
    more = {1: "notices more than", -1: "notices less than", 0: "does not differ significantly from"}
    return f"{new} {more[pair.direction]} {old}: {points}"


def _changed_kinds(comparisons: Sequence[DatasetComparison]) -> dict[str, list[str]]:
    """Heading -> the kinds in which two judges differ significantly, on any data, the widest apart first.

    What the second notices and the first does not is new; the reverse is lost.
    """
    kinds: dict[str, list[str]] = {"new": [], "lost": [], "more of": [], "less of": []}
    for variant, _ in most_different(comparisons):
        for each in comparisons:
            pair = each.apart.get(variant)
            if pair is None or not pair.differs:
                continue
            before, after = (row.state.is_good for row in _rows_of(each, variant))
            heading = _heading(before, after, up=pair.difference > 0)
            if kind_name(variant) not in kinds[heading]:
                kinds[heading].append(kind_name(variant))
    return kinds


def _rows_of(comparison: DatasetComparison, variant: str) -> Sequence[VariantResult]:
    """The rows of a kind of damage that has some, one for each judge."""
    return next(rows for rows in comparison.damage if rows[0].variant == variant)


def _heading(before: bool, after: bool, *, up: bool) -> str:
    if up:
        return "new" if after and not before else "more of"
    return "lost" if before and not after else "less of"


def other_verdicts(comparison: DatasetComparison, names: Sequence[str]) -> dict[str, str]:
    """Variant -> what one of two judges says if only the other notices it, and why, for each such kind.

    In the order of `most_different`; `names` are those of the judges.
    """
    reasons = {}
    for variant, seen in most_different([comparison]):
        rows = [seen[judge][0] for judge in comparison.judges]
        # The two agree on whether the damage is noticed: there is nothing to explain.
        if len({row.state.is_good for row in rows}) == 1:
            continue
        for name, row in zip(names, rows, strict=True):
            if not row.state.is_good:
                reasons[variant] = f"{row.state} by {name}, {_reason(row)}"
    return reasons


def _reason(row: VariantResult) -> str:
    """Why a kind of damage is not noticed, by its figure."""
    if row.detection is None or row.detection_ci is None:
        return "too few pairs"
    figures = f"{percent(row.detection)} ({percents(row.detection_ci)})"
    if row.state.like_edits:
        return f"{figures}: not shown to score lower than the harmlessly edited text"
    # More than 50 % and still open: it fails only in the test over all kinds.
    if row.state.is_open and row.detection_ci[0] > _BLIND:
        return f"{figures}: not proven in the test over all kinds, more examples decide"
    if row.state.is_open:
        return f"{figures}: the interval holds 50 %, more examples decide"
    return figures


def most_different(comparisons: Iterable[DatasetComparison]) -> list[tuple[str, Seen]]:
    """Each kind of damage with what each judge saw of it, the widest apart first."""
    kinds: dict[str, dict[str, list[VariantResult]]] = {}
    for each in comparisons:
        for rows in each.damage:
            for judge, row in zip(each.judges, rows, strict=True):
                kinds.setdefault(row.variant, {}).setdefault(judge, []).append(row)
    # Kinds of which no two judges have a figure come last.
    return sorted(kinds.items(), key=lambda item: -spread(item[1]))


def spread(seen: Seen) -> float:
    """How far the judges lie apart, in [0, 1]; below 0 if fewer than two have a figure."""
    means = [mean for mean in map(mean_detection, seen.values()) if mean is not None]
    return max(means) - min(means) if len(means) > 1 else -1.0


def _most_on(comparison: DatasetComparison) -> str:
    """Which judge detects most, how far the others are behind it, and who raises false alarms."""
    best = _best(comparison)
    if not best:
        return f"{comparison.dataset}: detection is undefined"
    names = ", ".join(comparison.judges[place] for place in best)
    highest = comparison.scores["detection"].point[best[0]]
    parts = [f"{names} detects most, {percent(highest)}"]
    near: list[str] = []
    behind: list[str] = []
    for other in _others(comparison):
        words = f"{other.judge} ({other.distance})"
        if other.is_near:
            near.append(words)
        else:
            behind.append(words)
    if near:
        parts.append(f"not significantly different: {', '.join(near)}")
    if behind:
        parts.append(f"detects significantly less: {', '.join(behind)}")
    return f"{comparison.dataset}: {'; '.join([*parts, *_alarms([comparison])])}"


def _most_on_sets(comparisons: Sequence[DatasetComparison], judges: Sequence[str]) -> str:
    """On how many datasets each judge detects most, or significantly less, and who raises false alarms."""
    most = dict.fromkeys(judges, 0)
    behind = dict.fromkeys(judges, 0)
    for each in comparisons:
        for place in _best(each):
            most[each.judges[place]] += 1
        for other in _others(each):
            if not other.is_near:
                behind[other.judge] += 1
    parts = []
    for words, counts in (("detects most", most), ("detects significantly less", behind)):
        named = [f"{judge} ({n} of {len(comparisons)} sets)" for judge, n in counts.items() if n]
        if named:
            parts.append(f"{words}: {', '.join(named)}")
    return "; ".join([*parts, *_alarms(comparisons)]) or "detection is undefined"


def _best(comparison: DatasetComparison) -> list[int]:
    """The places of the judges with the highest detection."""
    points = comparison.scores["detection"].point.tolist()
    known = [point for point in points if not math.isnan(point)]
    highest = max(known, default=math.nan)
    # Not equal by `==`: the means of judges with the same answers may differ in the last digit.
    return [place for place, point in enumerate(points) if abs(point - highest) < _SAME]


@dataclass(frozen=True, slots=True)
class _Other:
    """A judge behind the best."""

    judge: str
    is_near: bool
    """Whether it is not significantly different from the best."""
    distance: str
    """How far it is behind."""


def _others(comparison: DatasetComparison) -> list[_Other]:
    """The judges behind the best."""
    detection = comparison.scores["detection"]
    best = _best(comparison)
    others: list[_Other] = []
    for pair in detection.pairs:
        # Pairs of the best judge only; one without a p-value was not compared.
        if not best or best[0] not in (pair.first, pair.second) or math.isnan(pair.p_adjusted):
            continue
        place = pair.second if pair.first == best[0] else pair.first
        if place in best:  # as good as the best one to the last digit
            continue
        distance = f"{-100 * abs(pair.difference):z.0f} points, p = {pair.p_adjusted:.2g}"
        is_near = any(place in group and best[0] in group for group in detection.groups)
        others.append(_Other(comparison.judges[place], is_near, distance))
    return others


def _alarms(comparisons: Sequence[DatasetComparison]) -> list[str]:
    """Which judges raise false alarms, and on which sets if there are several; no part if none does."""
    datasets: dict[str, list[str]] = {}
    for each in comparisons:
        for judge, alarms in zip(each.judges, each.false_alarms, strict=True):
            if alarms:
                datasets.setdefault(judge, []).append(each.dataset)
    if not datasets:
        return []
    if len(comparisons) == 1:
        return [f"false alarm: {', '.join(datasets)}"]
    named = [f"{judge} ({', '.join(names)})" for judge, names in datasets.items()]
    return [f"false alarm: {', '.join(named)}"]
