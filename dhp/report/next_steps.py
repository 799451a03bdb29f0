"""What to do next: blind spots with their clearest examples, and the likely remedies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.result_parts import VariantResult
from dhp.analysis.results import Result
from dhp.content.catalog import descriptions
from dhp.content.damage import kind_name
from dhp.core.diff import Operation, diff
from dhp.core.records import parse_variant
from dhp.report.labels import percent, state, style_words
from dhp.report.snippet import snippet

_EXAMPLES = 3
_TIED = 0.5  # share of pairs that are tied, from which a finer answer is advised
_EXPECTED = 0.3  # weight from which a metric is one in which damage is expected


@dataclass(frozen=True, slots=True)
class Unnoticed:
    """A pair of which the score did not fall."""

    example: str
    variant: str
    change: Sequence[tuple[Operation, str]]
    """The first change, in one line."""
    original: float
    """Mean score over the metrics."""
    degraded: float


@dataclass(frozen=True, slots=True)
class BlindSpot:
    """A kind of damage that was missed."""

    kind: str
    variant: str
    """The one of this kind with the lowest detection."""
    detection: float | None
    pairs: Sequence[Unnoticed]
    """The clearest ones: the largest rise of the score first, then the largest change."""
    remedies: Sequence[str]


def blind_spot_pages(
    result: Result, ratings: RatingsArray, texts: Mapping[tuple[str, str], Mapping[str, Any]]
) -> list[BlindSpot]:
    """The kinds of damage that a result misses, those of the lowest detection first.

    Parameters
    ----------
    result, ratings
        Of one judge on one dataset.
    texts
        (example, variant) -> its row of `perturbed.jsonl`, with the original as `before`.
    """
    kinds: dict[str, list[VariantResult]] = {}
    for row in sorted(result.variants, key=lambda row: row.detection or 0.0):
        if state(row) == "missed":
            kinds.setdefault(kind_name(row.variant), []).append(row)
    return [
        BlindSpot(
            kind,
            rows[0].variant,
            rows[0].detection,
            _clearest([row.variant for row in rows], ratings, texts),
            _remedies(result, rows),
        )
        for kind, rows in kinds.items()
    ]


def _clearest(
    variants: Sequence[str], ratings: RatingsArray, texts: Mapping[tuple[str, str], Mapping[str, Any]]
) -> list[Unnoticed]:
    original, degraded = ratings.score_tables(variants)
    drops = ratings.difference_table(variants, ratings.metrics)
    paired = ~np.isnan(drops).any(axis=2)
    found, names = [], sorted(ratings.examples)
    for e, v in np.argwhere(paired):
        row = texts.get((name := names[e], variants[v]))
        drop = float(drops[e, v].mean())
        if row is None or row["text"] is None or drop > 0:
            continue
        changed = (row.get("audit") or {}).get("distance") or 0
        scores = (float(original[e].mean()), float(degraded[e, v].mean()))
        found.append(((drop, -changed, name, variants[v]), row, scores))
    found.sort(key=lambda each: each[0])
    return [
        Unnoticed(
            row["example"],
            row["variant"],
            snippet(diff(row["before"], row["text"], row["level"])),
            *scores,
        )
        for _, row, scores in found[:_EXAMPLES]
    ]


def _remedies(result: Result, missed: Sequence[VariantResult]) -> list[str]:
    """What may help against one blind spot."""
    perturber, degree, _ = parse_variant(missed[0].variant)
    what = descriptions().get(perturber)
    metrics = [m for m, c in missed[0].metrics.items() if (c.weight or 0.0) >= _EXPECTED]
    said = " and ".join(metrics) if result.weights != "uniform" else ""
    where, to = (f" of {said}", f" to {said}") if said else ("", "")
    if result.asked:
        quoted = f": “{what}”" if what else ""
        found = [f"name this damage in the prompt{where}, and by how much it lowers the score{quoted}"]
    else:
        found = [f"add a check for this damage{to}, or use a judge that sees it beside this one"]
    others = [row for row in result.variants if parse_variant(row.variant).perturber == perturber]
    if degree == "minor" and any(state(row) == "noticed" for row in others):
        found.append("major damage of this kind is noticed: `--doses` finds the amount from which on")
    tied = [c.tied for c in missed[0].metrics.values() if c.tied is not None]
    if tied and sum(tied) / len(tied) >= _TIED:
        found.append(
            f"{percent(sum(tied) / len(tied))} of its scores are tied: a finer scale, several samples or "
            "scores by probability show small drops (`dhp protocols list`)"
        )
    return found


def shared_remedies(blind: Sequence[BlindSpot]) -> tuple[list[BlindSpot], list[str]]:
    """The blind spots without the remedies that all of two or more have in common, and these."""
    common = [r for r in blind[0].remedies if all(r in spot.remedies for spot in blind)] if blind[1:] else []
    return [replace(spot, remedies=[r for r in spot.remedies if r not in common]) for spot in blind], common


def next_steps(result: Result) -> list[str]:
    """What to do besides remedies for single blind spots, the most pressing first."""
    found = []
    if lost := result.ratings["asked"] - result.ratings["scored"] - result.ratings.get("stopped", 0):
        found.append(f"have all answers read: {lost} of {result.ratings['asked']} ratings have no score")
    if result.controls_passed is False:
        found.append("tell the judge what must not count: it lowers scores for harmless edits")
    if result.controls_passed is None and not result.controls:
        found.append("add harmless edits (`--controls`): without them false alarms stay unseen")
    undecided = [row for row in result.variants if state(row) == "undecided"]
    more = [row.n_to_decide for row in undecided if row.n_to_decide is not None]
    if more:
        kinds = dict.fromkeys(kind_name(row.variant) for row in undecided)
        found.append(f"rate about {max(more):,} examples to decide on {', '.join(kinds)}")
    words = style_words(result)
    for word, part in (("lenient", "the lower part"), ("compressed", "more than half")):
        if word in words:
            found.append(
                f"describe each point of the scale in the prompt: the judge hardly uses {part} of it"
            )
            break
    if all(state(row) == "noticed" for row in result.variants):
        found.append(
            "try smaller damage (`--doses`) and attacks (`--attacks`): all that was tried is noticed"
        )
    return found
