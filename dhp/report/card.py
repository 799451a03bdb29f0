"""A judge card: what a judge sees, what it misses, how it rates, and what it should not be used for."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from dhp.analysis.result_parts import DoseThreshold, Ends, VariantResult
from dhp.analysis.results import Result
from dhp.content.damage import kind_name, variant_name
from dhp.report.formats import markdown_cell, markdown_table
from dhp.report.labels import figure, percent, percents, probe_verdict, state, style_words, t75
from dhp.report.overview import verdict_sentence
from dhp.report.web import page

SCHEMA = "dhp.card/1"
FALSE_ALARM = "false alarm"
"""Verdict on a control whose scores fell."""
PLAIN = "plain"
"""The use of a scale that is neither lenient, harsh nor compressed."""
_NAMED = 3
"""Kinds of change named in a sentence."""
_READ = 0.95
"""Share of answers read below which a card warns."""
_STEADY = 0.5
"""Intraclass correlation below which most of a single score's variance is not the text's."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a judge made of one kind of change on one dataset."""

    dataset: str
    variant: str
    change: str
    """The variant in words."""
    level: str
    detection: float | None
    """P(fell) + P(tied) / 2, in [0, 1]; 0.5 is blind."""
    detection_ci: Ends
    verdict: str
    """`noticed`, `missed`, `undecided`; of controls `false alarm` or `passed over`; of attacks `raised`,
    `lowered` or `passed over`."""


