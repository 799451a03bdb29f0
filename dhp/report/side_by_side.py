"""Several judges beside each other in a terminal: how often each detects each kind of damage.

`ranked` puts the best judge first. `judges_on_sets` has a row for each judge and a column for each set;
`side_by_side` a row for each kind of damage and a column for each judge, where a cell is the mean over sets.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dhp.analysis.results import Result, VariantResult
from dhp.content.catalog import variant_name
from dhp.core.verdicts import Verdict
from dhp.report.columns import DETECTION, PASSING
from dhp.report.document import Column, FirstThatFits, Part, Table, item
from dhp.report.findings import by_judge
from dhp.report.labels import percent, sets, shared_folder

SEVERAL = 3
"""Judges from which they are shown beside each other."""
_FEW = 8
"""Results that still are read row by row, if there are several judges and several sets. Chosen."""
_LONGEST = 24
"""Characters of a judge's name in a heading; longer ones are numbered. Chosen."""


def ranked(results: Sequence[Result]) -> list[Result]:
    """The results data by data, on each the judge with the highest mean detection over all data first."""
    averages: dict[str, float] = {}
    for judge, of_judge in by_judge(results).items():  # over all data, so that each set has the same order
        averages[judge] = _mean([each.detection.avg for each in of_judge]) or 0.0
    datasets = _datasets(results)
    return sorted(results, key=lambda each: (datasets.index(each.dataset), -averages[each.judge]))


def _datasets(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(each.dataset for each in results))


def judges_on_sets(results: Sequence[Result]) -> list[Part]:
    """A row for each judge, the best first, and a column for each set; nothing for few results.

    Cells are the detection, with the number of kinds noticed; if there is a pass mark, a table with the
    damaged texts that pass stands before it.
    """
    datasets = _datasets(results)
    # Rows are (judge, dataset -> its result), which may lack a dataset.
    on_sets: dict[str, dict[str, Result]] = {}
    for each in ranked(results):
        on_sets.setdefault(each.judge, {})[each.dataset] = each
    if len(results) <= _FEW or len(datasets) == 1 or len(on_sets) == 1:
        return []
    shared = shared_folder(datasets)

    def table(column: Column[Any], title: str) -> Table[Any]:
        columns = [Column[Any]("judge", item(0), names=True, right=False)]
        for name in datasets:
            columns.append(replace(column, heading=name.removeprefix(shared)).on(item(1, name)))
        return Table(title, columns, list(on_sets.items()), css="results stacked")

    tables: list[Part] = []
    if any(PASSING.value(each) is not None for each in results):
        tables.append(table(_on_set(PASSING, limits=True), f"{PASSING.heading} on {sets(datasets)}"))
    title = f"detection on {sets(datasets)}, and kinds of damage noticed"
    return [*tables, table(_on_set(DETECTION), title)]


def _on_set(column: Column[Result], *, limits: bool = False) -> Column[Result | None]:
    """A figure of a judge on one set, which may not be there."""

    def more(result: Result | None) -> dict[str, Any]:
        if result is None:
            return {}
        return {"small": column.limits(result) if limits else result.noticed_of}

    return Column(
        column.heading,
        lambda result: None if result is None else column.value(result),
        words=lambda result: "–" if result is None else column.text(result),
        extra=more,
    )


def side_by_side(results: Sequence[Result]) -> FirstThatFits:
    """A row for each kind of damage, the lowest figures first, and a column for each judge.

    Judges are in the order of the results.
    """
    judges = list(by_judge(results))
    seen = seen_by([(each.judge, each) for each in results])
    datasets = _datasets(results)
    title = f"detection in per cent by kind on {sets(datasets)}, lowest first"
    several = len(datasets) > 1
    if several:
        title += "; mean, and number of sets in which it is noticed"
    numbers = [f"J{number}" for number in range(1, len(judges) + 1)]
    key = [f"{number}  {judge}" for number, judge in zip(numbers, judges, strict=True)]

    def table(names: Sequence[str], *, plain: bool = False) -> Table[Any]:
        rows = list(seen.items())
        columns = [Column[Any]("kind", item(0), variant_name, names=True, right=False)]
        detections = judge_columns(judges, names, sets=several, plain=plain)
        columns += [column.on(item(1)) for column in detections]
        return Table(title, columns, rows, css="results stacked")

    # With numbers for the names, which the key above the table explains; the last form has figures alone.
    forms: list[list[Part]] = [[*key, table(numbers)], [*key, table(numbers, plain=True)]]
    if max(map(len, judges)) <= _LONGEST:  # no key is needed: the names stand over the columns
        forms.insert(0, [table(judges)])
    return FirstThatFits(forms)


_Seen = Mapping[str, Sequence[VariantResult]]
"""Judge -> the rows of a kind of damage, one for each set."""


def seen_by(named: Sequence[tuple[str, Result]]) -> dict[str, _Seen]:
    """Kind of damage -> name -> its rows in the results of that name; the kind that is detected least first.

    Kinds without any figure are left out.
    """
    seen: dict[str, dict[str, list[VariantResult]]] = {}
    for name, result in named:
        for row in result.variants:
            seen.setdefault(row.variant, {}).setdefault(name, []).append(row)
    known: list[tuple[float, str]] = []
    for kind, rows_by_name in seen.items():
        rows = []
        for of_name in rows_by_name.values():
            rows += of_name
        mean = mean_detection(rows)
        if mean is not None:
            known.append((mean, kind))
    # Kinds with equal means are in order of their names.
    return {kind: seen[kind] for _, kind in sorted(known)}


def judge_columns(
    judges: Sequence[str], names: Sequence[str], *, sets: bool, plain: bool
) -> list[Column[_Seen]]:
    """Detection of a kind and verdict by each judge; of several sets the mean, and how often it is noticed.

    Plain columns have the figure alone. All are in the colour of the verdict.
    """
    column = Column[Sequence[VariantResult]](
        "detection",
        mean_detection,
        words=lambda rows: _detection_words(rows, sets=sets, plain=plain),
        extra=lambda rows: {"word": _agreed_verdict(rows)},
        right=False,
    )
    columns = []
    for judge, name in zip(judges, names, strict=True):
        columns.append(replace(column, heading=name).on(_rows_of(judge)))
    return columns


def _rows_of(judge: str) -> Callable[[_Seen], Sequence[VariantResult]]:
    return lambda seen: seen.get(judge, ())


def _detection_words(rows: Sequence[VariantResult], *, sets: bool, plain: bool) -> str:
    mean = mean_detection(rows)
    if mean is None:
        return "–"
    share = f"{100 * mean:.0f}"
    if plain:
        return share
    if sets:
        noticed = [row for row in rows if row.state.is_noticed]
        words = f"{share} {len(noticed)}/{len(rows)}"
    else:
        # Of one set a kind has one row.
        words = f"{share} {rows[0].state}"
    read = [row.read for row in rows if row.read is not None and row.partly_read]
    return f"{words} ({percent(min(read))} read)" if read else words


def _agreed_verdict(rows: Sequence[VariantResult]) -> Verdict | None:
    """The verdict of all rows that have a figure; None if they differ or there is none."""
    verdicts = {row.state for row in rows}
    return verdicts.pop() if len(verdicts) == 1 and mean_detection(rows) is not None else None


def mean_detection(rows: Sequence[VariantResult]) -> float | None:
    """The mean over rows that have a figure; None if none has."""
    return _mean([row.detection for row in rows])


def _mean(figures: Sequence[float | None]) -> float | None:
    known = [each for each in figures if each is not None]
    return sum(known) / len(known) if known else None
