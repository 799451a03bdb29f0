"""Several judges beside each other in a terminal: how often each detects each kind of damage."""

from collections.abc import Sequence
from itertools import chain

from rich.text import Text

from dhp.analysis.results import Result, VariantResult
from dhp.content.catalog import variant_name
from dhp.report.findings import by_judge
from dhp.report.labels import sets
from dhp.report.printout import FirstThatFits, Part, TextTable

SEVERAL = 3
"""Judges from which they are shown beside each other."""
_LONGEST = 24
"""Characters of a judge's name in a heading; longer ones are numbered."""


def ranked(results: Sequence[Result]) -> list[Result]:
    """The results data by data, on each the judge with the highest mean detection over all data first."""
    averages = {
        judge: _mean([each.detection.avg for each in of]) or 0.0 for judge, of in by_judge(results).items()
    }
    data = list(dict.fromkeys(each.dataset for each in results))
    return sorted(results, key=lambda each: (data.index(each.dataset), -averages[each.judge]))


def side_by_side(results: Sequence[Result]) -> FirstThatFits:
    """A row for each kind of damage, the lowest figures first, and a column for each judge.

    Judges are in the order of the results.
    """
    judges = list(by_judge(results))
    seen: dict[str, dict[str, list[VariantResult]]] = {}
    for each in results:
        for row in each.variants:
            seen.setdefault(row.variant, {}).setdefault(each.judge, []).append(row)
    means = {kind: mean_detection(list(chain(*by.values()))) for kind, by in seen.items()}
    order = sorted((kind for kind in means if means[kind] is not None), key=lambda kind: means[kind] or 0.0)
    data = list(dict.fromkeys(each.dataset for each in results))
    title = f"detection in per cent by kind on {sets(data)}, lowest first"
    if several := len(data) > 1:
        title += "; mean, and number of sets in which it is noticed"
    short = [f"J{number}" for number in range(1, len(judges) + 1)]
    key = [f"{name}  {judge}" for name, judge in zip(short, judges, strict=True)]

    def table(names: Sequence[str], *, plain: bool = False) -> TextTable:
        cells = [
            [detection_cell(seen[kind].get(judge, ()), sets=several, plain=plain) for judge in judges]
            for kind in order
        ]
        rows: list[Sequence[str | Text]] = [
            (variant_name(kind), *row) for kind, row in zip(order, cells, strict=True)
        ]
        return TextTable(title, ("kind", *names), rows)

    forms: list[list[Part]] = [[*key, table(short)], [*key, table(short, plain=True)]]
    if max(map(len, judges)) <= _LONGEST:
        forms.insert(0, [table(judges)])
    return FirstThatFits(forms)


def detection_cell(rows: Sequence[VariantResult], *, sets: bool, plain: bool) -> Text:
    """Detection and verdict of a kind by one judge; of several sets the mean, and how often noticed.

    A plain one has the figure alone, in the colour of the verdict.
    """
    if (mean := mean_detection(rows)) is None:
        return Text("–")
    verdicts = [row.state for row in rows]
    cell = (
        "" if plain else f"{sum(word.is_noticed for word in verdicts)}/{len(rows)}" if sets else verdicts[0]
    )
    style = verdicts[0].style if len({*verdicts}) == 1 else ""
    return Text(f"{100 * mean:.0f} {cell}".rstrip(), style=style)


def mean_detection(rows: Sequence[VariantResult]) -> float | None:
    """The mean over rows that have a figure; None if none has."""
    return _mean([row.detection for row in rows])


def _mean(figures: Sequence[float | None]) -> float | None:
    known = [each for each in figures if each is not None]
    return sum(known) / len(known) if known else None
