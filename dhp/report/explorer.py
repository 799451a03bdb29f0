"""The pairs of texts of a run, packed for the explorer of its page.

Texts are packed once, and for each copy only what changed. The page unpacks them in the browser, as far as
they fit.
"""

import base64
import json
import math
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice
from statistics import mean
from typing import TYPE_CHECKING, Any

from dhp.content.catalog import variant_name
from dhp.core.diff import EXCERPT, Pieces, excerpt, snippet
from dhp.core.rating_forms import NAMED
from dhp.core.records import ORIGINAL, PROBES
from dhp.runs.reader import Run, RunResult

if TYPE_CHECKING:
    import pandas as pd


BUDGET = 2_000_000
"""The most characters that the data of the explorer may take of a page."""


MOST_EXAMPLES = 1000
"""Examples of a dataset, the first ones, that a page shows at most."""


_Cells = dict[tuple[str, str], dict[str, list[Any]]]  # (example, variant) -> metric -> one for each sample


@dataclass(frozen=True, slots=True)
class Cut:
    """What is shown of a run that is too large for its page; None if all of it is."""

    source: int | None = None
    """Characters of a source or a field."""
    answer: int | None = None
    """Characters of an answer of a judge."""
    examples: int | None = None
    """Examples of a dataset, the first ones."""


CUTS = (
    Cut(),
    Cut(None, 3000),
    Cut(4000, 1500),
    Cut(2000, 500),
    Cut(1000, 200),
    Cut(500, 60),
    *(Cut(200, 0, examples) for examples in (None, 200, 20)),
)
"""Cuts from the mildest to the strongest; each leaves no more than the one before."""


_SAMPLED = 5  # one example in so many tells how much a cut leaves


def explorer_data(run: Run, budget: int = BUDGET) -> str:
    """Texts, edits, scores and answers of a run for `explorer.js`: JSON, by gzip, in base64.

    Where it would be longer than `budget`, texts are cut by the mildest of `CUTS` that is enough; the page
    says so. The same run gives the same characters, as far as zlib is the same.
    """
    datasets = {name: _Dataset(run, name) for name in dict.fromkeys(r.dataset for r in run.results)}
    most = MOST_EXAMPLES if any(each.larger for each in datasets.values()) else None
    judges = [_Judge(rated, datasets[rated.ratings.dataset]) for rated in run.rated]
    for part in run.ratings_about({e for each in datasets.values() for e in each.ids}):
        for judge in judges:
            judge.add(part)
        del part  # before the next one is read
    for judge in judges:
        judge.complete()

    def packed(cut: Cut, step: int = 1) -> str:
        kept = slice(None, cut.examples, step)
        limits = {"cut": asdict(replace(cut, examples=cut.examples or most)), "excerpt": EXCERPT}
        of_datasets = (chain([f"{_dumped(n)}:"], d.json(kept, cut.source)) for n, d in datasets.items())
        of_judges = (judge.json(kept, cut.answer) for judge in judges)
        head = f'{{{_members(limits)},"datasets":{{'
        parts = chain([head], _separated(of_datasets), ['},"judges":['], _separated(of_judges), ["]}"])
        packer = zlib.compressobj(6, wbits=31)
        packed = [packer.compress(part.encode(errors="replace")) for part in parts]
        return base64.b64encode(b"".join([*packed, packer.flush()])).decode()

    def seems_enough(cut: Cut) -> bool:
        return _SAMPLED * len(packed(cut, _SAMPLED)) <= budget

    for cut in CUTS[bisect_left(CUTS, True, key=seems_enough) :]:
        data = packed(cut)
        if len(data) <= budget:
            return data
    return packed(CUTS[-1])


class _Dataset:
    """The examples of a run, each with the changes that every variant made to it once these are asked for."""

    def __init__(self, run: Run, name: str) -> None:
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
        self._changes: dict[str, str] = {}

    def json(self, kept: slice, length: int | None) -> Iterator[str]:
        """The variants and some examples, their sources and fields cut to so many characters."""
        yield f'{{{_members({"variants": self.variants})},"examples":['
        yield from _separated([self._example(example, length)] for example in self._examples[kept])
        yield "]}"

    def _example(self, example: Mapping[str, Any], length: int | None) -> str:
        name, original = example["id"], example["output"]
        if name not in self._changes:
            self._changes[name] = self._changed(name, original)
        fields = {k: shortened(v, length) for k, v in example["fields"].items() if v and v != original}
        shown = {
            "id": name,
            "source": shortened(example["source"], length),
            "fields": fields,
            "original": original if len(original) <= EXCERPT else None,
        }
        return f"{{{_members(shown)},{self._changes[name]}}}"

    def _changed(self, example: str, original: str) -> str:
        """The changes of each variant, in their order, and snippets of them."""
        texts = [self._texts.get((example, v["name"])) for v in self.variants]
        changes = [
            None if text is None else excerpt(original, text, v["level"])
            for text, v in zip(texts, self.variants, strict=True)
        ]
        snippets = [pieces and _joined(snippet(pieces)) for pieces in changes]
        return _members({"changes": [pieces and _joined(pieces) for pieces in changes], "snippets": snippets})


def _joined(pieces: Pieces) -> list[str]:
    return [operation + piece for operation, piece in pieces]