@dataclass(frozen=True, slots=True)
class Steadiness:
    """Of single answers about one text, the mean over metrics and datasets; None without several samples."""

    identical: float | None
    """Share of the texts whose samples are all the same, in [0, 1]."""
    icc: float | None
    """Intraclass correlation of single samples, at most 1."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """How large one kind of damage must be: T75, the dose at which detection is 75 %."""

    dataset: str
    change: str
    """The kind of damage in words."""
    doses: tuple[int, ...]
    t75: DoseThreshold | None
    """None where undefined."""
    words: str
    """The same with its interval; `<` and `>` where it lies beyond the doses."""


@dataclass(frozen=True, slots=True)
class JudgeCard:
    """One judge (model under a protocol) on all datasets of a run; the object in `card.json`."""

    judge: str
    protocol: str
    """With the hash of its prompts; `none` where no language model was asked."""
    created: str
    summary: str
    """One sentence."""
    noticed: tuple[Finding, ...]
    missed: tuple[Finding, ...]
    undecided: tuple[Finding, ...]
    controls: tuple[Finding, ...]
    """Changes that must not lower a score."""
    controls_passed: bool | None
    """None where no control was asked about."""
    attacks: tuple[Finding, ...]
    thresholds: tuple[Threshold, ...]
    """Empty where texts were not degraded in doses."""
    style: dict[str, str]
    """Dataset -> how its scales are used: lenient, harsh, compressed, or plain."""
    steadiness: Steadiness
    parse_rate: float | None
    """Share of the ratings asked for that have a score, in [0, 1]."""
    cost_per_1000: float | None
    """Of a thousand ratings, in the currency of the prices; None without prices."""
    examples: dict[str, int]
    """Dataset -> examples."""
    signatures: dict[str, str]
    """Dataset -> signature of its result."""
    limits: tuple[str, ...]
    """What the judge should not be used for, a sentence each."""

    def to_json(self) -> dict[str, Any]:
        """The object as it stands in `card.json`."""
        return {"schema": SCHEMA, **asdict(self)}


def judge_cards(results: Iterable[Result]) -> list[JudgeCard]:
    """A card for each (model, protocol), in order of appearance."""
    judges: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        judges.setdefault((result.model, result.protocol), []).append(result)
    return [_card(judge, protocol, mine) for (judge, protocol), mine in judges.items()]


def card_json(cards: Sequence[JudgeCard]) -> str:
    """What `card.json` holds."""
    return json.dumps([card.to_json() for card in cards], ensure_ascii=False, indent=1) + "\n"


def card_page(cards: Sequence[JudgeCard]) -> str:
    """The cards as one self-contained page."""
    return page(
        "card.html",
        styles=["report.css"],
        cards=[(card, figures(card), threshold_rows(card)) for card in cards],
        schema=SCHEMA,
    )


def card_markdown(cards: Sequence[JudgeCard]) -> str:
    """The cards in Markdown, for a model card or a pull request."""
    return "\n".join(map(_markdown, cards))


def _card(judge: str, protocol: str, results: Sequence[Result]) -> JudgeCard:
    found = [_finding(r, row, state(row)) for r in results for row in r.variants]
    found.sort(key=lambda f: (f.detection is None, f.detection))
    noticed, missed, undecided = (
        tuple(f for f in found if f.verdict == word) for word in ("noticed", "missed", "undecided")
    )
    passed = [r.controls_passed for r in results if r.controls_passed is not None]
    asked = sum(r.ratings["asked"] for r in results)
    priced = [r for r in results if r.cost is not None]
    ratings = sum(r.ratings["asked"] for r in priced)
    card = JudgeCard(
        judge=judge,
        protocol=results[0].signed.protocol,
        created=max(r.created for r in results),
        summary=verdict_sentence(results),
        noticed=noticed,
        missed=missed,
        undecided=undecided,
        controls=tuple(_finding(r, row, _of_control(row)) for r in results for row in r.controls),
        controls_passed=all(passed) if passed else None,
        attacks=tuple(_finding(r, row, probe_verdict(row)) for r in results for row in r.attacks),
        thresholds=tuple(
            Threshold(r.dataset, kind_name(c.perturber), c.doses, c.t75, t75(c))
            for r in results
            for c in r.curves
        ),
        style={r.dataset: ", ".join(style_words(r)) or PLAIN for r in results},
        steadiness=Steadiness(_mean(results, "identical"), _mean(results, "icc")),
        parse_rate=sum(r.ratings["scored"] for r in results) / asked if asked else None,
        cost_per_1000=sum(r.cost or 0.0 for r in priced) / ratings * 1000 if ratings else None,
        examples={r.dataset: r.n for r in results},
        signatures={r.dataset: r.signature for r in results},
        limits=(),
    )
    return replace(card, limits=tuple(_limits(card)))


def _of_control(row: VariantResult) -> str:
    found = state(row)
    return {"noticed": FALSE_ALARM, "missed": "passed over"}.get(found, found)


def _finding(result: Result, row: VariantResult, verdict: str) -> Finding:
    words = variant_name(row.variant)
    return Finding(result.dataset, row.variant, words, row.level, row.detection, row.detection_ci, verdict)


def _mean(results: Iterable[Result], figure: str) -> float | None:
    values = [f[figure] for r in results for f in r.repeats.values()]
    there = [value for value in values if value is not None]
    return fmean(there) if there else None


def _listed(findings: Sequence[Finding]) -> str:
    names = list(dict.fromkeys(f.change for f in findings))
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return ", ".join([*names[:_NAMED], *more])


def _limits(card: JudgeCard) -> Iterable[str]:
    """What follows from the figures, worst first, and what no audit can say."""
    if card.missed:
        yield f"Do not rely on it where texts may suffer from {_listed(card.missed)}: it misses this."
    if alarms := [f for f in card.controls if f.verdict == FALSE_ALARM]:
        yield f"Do not compare texts that differ in form alone: it lowers scores for {_listed(alarms)}."
    if raised := [f for f in card.attacks if f.verdict == "raised"]:
        yield f"Do not use it where writers know of it: its scores rise by {_listed(raised)}."
    if card.undecided:
        yield f"Nothing is known yet of {_listed(card.undecided)}: test it on more examples."
    icc = card.steadiness.icc
    if icc is not None and icc < _STEADY:
        yield f"Do not use single answers: half or more of their variance is chance (ICC {icc:.2f})."
    if card.parse_rate is not None and card.parse_rate < _READ:
        yield f"{1 - card.parse_rate:.0%} of its answers have no score: figures are about the others."
    if any(words != PLAIN for words in card.style.values()):
        yield "Do not read its scores as absolute: its use of the scales is marked."
    names = ", ".join(card.examples)
    yield f"Other kinds of text than {names}, other languages and other damage were not tested."


def _markdown(card: JudgeCard) -> str:
    heading = card.judge if card.protocol == "none" else f"{card.judge} under {card.protocol}"
    blocks = [f"# Judge card: {markdown_cell(heading)}", markdown_cell(card.summary), "## Not to be used for"]
    blocks.append("\n".join(f"- {markdown_cell(limit)}" for limit in card.limits))
    for title, findings in (
        ("What it misses", card.missed),
        ("Undecided", card.undecided),
        ("What it notices", card.noticed),
        ("Harmless changes", card.controls),
        ("Attacks", card.attacks),
    ):
        if findings:
            blocks += [f"## {title}", _findings_table(findings)]
    if card.thresholds:
        heads = ["dataset", "change", "doses", "T75"]
        cells = [[markdown_cell(cell) for cell in row] for row in threshold_rows(card)]
        blocks += ["## Doses that it takes", markdown_table(heads, cells, [2, 3])]
    blocks += ["## Figures", "\n".join(f"- {name}: {value}" for name, value in figures(card).items())]
    blocks += ["## Signatures", "\n".join(f"- `{signature}`" for signature in card.signatures.values())]
    return "\n\n".join(blocks) + "\n"


def _findings_table(findings: Sequence[Finding]) -> str:
    rows = [
        [f.dataset, f.change, f.level, percent(f.detection), percents(f.detection_ci), f.verdict]
        for f in findings
    ]
    heads = ["dataset", "change", "level", "detection", "95 %", "verdict"]
    return markdown_table(heads, [[markdown_cell(cell) for cell in row] for row in rows], [3, 4])


def threshold_rows(card: JudgeCard) -> list[list[str]]:
    """Dataset, kind of damage, doses, and T75 with its interval."""
    return [[t.dataset, t.change, f"{t.doses[0]}–{t.doses[-1]}", t.words] for t in card.thresholds]


def figures(card: JudgeCard) -> dict[str, str]:
    """Name -> figure, for the lines at the end of a card."""
    cost = "no prices given" if card.cost_per_1000 is None else f"{card.cost_per_1000:.2f}"
    return {
        "answers with a score": percent(card.parse_rate),
        "texts whose samples are all the same": percent(card.steadiness.identical),
        "intraclass correlation of single answers": figure(card.steadiness.icc),
        "use of the scales": "; ".join(f"{dataset} {words}" for dataset, words in card.style.items()),
        "cost of 1,000 ratings": cost,
        "hash of the prompts": card.protocol.partition("@")[2] or "none: no prompt",
        "examples": "; ".join(f"{dataset} {n}" for dataset, n in card.examples.items()),
        "date": card.created[:10],
    }
