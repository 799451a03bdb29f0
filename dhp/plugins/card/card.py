"""Judge cards: what a judge notices and misses, and what it should not be used for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from dhp.analysis.results import Result, VariantResult
from dhp.content.catalog import kind_name, variant_name
from dhp.core.files import indented_json
from dhp.core.verdicts import Verdict, in_sentence
from dhp.report.findings import sentences
from dhp.report.labels import figure, listed, percent, percents, style_words, t75
from dhp.report.printout import markdown_cell, markdown_table
from dhp.report.web import page

_PAGE = Path(__file__).parent / "assets" / "card.html"
SCHEMA = "dhp.card/2"
PLAIN = "plain"
"""The use of a scale that is neither lenient, harsh nor compressed."""
_NAMED = 3
"""Kinds of damage named in a sentence."""
_READ = 0.95
"""Share of answers read below which a card warns."""
_STEADY = 0.5
"""Intraclass correlation below which most of a single score's variance is not the text's."""
_HEADS = ("dataset", "kind", "level", "detection", "95 %", "verdict")


@dataclass(frozen=True, slots=True)
class JudgeCard:
    """One judge (model under a protocol) on all datasets of a run."""

    results: tuple[Result, ...]
    """Its results, one for each dataset; at least one."""

    @property
    def judge(self) -> str:
        """Name of the model."""
        return self.results[0].model

    @property
    def protocol(self) -> str:
        """The protocol with the hash of its prompts; `none` where no language model was asked."""
        return self.results[0].signed.protocol

    @property
    def created(self) -> str:
        """When its figures were computed last, UTC."""
        return max(each.created for each in self.results)

    @property
    def summary(self) -> str:
        """What it notices and misses, in one sentence without the judge."""
        return " ".join(
            sentence.said if sentence.about == self.results[0].judge else str(sentence)
            for sentence in sentences(self.results)
        )

    @property
    def damage(self) -> list[tuple[str, VariantResult]]:
        """Dataset and kind of damage, the worst first."""
        rows = [(each.dataset, row) for each in self.results for row in each.damage]
        return sorted(rows, key=lambda pair: -pair[1].state.rank)

    @property
    def controls(self) -> list[tuple[str, VariantResult]]:
        """Dataset and control."""
        return [(each.dataset, row) for each in self.results for row in each.controls]

    @property
    def attacks(self) -> list[tuple[str, VariantResult]]:
        """Dataset and attack."""
        return [(each.dataset, row) for each in self.results for row in each.attacks]

    @property
    def style(self) -> dict[str, str]:
        """Dataset -> how its scales are used: lenient, harsh, compressed, or plain."""
        return {each.dataset: ", ".join(style_words(each)) or PLAIN for each in self.results}

    @property
    def parse_rate(self) -> float | None:
        """Share of the ratings asked for that have a score, in [0, 1]."""
        asked = sum(each.ratings["asked"] for each in self.results)
        return sum(each.ratings["scored"] for each in self.results) / asked if asked else None

    @property
    def cost_per_1000(self) -> float | None:
        """Cost of a thousand ratings, in the currency of the prices; None without prices."""
        priced = [each for each in self.results if each.cost is not None]
        ratings = sum(result.ratings["asked"] for result in priced)
        return sum(result.cost or 0.0 for result in priced) / ratings * 1000 if ratings else None

    def steadiness(self, name: str) -> float | None:
        """The mean of a figure on single answers over metrics and datasets; None without several samples."""
        values = [f[name] for each in self.results for f in each.repeats.values() if name in f]
        there = [value for value in values if value is not None]
        return fmean(there) if there else None

    @property
    def limits(self) -> tuple[str, ...]:
        """What the judge should not be used for, one sentence each."""
        return tuple(_limits(self))

    def to_json(self) -> dict[str, Any]:
        """The object that `card.json` holds."""
        return {
            "schema": SCHEMA,
            "judge": self.judge,
            "protocol": self.protocol,
            "created": self.created,
            "summary": self.summary,
            "limits": self.limits,
            **{
                name: [_plain(dataset, row) for dataset, row in rows]
                for name, rows in (
                    ("damage", self.damage),
                    ("controls", self.controls),
                    ("attacks", self.attacks),
                )
            },
            "thresholds": [
                {
                    "dataset": each.dataset,
                    "kind": kind_name(curve.perturber),
                    "doses": curve.doses,
                    "t75": None if curve.t75 is None else asdict(curve.t75),
                }
                for each in self.results
                for curve in each.curves
            ],
            "style": self.style,
            "steadiness": {name: self.steadiness(name) for name in ("identical", "icc")},
            "parse_rate": self.parse_rate,
            "cost_per_1000": self.cost_per_1000,
            "examples": {each.dataset: each.n for each in self.results},
            "signatures": {each.dataset: each.signature for each in self.results},
        }


def pages(results: Iterable[Result]) -> tuple[list[str], dict[str, str]]:
    """What each judge notices and misses, a line each, and the cards in three forms: file name -> text."""
    cards = judge_cards(results)
    files = {"card.html": card_page(cards), "card.md": card_markdown(cards), "card.json": card_json(cards)}
    return [f"{each.judge}: {each.summary}" for each in cards], files


def judge_cards(results: Iterable[Result]) -> list[JudgeCard]:
    """A card for each (model, protocol), in order of appearance."""
    judges: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        judges.setdefault((result.model, result.protocol), []).append(result)
    return [JudgeCard(tuple(results)) for results in judges.values()]


def card_json(cards: Sequence[JudgeCard]) -> str:
    """What `card.json` holds."""
    return indented_json([card.to_json() for card in cards])


def card_page(cards: Sequence[JudgeCard]) -> str:
    """The cards as one self-contained page."""
    return page(
        _PAGE,
        styles=["report.css"],
        cards=[(card, figures(card), threshold_rows(card)) for card in cards],
        schema=SCHEMA,
    )


def card_markdown(cards: Sequence[JudgeCard]) -> str:
    """The cards in Markdown, for a model card or a pull request."""
    return "\n".join(map(_markdown, cards))


def _plain(dataset: str, row: VariantResult) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "variant": row.variant,
        "kind": variant_name(row.variant),
        "level": row.level,
        "verdict": row.state,
        "detection": row.detection,
        "detection_ci": row.detection_ci,
        "best_metric": row.best_metric,
        "n": row.n,
    }


def _limits(card: JudgeCard) -> Iterable[str]:
    """What follows from the figures, the worst first, and what no audit can say."""
    rows = [*card.damage, *card.controls, *card.attacks]
    words = [*in_sentence("damage"), *in_sentence("probe")]
    for word in sorted((word for word in words if word.caution), key=lambda word: word.is_open):
        if names := _named(rows, word):
            yield word.caution.format(names)
    icc = card.steadiness("icc")
    if icc is not None and icc < _STEADY:
        yield f"Do not use single answers: half or more of their variance is chance (ICC {icc:.2f})."
    if card.parse_rate is not None and card.parse_rate < _READ:
        yield f"{1 - card.parse_rate:.0%} of its answers have no score: figures are about the others."
    if any(words != PLAIN for words in card.style.values()):
        yield "Do not read its scores as absolute: its use of the scales is marked."
    names = listed([each.dataset for each in card.results])
    yield f"Other kinds of text than {names}, other languages and other damage were not tested."


def _named(rows: Sequence[tuple[str, VariantResult]], verdict: Verdict) -> str:
    names = list(dict.fromkeys(variant_name(row.variant) for _, row in rows if row.state is verdict))
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return "; ".join([*names[:_NAMED], *more])


def _markdown(card: JudgeCard) -> str:
    heading = card.judge if card.protocol == "none" else f"{card.judge} under {card.protocol}"
    blocks = [f"# Judge card: {markdown_cell(heading)}", markdown_cell(card.summary), "## Not to be used for"]
    blocks.append("\n".join(f"- {markdown_cell(limit)}" for limit in card.limits))
    tables = (("Damage", card.damage), ("Controls", card.controls), ("Attacks", card.attacks))
    for title, rows in tables:
        if rows:
            cells = [[markdown_cell(cell) for cell in _row(*pair)] for pair in rows]
            blocks += [f"## {title}", markdown_table(_HEADS, cells, [3, 4])]
    if thresholds := threshold_rows(card):
        cells = [[markdown_cell(cell) for cell in row] for row in thresholds]
        blocks += [
            "## Doses that it takes",
            markdown_table(("dataset", "kind", "doses", "T75"), cells, [2, 3]),
        ]
    blocks += ["## Figures", "\n".join(f"- {name}: {value}" for name, value in figures(card).items())]
    blocks += ["## Signatures", "\n".join(f"- `{each.signature}`" for each in card.results)]
    return "\n\n".join(blocks) + "\n"


def _row(dataset: str, row: VariantResult) -> list[str]:
    name = variant_name(row.variant)
    return [dataset, name, row.level, percent(row.detection), percents(row.detection_ci), row.state]


def threshold_rows(card: JudgeCard) -> list[list[str]]:
    """Dataset, kind of damage, doses, and T75 with its interval."""
    return [
        [each.dataset, kind_name(curve.perturber), f"{curve.doses[0]}–{curve.doses[-1]}", t75(curve)]
        for each in card.results
        for curve in each.curves
    ]


def figures(card: JudgeCard) -> Mapping[str, str]:
    """Name -> figure, for the lines at the end of a card."""
    cost = "no prices given" if card.cost_per_1000 is None else f"{card.cost_per_1000:.2f}"
    return {
        "answers with a score": percent(card.parse_rate),
        "texts whose samples are all the same": percent(card.steadiness("identical")),
        "intraclass correlation of single answers": figure(card.steadiness("icc")),
        "use of the scales": "; ".join(f"{dataset} {words}" for dataset, words in card.style.items()),
        "cost of 1,000 ratings": cost,
        "hash of the prompts": card.protocol.partition("@")[2] or "none: no prompt",
        "examples": "; ".join(f"{each.dataset} {each.n}" for each in card.results),
        "date": card.created[:10],
    }
