"""Terminal output of results and degraded texts."""

from textwrap import fill

from rich.console import Console
from rich.text import Text

from dhp.analysis.results import Results
from dhp.content.catalog import variant_name
from dhp.core.diff import diff
from dhp.core.text import printable
from dhp.report.advice import warnings
from dhp.report.findings import Findings, findings, sentences
from dhp.report.labels import figure
from dhp.report.notes import notes
from dhp.report.tables import doses_table, kinds_table, verdict_table

_KEPT = 0.6  # share of the shorter text that is kept, below which marks would only confuse
_NOTES = 3
"""The most notes without details."""


def print_results(results: Results, console: Console, *, details: bool = False) -> None:
    """Print what the judges notice and miss: a table, one sentence each, and what makes the figures doubtful.

    In a narrow console a row takes several lines. With `details` each result's own table shows, as it does
    where there is only one, with D, all notes and the signature.
    """
    found = [findings(result) for result in results]
    judged = [each for each in found if not each.too_few]
    for each in judged if details or len(found) == 1 else ():
        if each.damage or each.probes:
            kinds_table(each, details=details).printed(console)
        if details:
            _print_details(each, console)
        console.print()
    for curve in (curve for each in judged for curve in each.result.curves):
        doses_table(curve).printed(console)
        console.print()
    if judged and (plain := [each for each in found if each.damage]):
        verdict_table(plain).printed(console, cut=True)
        console.print()
    for sentence in sentences(found):
        _print_line(str(sentence), "", console)
    said = warnings(found)
    for line in said if details else said[:_NOTES]:
        _print_line(line, "note: ", console)


def _print_details(findings: Findings, console: Console) -> None:
    result = findings.result
    if not findings.dosed and result.d_avg is not None:
        worst = "" if result.d_min_variant is None else f" ({variant_name(result.d_min_variant)})"
        weighed = f"; with {result.weights} weights D_avg_EW {figure(result.d_avg_ew)}"
        weighed += f", D_min_EW {figure(result.d_min_ew)}"
        said = f"D_avg {figure(result.d_avg)}, D_min {figure(result.d_min)}{worst}"
        _print_line(f"{said}{'' if result.weights == 'uniform' else weighed}", "  ", console)
    for note in notes(result):
        _print_line(note, "  ", console)
    console.print(Text(f"  {printable(result.signature)}", style="dim"), soft_wrap=True)


def _print_line(line: str, start: str, console: Console) -> None:
    """Print a line, wrapped between words on a terminal."""
    shown = printable(f"{start}{line}")
    if console.is_terminal:
        shown = fill(shown, console.width, subsequent_indent="  ", break_on_hyphens=False)
    console.print(Text(shown), soft_wrap=not console.is_terminal)


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