class _Judge:
    """A judge on a dataset, with its ratings of each example.

    These are its drops by variant and metric, and its scores and answers by text (the original first), metric
    and sample. A text that was not rated is None; instead of a missing score stands its status.
    """

    def __init__(self, rated: RunResult, dataset: _Dataset) -> None:
        self._ratings, self._dataset, self._name = rated.ratings, dataset, rated.result.judge
        at = rated.result.pass_mark
        self._marks = None if at is None else [at.marks.get(metric) for metric in rated.ratings.metrics]
        self._scores: _Cells = {}
        self._answers: _Cells = {}
        self._shares: _Cells = {}
        self._named: _Cells = {}
        self._scored: list[str] = []
        self._answered: list[Any] = []

    def add(self, part: "pd.DataFrame") -> None:
        """Take its ratings out of a part of the table."""
        mine = part[
            (part["model"] == self._ratings.model)
            & (part["protocol"] == self._ratings.protocol)
            & (part["dataset"] == self._ratings.dataset)
            & part["example"].isin(self._dataset.ids)
        ]
        columns = (mine[name].tolist() for name in ("example", "variant", "metric", "score", "status", "raw"))
        for example, variant, metric, score, status, raw in zip(*columns, strict=True):
            for cells, value in (
                (self._scores, _short(score) if status == "scored" else status),
                (self._answers, raw if isinstance(raw, str) else None),
            ):
                cells.setdefault((example, variant), {}).setdefault(metric, []).append(value)
        for name, cells in (("probabilities", self._shares), (NAMED, self._named)):
            if name not in mine:
                continue
            known = mine[mine[name].notna()]
            columns = (known[column].tolist() for column in ("example", "variant", "metric", name))
            for example, variant, metric, value in zip(*columns, strict=True):
                cells.setdefault((example, variant), {}).setdefault(metric, []).append(value)

    def complete(self) -> None:
        """Put the ratings in the order of the examples, when all of them are there."""
        ratings, variants = self._ratings, [v["name"] for v in self._dataset.variants]
        texts = (ORIGINAL, *variants)
        probes = {v["name"] for v in self._dataset.variants if v["level"] in PROBES}
        read = ratings.of_pairs_read()  # of controls and attacks silence is no tie
        drops = {
            v: [
                list(map(_short, (read if v in probes else ratings).differences(v, m).tolist()))
                for m in ratings.metrics
            ]
            for v in variants
            if v in ratings.variants
        }
        positions = {example: index for index, example in enumerate(ratings.examples)}
        for e in self._dataset.ids:
            of_texts = [
                [of[positions[e]] for of in drops[v]] if (e, v) in self._scores else None for v in variants
            ]
            scores = [_row(self._scores.pop((e, t), None), ratings.metrics) for t in texts]
            shown: dict[str, Any] = {"drops": of_texts, "scores": scores}
            if self._shares:
                shown["shares"] = [_row(self._likely(e, t), ratings.metrics) for t in texts]
            if self._named:
                shown["named"] = [self._is_named(e, v) for v in variants]
            self._scored.append(_members(shown))
            self._answered.append([_row(self._answers.pop((e, t), None), ratings.metrics) for t in texts])

    def _likely(self, example: str, text: str) -> dict[str, list[Any]] | None:
        """Metric -> the probabilities of the points of its scale in hundredths, of each sample."""
        cells = self._shares.get((example, text))
        return cells and {
            metric: [[round(100 * share) for share in json.loads(each)] for each in samples]
            for metric, samples in cells.items()
        }

    def _is_named(self, example: str, variant: str) -> bool | None:
        """Whether most reasons by some metric name the change; None without a reason."""
        cells = self._named.get((example, variant))
        return None if cells is None else any(mean(samples) >= 0.5 for samples in cells.values())

    def json(self, kept: slice, length: int | None) -> Iterator[str]:
        """What it is, and its ratings of some examples, its answers cut to so many characters."""
        known = ("model", "protocol", "dataset", "metrics")
        head = {"name": self._name, **{name: getattr(self._ratings, name) for name in known}}
        head["marks"] = self._marks
        yield f'{{{_members(head)},"examples":['
        yield from _separated(
            [f'{{{scored},"answers":{_dumped(_cut(answered, length))}}}']
            for scored, answered in zip(self._scored[kept], self._answered[kept], strict=True)
        )
        yield "]}"


def _row(cells: Mapping[str, list[Any]] | None, metrics: tuple[str, ...]) -> list[list[Any]] | None:
    return None if cells is None else [cells.get(metric, []) for metric in metrics]


def _short(number: float) -> float | None:
    """The number with at most six digits, as short as possible; None for NaN."""
    if math.isnan(number):
        return None
    short = float(f"{number:.6g}")
    return int(short) if short.is_integer() else short


def _cut(answers: Any, length: int | None) -> Any:
    """Answers, in lists of any depth, cut to so many characters."""
    if isinstance(answers, list):
        return [_cut(each, length) for each in answers]
    return answers and shortened(answers, length)


def _separated(items: Iterable[Iterable[str]]) -> Iterator[str]:
    """The parts of each item, with a comma between the items."""
    for number, parts in enumerate(items):
        if number:
            yield ","
        yield from parts


def _members(values: Mapping[str, object]) -> str:
    """The members of a JSON object, without its braces."""
    return _dumped(values)[1:-1]


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def shortened(text: str, length: int | None) -> str:
    """The text, or if it is longer than `length` its start and its end, where answers name their score."""
    if length is None or len(text) <= length:
        return text
    end = length // 3
    return f"{text[: length - end]} […] {text[len(text) - end :]}" if length else ""
