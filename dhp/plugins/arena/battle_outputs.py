"""Battles as tables, pages, charts and files.

`battle_tables` gives the tables of contests, of their categories and of strengths. The terminal shows these
with notes on what is left out (`battle_parts`); the page adds a chart before them and each pair with its
texts behind them (`page_parts`). `write_battle` writes page, record and verdicts.
"""

import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dhp.cli.missing import on_missing
from dhp.core.files import indented_json, json_line
from dhp.core.writing import OutputFolder
from dhp.judge.pairs import OVERALL, PairVerdict
from dhp.plugins.arena.battle import Battle, Contest, Strength
from dhp.plugins.arena.statistics import PairFigures, PairOutcome, Share, verdicts_by_pair
from dhp.report.charts import COLOURS, drawn
from dhp.report.document import Chart, Column, Facts, Fold, Heading, Note, Part, Table, Texts
from dhp.report.labels import between, figure, percent, percents, percents_in_brackets, score
from dhp.report.printout import Printout
from dhp.report.web import document_page

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHOWN_PAIRS = 300
"""Pairs of a contest whose texts are on the page; all are in `verdicts.jsonl`. Chosen: a page stays light."""
_LEGEND = (
    "Each pair was shown in both orders. A verdict that flips with the order counts as a tie, unless the "
    "judge has a final word. flips: the share of pairs with such a verdict; to the first: of these, how many "
    "went to the text shown first. invalid: pairs without a verdict in both orders; they are left out. "
    "p: two-sided exact sign-flip test."
)


def battle_page(battle: Battle) -> str:
    """The page of a battle: one file that needs no network, every text in it escaped."""
    lead = (
        f"{asked_judge(battle.model, battle.protocol)} compared the answers of these systems, pair by pair."
    )
    parts = [*page_parts(battle), *asked_parts(battle.settings, battle.usage, battle.cost)]
    return document_page(battle_title(battle), lead, parts)


def battle_title(battle: Battle) -> str:
    """What the battle is called on a page."""
    return f"Battle: {' – '.join(battle.systems)}"


def asked_judge(model: str, protocol: str) -> str:
    """A judge, with its protocol if it has one."""
    return model if protocol == "none" else f"{model} under {protocol}"


def asked_parts(settings: Mapping[str, object], usage: Mapping[str, int], cost: float | None) -> list[Part]:
    """How the judge was asked, and what it took."""
    shown = json.dumps(dict(settings), ensure_ascii=False, indent=1)
    parts: list[Part] = [Heading("What was asked"), Fold("Settings of the judge", [Texts({"JSON": shown})])]
    counts = {}
    for name, count in usage.items():
        counts[name.replace("_", " ")] = f"{count:,}"
    if cost is not None:
        counts["cost"] = figure(cost)
    if counts:
        parts.append(Facts(counts))
    return parts


def page_parts(battle: Battle) -> list[Part]:
    """Chart, tables, and every pair with its texts."""
    parts: list[Part] = [Chart([win_chart(battle.contests)]), *battle_tables(battle), Note(_LEGEND)]
    by_pair = verdicts_by_pair(battle.verdicts)
    for contest in battle.contests:
        pairs: list[Part] = []
        for outcome in contest.outcomes[:_SHOWN_PAIRS]:
            key = (outcome.example, contest.first, contest.second, contest.metric)
            pairs.append(_pair_fold(outcome, by_pair[key]))
        left_out = len(contest.outcomes) - len(pairs)
        if left_out:
            pairs.append(Note(f"{left_out} more are in verdicts.jsonl."))
        title = f"{contest.first} against {contest.second}, {contest.metric}: {len(contest.outcomes)} pairs"
        parts.append(Fold(title, pairs))
    return parts


def _pair_fold(outcome: PairOutcome, verdicts: Sequence[PairVerdict]) -> Fold:
    """One pair: its result, the question, both texts, and what the judge said of them."""
    first, second = verdicts[0].pair.first, verdicts[0].pair.second
    labels = [first.variant, second.variant]
    if outcome.scores:
        mean_first, mean_second = outcome.scores
        labels = [f"{first.variant}: {score(mean_first)}", f"{second.variant}: {score(mean_second)}"]
    parts = [Texts({"Question": first.source}), Texts({labels[0]: first.text, labels[1]: second.text})]
    for verdict in verdicts:
        if verdict.raw:
            parts.append(Texts({_said(verdict): verdict.raw}))
    flips = "flips with the order" if outcome.flips else ""
    facts = [outcome.result, outcome.example, outcome.category, flips, outcome.reason]
    return Fold("  ·  ".join(filter(None, facts)), parts)


