"""`dhp correlate`: how well judges' scores follow human ones."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.output import output_console
from dhp.core.errors import InputError
from dhp.core.text import printable

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from dhp.human.agreement import Agreement, JudgeAgreement
    from dhp.human.biases import PartialCorrelation, SelfPreference
    from dhp.human.correlation import Correlation

_MEASURE = "Spearman's correlation with human scores within sources"
_LEVELS = {"per_source": "within sources", "pooled": "all items", "system": "systems"}


@click.command()
@click.argument("ratings", nargs=-1, required=True)
@click.option(
    "--human",
    required=True,
    metavar="FILE|NAME=FILE",
    help="Human scores: a table, or a published set as its owners give it.",
)
@click.option("--resamples", default=1000, metavar="K", help="Of the sources, for intervals and tests.")
@click.option("--tau-c", is_flag=True, help="Kendall's tau-c instead of tau-b.")
@click.option("--seed", default=0, metavar="K", help="Of the resamples.")
@click.option(
    "--runs", multiple=True, metavar="RUN", help="Show what the judges detect beside; may be repeated."
)
@click.option("--page", metavar="FILE", help="Write both views, and correlation by samples, as a page.")
@click.option("--variant", metavar="NAME", help="With --runs, --page: also originals against this variant.")
@click.option("--control", metavar="JUDGE", help="Also correlations with this judge's scores held constant.")
@click.option("--family", metavar="NAME", help="Also self-preference: of judges and systems so named.")
@click.option("--json", is_flag=True, help="Print the figures as JSON.")
def correlate(
    ratings: tuple[str, ...],
    human: str,
    resamples: int,
    tau_c: bool,
    seed: int,
    runs: tuple[str, ...],
    page: str | None,
    variant: str | None,
    control: str | None,
    family: str | None,
    json: bool,
) -> None:
    """Correlate judges' scores with human ones.

    RATINGS, one table or several, and the human table have the columns source, system, metric, score; ratings
    perhaps sample, model, protocol, human scores perhaps rater. Published sets: summeval, newsroom, realsumm,
    topical_chat, openmeva_roc, bagel.

    Example: dhp correlate ratings.csv --human summeval=summeval.jsonl
    """
    from dhp.human.agreement import correlate as correlated
    from dhp.human.biases import partial_correlations, self_preference

    if resamples < 0 or 0 < resamples < 20:
        raise InputError(f"--resamples {resamples}: must be 0 or at least 20")
    if variant and not (page and runs):
        raise InputError("--variant needs --page and --runs")
    rated, people = ratings_table(ratings), human_table(human)
    found = correlated(
        rated,
        people,
        coefficients=("pearson", "spearman", "kendall-c" if tau_c else "kendall"),
        resamples=resamples,
        seed=seed,
    )
    if json:
        from json import dumps

        print(dumps(found.to_dict(), ensure_ascii=False, indent=1))
        return
    console = output_console()
    for judge in found.judges:
        _print_judge(judge, console)
    _print_pairs(found, console)
    _print_raters(found, console)
    _print_note(human, console)
    if control:
        _print_partial(partial_correlations(rated, people, control, resamples=resamples), control, console)
    if family:
        _print_preference(self_preference(rated, people, family, resamples=resamples), console)
    if runs or page:
        _show_runs(found, runs, page, variant, console)


def _print_raters(found: "Agreement", console: "Console") -> None:
    for metric, agreed in found.raters.items():
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


def _print_partial(found: "list[PartialCorrelation]", control: str, console: "Console") -> None:
    from dhp.report.labels import figure
    from dhp.report.tables import plain_table

    table = plain_table(f"Pearson over all items, and with {control} held constant")
    for heading in ("judge", "metric", "items", "plain", "held constant"):
        table.add_column(
            heading, justify="left" if heading in ("judge", "metric") else "right", overflow="fold"
        )
    for each in found:
        ends = "" if each.ci is None else f" [{each.ci[0]:.2f}, {each.ci[1]:.2f}]"
        cells = (each.judge, each.metric, str(each.n), figure(each.plain), figure(each.partial) + ends)
        table.add_row(*map(printable, cells))
    console.print(table)


def _print_preference(found: "list[SelfPreference]", console: "Console") -> None:
    from dhp.report.tables import plain_table

    table = plain_table("self-preference: judge less human, own texts less others, in standard deviations")
    for heading in ("judge", "metric", "own systems", "own", "others", "preference"):
        right = heading in ("own", "others", "preference")
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for each in found:
        ends = "" if each.ci is None else f" [{each.ci[0]:.2f}, {each.ci[1]:.2f}]"
        names = ", ".join(each.systems)
        cells = (
            each.judge,
            each.metric,
            names,
            str(each.own),
            str(each.others),
            f"{each.preference:+.2f}{ends}",
        )
        table.add_row(*map(printable, cells))
    console.print(table)


def ratings_table(files: tuple[str, ...]) -> "str | pd.DataFrame":
    """One table of ratings, or several together."""
    if len(files) == 1:
        return files[0]
    import pandas as pd

    from dhp.human.scores import read_scores

    return pd.concat([read_scores(file) for file in files], ignore_index=True)


def _show_runs(
    found: "Agreement", folders: tuple[str, ...], page: str | None, variant: str | None, console: "Console"
) -> None:
    from dhp.content.damage import variant_name
    from dhp.report.both_views import before_and_after, both_views, correlation_by_samples
    from dhp.report.both_views_page import both_views_page
    from dhp.report.labels import figure
    from dhp.report.tables import plain_table
    from dhp.runs.reader import read_run

    runs = [read_run(folder) for folder in folders]
    rows = both_views(found, runs)
    table = plain_table(f"damage noticed, and {_MEASURE}")
    for heading in ("judge", "dataset", "correlation", "detection", "weakest variant", "D_avg", "style"):
        right = heading in ("correlation", "detection", "D_avg")
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for row in rows:
        weakest = "–" if row.weakest is None else f"{variant_name(row.weakest[0])} ({row.weakest[1]:.0%})"
        ends = "" if row.detection_ci is None else " [{:.0%}, {:.0%}]".format(*row.detection_ci)
        share = "–" if row.detection is None else f"{row.detection:.0%}{ends}"
        cells = (row.judge, row.dataset or "–", figure(row.correlation), share, weakest, figure(row.d_avg))
        table.add_row(*map(printable, cells), ", ".join(row.style) or "–")
    if runs:
        console.print(table)
    if page:
        from dhp.core.files import write_whole

        compared = before_and_after([r for run in runs for r in run.rated], variant) if variant else ()
        text = both_views_page(rows, _MEASURE, compared, variant or "", correlation_by_samples(found))
        write_whole(Path(page), lambda new: new.write_text(text, encoding="utf-8"))
        print(f"written to {printable(page)}")


def human_table(given: str) -> "str | pd.DataFrame":
    """The human scores in a file, or of a published set as `NAME=FILE`."""
    from dhp.loaders.rated import RATED_SETS, read_human_scores

    return read_human_scores(given) if given.partition("=")[0] in RATED_SETS else given


def _print_judge(judge: "JudgeAgreement", console: "Console") -> None:
    from dhp.report.tables import plain_table

    first = judge.metrics[0].correlations
    table = plain_table(f"{judge.judge}  ·  correlation with human scores")
    table.add_column("level")
    table.add_column("coefficient")
    for metric in judge.metrics:
        table.add_column(printable(metric.metric), justify="right", overflow="fold")
    table.add_column("mean", justify="right")
    for row, one in enumerate(first):
        cells = [_cell(metric.correlations[row]) for metric in judge.metrics]
        mean = judge.mean[f"{one.level}.{one.coefficient}"]
        table.add_row(_LEVELS[one.level], one.coefficient, *cells, "–" if mean is None else f"{mean:.3f}")
    accuracies = [m.pair_accuracy for m in judge.metrics]
    cells = ["–" if a is None else f"{a.accuracy:.3f} (ties ≤ {a.epsilon:.3g})" for a in accuracies]
    table.add_row("pairs", "accuracy", *cells, "")
    soft = [m.soft_pair_accuracy for m in judge.metrics]
    table.add_row("systems", "soft accuracy", *("–" if v is None else f"{v:.3f}" for v in soft), "")
    console.print(table)
    left_out = {m.metric: m.correlations[0].left_out for m in judge.metrics if m.correlations[0].left_out}
    for name, number in left_out.items():
        console.print(
            f"  note: {printable(name)}: sources with constant or too few scores, left out within sources: "
            f"{number}",
            highlight=False,
        )
    for m in judge.metrics:
        if m.by_samples:
            curve = " ".join("undefined" if v is None else f"{v:.3f}" for v in m.by_samples)
            console.print(
                f"  {printable(m.metric)}: Pearson over all items of the mean of 1, 2, ... samples: {curve}",
                highlight=False,
            )
    console.print()


def _cell(found: "Correlation") -> str:
    if found.value is None:
        return "undefined"
    ends = "" if found.ci is None else f" [{found.ci[0]:.2f}, {found.ci[1]:.2f}]"
    return f"{found.value:.3f}{ends}"


def _print_pairs(found: "Agreement", console: "Console") -> None:
    from dhp.report.tables import plain_table

    if not found.pairs:
        return
    table = plain_table("two judges on the items of both (Pearson over all items)")
    headings = ("judges", "metric", "items", "difference", "p (swaps)", "Williams' t", "p (Williams)")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place > 1 else "left", overflow="fold")
    for pair in found.pairs:
        swap = (
            ("–", "–")
            if pair.swap is None
            else (f"{pair.swap.difference:+.3f}", f"{pair.swap.p_two_sided:.3g}")
        )
        test = (
            ("–", "–")
            if pair.williams is None
            else (f"{pair.williams.t:.2f}", f"{pair.williams.p_two_sided:.3g}")
        )
        names = printable(f"{pair.first} – {pair.second}")
        table.add_row(names, printable(pair.metric), str(pair.items), *swap, *test)
    console.print(table)
