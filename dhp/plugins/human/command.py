"""`dhp correlate`: correlation of judges' scores with human scores.

The command does one of three things, by its options and by what people say: it corrects the judge's means
(`--correct`), counts agreement on pass / fail labels, or correlates scores. The first two have files of their
own; this one has the parts of the third.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from dhp.cli.command import Command
from dhp.cli.options import refuse_surplus, settings
from dhp.cli.output import OutputOptions, print_out
from dhp.cli.protocol_options import SEED
from dhp.core.checks import requires
from dhp.core.errors import InputError
from dhp.core.own_table import RatingsForm
from dhp.plugins.human.agreement import Agreement, JudgeAgreement, JudgePair
from dhp.plugins.human.agreement import correlate as correlated
from dhp.plugins.human.correlation import RESAMPLES, Coefficient, Correlation
from dhp.plugins.human.labels import (
    has_labels,
    judge_labels,
    label_printout,
    labels_as_scores,
    lowest_to_highest,
)
from dhp.plugins.human.pair_accuracy import PairAccuracy
from dhp.plugins.human.self_preference import SelfPreference, self_preference
from dhp.report.document import Column, Part, Strong, Table, item
from dhp.report.labels import figure, in_brackets
from dhp.report.printout import Printout

LEVEL_NAMES: Mapping[str, str] = {
    "per_source": "within sources",
    "pooled": "all items",
    "system": "systems",
}
"""Level -> what is correlated, as tables call it."""


SYMBOLS: Mapping[str, str] = {"pearson": "r", "spearman": "ρ", "kendall": "τ", "kendall-c": "τ-c"}


def agreement_table(agreement: Agreement) -> Table[Mapping[str, object]]:
    """A row a level and judge, a column a metric and coefficient; to three decimals, a dash for undefined.

    A metric is named over the first of its columns alone; a level that is the only one in the title alone.
    """
    frame = agreement.to_frame()

    # Columns that name a row: the level, if there are several, and the judge.
    title = "correlation with human scores: Pearson's r, Spearman's ρ, Kendall's τ"
    levels = frame["level"].unique()
    names = [column for column in frame.columns if column in ("level", "judge")]
    if len(levels) == 1:
        title = f"{title}; {LEVEL_NAMES[levels[0]]}"
        names.remove("level")
    columns = [Column[Any](name, item(name), _level_name, names=True, right=False) for name in names]

    # Figures are called `METRIC.COEFFICIENT`; a metric's name may hold a full stop itself.
    figures = [column for column in frame.columns if column not in ("level", "judge")]
    last = ""
    for column in figures:
        metric, _, coefficient = column.rpartition(".")
        symbol = SYMBOLS[coefficient]
        heading = symbol if metric == last else f"{metric} {symbol}"
        columns.append(Column(heading, item(column), _three_decimals))
        last = metric

    # A sheet without systems has no figure within sources or of systems.
    return Table(title, columns, frame.dropna(how="all", subset=figures).to_dict("records"))


# How figures of tables are written; a dash for one that is undefined.
def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


def _three_digits(p: float | None) -> str:
    return "–" if p is None else f"{p:.3g}"


def _level_name(name: str) -> str:
    """A level as tables call it; any other name as it is."""
    return LEVEL_NAMES.get(name, name)


def _three_decimals(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:z.3f}"  # `z`: no -0.000


_IN_TABLE = ("--csv", "--markdown", "--human", "--field", "--tau-c", "--html")
"""The options that the table of --csv and --markdown takes."""
_CORRECTING = ("--correct", "--human", "--field", "--runs", "--passes", "--json", "--html")
"""The options that --correct takes."""
_OF_LABELS = ("--human", "--field", "--passes", "--json", "--html")
"""The options that a table of labels takes."""
COMMON = "--human --field --passes --csv --markdown --json --resamples --tau-c --runs --correct"
"""The options that most people need."""


@click.command(
    cls=Command,
    common=COMMON,
    rules=(requires("runs", "correct"),),
)
@click.argument("ratings", nargs=-1, required=True)
@click.option(
    "--human",
    metavar="FILE|NAME=FILE",
    help="Human scores, or labels: a table; or a published set in its original format. Without it they stand "
    "in the column human of RATINGS.",
)
@click.option(
    "--resamples",
    default=RESAMPLES,
    metavar="K",
    help="Number of resamples of the sources, for intervals and tests.",
)
@click.option("--tau-c", is_flag=True, help="Kendall's tau-c instead of tau-b.")
@SEED
@click.option("--runs", metavar="RUN", help="With --correct: run of the same judge.")
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
@settings("form", RatingsForm, only=("fields",))
@settings("output", OutputOptions, only=("json", "csv", "markdown", "html"))
def correlate(
    ratings: tuple[str, ...],
    human: str | None,
    resamples: int,
    tau_c: bool,
    seed: int,
    runs: str | None,
    family: str | None,
    correct: bool,
    passes: float | None,
    form: RatingsForm,
    output: OutputOptions,
) -> None:
    """Correlate judges' scores with human ones, or correct them.

    RATINGS is one sheet with the columns id, judge, human (or others by --field), or tables of judges' scores
    beside the table --human. Columns: source (or id), score; perhaps system, metric; of judges sample,
    model, protocol, of people rater. Several columns for score are judges, for human raters. Published sets:
    summeval, newsroom, realsumm, topical_chat, openmeva_roc, bagel. With --correct only some of the texts
    need a human score. Thumbs, or a column label (pass or fail), give Cohen's kappa and both error rates, at
    --passes.

    Example: dhp correlate sheet.csv --field score=gpt --field human=anna,ben
    """
    from dhp.plugins.human.corrected import corrected_printout
    from dhp.plugins.human.sheet import read_tables

    rated, people = read_tables(ratings, human, form.fields or {})
    if correct:
        refuse_surplus("--correct", _CORRECTING)
        print_out(corrected_printout(rated, people, runs, passes), output)
        return
    if people is None:
        raise InputError(_NO_PEOPLE)
    # Agreement on labels: the judge says pass or fail, too, or a mark turns its scores into that.
    if has_labels(people) and (passes is not None or judge_labels(rated)):
        refuse_surplus("labels", _OF_LABELS)
        print_out(label_printout(rated, people, passes), output)
        return
    if passes is not None:
        raise InputError("--passes: is for --correct, or for labels and thumbs of people")
    _check_resamples(resamples)
    at_mark = has_labels(people)
    people = labels_as_scores(people) if at_mark else people
    coefficients: list[Coefficient] = ["pearson", "spearman", "kendall-c" if tau_c else "kendall"]
    in_table = output.csv or output.markdown
    if in_table:
        refuse_surplus("--csv and --markdown", _IN_TABLE)
        resamples = 0  # the table has no intervals
    agreement = correlated(rated, people, coefficients=coefficients, resamples=resamples, seed=seed)
    if in_table:
        print_out(Printout([agreement_table(agreement)], frame=agreement.to_frame), output)
        return
    parts = _agreement_parts(agreement, human or "")
    if at_mark:
        parts.append(_WITH_MARK)
    if family:
        preferences = self_preference(rated, people, family, resamples=resamples, seed=seed)
        parts.append(Table(_PREFERENCE_TITLE, _PREFERENCES, preferences))
    print_out(Printout(parts, agreement.to_dict()), output)


_NO_PEOPLE = (
    "--human: is missing; give a table of human scores, or NAME=FILE of a published set, or name their "
    "column: --field human=COLUMN"
)
_WITH_MARK = (
    "note: people say pass or fail; --passes X, the judge's lowest score that passes, gives error rates"
)


def _check_resamples(resamples: int) -> None:
    # Of fewer the limits of 95 % would be the lowest and the highest one: a fortieth lies beyond each.
    if resamples < 0 or 0 < resamples < 20:
        raise InputError(f"--resamples {resamples}: must be 0 or at least 20")


def _agreement_parts(agreement: Agreement, human: str) -> list[Part]:
    """A sentence for each judge, its figures, and once for all of them what is a matter of the data."""
    parts: list[Part] = [*map(Strong, agreement.sentences), ""]
    for judge in agreement.judges:
        parts += [*_judge_parts(judge), ""]

    single = []
    several_systems = False
    for judge in agreement.judges:
        for metric in judge.metrics:
            single.append(metric.single)
            several_systems = several_systems or metric.systems > 1
    # A sheet without systems has nothing within sources, and says nothing of systems.
    if several_systems:
        if max(single):
            number = lowest_to_highest(single)
            parts.append(f"note: sources with a single system, left out within sources: {number}")
        parts.append(
            "note: intervals are for other sources and these systems; on texts of other systems the judge "
            "may agree more or less"
        )

    if agreement.pairs:
        parts.append(_pair_table(agreement))
    return [*parts, *_rater_lines(agreement), *_set_notes(human)]


def _rater_lines(agreement: Agreement) -> Iterator[str]:
    for metric, agreed in agreement.raters.items():
        if agreed:
            alpha = "undefined" if agreed.alpha is None else f"{agreed.alpha:.2f}"
            ceiling = "" if agreed.ceiling is None else f", ceiling of a judge's Pearson {agreed.ceiling:.2f}"
            yield f"{metric}: {agreed.raters} raters, Krippendorff's alpha {alpha}{ceiling}"


def _set_notes(human: str) -> Iterator[str]:
    from dhp.loaders.rated import FROM_REFERENCE

    name = human.partition("=")[0]
    if name in FROM_REFERENCE:
        yield f"note: {name}: {FROM_REFERENCE[name]}"


_PREFERENCES: tuple[Column[SelfPreference], ...] = (
    Column("judge", lambda each: each.judge, names=True, right=False),
    Column("metric", lambda each: each.metric, right=False),
    Column("own systems", lambda each: ", ".join(each.systems), right=False),
    Column("own", lambda each: each.own_items, help="texts of its own systems"),
    Column("others", lambda each: each.others, help="texts of other systems"),
    Column(
        "preference",
        lambda each: each.preference,
        lambda value: f"{value:+.2f}",
        ends=lambda each: each.ci,
        limits_form=in_brackets,
    ),
)


_PREFERENCE_TITLE = "self-preference: judge less human, own texts less others, in standard deviations"


_Cell = tuple[float | None, str, tuple[float, float] | None]
"""A figure, as people read it, and its limits."""
_Row = tuple[str, str, Sequence[_Cell], float | None, str]
"""Level, coefficient, the figure of each metric, and their mean, as people read it."""


def _judge_parts(judge: JudgeAgreement) -> Iterator[Part]:
    # A row for each level and coefficient that some metric has a figure of.
    rows: list[_Row] = []
    for place, one in enumerate(judge.metrics[0].correlations):
        cells = [_of_correlation(metric.correlations[place]) for metric in judge.metrics]
        if any(value is not None for value, _, _ in cells):
            mean = judge.mean[f"{one.level}.{one.coefficient}"]
            rows.append((LEVEL_NAMES[one.level], one.coefficient, cells, mean, _three_decimals(mean)))
    if any(metric.pair_accuracy for metric in judge.metrics):
        cells = [_of_pairs(metric.pair_accuracy) for metric in judge.metrics]
        rows.append(("pairs", "accuracy", cells, None, ""))
    if not rows:
        return

    # A column for each metric; the places are those of `_Row` and `_Cell`.
    columns: list[Column[_Row]] = [
        Column("level", item(0), names=True, right=False),
        Column("coefficient", item(1), right=False),
    ]
    for k, metric in enumerate(judge.metrics):
        words, limits = item(2, k, 1), item(2, k, 2)
        columns.append(
            Column(metric.metric, item(2, k, 0), words=words, ends=limits, limits_form=in_brackets)
        )
    if len(judge.metrics) > 1:
        columns.append(Column("mean", item(3), words=item(4)))
    yield Table(f"{judge.judge}  ·  correlation with human scores", columns, rows)

    for metric in judge.metrics:
        # Sources with a single system are a matter of the data, and are said once for all judges.
        number = metric.correlations[0].left_out - metric.single
        if number and metric.systems > 1:
            note = "sources with constant or too few scores, left out within sources"
            yield f"  note: {metric.metric}: {note}: {number}"


def _of_correlation(one: Correlation) -> _Cell:
    return (None, "–", None) if one.value is None else (one.value, f"{one.value:.3f}", one.ci)


def _of_pairs(one: PairAccuracy | None) -> _Cell:
    """The share of pairs in the right order, which has no limits."""
    if one is None:
        return None, "–", None
    return one.accuracy, f"{one.accuracy:.3f} (ties ≤ {one.epsilon:.3g})", None


_PAIRS: tuple[Column[JudgePair], ...] = (
    Column("judges", lambda pair: f"{pair.first} – {pair.second}", names=True, right=False),
    Column("metric", lambda pair: pair.metric, right=False),
    Column("items", lambda pair: pair.items),
    Column("difference", lambda pair: pair.swap and pair.swap.difference, _signed),
    Column("p (swaps)", lambda pair: pair.swap and pair.swap.p_two_sided, _three_digits),
    Column("Williams' t", lambda pair: pair.williams and pair.williams.t, figure),
    Column("p (Williams)", lambda pair: pair.williams and pair.williams.p_two_sided, _three_digits),
)


def _pair_table(agreement: Agreement) -> Table[JudgePair]:
    title = "two judges on the items of both (Pearson over all items)"
    return Table(title, _PAIRS, agreement.pairs)
