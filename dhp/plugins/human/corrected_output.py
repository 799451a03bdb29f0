"""`dhp correlate --correct`: means and shares corrected by a few human scores or by known error rates."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dhp.cli.output import output_console, print_json
from dhp.core.errors import InputError
from dhp.core.text import printable

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from dhp.plugins.human.corrected import CorrectedMean, SystemMean, SystemShare

SCHEMA = "dhp.corrected/1"


def print_corrected(
    rated: "str | pd.DataFrame",
    human: "str | pd.DataFrame | None",
    runs: Sequence[str],
    passes: float | None,
    *,
    json: bool,
) -> None:
    """Print means corrected by human scores, and shares of good texts corrected by the errors of the judge.

    Parameters
    ----------
    rated
        The ratings of many texts.
    human
        Human scores of some of the texts; with them mean human scores of all texts are estimated.
    runs
        A run of the same judge: originals are good texts, degraded ones bad. The share of good texts is
        estimated from the errors of the judge there.
    passes
        The lowest score of a good text; it belongs to a run.
    """
    from dhp.plugins.human.corrected import corrected_means, corrected_shares
    from dhp.runs.errors import judge_errors
    from dhp.runs.reader import read_run

    if human is None and not runs:
        raise InputError("--correct: needs --human FILE, or --runs RUN and --passes X")
    if len(runs) > 1:
        raise InputError("--runs: with --correct one run of the same judge is allowed")
    if bool(runs) != (passes is not None):
        raise InputError(
            "--correct: --runs needs --passes, the lowest score of a good text, and --passes needs --runs"
        )
    means = corrected_means(rated, human) if human is not None else []
    shares = []
    if runs and passes is not None:
        shares = corrected_shares(rated, passes, judge_errors(read_run(runs[0]), passes))
    if json:
        from dataclasses import asdict

        found = {"schema": SCHEMA, "means": [asdict(m) for m in means], "shares": [asdict(s) for s in shares]}
        print_json(found)
        return
    console = output_console()
    if means:
        _print_means(means, console)
    if shares and passes is not None:
        _print_shares(shares, passes, console)


def _print_means(means: "list[SystemMean]", console: "Console") -> None:
    headings = ("judge", "metric", "system", "texts", "scored by people", "judge alone", "people alone")
    rows = [
        (m.judge, m.metric, m.system, f"{m.texts}", f"{m.labelled}", f"{m.judged:.2f}", _figure(m.human))
        for m in means
    ]
    corrected = [_figure(m.corrected) for m in means]
    _print("mean human score of all texts, 95 %", (*headings, "corrected"), rows, corrected, console)
    _note("corrected by prediction-powered inference (PPI++)", [m.corrected for m in means], console)
    if any(m.corrected is None for m in means):
        _say("a dash: fewer than two texts with a human score, or fewer than two without", console)


def _print_shares(shares: "list[SystemShare]", passes: float, console: "Console") -> None:
    headings = ("judge", "metric", "system", "texts", "judge alone", "good ones pass", "bad ones fail")
    rows = [
        (
            s.judge,
            s.metric,
            s.system,
            f"{s.texts}",
            *(f"{v:.0%}" for v in (s.judged, s.sensitivity, s.specificity)),
        )
        for s in shares
    ]
    corrected = [_figure(s.corrected, percent=True) for s in shares]
    _print(
        f"share of good texts (score {passes:g} or more), 95 %",
        (*headings, "corrected"),
        rows,
        corrected,
        console,
    )
    _note("corrected by Rogan and Gladen", [s.corrected for s in shares], console)
    _say("originals and harmless edits of the run count as good texts, degraded ones as bad", console)
    if any(s.corrected is None for s in shares):
        _say("a dash: this judge passes bad texts as often as good ones, so its shares say nothing", console)


def _print(
    title: str,
    headings: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    corrected: Sequence[str],
    console: "Console",
) -> None:
    from dhp.report.tables import plain_table

    table = plain_table(title, headings, right=headings[3:])
    for row, last in zip(rows, corrected, strict=True):
        table.add_row(*map(printable, (*row, last)))
    console.print(table)


def _figure(mean: "CorrectedMean | None", *, percent: bool = False) -> str:
    if mean is None:
        return "–"
    form = ".0%" if percent else ".2f"
    return f"{mean.value:{form}} [{mean.ci[0]:{form}}, {mean.ci[1]:{form}}]"


def _note(how: str, means: "list[CorrectedMean | None]", console: "Console") -> None:
    assumes = next((each.assumes for each in means if each), "")
    if assumes:
        _say(f"{how}; it assumes that {assumes}", console)


def _say(line: str, console: "Console") -> None:
    console.print(f"  note: {line}", highlight=False)
