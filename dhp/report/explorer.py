"""The pairs of texts of a run, packed for the explorer of its page.

1. `_Dataset` reads the examples and the degraded copies; of a copy it keeps only what changed.
2. `_Judge` collects drops, scores and answers from the table of ratings, part by part, as the table of a
   large run is not read whole.
3. `explorer_data` writes both as JSON and packs it by gzip and base64. If that is too long for a page, texts
   are cut (`CUTS`). `explorer.js` unpacks it in the browser.
"""

import base64
import json
import math
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    datasets: dict[str, _Dataset] = {}
    for result in run.results:
        if result.dataset not in datasets:
            datasets[result.dataset] = _Dataset(run, result.dataset)
    most = MOST_EXAMPLES if any(each.larger for each in datasets.values()) else None
    judges = [_Judge(rated, datasets[rated.ratings.dataset]) for rated in run.rated]
    # The table of ratings is read once for all judges, as it may be larger than memory.
    ids = set(chain.from_iterable(each.ids for each in datasets.values()))
    for part in run.ratings_about(ids):
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
        packer = zlib.compressobj(6, wbits=31)  # 31: in the format of gzip, which browsers can unpack
        pieces = [packer.compress(part.encode(errors="replace")) for part in parts]
        return base64.b64encode(b"".join([*pieces, packer.flush()])).decode()

    def seems_enough(cut: Cut) -> bool:
        return _SAMPLED * len(packed(cut, _SAMPLED)) <= budget

    # Packing is slow, so a sample tells where to begin; what it promises may still be a little too long.
    first = bisect_left(CUTS, True, key=seems_enough)
    for cut in CUTS[first:]:
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
        if name not in self._changes:  # a diff is slow, and each cut that is tried asks for it again
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
        changes: list[list[str] | None] = []
        snippets: list[list[str] | None] = []
        for variant in self.variants:
            text = self._texts.get((example, variant["name"]))
            pieces = None if text is None else excerpt(original, text, variant["level"])
            changes.append(None if pieces is None else _joined(pieces))
            snippets.append(None if pieces is None else _joined(snippet(pieces)))
        return _members({"changes": changes, "snippets": snippets})


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
        scores = zip(mine["score"].tolist(), mine["status"].tolist(), strict=True)
        shown = [_short(score) if status == "scored" else status for score, status in scores]
        _collect(self._scores, mine, shown)
        _collect(self._answers, mine, [raw if isinstance(raw, str) else None for raw in mine["raw"].tolist()])
        for name, cells in (("probabilities", self._shares), (NAMED, self._named)):
            if name in mine:
                known = mine[mine[name].notna()]
                _collect(cells, known, known[name].tolist())

    def complete(self) -> None:
        """Put the ratings in the order of the examples, when all of them are there."""
        ratings, variants = self._ratings, [v["name"] for v in self._dataset.variants]
        texts = (ORIGINAL, *variants)
        probes = {v["name"] for v in self._dataset.variants if v["level"] in PROBES}
        read = ratings.of_pairs_read()  # of controls and attacks silence is no tie
        drops: dict[str, list[list[float | None]]] = {}  # variant -> for each metric one for each example
        for v in variants:
            if v in ratings.variants:
                of = read if v in probes else ratings
                by_metric = [of.differences(v, metric).tolist() for metric in ratings.metrics]
                drops[v] = [list(map(_short, column)) for column in by_metric]
        positions = {example: index for index, example in enumerate(ratings.examples)}
        for e in self._dataset.ids:
            of_texts: list[list[float | None] | None] = []
            for v in variants:
                rated = (e, v) in self._scores
                of_texts.append([column[positions[e]] for column in drops[v]] if rated else None)
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
        if cells is None:
            return None
        return {metric: list(map(_hundredths, samples)) for metric, samples in cells.items()}

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


def _collect(cells: _Cells, rows: "pd.DataFrame", values: Sequence[Any]) -> None:
    """Put a value of each row of a table of ratings into its cell."""
    keys = (rows[name].tolist() for name in ("example", "variant", "metric"))
    for example, variant, metric, value in zip(*keys, values, strict=True):
        cells.setdefault((example, variant), {}).setdefault(metric, []).append(value)


def _row(cells: Mapping[str, list[Any]] | None, metrics: tuple[str, ...]) -> list[list[Any]] | None:
    return None if cells is None else [cells.get(metric, []) for metric in metrics]


def _hundredths(probabilities: str) -> list[int]:
    """The probabilities of one answer, from the JSON of its row."""
    return [round(100 * share) for share in json.loads(probabilities)]


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
