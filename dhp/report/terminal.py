"""What is printed of results and of degraded texts."""

from collections.abc import Sequence
from itertools import chain

from rich.text import Text

from dhp.analysis.results import DoseResponse, Interval, Result, Results, VariantResult
from dhp.content.catalog import kind_name, variant_name
from dhp.core.diff import diff
from dhp.core.signature import PAIRWISE, protocol_name
from dhp.core.text import printable
from dhp.report.advice import notes, notes_of_plugins, warnings
from dhp.report.columns import (
    BY_RULE,
    KIND,
    LOWEST,
    PAPER,
    RUNS,
    Column,
    filled,
    kind_columns,
    legend,
    row_name,
    weighed,
)
from dhp.report.findings import by_judge, sentences
from dhp.report.labels import (
    best_mark,
    figure,
    listed,
    percent,
    percents,
    sets,
    shared_folder,
    t75,
)
from dhp.report.printout import FirstThatFits, Part, TextTable
from dhp.report.side_by_side import SEVERAL, ranked, side_by_side

_KEPT = 0.6  # share of the shorter text that is kept, below which marks would only confuse
_NOTES = 3
"""The most notes without details."""


def results_in_terminal(results: Results, *, details: bool = False) -> list[Part]:
    """What the judges notice and miss: a table, one sentence each, and what makes the figures doubtful.

    Three judges or more also stand beside each other, kind by kind.

    `details` shows each result's own table, as where there is only one, with D, all notes and the signature.
    """
    several = len(by_judge(results)) >= SEVERAL
    shown = ranked(list(results)) if several else list(results)
    judged = [each for each in shown if not each.too_few]
    parts: list[Part] = []
    for each in judged if details or len(results) == 1 else ():
        if each.damage or each.probes:
            parts.append(kinds_table(each, details=details))
        if details:
            parts += _details(each)
        parts.append("")
    for curve in (curve for each in judged for curve in each.curves):
        parts += [doses_table(curve), ""]
    if judged and (plain := [each for each in shown if each.damage]):
        parts += [*runs_tables(plain), ""]
        parts += [side_by_side(plain), ""] if several else []
    parts += map(str, sentences(shown, together=several))
    parts += [] if details else _of_plugins(judged)
    lines = warnings(results)
    return [*parts, *(f"note: {line}" for line in (lines if details else lines[:_NOTES]))]


def _of_plugins(results: Sequence[Result]) -> list[str]:
    """What plug-ins have to say, with judge and data if there are several results."""
    return [
        line if len(results) == 1 else f"{each.judge} on {each.dataset}: {line}"
        for each in results
        for line in notes_of_plugins(each)
    ]


def results_in_markdown(results: Results) -> list[Part]:
    """The sentence on each judge, the table of verdicts, then each result with its kinds of damage."""
    parts: list[Part] = [Text(str(sentence), style="bold") for sentence in sentences(results)]
    if plain := [each for each in results if each.damage]:
        parts += runs_tables(plain)
    parts += warnings(results)
    for each in results:
        parts.append("")
        if each.damage or each.probes:
            parts.append(kinds_table(each))
        parts += map(doses_table, each.curves)
        parts += [*notes(each), _signature(each)]
    return parts


def _details(result: Result) -> list[Part]:
    lines: list[str] = []
    if not result.curves and result.d_avg is not None:
        worst = "" if result.d_min_variant is None else f" ({variant_name(result.d_min_variant)})"
        weighed = f"; with {result.weights} weights D_avg_EW {figure(result.d_avg_ew)}"
        weighed += f", D_min_EW {figure(result.d_min_ew)}"
        text = f"D_avg {figure(result.d_avg)}, D_min {figure(result.d_min)}{worst}"
        lines.append(f"  {text}{'' if result.weights == 'uniform' else weighed}")
    if result.sweep is not None:
        lines.append(f"  {best_mark(result.sweep)}")
    return [*lines, *(f"  {note}" for note in notes(result)), _signature(result, "  ")]


def _signature(result: Result, start: str = "") -> Text:
    return Text(f"{start}{printable(result.signature)}", style="dim", no_wrap=True, overflow="ignore")


def runs_table(
    results: Sequence[Result], columns: Sequence[Column[Result]] = RUNS, *, titled: bool = True
) -> FirstThatFits:
    """A row for each result: its D, what was noticed, controls, the lowest kind.

    A narrow terminal has no lowest kind, and of several datasets then a table for each judge.
    """
    columns = filled(columns, results)
    narrow = [column for column in columns if column is not LOWEST]
    forms: list[list[Part]] = [[_runs_table(results, columns, titled=titled)]]
    if len(narrow) < len(columns):
        forms.append([_runs_table(results, narrow, titled=titled)])
        if len({each.dataset for each in results}) > 1:
            forms.append([_runs_table(of, narrow, titled=True) for of in by_judge(results).values()])
    return FirstThatFits(forms)


