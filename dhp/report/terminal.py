"""What is printed of results and of degraded texts."""

from rich.text import Text

from dhp.analysis.results import Result, Results
from dhp.content.catalog import variant_name
from dhp.core.diff import diff
from dhp.core.text import printable
from dhp.report.advice import warnings
from dhp.report.findings import Findings, findings, sentences
from dhp.report.labels import figure
from dhp.report.notes import notes
from dhp.report.printout import Part
from dhp.report.tables import doses_table, kinds_table, verdict_table

_KEPT = 0.6  # share of the shorter text that is kept, below which marks would only confuse
_NOTES = 3
"""The most notes without details."""


def results_in_terminal(results: Results, *, details: bool = False) -> list[Part]:
    """What the judges notice and miss: a table, one sentence each, and what makes the figures doubtful.

    `details` shows each result's own table, as where there is only one, with D, all notes and the signature.
    """
    found = [findings(result) for result in results]
    judged = [each for each in found if not each.too_few]
    parts: list[Part] = []
    for each in judged if details or len(found) == 1 else ():
        if each.damage or each.probes:
            parts.append(kinds_table(each, details=details))
        if details:
            parts += _details(each)
        parts.append("")
    for curve in (curve for each in judged for curve in each.result.curves):
        parts += [doses_table(curve), ""]
    if judged and (plain := [each for each in found if each.damage]):
        parts += [verdict_table(plain), ""]
    parts += map(str, sentences(found))
    said = warnings(found)
    return [*parts, *(f"note: {line}" for line in (said if details else said[:_NOTES]))]


def results_in_markdown(results: Results) -> list[Part]:
    """The sentence on each judge, the table of verdicts, then each result with its kinds of damage."""
    found = [findings(result) for result in results]
    parts: list[Part] = [Text(str(sentence), style="bold") for sentence in sentences(found)]
    if plain := [each for each in found if each.damage]:
        parts.append(verdict_table(plain))
    parts += warnings(found)
    for each in found:
        parts.append("")
        if each.damage or each.probes:
            parts.append(kinds_table(each))
        parts += map(doses_table, each.result.curves)
        parts += [*notes(each.result), _signature(each.result)]
    return parts


def _details(findings: Findings) -> list[Part]:
    result, lines = findings.result, list[str]()
    if not findings.dosed and result.d_avg is not None:
        worst = "" if result.d_min_variant is None else f" ({variant_name(result.d_min_variant)})"
        weighed = f"; with {result.weights} weights D_avg_EW {figure(result.d_avg_ew)}"
        weighed += f", D_min_EW {figure(result.d_min_ew)}"
        said = f"D_avg {figure(result.d_avg)}, D_min {figure(result.d_min)}{worst}"
        lines.append(f"  {said}{'' if result.weights == 'uniform' else weighed}")
    return [*lines, *(f"  {note}" for note in notes(result)), _signature(result, "  ")]


def _signature(result: Result, start: str = "") -> Text:
    return Text(f"{start}{printable(result.signature)}", style="dim", no_wrap=True, overflow="ignore")


def before_after(label: str, before: str, after: str, level: str, remark: str = "") -> Text:
    """The degraded text with what went in red strike-through and what came in yellow.

    A text that was replaced as a whole shows as it is. Without colour, deletions show as [-gone-] and
    insertions as {+come+}. `level` is as for `dhp.core.diff.diff`.
    """
    before, after = printable(before), printable(after)
    line = Text(f"{printable(label)}{f' ({remark})' if remark else ''}: ", style="bold")
    found = diff(before, after, level)
    kept = sum(len(piece) for operation, piece in found if operation == "=")
    if kept < _KEPT * min(len(before), len(after)):
        return line.append(after, style="not bold yellow")
    for operation, piece in found:
        if operation == "-":
            line.append(f"[-{piece}-]", style="not bold red strike")
        elif operation == "+":
            line.append(f"{{+{piece}+}}", style="not bold yellow")
        else:
            line.append(piece, style="not bold")
    return line
