"""Results, comparisons and gates as Python shows them: as text, as tables of a notebook, as a data frame,
as a chart.

Each loads this file by its name as it is shown, since it stands below the report.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

from dhp.analysis.results import Result, Results, VariantResult
from dhp.content.catalog import variant_name
from dhp.core.records import ORIGINAL
from dhp.core.text import printable
from dhp.core.verdicts import Verdict
from dhp.report.advice import advice
from dhp.report.columns import (
    AVERAGES,
    DIFFERENCE,
    KIND,
    KINDS,
    METRICS,
    PAPER,
    RUNS,
    Column,
    filled,
    kind_columns,
    legend,
    plain_row,
    run_columns,
)
from dhp.report.compared import comparison_sentence, most_different
from dhp.report.findings import by_judge, sentences
from dhp.report.labels import percent
from dhp.report.printout import print_parts
from dhp.report.terminal import results_in_terminal
from dhp.runs.compare import Comparisons, DatasetComparison
from dhp.runs.gate import Outcome
from dhp.runs.reader import open_run

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Row = TypeVar("Row")
_WIDTH = 120
"""Columns of the text."""
_SHOWN = 12
"""Results that the text shows."""
_GREY = "#6b7280"


def line(result: Result) -> str:
    """A result in one line."""
    columns = filled(RUNS, [result])
    figures = (f"{column.heading} {shown}" for column in columns if (shown := column.shown(result)))
    return f"{result.judge} on {result.dataset}: {', '.join(figures)}"


def text(results: Results) -> str:
    """What a terminal shows of the first results, and the most pressing thing to do for each judge."""
    from rich.console import Console

    out = io.StringIO()
    shown = results[:_SHOWN]
    # in a notebook rich would show the lines as outputs of their own
    console = Console(file=out, width=_WIDTH, color_system=None, force_jupyter=False)
    print_parts(results_in_terminal(shown), console)
    several = len(by_judge(shown)) > 1
    for judge, of in by_judge(shown).items():
        for piece in [piece for piece in advice(of) if not piece.warns][:1]:  # a note has what warns
            out.write(f"next: {f'{judge}: ' if several else ''}{piece.text}\n")
    if len(results) > _SHOWN:
        out.write(f"and {len(results) - _SHOWN} more results\n")
    return out.getvalue().strip("\n")


def sentence(results: Sequence[Result]) -> str:
    """What each judge notices and misses, a line for each."""
    return "\n".join(map(str, sentences(results)))


def html(results: Sequence[Result]) -> str:
    """The sentences, a table of several results, and one of each; all text is escaped."""
    parts = [f"<p><b>{escape(str(sentence))}</b></p>" for sentence in sentences(results)]
    if len(results) > 1:
        parts.append(_table("data", lambda r: f"{r.dataset}: {r.judge}", filled(RUNS, results), results))
    parts += (f"<p>{escape(note)}</p>" for note in legend(results))
    for each in results:
        rows = [*(each.damage or each.variants), *each.probes]
        parts.append(f"<p>{escape(line(each))}</p>")
        parts.append(_table(KIND.heading, KIND.shown, kind_columns(rows, details=0), rows))
    return "".join(parts)


def _table(
    heading: str, name: Callable[[Row], str], columns: Sequence[Column[Row]], rows: Iterable[Row]
) -> str:
    heads = (f'<th title="{escape(column.help)}">{escape(column.heading)}</th>' for column in columns)
    head = f"<tr><th>{escape(heading)}</th>{''.join(heads)}</tr>"
    lines = (
        f"<tr><td>{escape(name(row))}</td>{''.join(_cell(column, row) for column in columns)}</tr>"
        for row in rows
    )
    return f"<table>{head}{''.join(lines)}</table>"


def _cell(column: Column[Row], row: Row) -> str:
    value = column.value(row)
    style = (
        f"color:{value.mark[0]}" if isinstance(value, Verdict) else "text-align:right" if column.right else ""
    )
    signed = isinstance(value, Verdict) and column.words is None
    shown = value.signed if signed else column.shown(row).strip()
    return f'<td style="{style}">{escape(shown)}</td>'


def runs_frame(results: Sequence[Result]) -> "pd.DataFrame":
    """One row a (model, protocol, dataset), with all figures of the tables of results."""
    import pandas as pd

    columns = dict.fromkeys((*PAPER, *RUNS))
    return pd.DataFrame(
        [
            {
                "model": r.model,
                "protocol": r.protocol,
                "dataset": r.dataset,
                "n": r.n,
                **plain_row(columns, r),
            }
            for r in results
        ]
    )


def frame(results: Sequence[Result]) -> "pd.DataFrame":
    """One row a (model, protocol, dataset, variant, metric): first the columns of the kind."""
    import pandas as pd

    rows = [
        {
            "model": result.model,
            "protocol": result.protocol,
            "dataset": result.dataset,
            "variant": row.variant,
            "level": row.level,
            **plain_row((KIND, *KINDS), row),
            "metric": metric,
            **{f"metric_{name}": value for name, value in plain_row(METRICS, cell).items()},
            "metric_log10_p": cell.log10_p,
        }
        for result in results
        for row in (*result.variants, *result.probes)
        for metric, cell in row.metrics.items()
    ]
    return pd.DataFrame(rows)


def ratings_frame(results: Results) -> "pd.DataFrame":
    """One row a (model, protocol, dataset, example, variant, metric) that was asked about.

    `score` is the mean of the samples, NaN if there is none.
    """
    import pandas as pd

    parts = []
    for each in (entry.ratings for entry in open_run(results, "the results").rated):
        texts, metrics, examples = each.asked.nonzero()
        columns = {
            "model": each.model,
            "protocol": each.protocol,
            "dataset": each.dataset,
            "example": [each.examples[place] for place in examples],
            "variant": [(ORIGINAL, *each.variants)[place] for place in texts],
            "metric": [each.metrics[place] for place in metrics],
            "score": each.means[texts, metrics, examples],
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def comparisons_html(comparisons: Comparisons) -> str:
    """The sentence, then for each dataset D, and the kinds of damage by judge, those furthest apart first."""
    parts = [f"<p><b>{escape(comparison_sentence(comparisons))}</b></p>"]
    for each in comparisons:
        heads = [*each.names, *([f"{each.names[1]} - {each.names[0]}"] if each.apart else [])]
        cells = "".join(f'<th style="text-align:right">{escape(printable(head))}</th>' for head in heads)
        rows = [f"<tr><th>{escape(printable(each.dataset))}, n = {each.n}</th>{cells}</tr>"]
        results = [entry.result for entry in comparisons.rated[each.dataset]]
        for column in (column for column in run_columns(results) if column in AVERAGES):
            shown = "".join(f'<td style="text-align:right">{column.shown(result)}</td>' for result in results)
            rows.append(f"<tr><th>{column.heading}</th>{shown}</tr>")
        for variant, seen in most_different([each]):
            kinds = [_kind_cell(seen[judge][0]) for judge in each.judges]
            if each.apart:
                kinds.append(f'<td style="text-align:right">{DIFFERENCE.shown(each.apart[variant])}</td>')
            rows.append(f"<tr><td>{escape(variant_name(variant))}</td>{''.join(kinds)}</tr>")
        parts.append(f"<table>{''.join(rows)}</table>")
    if any(each.apart for each in comparisons):
        parts.append("<p>* significant at 0.05, corrected over all kinds of damage</p>")
    return "".join(parts)


def _kind_cell(row: VariantResult) -> str:
    shown = f"{percent(row.detection)} {row.state}"
    return f'<td style="text-align:right;color:{row.state.mark[0]}">{escape(shown)}</td>'


def comparisons_frame(comparisons: Comparisons) -> "pd.DataFrame":
    """One row a (dataset, kind of damage, judge), with its difference from the first judge."""
    import pandas as pd

    return pd.DataFrame([row for each in comparisons for row in _compared_rows(each)])


def _compared_rows(comparison: DatasetComparison) -> "Iterator[dict[str, Any]]":
    for kinds, pairs in zip(comparison.damage, comparison.by_variant, strict=True):
        beside_first = {pair.second: pair for pair in pairs if pair.first == 0}
        for place, (judge, row) in enumerate(zip(comparison.judges, kinds, strict=True)):
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
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(printable(cell))}</td>' for cell in row)}</tr>"
        for row in _findings(outcome)
    )
    heads = "".join(f"<th>{name}</th>" for name in _FINDING)
    return f"<p><b>{escape(printable(outcome.sentence))}</b></p><table><tr>{heads}</tr>{rows}</table>"


_FINDING = ("condition", "state", "result", "finding")


def _findings(outcome: Outcome) -> list[tuple[str, str, str, str]]:
    return [
        (condition, finding.state, finding.result, finding.words)
        for condition, each in outcome.checks.items()
        for finding in each
    ]


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
        value, colour = row.detection or 0.0, row.state.mark[0]
        low, high = row.detection_ci or (value, value)
        axes.plot([low, high], [place, place], color=colour, linewidth=2)
        axes.plot([value], [place], "o", color=colour)
    axes.axvline(0.5, color=_GREY, linewidth=1, linestyle=":")
    axes.set_yticks(range(len(rows)), [KIND.shown(row) for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(min([0.5, *((row.detection_ci or (0.5, 1.0))[0] for row in rows)]) - 0.02, 1.02)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.set_xlabel("detection (50 % is blind)")
    axes.set_title(f"{result.dataset}: {result.judge}", loc="left")
    return figure
