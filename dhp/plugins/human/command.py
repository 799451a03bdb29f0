"""`dhp correlate`: correlation of judges' scores with human scores."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.options import Command, settings, stated
from dhp.cli.output import OutputOptions, output_console, print_json
from dhp.cli.protocol_options import SEED
from dhp.core.errors import InputError
from dhp.core.text import printable
from dhp.plugins.human.correlation import RESAMPLES
from dhp.plugins.human.table import TableOptions, print_table

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from dhp.plugins.human.agreement import Agreement, JudgeAgreement
    from dhp.plugins.human.comparison import PartialCorrelation, SelfPreference
    from dhp.plugins.human.correlation import Correlation

_MEASURE = "Spearman's correlation with human scores within sources"
_CORRECTING = ("--correct", "--human", "--runs", "--passes", "--json")
"""The options that --correct takes."""
_OF_LABELS = ("--human", "--passes", "--json")
"""The options that a table of labels takes."""
COMMON = (
    "--human --passes --table --level --csv --markdown --json --resamples --tau-c --runs --page --control "
    "--correct"
)
"""The options that most people need."""


@click.command(cls=Command, common=COMMON)
@click.argument("ratings", nargs=-1, required=True)
@click.option(
    "--human",
    metavar="FILE|NAME=FILE",
    help="Human scores, or labels: a table; or a published set in its original format.",
)
@click.option(
    "--resamples",
    default=RESAMPLES,
    metavar="K",
    help="Number of resamples of the sources, for intervals and tests.",
)
@click.option("--tau-c", is_flag=True, help="Kendall's tau-c instead of tau-b.")
@SEED
@click.option(
    "--runs",
    multiple=True,
    metavar="RUN",
    help="Run of the same judges: also show their detection; may be repeated.",
)
@click.option(
    "--page",
    metavar="FILE",
    help="Write correlation, also by number of samples, and detection to this HTML page.",
)
@click.option(
    "--variant",
    metavar="NAME",
    help="With --runs and --page: also show how the judges' scores agree before and after this damage.",
)
@click.option(
    "--control",
    metavar="JUDGE",
    help="Also show partial correlations that hold this judge's scores constant.",
)
@click.option(
    "--family", metavar="NAME", help="Also measure self-preference of judges and systems with this name."
)
@click.option(
    "--correct",
    is_flag=True,
    help="Instead: correct the judge's mean score by a few human scores (--human), or its share of good "
    "texts by its error rates in a run (--runs, --passes).",
)
@click.option(
    "--passes", type=float, metavar="X", help="With --correct or labels: the lowest score of a good text."
)
@settings("output", OutputOptions, only=("json", "csv", "markdown"))
@settings("form", TableOptions)
def correlate(
    ratings: tuple[str, ...],
    human: str | None,
    resamples: int,
    tau_c: bool,
    seed: int,
    runs: tuple[str, ...],
    page: str | None,
    variant: str | None,
    control: str | None,
    family: str | None,
    correct: bool,
    passes: float | None,
    output: OutputOptions,
    form: TableOptions,
) -> None:
    """Correlate judges' scores with human ones, or correct them.

    RATINGS, one table or several, and the human table have the columns source, system, metric, score; ratings
    perhaps sample, model, protocol, human scores perhaps rater. Published sets: summeval, newsroom, realsumm,
    topical_chat, openmeva_roc, bagel. With --correct only some of the texts need a human score. A human table
    with the column label (pass or fail) in place of score gives Cohen's kappa and both error rates.

    Example: dhp correlate ratings.csv --human summeval=summeval.jsonl
    """
    from dhp.plugins.human.agreement import correlate as correlated
    from dhp.plugins.human.comparison import partial_correlations, self_preference
    from dhp.plugins.human.correlation import LEVELS, Coefficient
    from dhp.plugins.human.labels import has_labels, print_label_agreement

    if correct:
        _correct(ratings, human, runs, passes, json=output.json)
        return
    if human is None:
        raise InputError("--human: is missing; give a table of human scores, or NAME=FILE of a published set")
    people = human_table(human)
    if has_labels(people):
        _refuse_surplus("labels", _OF_LABELS)
        print_label_agreement(ratings, people, passes, json=output.json)
        return
    if passes is not None:
        raise InputError("--passes: is for --correct, or for a human table with the column label")
    _check_options(resamples, variant, page, runs)
    rated = ratings_table(ratings)
    coefficients: list[Coefficient] = ["pearson", "spearman", "kendall-c" if tau_c else "kendall"]
    if form.wanted(output):
        print_table(rated, people, coefficients, form.level or LEVELS, output)
        return
    found = correlated(rated, people, coefficients=coefficients, resamples=resamples, seed=seed)
    if output.json:
        print_json(found.to_dict())
        return
    console = output_console()
    _print_agreement(found, human, console)
    if control:
        _print_partial(partial_correlations(rated, people, control, resamples=resamples), control, console)
    if family:
        _print_preference(self_preference(rated, people, family, resamples=resamples), console)
    if runs or page:
        _show_runs(found, runs, page, variant, console)


def _correct(
    ratings: tuple[str, ...],
    human: str | None,
    runs: tuple[str, ...],
    passes: float | None,
    *,
    json: bool,
) -> None:
    from dhp.plugins.human.corrected import print_corrected

    _refuse_surplus("--correct", _CORRECTING)
    people = None if human is None else human_table(human)
    print_corrected(ratings_table(ratings), people, runs, passes, json=json)


def _check_options(resamples: int, variant: str | None, page: str | None, runs: tuple[str, ...]) -> None:
    if resamples < 0 or 0 < resamples < 20:
        raise InputError(f"--resamples {resamples}: must be 0 or at least 20")
    if variant and not (page and runs):
        raise InputError("--variant needs --page and --runs")


def _refuse_surplus(what: str, allowed: tuple[str, ...]) -> None:
    if surplus := [option for option in stated() if option not in allowed]:
        raise InputError(f"{surplus[0]}: is not for {what}; allowed: {', '.join(allowed)}")


def _print_agreement(agreement: "Agreement", human: str, console: "Console") -> None:
    _print_judges(agreement, console)
    _print_pairs(agreement, console)
    _print_raters(agreement, console)
    _print_note(human, console)


def _print_raters(agreement: "Agreement", console: "Console") -> None:
    for metric, agreed in agreement.raters.items():
        if agreed:
            alpha = "undefined" if agreed.alpha is None else f"{agreed.alpha:.2f}"
            ceiling = "" if agreed.ceiling is None else f", ceiling of a judge's Pearson {agreed.ceiling:.2f}"
            console.print(
                f"{printable(metric)}: {agreed.raters} raters, Krippendorff's alpha {alpha}{ceiling}",
                highlight=False,
            )


def _print_note(human: str, console: "Console") -> None:
    from dhp.loaders.rated import FROM_REFERENCE

    name = human.partition("=")[0]
    if why := FROM_REFERENCE.get(name):
        said = f"note: {name}: {why}; --control metric/rouge1 shows what is left without it"
        console.print(said, highlight=False)


def _print_partial(correlations: "list[PartialCorrelation]", control: str, console: "Console") -> None:
    from dhp.report.labels import figure
    from dhp.report.tables import plain_table

    figures = ("items", "plain", "held constant")
    title = f"Pearson over all items, and with {control} held constant"
    table = plain_table(title, ("judge", "metric", *figures), right=figures)
    for each in correlations:
        partial = figure(each.partial) + _ends(each.ci)
        cells = (each.judge, each.metric, str(each.n), figure(each.plain), partial)
        table.add_row(*map(printable, cells))
    console.print(table)


def _print_preference(preferences: "list[SelfPreference]", console: "Console") -> None:
    from dhp.report.tables import plain_table

    title = "self-preference: judge less human, own texts less others, in standard deviations"
    figures = ("own", "others", "preference")
    table = plain_table(title, ("judge", "metric", "own systems", *figures), right=figures)
    for each in preferences:
        names = (each.judge, each.metric, ", ".join(each.systems))
        preference = f"{each.preference:+.2f}{_ends(each.ci)}"
        table.add_row(*map(printable, names), str(each.own), str(each.others), preference)
    console.print(table)


def ratings_table(files: tuple[str, ...]) -> "str | pd.DataFrame":
    """One table of ratings, or several together."""
    if len(files) == 1:
        return files[0]
    import pandas as pd

    from dhp.plugins.human.scores import read_scores

    return pd.concat([read_scores(file) for file in files], ignore_index=True)


def _show_runs(
    agreement: "Agreement",
    folders: tuple[str, ...],
    page: str | None,
    variant: str | None,
    console: "Console",
) -> None:
    from dhp.content.catalog import variant_name
    from dhp.plugins.human.both_views import (
        before_and_after,
        both_views,
        both_views_page,
        correlation_by_samples,
    )
    from dhp.report.labels import figure
    from dhp.report.tables import plain_table
    from dhp.runs.reader import read_run

    runs = [read_run(folder) for folder in folders]
    rows = both_views(agreement, runs)
    headings = ("judge", "dataset", "correlation", "detection", "lowest kind", "style")
    right = ("correlation", "detection")
    table = plain_table(f"damage noticed, and {_MEASURE}", headings, right)
    for row in rows:
        lowest = "–" if row.lowest is None else f"{variant_name(row.lowest[0])} ({row.lowest[1]:.0%})"
        ends = "" if row.detection_ci is None else " [{:.0%}, {:.0%}]".format(*row.detection_ci)
        share = "–" if row.detection is None else f"{row.detection:.0%}{ends}"
        cells = (row.judge, row.dataset or "–", figure(row.correlation), share, lowest)
        table.add_row(*map(printable, cells), ", ".join(row.style) or "–")
    if runs:
        console.print(table)
    if page:
        from dhp.core.files import write_lines

        compared = before_and_after([r for run in runs for r in run.rated], variant) if variant else None
        text = both_views_page(rows, _MEASURE, compared, variant or "", correlation_by_samples(agreement))
        write_lines(Path(page), [text])
        print(f"written to {printable(page)}")


def human_table(source: str) -> "str | pd.DataFrame":
    """The human scores in a file, or of a published set as `NAME=FILE`."""
    from dhp.loaders.rated import RATED_SETS, read_human_scores

    return read_human_scores(source) if source.partition("=")[0] in RATED_SETS else source


def _print_judge(judge: "JudgeAgreement", console: "Console") -> None:
    from dhp.plugins.human.table import LEVEL_NAMES
    from dhp.report.tables import plain_table

    first = judge.metrics[0].correlations
    figures = (*(printable(metric.metric) for metric in judge.metrics), "mean")
    title = f"{judge.judge}  ·  correlation with human scores"
    table = plain_table(title, ("level", "coefficient", *figures), right=figures)
    for row, one in enumerate(first):
        cells = [_cell(metric.correlations[row]) for metric in judge.metrics]
        mean = judge.mean[f"{one.level}.{one.coefficient}"]
        table.add_row(LEVEL_NAMES[one.level], one.coefficient, *cells, "–" if mean is None else f"{mean:.3f}")
    accuracies = [m.pair_accuracy for m in judge.metrics]
    cells = ["–" if a is None else f"{a.accuracy:.3f} (ties ≤ {a.epsilon:.3g})" for a in accuracies]
    table.add_row("pairs", "accuracy", *cells, "")
    soft = [m.soft_pair_accuracy for m in judge.metrics]
    table.add_row("systems", "soft accuracy", *("–" if v is None else f"{v:.3f}" for v in soft), "")
    console.print(table)
    left_out = {m.metric: m.correlations[0].left_out - m.single for m in judge.metrics}
    for name, number in left_out.items():
        if number:
            said = "sources with constant or too few scores, left out within sources"
            console.print(f"  note: {printable(name)}: {said}: {number}", highlight=False)
    for m in judge.metrics:
        if m.by_samples:
            curve = " ".join("undefined" if v is None else f"{v:.3f}" for v in m.by_samples)
            console.print(
                f"  {printable(m.metric)}: Pearson over all items of the mean of 1, 2, ... samples: {curve}",
                highlight=False,
            )
    console.print()


def _print_judges(agreement: "Agreement", console: "Console") -> None:
    """Each judge, and once for all of them what is a matter of the data."""
    for judge in agreement.judges:
        _print_judge(judge, console)
    numbers = [metric.single for judge in agreement.judges for metric in judge.metrics]
    if most := max(numbers):
        said = f"{min(numbers)} to {most}" if min(numbers) < most else str(most)
        console.print(f"note: sources with a single system, left out within sources: {said}", highlight=False)


def _cell(correlation: "Correlation") -> str:
    if correlation.value is None:
        return "undefined"
    return f"{correlation.value:.3f}{_ends(correlation.ci)}"


def _ends(ci: tuple[float, float] | None) -> str:
    return "" if ci is None else f" [{ci[0]:.2f}, {ci[1]:.2f}]"


def _print_pairs(agreement: "Agreement", console: "Console") -> None:
    from dhp.report.tables import plain_table

    if not agreement.pairs:
        return
    title = "two judges on the items of both (Pearson over all items)"
    figures = ("items", "difference", "p (swaps)", "Williams' t", "p (Williams)")
    table = plain_table(title, ("judges", "metric", *figures), right=figures)
    for pair in agreement.pairs:
        swap = test = ("–", "–")
        if pair.swap is not None:
            swap = (f"{pair.swap.difference:+.3f}", f"{pair.swap.p_two_sided:.3g}")
        if pair.williams is not None:
            test = (f"{pair.williams.t:.2f}", f"{pair.williams.p_two_sided:.3g}")
        names = printable(f"{pair.first} – {pair.second}")
        table.add_row(names, printable(pair.metric), str(pair.items), *swap, *test)
    console.print(table)
