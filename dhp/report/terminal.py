"""What is printed of results and of degraded texts.

In this order: the table of kinds of a single result, detection by dose, the table of results or of judges on
sets, judges side by side, a sentence on each judge, and notes on what makes the figures doubtful.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dhp.analysis.results import DoseResponse, Interval, Result, Results
from dhp.content.catalog import kind_name, variant_name
from dhp.core.diff import diff
from dhp.core.shown import printable
from dhp.core.signature import PAIRWISE, protocol_name
from dhp.report.advice import warnings
from dhp.report.asking_table import asking_table
from dhp.report.certainty_words import certainty_notes
from dhp.report.columns import CONTROLS, LOWEST, MEAN_PASS, PAPER, RUNS, legend, weighed
from dhp.report.document import Code, Column, Edited, FirstThatFits, Part, Strong, Table, filled, item
from dhp.report.findings import by_judge, sentences
from dhp.report.labels import best_mark, figure, percent, percents, sets, shared_folder, t75
from dhp.report.notes import notes, notes_of_plugins
from dhp.report.reasons_table import reasons_table
from dhp.report.result_parts import kinds_table
from dhp.report.side_by_side import SEVERAL, judges_on_sets, ranked, side_by_side

_KEPT = 0.6
"""Share of the shorter text that is kept, below which marks would only confuse. Chosen."""
_NOTES = 3
"""The most notes without details."""


def results_in_terminal(results: Results, *, details: bool = False) -> list[Part]:
    """What the judges notice and miss: a table, one sentence each, and what makes the figures doubtful.

    Three judges or more also stand beside each other, kind by kind.

    `details` shows each result's own table, as where there is only one, with D, all notes and the signature.
    """
    several = len(by_judge(results)) >= SEVERAL
    # The best judge first, as the tables below rank them.
    shown = ranked(list(results)) if several else list(results)
    judged = [each for each in shown if not each.too_few]
    parts: list[Part] = []
    if details or len(results) == 1:
        for each in judged:
            if each.damage or each.probes:
                parts.append(kinds_table(each, details=int(details)))
            if details:
                parts += _details(each)
            parts.append("")
    for each in judged:
        for curve in each.curves:
            parts += [doses_table(curve), ""]
    plain = [each for each in shown if each.damage]
    if judged and plain:
        # `judges_on_sets` is empty for few results, which then have a row each.
        on_sets = [] if details else judges_on_sets(plain)
        parts += on_sets or runs_tables(plain)
        parts.append("")
        if several:
            parts += [side_by_side(plain), ""]
    parts += map(str, sentences(shown, together=several))
    lines = warnings(results)
    if not details:  # with details these notes stand below each table, and no warning is left out
        parts += _of_plugins(judged)
        lines = lines[:_NOTES]
    return [*parts, *(f"note: {line}" for line in lines)]


def _of_plugins(results: Sequence[Result]) -> list[str]:
    """What plug-ins have to say, with judge and data if there are several results."""
    lines = []
    for each in results:
        about = "" if len(results) == 1 else f"{each.judge} on {each.dataset}: "
        lines += [f"{about}{line}" for line in notes_of_plugins(each)]
    return lines


def results_in_markdown(results: Results) -> list[Part]:
    """The sentence on each judge, the table of verdicts, then each result with its kinds of damage."""
    parts: list[Part] = [Strong(str(sentence)) for sentence in sentences(results)]
    plain = [each for each in results if each.damage]
    if plain:
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
    lines: list[Part] = []
    if not result.curves and result.d_avg is not None:
        words = f"  D_avg {figure(result.d_avg)}, D_min {figure(result.d_min)}"
        if result.d_min_variant is not None:
            words += f" ({variant_name(result.d_min_variant)})"
        if result.weights != "uniform":
            words += f"; with {result.weights} weights D_avg_EW {figure(result.d_avg_ew)}"
            words += f", D_min_EW {figure(result.d_min_ew)}"
        lines.append(words)
    if result.sweep is not None:
        lines.append(f"  {best_mark(result.sweep)}")
    if result.asking is not None:
        lines += ["", asking_table(result.asking), ""]
    if result.reasons:
        lines += ["", reasons_table(result.reasons), ""]
    lines += [f"  {note}" for note in certainty_notes(result)]
    lines += [f"  {note}" for note in notes(result)]
    return [*lines, _signature(result, "  ")]


def _signature(result: Result, start: str = "") -> Code:
    return Code(start + result.signature, faint=True)


def runs_table(
    results: Sequence[Result], columns: Sequence[Column[Result]] = RUNS, *, titled: bool = True
) -> FirstThatFits:
    """A row for each result: what passes at a mark, its D, what was noticed, the lowest kind.

    Controls have a column only if one of them tells something. A narrow terminal leaves out the mean that
    passes, which the sentence has, then the lowest kind, and of several datasets then has a table for each
    judge.
    """
    columns = filled(columns, results)
    # If all controls are as they should be, their column would say the same word in each row.
    if all(each.control is not None and each.control.state.is_good for each in results):
        columns = [column for column in columns if column is not CONTROLS]
    forms: list[list[Part]] = [[_runs_table(results, columns, titled=titled)]]
    # Each form leaves out one column more than the form before.
    for left_out in (MEAN_PASS, LOWEST):
        if left_out in columns:
            columns = [column for column in columns if column is not left_out]
            forms.append([_runs_table(results, columns, titled=titled)])
    if len(forms) > 1 and len({each.dataset for each in results}) > 1:
        forms.append([_runs_table(of_judge, columns, titled=True) for of_judge in by_judge(results).values()])
    return FirstThatFits(forms)


def _runs_table(
    results: Sequence[Result], columns: Sequence[Column[Result]], *, titled: bool
) -> Table[Result]:
    judges = list(by_judge(results))
    sizes = {each.dataset: each.n for each in results}
    # Datasets in folders of one name: the name stands once in the title and not in each row.
    shared = shared_folder(list(sizes))
    title = ""
    if titled:
        who = judges[0] if len(judges) == 1 else f"{len(judges)} judges"
        ratings = sum(each.ratings["asked"] for each in results)
        # Judges on one dataset rate the same examples, which count once.
        examples = sum(sizes.values())
        title = f"{who} on {sets(list(sizes))}: {ratings:,} ratings of {examples:,} examples"
    first = []
    if len(judges) > 1:
        first.append(Column[Result]("judge", lambda each: each.judge, right=False, names=True))
    if len(judges) == 1 or len(sizes) > 1:
        name = Column[Result]("data", lambda each: each.dataset.removeprefix(shared), right=False, names=True)
        first.append(name)
    return Table(
        title,
        [*first, *columns],
        results,
        style=lambda each: "bold red" if each.alarms else "",
        css="results stacked",
        titled=False,
    )


def runs_tables(results: Sequence[Result]) -> list[Part]:
    """The table of the results, after one as in the DHP paper if D with weights is asked for."""
    if not weighed(results):
        return [runs_table(results), *legend(results)]
    # The table as in the paper stands first, so it alone has the title.
    return [runs_table(results, PAPER), *legend(results), "", runs_table(results, titled=False)]


def doses_table(curve: DoseResponse) -> Table[DoseResponse]:
    """Detection at each dose, and T75."""
    columns = [Column[DoseResponse]("dose", lambda _: "detection", right=False)]
    # Each place is bound by a function of its own; a lambda in the loop would see the last place only.
    columns += [_at_dose(place, dose) for place, dose in enumerate(curve.doses)]
    columns.append(Column("T75", lambda of: of.t75 and of.t75.value, words=t75, right=False))
    return Table(f"{kind_name(curve.perturber)}: detection by dose", columns, [curve])


def _at_dose(place: int, dose: int) -> Column[DoseResponse]:
    return Column(str(dose), lambda curve: curve.detection[place], percent)


def both_ways_tables(results: Results) -> list[Table[Any]]:
    """A table for each model and dataset that were asked both pointwise and pairwise."""
    pairwise: dict[tuple[str, str], list[Result]] = {}
    for each in results:
        if each.protocol.startswith(PAIRWISE):
            pairwise.setdefault((each.model, each.dataset), []).append(each)
    tables = []
    for each in results:
        if not each.protocol.startswith(PAIRWISE):
            for other in pairwise.get((each.model, each.dataset), ()):
                tables.append(_both_ways_table(each, other))
    return tables


_Seen = tuple[float | None, Interval]
"""Detection with its limits."""
_ALL = "all"
"""The name of the row of the whole run."""


def _both_ways_table(pointwise: Result, pairwise: Result) -> Table[tuple[str, _Seen, _Seen]]:
    """Detection of each kind of damage in both ways, and of the whole run."""
    # Pairs of a kind are looked up by its name, as the two results may have other kinds.
    in_pairs = {row.variant: row for row in pairwise.variants}
    rows: list[tuple[str, _Seen, _Seen]] = []
    for row in pointwise.variants:
        other = in_pairs.get(row.variant)
        if other is not None:
            alone = (row.detection, row.detection_ci)
            rows.append((variant_name(row.variant), alone, (other.detection, other.detection_ci)))
    rows.append((_ALL, _seen_in_all(pointwise), _seen_in_all(pairwise)))
    detection = Column[_Seen]("detection", item(0), percent)
    # The column sorts by the lower limit.
    limits = Column[_Seen]("95 %", lambda seen: seen[1] and seen[1][0], words=lambda seen: percents(seen[1]))
    columns: list[Column[Any]] = [Column("kind", item(0), names=True, right=False)]
    for place, way in enumerate(("pointwise", "pairwise"), 1):
        columns += [replace(detection, heading=way).on(item(place)), limits.on(item(place))]
    ways = f"{protocol_name(pointwise.protocol)} beside {protocol_name(pairwise.protocol)}"
    title = f"{pairwise.dataset}  ·  {pairwise.model}  ·  {ways}"
    return Table(title, columns, rows, style=lambda row: "bold" if row[0] == _ALL else "")


def _seen_in_all(result: Result) -> _Seen:
    return result.detection.avg, result.detection.ci["avg"]


def before_after(label: str, before: str, after: str, level: str, remark: str = "") -> Edited:
    """The degraded text with what went and what came marked; `level` is as for `dhp.core.diff.diff`.

    A text that was replaced as a whole shows as it is.
    """
    before, after = printable(before), printable(after)
    label = f"{label} ({remark})" if remark else label
    changes = diff(before, after, level)
    kept = sum(len(piece) for operation, piece in changes if operation == "=")
    # Little was kept, so almost every word would stand between marks.
    if kept < _KEPT * min(len(before), len(after)):
        return Edited(label, [("+", after)])
    return Edited(label, changes)
