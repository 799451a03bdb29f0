"""Results, comparisons and gates as Python shows them: as text, as tables of a notebook, as a data frame,
as a chart.

The records stand below the report and must not import it: they load this file by its name as they are shown.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from dhp.analysis.results import Result, Results, VariantResult
from dhp.content.catalog import variant_name
from dhp.core.records import ORIGINAL
from dhp.report.advice import advice
from dhp.report.columns import (
    AVERAGES,
    DIFFERENCE,
    KIND,
    KINDS,
    METRICS,
    PAPER,
    RUNS,
    legend,
    run_columns,
)
from dhp.report.compared import comparison_sentence, most_different
from dhp.report.compared_marks import marks_table
from dhp.report.document import Column, Part, Strong, Table, filled, item, plain_row
from dhp.report.findings import by_judge, sentences
from dhp.report.labels import percent
from dhp.report.result_parts import kinds_table
from dhp.report.terminal import results_in_terminal
from dhp.report.terminal_printer import print_parts
from dhp.report.web import fragment
from dhp.runs.compare import Comparisons, DatasetComparison
from dhp.runs.gate import Outcome
from dhp.runs.reader import RunResult, open_run

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_WIDTH = 120
"""Columns of the text."""
_SHOWN = 12
"""Results that the text shows. Chosen."""
_GREY = "#6b7280"


def line(result: Result) -> str:
    """A result in one line."""
    figures = []
    for column in filled(RUNS, [result]):
        shown = column.shown(result)
        if shown:
            figures.append(f"{column.heading} {shown}")
    return f"{result.judge} on {result.dataset}: {', '.join(figures)}"


def text(results: Results) -> str:
    """What a terminal shows of the first results, and the most pressing thing to do for each judge."""
    from rich.console import Console

    out = io.StringIO()
    shown = results[:_SHOWN]
    # in a notebook rich would show the lines as outputs of their own
    console = Console(file=out, width=_WIDTH, color_system=None, force_jupyter=False)
    print_parts(results_in_terminal(shown), console)
    judges = by_judge(shown)
    for judge, of_judge in judges.items():
        further = [piece for piece in advice(of_judge) if not piece.warns]  # the notes have said the rest
        if further:
            about = f"{judge}: " if len(judges) > 1 else ""
            out.write(f"next: {about}{further[0].text}\n")
    if len(results) > _SHOWN:
        out.write(f"and {len(results) - _SHOWN} more results\n")
    return out.getvalue().strip("\n")


def sentence(results: Sequence[Result]) -> str:
    """What each judge notices and misses, a line for each."""
    return "\n".join(map(str, sentences(results)))


def html(results: Sequence[Result]) -> str:
    """The sentences, a table of several results, and one of each."""
    parts: list[Part] = [Strong(str(sentence)) for sentence in sentences(results)]
    if len(results) > 1:
        name = Column[Result]("data", lambda r: f"{r.dataset}: {r.judge}", right=False)
        parts.append(Table("", [name, *filled(RUNS, results)], results))
    parts += legend(results)
    for each in results:
        parts += [line(each), kinds_table(each, doses=True)]
    return fragment(parts)


def runs_frame(results: Sequence[Result]) -> "pd.DataFrame":
    """One row a (model, protocol, dataset), with all figures of the tables of results."""
    import pandas as pd

    columns = dict.fromkeys((*PAPER, *RUNS))  # some averages are in both
    rows = []
    for result in results:
        about = {
            "model": result.model,
            "protocol": result.protocol,
            "dataset": result.dataset,
            "n": result.n,
        }
        rows.append({**about, **plain_row(columns, result)})
    return pd.DataFrame(rows)


def frame(results: Sequence[Result]) -> "pd.DataFrame":
    """One row a (model, protocol, dataset, variant, metric): first the columns of the kind."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for result in results:
        for row in (*result.variants, *result.probes):
            about = {
                "model": result.model,
                "protocol": result.protocol,
                "dataset": result.dataset,
                "variant": row.variant,
                "level": row.level,
                **plain_row((KIND, *KINDS), row),
            }
            for metric, cell in row.metrics.items():
                figures = {f"metric_{name}": value for name, value in plain_row(METRICS, cell).items()}
                # `p` has no value below 1e-300; its logarithm always has one.
                rows.append({**about, "metric": metric, **figures, "metric_log10_p": cell.log10_p})
    return pd.DataFrame(rows)


