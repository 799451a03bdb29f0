"""`dhp analyze`: discernment from your own ratings."""

from typing import TYPE_CHECKING

import click

from dhp.analysis.config import AnalysisConfig
from dhp.cli.command import Command
from dhp.cli.options import setting, settings
from dhp.cli.output import OutputOptions, print_out
from dhp.core.own_table import RatingsForm
from dhp.core.progress import stage
from dhp.perturb.settings import Choice

if TYPE_CHECKING:
    from dhp.core.ratings_table import ScoresAlone


@click.command(cls=Command)
@click.argument("file")
@setting(Choice, "suite")
@settings("analysis", AnalysisConfig, only=("statistics", "combination", "weights", "floor", "pass_mark"))
@settings("form", RatingsForm)
@settings("output", OutputOptions, only=("html", "json", "csv", "markdown", "details", "quiet"))
def analyze(
    file: str,
    suite: str | None,
    analysis: AnalysisConfig,
    form: RatingsForm,
    output: OutputOptions,
) -> None:
    """Compute discernment scores from your own ratings.

    FILE (.csv, .jsonl or .parquet) has the columns example, variant, score and optionally metric, sample,
    level, status, cluster, model, protocol, dataset. In place of a score it may hold a verdict with a
    confidence, or which text was preferred in both orders. Or it is wide, a row for each example, with the
    columns id and original and one for each kind of damage, which hold the scores. Or it is a log of
    promptfoo, deepeval, inspect_ai, LangSmith, langfuse or OpenTelemetry with scores, whose entries name
    example and variant. Of scores without damaged copies it shows ties, points of the scale, what passes and
    how repeated judgements agree.

    Example: dhp analyze ratings.csv --suite summeval
    """
    from dhp.analysis.analyze import analyze as analyse
    from dhp.core.ratings_table import ScoresAlone

    with output.working() as show, stage(show, f"analysing {file}"):
        try:
            results = analyse(file, suite=suite, analysis=analysis, form=form)
        except ScoresAlone as alone:
            _show_alone(alone, analysis, output)
            return
        if output.html is not None:
            from dhp.report.page import write_report

            write_report(results, output.html, show)
    output.show(results)
    if output.html is not None:
        output.say(f"page  {output.html}")


def _show_alone(alone: "ScoresAlone", analysis: AnalysisConfig, output: OutputOptions) -> None:
    """Print what scores say without damaged copies, and how to get these."""
    from dhp.analysis.score_profile import score_profiles
    from dhp.report.score_profile import profile_printout

    profiles = score_profiles(alone.frame, analysis.pass_mark)
    if not profiles:  # there is no score at all: the error says what the file lacks
        raise alone
    print_out(profile_printout(profiles, alone.texts), output)