def _said(verdict: PairVerdict) -> str:
    """Who was shown first, and which text an answer prefers."""
    first, second = verdict.pair.first.variant, verdict.pair.second.variant
    chosen = {1: f"{first} is better", -1: f"{second} is better", 0: "a tie"}
    what = "Final word" if verdict.final else "Verdict"
    shown_first = first if verdict.order == "given" else second
    choice = verdict.status if verdict.choice is None else chosen[verdict.choice]
    return f"{what}, {shown_first} shown first: {choice}"


def win_chart(contests: Sequence[Contest]) -> "Markup":
    """Stacked bars of won, tied and lost pairs, with the win rate and its interval, a row a contest."""
    labels = []
    in_words = []
    for c in contests:
        label = f"{c.first} – {c.second}"
        if c.metric != OVERALL:
            label += f", {c.metric}"
        labels.append(label)
        counts = f"won {c.figures.wins}, tied {c.figures.ties}, lost {c.figures.losses}"
        in_words.append(f"{label}: {counts}, win rate {figure(c.figures.win_rate.value)}")

    def draw(canvas: "Figure") -> None:
        axes = canvas.subplots()
        for row, c in enumerate(contests):
            _draw_contest(axes, row, c.figures)
        axes.axvline(0.5, color=COLOURS["ink"], linewidth=0.8, linestyle=(0, (4, 3)))
        axes.set_yticks(range(len(contests)), labels)
        axes.set_ylim(len(contests) - 0.4, -0.6)  # the first contest at the top
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
        axes.tick_params(axis="y", length=0, labelcolor=COLOURS["ink"])
        axes.spines["left"].set_visible(False)
        # Above the bars, where it covers none.
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False)

    summary = f"Won, tied and lost pairs by contest: {'; '.join(in_words)}."
    return drawn(draw, 8.6, 1.0 + 0.4 * len(contests), summary)


def _draw_contest(axes: "Axes", row: int, figures: PairFigures) -> None:
    """Three bars that together reach from 0 to 1, and over them the win rate with its interval."""
    bars = (
        (figures.wins, "the first won", "d"),
        (figures.ties, "tied", "line"),
        (figures.losses, "the second won", "ew"),
    )
    left = 0.0
    n = max(1, figures.n)  # without a verdict the bars have no length
    for count, name, colour in bars:
        label = name if row == 0 else None  # once in the legend
        axes.barh(row, count / n, left=left, height=0.55, color=COLOURS[colour], label=label)
        left += count / n

    rate = figures.win_rate
    if rate.ci:
        for shade, width in (("page", 3.4), ("ink", 1.4)):  # an outline, so that it shows on a bar
            axes.plot(rate.ci, (row, row), "|-", color=COLOURS[shade], lw=width, ms=6, mew=width)
    if rate.value is not None:
        axes.plot(rate.value, row, "o", color=COLOURS["ink"], ms=4, clip_on=False)


FILES = ("verdicts.jsonl", "report.html", "battle.json")


def write_battle(battle: Battle, folder: OutputFolder, within: str = "") -> None:
    """Write the `FILES` of a battle, each whole or not at all; `within` starts their names."""
    folder.write(f"{within}verdicts.jsonl", map(json_line, battle.verdict_lines()))
    folder.write(f"{within}report.html", [battle_page(battle)])
    folder.write(f"{within}battle.json", [indented_json(battle.to_json())])


def warn_of_missing(battle: Battle) -> None:
    """Say why many answers hold no verdict; raises `StoppedEarly` if most hold none."""
    counts, failures = Counter[str](), Counter[str]()
    for verdict in battle.verdicts:
        counts[verdict.status] += 1
        if verdict.status == "failed":
            failures[verdict.raw or ""] += 1  # why, as the client says it
    line = on_missing(f"{battle.model} ({battle.protocol})", counts, failures)
    if line:
        logging.getLogger("dhp").warning("%s", line)


