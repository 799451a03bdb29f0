"""Data of the explorer: every pair of texts with edits, scores and answers."""

import base64
import gzip
import json
import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from dhp.content.catalog import variant_name
from dhp.core.records import ORIGINAL, STOPPED
from dhp.report.labels import judge_name
from dhp.report.snippet import EXCERPT, Pieces, excerpt, snippet

if TYPE_CHECKING:
    import pandas as pd

    from dhp.runs.reader import Run, RunResult

BUDGET = 2_000_000
"""The most characters that the data of the explorer may take of a page."""

MOST_EXAMPLES = 1000
"""Examples of a dataset, the first ones, that a page shows at most."""

_Cells = dict[tuple[str, str], dict[str, list[Any]]]  # (example, variant) -> metric -> one for each sample


@dataclass(frozen=True, slots=True)
class Cut:
    """What is shown of a run that is too large for its page; None where all of it is."""

    source: int | None = None
    """Characters of a source or a field."""
    answer: int | None = None
    """Characters of an answer of a judge."""
    examples: int | None = None
    """Examples of a dataset, the first ones."""


CUTS = (
    Cut(),
    Cut(None, 3000),
    *(Cut(4000, answer) for answer in (3000, 2000, 1400, 1000)),
    *(Cut(2000, answer) for answer in (1000, 700, 500, 400, 300)),
    *(Cut(1000, answer) for answer in (300, 240, 200, 160, 120)),
    *(Cut(500, answer) for answer in (120, 80, 40, 0)),
    *(Cut(200, 0, examples) for examples in (None, 500, 200, 100, 50, 20)),
)
"""Cuts from the mildest to the strongest; each leaves no more than the one before."""
_SAMPLED = 5  # one example in so many tells how much a cut leaves


def explorer_data(run: "Run", budget: int = BUDGET) -> str:
    """Texts, edits, scores and answers of a run for `explorer.js`: JSON, by gzip, in base64.

    Where it would be longer than `budget`, texts are cut by the mildest of `CUTS` that is enough; the page
    says so. The same run gives the same characters, as far as zlib is the same.
    """
    datasets = {name: _Dataset(run, name) for name in dict.fromkeys(r.dataset for r in run.results)}
    frame = run.ratings_about({e for each in datasets.values() for e in each.ids})
    frame = frame[frame["status"] != STOPPED]
    most = MOST_EXAMPLES if any(each.larger for each in datasets.values()) else None
    judges = [_judge(rated, frame, datasets[rated.ratings.dataset]) for rated in run.rated]

    def packed(cut: Cut, step: int = 1) -> str:
        kept = slice(None, cut.examples, step)
        data = {
            "cut": asdict(replace(cut, examples=cut.examples or most)),
            "excerpt": EXCERPT,
            "datasets": {
                name: {"variants": each.variants, "examples": each.examples(kept, cut.source)}
                for name, each in datasets.items()
            },
            "judges": [
                {**each, "examples": [_cut_ratings(e, cut.answer) for e in each["examples"][kept]]}
                for each in judges
            ],
        }
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return base64.b64encode(gzip.compress(text.encode(errors="replace"), 6, mtime=0)).decode()

    def seems_enough(cut: Cut) -> bool:
        return _SAMPLED * len(packed(cut, _SAMPLED)) <= budget

    for cut in CUTS[bisect_left(CUTS, True, key=seems_enough) :]:
        if len(data := packed(cut)) <= budget:
            return data
    return packed(CUTS[-1])