def ratings_frame(results: Results) -> "pd.DataFrame":
    """One row a (model, protocol, dataset, example, variant, metric) that was asked about.

    `score` is the mean of the samples, NaN if there is none.
    """
    import pandas as pd

    parts = []
    for entry in open_run(results, "the results").rated:
        ratings = entry.ratings
        # Arrays of the places of all that was asked: of a text (the original is 0), a metric and an example.
        texts, metrics, examples = ratings.asked.nonzero()
        names = (ORIGINAL, *ratings.variants)
        columns = {
            "model": ratings.model,
            "protocol": ratings.protocol,
            "dataset": ratings.dataset,
            "example": [ratings.examples[place] for place in examples],
            "variant": [names[place] for place in texts],
            "metric": [ratings.metrics[place] for place in metrics],
            "score": ratings.means[texts, metrics, examples],
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def comparisons_html(comparisons: Comparisons) -> str:
    """The sentence, then for each dataset D, and the kinds of damage by judge, those furthest apart first."""
    parts: list[Part] = [Strong(comparison_sentence(comparisons))]
    for each in comparisons:
        parts += [_averages(each, comparisons.rated[each.dataset]), *marks_table([each])]
        parts.append(_kinds(each))
    if any(each.apart for each in comparisons):
        parts.append("* significant at 0.05, corrected over all kinds of damage")
    return fragment(parts)


def _averages(comparison: DatasetComparison, rated: Sequence[RunResult]) -> Table[Column[Result]]:
    """A row for each average, a column for each judge."""
    results = [entry.result for entry in rated]
    # Rows of the table are averages and its columns judges, so the value of a cell is a column of results.
    averages = [column for column in run_columns(results) if column in AVERAGES]
    heading = f"{comparison.dataset}, n = {comparison.n}"
    columns = [Column[Column[Result]](heading, lambda average: average.heading, names=True, right=False)]
    for name, result in zip(comparison.names, results, strict=True):
        columns.append(Column(name, methodcaller("shown", result)))
    return Table("", columns, averages)


_WITH_VERDICT = Column[VariantResult](
    "detection", lambda row: row.detection, percent, extra=lambda row: {"small": row.state}
)


def _kinds(comparison: DatasetComparison) -> Table[Any]:
    columns = [Column[Any]("kind", item(0), words=lambda row: variant_name(row[0]), right=False)]
    for name, judge in zip(comparison.names, comparison.judges, strict=True):
        column = replace(_WITH_VERDICT, heading=name)
        # The row of a kind is (variant, judge -> its rows on the sets); of a single set each judge has one.
        columns.append(column.on(item(1, judge, 0)))
    if comparison.apart:
        columns.append(DIFFERENCE.on(lambda row: comparison.apart[row[0]]))
    return Table("", columns, list(most_different([comparison])))


def comparisons_frame(comparisons: Comparisons) -> "pd.DataFrame":
    """One row a (dataset, kind of damage, judge), with its difference from the first judge."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for each in comparisons:
        rows += _compared_rows(each)
    return pd.DataFrame(rows)


def _compared_rows(comparison: DatasetComparison) -> Iterator[dict[str, Any]]:
    for kinds, pairs in zip(comparison.damage, comparison.by_variant, strict=True):
        # Differences are said of pairs of judges; a row of the table names that with the first one.
        beside_first = {pair.second: pair for pair in pairs if pair.first == 0}
        for place, (judge, row) in enumerate(zip(comparison.judges, kinds, strict=True)):
            # None for the first judge itself.
            pair = beside_first.get(place)
            yield {
                "dataset": comparison.dataset,
                "judge": judge,
                "variant": row.variant,
                "level": row.level,
                **plain_row((KIND, *KINDS), row),
                "difference": None if pair is None else pair.difference,
                "difference_low": None if pair is None else pair.low,
                "difference_high": None if pair is None else pair.high,
                "p_adjusted": None if pair is None else pair.p_adjusted,
            }


def outcome_html(outcome: Outcome) -> str:
    """The sentence, and a table of what was found of each condition."""
    columns = [Column[Any](name, item(place), right=False) for place, name in enumerate(_FINDING)]
    return fragment([Strong(outcome.sentence), Table("", columns, _findings(outcome))])


_FINDING = ("condition", "state", "result", "finding")


def _findings(outcome: Outcome) -> list[tuple[str, str, str, str]]:
    rows: list[tuple[str, str, str, str]] = []
    for condition, findings in outcome.checks.items():
        rows += [(condition, finding.state, finding.result, finding.words) for finding in findings]
    return rows


def outcome_frame(outcome: Outcome) -> "pd.DataFrame":
    """One row for each finding of a gate."""
    import pandas as pd

    return pd.DataFrame(_findings(outcome), columns=list(_FINDING))


def plot(result: Result) -> "Figure":
    """Detection of each kind of damage and control with its limits, coloured by verdict; 50 % is blind.

    It is drawn without a display; notebooks show it, `savefig` writes it.
    """
    from dhp.report.picture import Picture

    rows = [row for row in (*result.variants, *result.controls) if row.detection is not None]
    figure = Picture(figsize=(7, 0.8 + 0.32 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(rows):
        value = row.detection or 0.0
        colour = row.state.mark[0]  # that of the light theme
        low, high = row.detection_ci or (value, value)
        axes.plot([low, high], [place, place], color=colour, linewidth=2)
        axes.plot([value], [place], "o", color=colour)
    axes.axvline(0.5, color=_GREY, linewidth=1, linestyle=":")
    axes.set_yticks(range(len(rows)), [KIND.shown(row) for row in rows])
    axes.invert_yaxis()
    lows = [row.detection_ci[0] for row in rows if row.detection_ci is not None]
    # Room for the lowest limit; without one the axis begins at 50 %.
    axes.set_xlim(min([0.5, *lows]) - 0.02, 1.02)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.set_xlabel("detection (50 % is blind)")
    axes.set_title(f"{result.dataset}: {result.judge}", loc="left")
    return figure
