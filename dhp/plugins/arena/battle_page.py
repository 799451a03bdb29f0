"""`report.html` of a battle."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.plugins.arena.battle import Battle, Contest
from dhp.plugins.arena.pair_figures import PairOutcome
from dhp.report.charts import COLOURS, drawn
from dhp.report.labels import figure
from dhp.report.web import page

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

_ASSETS = Path(__file__).parent / "assets"

_SHOWN = 300
"""Pairs of a contest whose texts are on the page; all are in `verdicts.jsonl`."""


@dataclass(frozen=True, slots=True)
class _ShownPair:
    """A pair with its texts and what was said of them."""

    outcome: PairOutcome
    question: str
    texts: tuple[str, str]
    verdicts: Sequence[Any]


@dataclass(frozen=True, slots=True)
class _ShownContest:
    """A contest with its pairs."""

    contest: Contest
    pairs: Sequence[_ShownPair]
    left_out: int


def battle_page(battle: Battle) -> str:
    """The page of a battle: one file that needs no network, every text in it escaped."""
    return page(
        _ASSETS / "battle.html",
        styles=("report.css", _ASSETS / "battle.css"),
        scripts=("tables.js",),
        battle=battle,
        contests=shown_contests(battle),
        chart=win_chart(battle.contests),
        settings=json.dumps(dict(battle.settings), ensure_ascii=False, indent=1),
    )


def shown_contests(battle: Battle) -> list[_ShownContest]:
    """The contests with the texts and answers of their pairs."""
    said = battle.verdicts_by_pair()
    found = []
    for c in battle.contests:
        pairs = []
        for o in c.outcomes[:_SHOWN]:
            first, second = (battle.texts[o.example, name] for name in (c.first, c.second))
            verdicts = said[o.example, c.first, c.second, c.metric]
            pairs.append(_ShownPair(o, first.source, (first.text, second.text), verdicts))
        found.append(_ShownContest(c, pairs, max(0, len(c.outcomes) - _SHOWN)))
    return found


def win_chart(contests: Sequence[Contest]) -> "Markup":
    """Stacked bars of won, tied and lost pairs, with the win rate and its interval, a row a contest."""
    labels = [
        f"{c.first} – {c.second}" + (f", {c.metric}" if c.metric != "overall" else "") for c in contests
    ]

    def draw(canvas: "Figure") -> None:
        axes = canvas.subplots()
        for row, c in enumerate(contests):
            left, n = 0.0, max(1, c.figures.n)
            for count, colour in ((c.figures.wins, "d"), (c.figures.ties, "line"), (c.figures.losses, "ew")):
                axes.barh(row, count / n, left=left, height=0.55, color=COLOURS[colour])
                left += count / n
            rate = c.figures.win_rate
            if rate.value is not None:
                for shade, width in (("page", 3.4), ("ink", 1.4)):  # an outline, so that it shows on a bar
                    if rate.ci:
                        axes.plot(rate.ci, (row, row), "|-", color=COLOURS[shade], lw=width, ms=6, mew=width)
                axes.plot(rate.value, row, "o", color=COLOURS["ink"], ms=4, clip_on=False)
        axes.axvline(0.5, color=COLOURS["ink"], linewidth=0.8, linestyle=(0, (4, 3)))
        axes.set_yticks(range(len(contests)), labels)
        axes.set_ylim(len(contests) - 0.4, -0.6)
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
        axes.tick_params(axis="y", length=0, labelcolor=COLOURS["ink"])
        axes.spines["left"].set_visible(False)

    said = "; ".join(
        f"{label}: won {c.figures.wins}, tied {c.figures.ties}, lost {c.figures.losses}, win rate "
        f"{figure(c.figures.win_rate.value)}"
        for label, c in zip(labels, contests, strict=True)
    )
    return drawn(draw, 8.6, 0.7 + 0.4 * len(contests), f"Won, tied and lost pairs by contest: {said}.")