class _Dataset:
    """The examples of a run, each with the changes that every variant made to it once these are asked for."""

    def __init__(self, run: "Run", name: str) -> None:
        examples = list(islice((e for e in run.examples if e["dataset"] == name), MOST_EXAMPLES + 1))
        self._examples, self.larger = examples[:MOST_EXAMPLES], len(examples) > MOST_EXAMPLES
        self.ids = [e["id"] for e in self._examples]
        shown = set(self.ids)
        levels: dict[str, str] = {}
        self._texts: dict[tuple[str, str], str | None] = {}
        for row in run.perturbed:
            if row["dataset"] == name:
                levels.setdefault(row["variant"], row["level"])
                if row["example"] in shown:
                    self._texts[row["example"], row["variant"]] = row["text"]
        self.variants = [
            {"name": variant, "words": variant_name(variant), "level": level}
            for variant, level in levels.items()
        ]
        self._changes: dict[str, list[Pieces | None]] = {}

    def examples(self, kept: slice, length: int | None) -> list[dict[str, Any]]:
        """Some examples, their sources and fields cut to so many characters."""
        return [
            {
                "id": e["id"],
                "source": shortened(e["source"], length),
                "fields": {k: shortened(v, length) for k, v in e["fields"].items() if v and v != e["output"]},
                "original": e["output"] if len(e["output"]) <= EXCERPT else None,
                "changes": [pieces and _joined(pieces) for pieces in changes],
                "snippets": [pieces and _joined(snippet(pieces)) for pieces in changes],
            }
            for e in self._examples[kept]
            for changes in [self._changed(e["id"], e["output"])]
        ]

    def _changed(self, example: str, original: str) -> list[Pieces | None]:
        """The changes of each variant, in their order."""
        if example not in self._changes:
            texts = [self._texts.get((example, v["name"])) for v in self.variants]
            self._changes[example] = [
                None if text is None else excerpt(original, text, v["level"])
                for text, v in zip(texts, self.variants, strict=True)
            ]
        return self._changes[example]


def _joined(pieces: Pieces) -> list[str]:
    return [operation + piece for operation, piece in pieces]


def _judge(rated: "RunResult", frame: "pd.DataFrame", dataset: "_Dataset") -> dict[str, Any]:
    """For each example its drops by variant and metric, and its scores and answers by text (the original
    first), metric and sample.

    A text that was not rated is None; in the place of a missing score stands its status.
    """
    ratings = rated.ratings
    mine = frame[
        (frame["model"] == ratings.model)
        & (frame["protocol"] == ratings.protocol)
        & (frame["dataset"] == ratings.dataset)
        & frame["example"].isin(dataset.ids)
    ]
    scores: _Cells = {}
    answers: _Cells = {}
    columns = (mine[name].tolist() for name in ("example", "variant", "metric", "score", "status", "raw"))
    for example, variant, metric, score, status, raw in zip(*columns, strict=True):
        for cells, value in (
            (scores, _short(score) if status == "scored" else status),
            (answers, raw if isinstance(raw, str) else None),
        ):
            cells.setdefault((example, variant), {}).setdefault(metric, []).append(value)
    variants = [v["name"] for v in dataset.variants]
    texts = (ORIGINAL, *variants)
    drops = {
        v: [list(map(_short, ratings.differences(v, m).tolist())) for m in ratings.metrics]
        for v in variants
        if v in ratings.variants
    }
    positions = {example: index for index, example in enumerate(ratings.examples)}
    return {
        "name": judge_name(rated.result),
        "model": ratings.model,
        "protocol": ratings.protocol,
        "dataset": ratings.dataset,
        "metrics": ratings.metrics,
        "examples": [
            {
                "drops": [
                    [of[positions[e]] for of in drops[v]] if (e, v) in scores else None for v in variants
                ],
                "scores": [_row(scores.get((e, t)), ratings.metrics) for t in texts],
                "answers": [_row(answers.get((e, t)), ratings.metrics) for t in texts],
            }
            for e in dataset.ids
        ],
    }


def _row(cells: Mapping[str, list[Any]] | None, metrics: tuple[str, ...]) -> list[list[Any]] | None:
    return None if cells is None else [cells.get(metric, []) for metric in metrics]


def _short(number: float) -> float | None:
    """The number with at most six digits, as short as possible; None for NaN."""
    if math.isnan(number):
        return None
    short = float(f"{number:.6g}")
    return int(short) if short.is_integer() else short


def _cut_ratings(ratings: Mapping[str, Any], length: int | None) -> dict[str, Any]:
    answers = [
        text and [[answer and shortened(answer, length) for answer in samples] for samples in text]
        for text in ratings["answers"]
    ]
    return {**ratings, "answers": answers}


def shortened(text: str, length: int | None) -> str:
    """The text, or where it is longer than `length` its start and its end, where answers name their score."""
    if length is None or len(text) <= length:
        return text
    end = length // 3
    return f"{text[: length - end]} […] {text[len(text) - end :]}" if length else ""
