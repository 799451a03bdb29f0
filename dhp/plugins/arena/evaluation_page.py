"""The table and the page of an evaluation by category.

The terminal shows one table of all cells (`cells_table`). The page has, for each category, a chart, a table
with the reasons why answers are unread, and the best and worst answers; then the battle, if there was one.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dhp.core.records import Candidate
from dhp.plugins.arena.battle import Battle
from dhp.plugins.arena.battle_outputs import asked_judge, asked_parts, battle_title, page_parts
from dhp.plugins.arena.evaluation import EvaluatedCell, EvaluatedText, Evaluation
from dhp.report.charts import COLOURS, drawn
from dhp.report.document import Chart, Column, Fold, Heading, Part, Strong, Table, Texts, filled
from dhp.report.labels import between, figure, score
from dhp.report.web import document_page

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

_COLOURS = ("d", "ew", "yes", "no", "heat", "weak")
"""Colours of models by their place, of those that all charts have; a seventh has the first one again."""

_CATEGORY = Column[EvaluatedCell]("category", lambda cell: cell.category, names=True, right=False)

_METRIC = Column[EvaluatedCell]("metric", lambda cell: cell.metric, names=True, right=False)

_MODEL = Column[EvaluatedCell]("model", lambda cell: cell.model, right=False)

_FIGURES: tuple[Column[EvaluatedCell], ...] = (
    Column("n", lambda cell: cell.n, help="answers with a score"),
    Column("mean", lambda cell: cell.mean, figure),
    Column("95 %", lambda cell: cell.ci and cell.ci[0], words=lambda cell: between(cell.ci)),
    Column(
        "unread",
        lambda cell: sum(cell.unread.values()),
        help="answers without a readable score, which are not averaged in",
        extra=lambda cell: {"strong": bool(cell.unread)},
    ),
)


def _examples(texts: Sequence[EvaluatedText]) -> str:
    return ", ".join(text.example for text in texts)


def _why_unread(cell: EvaluatedCell) -> str | None:
    reasons = []
    for why, count in cell.unread.items():
        reasons.append(f"{count} {why.replace('_', ' ')}")
    return ", ".join(reasons) or None


def cells_table(evaluation: Evaluation) -> Table[EvaluatedCell]:
    """A row for each category, metric and model."""
    title = f"{evaluation.judge}  ·  {evaluation.protocol}  ·  answers by category and metric"
    best = Column[EvaluatedCell]("best", lambda cell: _examples(cell.best))
    worst = Column[EvaluatedCell]("worst", lambda cell: _examples(cell.worst))
    return Table(title, [_CATEGORY, _METRIC, _MODEL, *_FIGURES, best, worst], evaluation.cells)


def category_table(category: str, cells: Sequence[EvaluatedCell]) -> Table[EvaluatedCell]:
    """A row for each metric and model of a category, with the reasons why answers are unread."""
    by = Column[EvaluatedCell]("by", lambda cell: cell.kind, right=False)
    why = Column[EvaluatedCell](
        "why unread", _why_unread, words=lambda cell: _why_unread(cell) or "", right=False, optional=True
    )
    columns = filled([_METRIC, _MODEL, by, *_FIGURES, why], cells)
    return Table(category, columns, cells, css="overview stacked", titled=False)


_LEAD = (
    "{judge} scored the answers of each category by each metric. Intervals are 95 % intervals of the mean. "
    "Answers without a readable score are counted as unread, and never averaged in."
)


def evaluation_page(
    evaluation: Evaluation, texts: Mapping[tuple[str, str], Candidate], battle: Battle | None = None
) -> str:
    """The page of an evaluation: one file that needs no network, every text in it escaped.

    `texts`: (question, model) -> the answer.
    """
    parts: list[Part] = []
    for name in dict.fromkeys(cell.category for cell in evaluation.cells):
        cells = [cell for cell in evaluation.cells if cell.category == name]
        judged = [cell for cell in cells if cell.kind == "judge"]
        parts.append(Heading(name))
        if judged:
            parts.append(Chart([scores_chart(name, judged)]))
        parts.append(category_table(name, cells))
        parts.append(Fold("Best and worst answers", list(_best_and_worst(judged, texts))))
    if battle:
        parts += [Heading(battle_title(battle)), *page_parts(battle)]
    parts += asked_parts(evaluation.settings, evaluation.usage, evaluation.cost)
    lead = _LEAD.format(judge=asked_judge(evaluation.judge, evaluation.protocol))
    return document_page("Evaluation by category", lead, parts)


def _best_and_worst(
    cells: Sequence[EvaluatedCell], texts: Mapping[tuple[str, str], Candidate]
) -> Iterator[Part]:
    for cell in cells:
        yield Strong(f"{cell.metric}: {cell.model}")
        for which, listed in (("best", cell.best), ("worst", cell.worst)):
            for each in listed:
                text = texts[each.example, cell.model]
                shown = {"Question": text.source, "Answer": text.text}
                if each.raw:
                    shown["Judge"] = each.raw
                yield Fold(f"{which}  ·  {score(each.score)}  ·  {each.example}", [Texts(shown)])


def scores_chart(category: str, cells: Sequence[EvaluatedCell]) -> "Markup":
    """Mean scores of one category with intervals: a group of bars per metric, a bar per model."""
    metrics = list(dict.fromkeys(cell.metric for cell in cells))
    models = list(dict.fromkeys(cell.model for cell in cells))
    height = 0.8 / len(models)  # of a bar; a gap of .2 parts the metrics
    lowest = min(cell.scale[0] for cell in cells)
    highest = max(cell.scale[1] for cell in cells)

    def draw(canvas: "Figure") -> None:
        axes = canvas.subplots()
        # Model by model, so that the legend has them in their order.
        for cell in sorted(cells, key=lambda cell: models.index(cell.model)):
            # The bars of a metric stand around its whole number, in the order of the models.
            number = models.index(cell.model)
            row = metrics.index(cell.metric) + (number - (len(models) - 1) / 2) * height
            label = cell.model if cell.metric == metrics[0] else None  # once in the legend
            colour = COLOURS[_COLOURS[number % len(_COLOURS)]]
            low = cell.scale[0]  # where the bar begins: scales begin at 1, not at 0
            # Without a mean the bar has no length.
            length = (cell.mean or low) - low
            axes.barh(row, length, left=low, height=0.9 * height, color=colour, label=label)
            if cell.ci:
                for shade, width in (("page", 3.0), ("ink", 1.1)):  # an outline, so that it shows on a bar
                    axes.plot(cell.ci, (row, row), "|-", color=COLOURS[shade], lw=width, ms=4, mew=width)
        axes.set_yticks(range(len(metrics)), metrics)
        axes.set_ylim(len(metrics) - 0.4, -0.6)  # the first metric at the top
        axes.set_xlim(lowest, highest)
        axes.tick_params(axis="y", length=0, labelcolor=COLOURS["ink"])
        axes.grid(axis="x", linewidth=0.6)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False)

    means = []
    for cell in cells:
        means.append(f"{cell.metric}, {cell.model}: {figure(cell.mean)}")
    summary = "; ".join(means)
    rows = len(metrics) * (0.3 + 0.16 * len(models))
    return drawn(draw, 8.6, 0.9 + rows, f"Mean scores of {category}: {summary}.")
