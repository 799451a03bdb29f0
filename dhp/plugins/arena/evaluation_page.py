"""`report.html` of an evaluation by category."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dhp.core.records import Candidate
from dhp.plugins.arena.battle import Battle
from dhp.plugins.arena.battle_page import shown_contests, win_chart
from dhp.plugins.arena.evaluation import EvaluatedCell, Evaluation
from dhp.report.charts import COLOURS, drawn
from dhp.report.labels import figure
from dhp.report.web import page

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

_ASSETS = Path(__file__).parent / "assets"

_COLOURS = ("d", "ew", "yes", "no", "heat", "weak")


@dataclass(frozen=True, slots=True)
class _Section:
    """A category with its cells."""

    name: str
    cells: Sequence[EvaluatedCell]
    chart: "Markup | None"


def evaluation_page(
    evaluation: Evaluation, texts: Mapping[tuple[str, str], Candidate], battle: Battle | None = None
) -> str:
    """The page of an evaluation: one file that needs no network, every text in it escaped.

    `texts`: (question, model) -> the answer.
    """
    names = dict.fromkeys(cell.category for cell in evaluation.cells)
    sections = []
    for name in names:
        cells = [cell for cell in evaluation.cells if cell.category == name]
        judged = [cell for cell in cells if cell.kind == "judge"]
        sections.append(_Section(name, cells, scores_chart(name, judged) if judged else None))
    return page(
        _ASSETS / "evaluation.html",
        styles=("report.css", _ASSETS / "battle.css"),
        scripts=("tables.js",),
        evaluation=evaluation,
        sections=sections,
        texts=texts,
        battle=battle,
        contests=shown_contests(battle) if battle else [],
        battle_chart=win_chart(battle.contests) if battle else None,
        settings=json.dumps(dict(evaluation.settings), ensure_ascii=False, indent=1),
    )


def scores_chart(category: str, cells: Sequence[EvaluatedCell]) -> "Markup":
    """Mean scores of one category with intervals: a group of bars per metric, a bar per model."""
    metrics = list(dict.fromkeys(cell.metric for cell in cells))
    models = list(dict.fromkeys(cell.model for cell in cells))
    height = 0.8 / len(models)

    def draw(canvas: "Figure") -> None:
        axes = canvas.subplots()
        for number, model in enumerate(models):
            for cell in (c for c in cells if c.model == model):
                row = metrics.index(cell.metric) + (number - (len(models) - 1) / 2) * height
                label = model if cell.metric == metrics[0] else None
                colour = COLOURS[_COLOURS[number % len(_COLOURS)]]
                low = cell.scale[0]
                axes.barh(
                    row, (cell.mean or low) - low, left=low, height=0.9 * height, color=colour, label=label
                )
                if cell.ci:
                    for shade, width in (
                        ("page", 3.0),
                        ("ink", 1.1),
                    ):  # an outline, so that it shows on a bar
                        axes.plot(cell.ci, (row, row), "|-", color=COLOURS[shade], lw=width, ms=4, mew=width)
        axes.set_yticks(range(len(metrics)), metrics)
        axes.set_ylim(len(metrics) - 0.4, -0.6)
        axes.set_xlim(min(c.scale[0] for c in cells), max(c.scale[1] for c in cells))
        axes.tick_params(axis="y", length=0, labelcolor=COLOURS["ink"])
        axes.grid(axis="x", linewidth=0.6)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False)

    said = "; ".join(f"{c.metric}, {c.model}: {figure(c.mean)}" for c in cells)
    rows = len(metrics) * (0.3 + 0.16 * len(models))
    return drawn(draw, 8.6, 0.9 + rows, f"Mean scores of {category}: {said}.")