def battle_printout(battle: Battle, folder: OutputFolder | None) -> Printout:
    """The battle by itself, also written to the folder if there is one."""
    parts = battle_parts(battle)
    if folder:
        write_battle(battle, folder)
        parts += ["", f"written to {folder.path}: battle.json, verdicts.jsonl, report.html"]
    return Printout(parts, battle.to_json())


def battle_parts(battle: Battle) -> list[Part]:
    """Tables of the contests, of their categories, and of the strengths; and what is left out."""
    parts: list[Part] = []
    for table in battle_tables(battle):
        # An empty line between two tables.
        parts += ["", table] if parts else [table]
    for c in battle.contests:
        reasons = set()
        for outcome in c.outcomes:
            if outcome.score is None:
                reasons.add(outcome.reason or "")
        if reasons:
            parts.append(
                f"note: {c.first} against {c.second}: {c.figures.invalid} pairs without a verdict in both "
                f"orders ({', '.join(sorted(reasons))}) are left out"
            )
    return parts


def battle_tables(battle: Battle) -> list[Table[Any]]:
    """The contests, those by category, and the strengths."""
    title = f"{battle.model}  ·  {battle.protocol}  ·  the first system against the second"
    # Two tables of the same columns, but for the one that names what is counted.
    whole, of_categories = [], []
    for contest in battle.contests:
        whole.append(_Fought(contest, "", contest.figures))
        for name, figures in contest.by_category.items():
            of_categories.append(_Fought(contest, name, figures))
    tables: list[Table[Any]] = [Table(title, _contest_columns(_METRIC), whole, css="stacked")]
    if of_categories:
        tables.append(Table("by category", _contest_columns(_CATEGORY), of_categories, css="stacked"))
    if battle.strengths:
        tables.append(Table("Bradley-Terry", _STRENGTHS, battle.strengths, css="stacked"))
    return tables


@dataclass(frozen=True, slots=True)
class _Fought:
    """One row of a table of contests."""

    contest: Contest
    category: str
    """Empty for all categories together."""
    figures: PairFigures


def _flips(figures: PairFigures) -> str:
    """How many verdicts flip with the order, and how many of these go to the text shown first."""
    bias = figures.bias
    if bias is None:
        return "–"
    first = "" if bias.toward_first is None else f", {bias.toward_first:.0%} to the first"
    return f"{bias.share:.0%} [{percents(bias.ci)}]{first}"


_METRIC = Column[_Fought]("metric", lambda row: row.contest.metric, right=False)

_CATEGORY = Column[_Fought]("category", lambda row: row.category, right=False)

_SHARE = Column[Share](
    "share", lambda share: share.value, percent, ends=lambda share: share.ci, limits_form=percents_in_brackets
)

_FIGURES: tuple[Column[PairFigures], ...] = (
    Column("won", lambda figures: figures.wins),
    Column("lost", lambda figures: figures.losses),
    Column("tied", lambda figures: figures.ties),
    Column("invalid", lambda figures: figures.invalid, help="pairs without a verdict in both orders"),
    replace(_SHARE, heading="win rate", help="ties count half").on(lambda figures: figures.win_rate),
    replace(_SHARE, heading="without ties").on(lambda figures: figures.win_rate_without_ties),
    Column("p", lambda figures: figures.p, lambda p: f"{p:.3g}", "two-sided exact sign-flip test"),
    # Programs read the share alone, people also its limits and where the flips go.
    Column("flips", lambda figures: figures.bias and figures.bias.share, words=_flips),
)

_STRENGTHS: tuple[Column[Strength], ...] = (
    Column("system", lambda each: each.system, names=True, right=False),
    Column("strength", lambda each: each.value, figure, "log odds"),
    Column("95 %", lambda each: each.ci and each.ci[0], words=lambda each: between(each.ci)),
)


def _contest_columns(name: Column[_Fought]) -> list[Column[_Fought]]:
    """Two systems, a metric or category, and the figures of the first against the second."""
    return [
        Column("first", lambda row: row.contest.first, names=True, right=False),
        Column("second", lambda row: row.contest.second, right=False),
        name,
        *(column.on(lambda row: row.figures) for column in _FIGURES),
    ]
