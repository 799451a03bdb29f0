"""What judges let through and stop at their pass marks, beside each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from dhp.analysis.percent import whole_percent
from dhp.report.columns import GOOD_FAILS, MEAN_PASS, points_apart
from dhp.report.document import Column, Interval, Table
from dhp.report.labels import percent
from dhp.runs.at_mark import DAMAGED_PASS, GOOD_FAIL
from dhp.runs.compare import DatasetComparison, Pair

_TEXTS = {DAMAGED_PASS: "of damaged texts pass", GOOD_FAIL: "of good ones fail"}
"""Share -> what it is of. Both are errors of a judge: the lower, the better."""


def marks_sentence(comparisons: Sequence[DatasetComparison]) -> list[str]:
    """What passes and fails by the second of two judges, or by the best of several; nothing without marks."""
    marked = [each for each in comparisons if each.marks]
    # If the sets have other judges, a mean over sets would compare none of them.
    if len({each.judges for each in marked}) != 1:
        return []
    at = f"at your mark of {' or '.join(_marks(marked))}"
    if len(marked[0].names) > 2:
        return [f"{at} {_fewest_errors(marked)}"]
    shares = [_instead(marked, share, texts) for share, texts in _TEXTS.items()]
    if len(marked) > 1:
        return [f"{at}, over {len(marked)} sets, {' and '.join(shares)}"]
    return [f"{at} {_direction(marked[0])}: {', '.join(shares)}"]


def _instead(comparisons: Sequence[DatasetComparison], share: str, texts: str) -> str:
    """`35 instead of 59 % of damaged texts pass`, the mean over the sets."""
    old = whole_percent(_mean(comparisons, share, 0))
    new = whole_percent(_mean(comparisons, share, 1))
    return f"{new} % {texts} by both" if new == old else f"{new} instead of {old} % {texts}"


def _mean(comparisons: Sequence[DatasetComparison], share: str, judge: int) -> float:
    """A share by one of the judges, the mean over the sets."""
    return fmean(float(each.scores[share].point[judge]) for each in comparisons)


def _direction(comparison: DatasetComparison) -> str:
    """Whether the second judge is better, worse, or better in one share and worse in the other."""
    new = comparison.names[1]
    directions = {comparison.scores[share].pairs[0].direction for share in _TEXTS}
    # Both shares are errors, so 1 and -1 together mean that one grew and the other fell.
    if directions == {-1, 1}:
        return f"{new} is a trade"
    if directions == {0}:
        return f"{new} is not shown to differ"
    return f"{new} is {'better' if -1 in directions else 'worse'}"


def _fewest_errors(comparisons: Sequence[DatasetComparison]) -> str:
    """Of several judges that with the smallest sum of both shares, the mean over the sets."""

    def errors(judge: int) -> float:
        # Both shares are errors, so their sum is what a judge does wrong.
        return sum(_mean(comparisons, share, judge) for share in _TEXTS)

    names = comparisons[0].names
    best = min(range(len(names)), key=errors)
    words = [f"{percent(_mean(comparisons, share, best))} {texts}" for share, texts in _TEXTS.items()]
    return f"{names[best]} has the fewest errors: {' and '.join(words)}"


@dataclass(frozen=True, slots=True)
class _MarkedRow:
    """A judge on a set, or the difference of two."""

    comparison: DatasetComparison
    name: str
    place: int | None
    """Which of the judges it is; None for the difference."""

    def point(self, share: str) -> float:
        # `point`, `low` and `high` have a value for each judge, shape (judges,).
        of = self.comparison.scores[share]
        return of.pairs[0].difference if self.place is None else float(of.point[self.place])

    def ends(self, share: str) -> Interval:
        of = self.comparison.scores[share]
        return None if self.place is None else (float(of.low[self.place]), float(of.high[self.place]))

    def pair(self, share: str) -> Pair | None:
        return self.comparison.scores[share].pairs[0] if self.place is None else None


def marks_of(comparisons: Sequence[DatasetComparison]) -> str:
    """The marks of the judges, each once."""
    return " and ".join(_marks(comparisons))


def _marks(comparisons: Sequence[DatasetComparison]) -> list[str]:
    marks: dict[str, None] = {}
    for each in comparisons:
        marks |= dict.fromkeys(each.marks)
    return list(marks)


def marks_table(
    comparisons: Sequence[DatasetComparison], names: Mapping[str, str] | None = None
) -> list[Table[_MarkedRow]]:
    """A row for each judge, and one for the difference of two; no table without marks.

    `names` are those of judges in the table, by default the short ones of the comparison.
    """
    marked = [each for each in comparisons if each.marks]
    if not marked:
        return []
    rows = []
    for each in marked:
        shown = [names[judge] for judge in each.judges] if names else each.names
        for place, name in enumerate(shown):
            rows.append(_MarkedRow(each, name, place))
        # The difference of two; of several judges there would be a row for every two.
        if len(shown) == 2:
            rows.append(_MarkedRow(each, f"{shown[1]} - {shown[0]}", None))
    columns = []
    if len(comparisons) > 1:
        columns.append(Column[_MarkedRow]("data", lambda row: row.comparison.dataset, right=False))
    columns += [
        Column[_MarkedRow]("judge", lambda row: row.name, right=False, names=True),
        _share(MEAN_PASS.heading, DAMAGED_PASS, MEAN_PASS.help),
        _share(GOOD_FAILS.heading, GOOD_FAIL, GOOD_FAILS.help),
    ]
    title = f"at the mark of {marks_of(marked)}; differences in points, * significant at 0.05"
    return [Table(title, columns, rows, style=lambda row: "bold" if row.place is None else "")]


def _share(heading: str, share: str, meaning: str) -> Column[_MarkedRow]:
    def words(row: _MarkedRow) -> str:
        # The row of a difference has a pair; that of a judge has none.
        pair = row.pair(share)
        return percent(row.point(share)) if pair is None else points_apart(pair)

    return Column(
        heading, lambda row: row.point(share), help=meaning, words=words, ends=lambda row: row.ends(share)
    )