def _runs_table(results: Sequence[Result], columns: Sequence[Column[Result]], *, titled: bool) -> TextTable:
    judges = list(by_judge(results))
    datasets = list(dict.fromkeys(each.dataset for each in results))
    shared = shared_folder(datasets)
    who = judges[0] if len(judges) == 1 else f"{len(judges)} judges"
    ratings = sum(each.ratings["asked"] for each in results)
    examples = sum({each.dataset: each.n for each in results}.values())
    title = f"{who} on {sets(datasets)}: {ratings:,} ratings of {examples:,} examples"
    first = {"judge": len(judges) > 1, "data": len(judges) == 1 or len(datasets) > 1}
    rows = [
        [
            *([each.judge] if first["judge"] else []),
            *([each.dataset.removeprefix(shared)] if first["data"] else []),
            *(column.shown(each) for column in columns),
        ]
        for each in results
    ]
    return TextTable(
        title if titled else "",
        (*(name for name, wanted in first.items() if wanted), *(column.heading for column in columns)),
        rows,
        [column.heading for column in columns if column.right],
        ["bold red" if each.alarms else "" for each in results],
    )


def runs_tables(results: Sequence[Result]) -> list[Part]:
    """The table of the results, after one as in the DHP paper if D with weights is asked for."""
    if not weighed(results):
        return [runs_table(results), *legend(results)]
    return [runs_table(results, PAPER), *legend(results), "", runs_table(results, titled=False)]


def kinds_table(result: Result, *, details: bool = False) -> TextTable:
    """One row per kind of damage, the worst first, equal ones in one row; then controls and attacks.

    `details` adds D, D with weights, the share of the drop on other metrics than expected, and the examples
    that would decide what is undecided.
    """
    every = (*result.damage, *result.probes)
    columns = kind_columns(every, details=int(details))
    rows: dict[tuple[str, ...], list[VariantResult]] = {}
    for row in every:
        cells = (row.level if row in result.probes else "", *(column.shown(row) for column in columns))
        rows.setdefault(cells, []).append(row)
    return TextTable(
        f"{result.dataset}: {result.judge}, {result.n:,} examples",
        (KIND.heading, *(column.heading for column in columns)),
        [(_folded(same), *cells[1:]) for cells, same in rows.items()],
        [column.heading for column in columns if column.right],
        [same[0].state.style for same in rows.values()],
    )


def _folded(rows: Sequence[VariantResult]) -> str:
    """The names of all rows, the degrees of a kind together."""
    kinds: dict[str, list[str]] = {}
    for row in rows:
        name = f"{kind_name(row.variant)}{f' {BY_RULE}' if row.stand_in else ''}"
        kinds.setdefault(name, []).extend([row.degree] if row.degree else [])
    names = [f"{kind} ({', '.join(degrees)})" if degrees else kind for kind, degrees in kinds.items()]
    label = row_name(rows[0]) if len(rows) == 1 else listed(names)
    still = all(cell.tied == 1 for row in rows for cell in row.metrics.values())
    return f"{label}: no score moved" if still and rows[0].level not in ("control", "attack") else label


def doses_table(curve: DoseResponse) -> TextTable:
    """Detection at each dose, and T75."""
    return TextTable(
        f"{kind_name(curve.perturber)}: detection by dose",
        ("dose", *map(str, curve.doses), "T75"),
        [("detection", *map(percent, curve.detection), t75(curve))],
        [str(dose) for dose in curve.doses],
    )


def both_ways_tables(results: Results) -> list[TextTable]:
    """A table for each model and dataset that were asked both pointwise and pairwise."""
    return [
        _both_ways_table(one, other)
        for one in results
        for other in results
        if (one.model, one.dataset) == (other.model, other.dataset)
        and other.protocol.startswith(PAIRWISE)
        and not one.protocol.startswith(PAIRWISE)
    ]


def _both_ways_table(pointwise: Result, pairwise: Result) -> TextTable:
    """Detection of each kind of damage in both ways, and of the whole run."""
    names = [protocol_name(p.protocol) for p in (pointwise, pairwise)]
    title = f"{pairwise.dataset}  ·  {pairwise.model}  ·  {names[0]} beside {names[1]}"
    figures = ("pointwise", "95 %", "pairwise", "95 %")
    others = {row.variant: row for row in pairwise.variants}
    rows = [
        (
            variant_name(row.variant),
            *_cells(row.detection, row.detection_ci),
            *_cells(other.detection, other.detection_ci),
        )
        for row in pointwise.variants
        if (other := others.get(row.variant))
    ]
    whole = (_cells(each.detection.avg, each.detection.ci["avg"]) for each in (pointwise, pairwise))
    styles = [""] * len(rows) + ["bold"]
    return TextTable(title, ("kind", *figures), [*rows, ("all", *chain(*whole))], figures, styles)


def _cells(detection: float | None, ends: Interval) -> tuple[str, str]:
    return percent(detection), percents(ends)


def before_after(label: str, before: str, after: str, level: str, remark: str = "") -> Text:
    """The degraded text with what went in red strike-through and what came in yellow.

    A text that was replaced as a whole shows as it is. Without colour, deletions show as [-gone-] and
    insertions as {+come+}. `level` is as for `dhp.core.diff.diff`.
    """
    before, after = printable(before), printable(after)
    line = Text(f"{printable(label)}{f' ({remark})' if remark else ''}: ", style="bold")
    changes = diff(before, after, level)
    kept = sum(len(piece) for operation, piece in changes if operation == "=")
    if kept < _KEPT * min(len(before), len(after)):
        return line.append(after, style="not bold yellow")
    for operation, piece in changes:
        if operation == "-":
            line.append(f"[-{piece}-]", style="not bold red strike")
        elif operation == "+":
            line.append(f"{{+{piece}+}}", style="not bold yellow")
        else:
            line.append(piece, style="not bold")
    return line
