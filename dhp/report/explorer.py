"""The pairs of texts of a run, packed for the explorer of its page.

1. `_Dataset` reads the examples and the degraded copies; of a copy it keeps only what changed.
2. `_Judge` collects drops, scores and answers from the table of ratings, part by part, as the table of a
   large run is not read whole.
3. `_Explored` writes both as JSON and packs it by gzip and base64. If that is too long for a page,
   `explorer_data` cuts the texts (`CUTS`). `explorer.js` unpacks it in the browser.
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
"""The most characters that the data of the explorer may take of a page. Chosen."""
MOST_EXAMPLES = 1000
"""Examples of a dataset, the first ones, that a page shows at most. Chosen."""
_SAMPLED = 5
"""One example in so many tells how much a cut leaves."""
_LEVEL = 6
"""How hard zlib tries, of 1 to 9: its default."""
_GZIP = 31
"""What zlib takes for the format of gzip, which browsers can unpack."""
_Cells = dict[tuple[str, str], dict[str, list[Any]]]
"""(example, variant) -> metric -> a value for each sample."""


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
    Cut(200, 0),
    Cut(200, 0, 200),
    Cut(200, 0, 20),
)
"""Cuts from the mildest to the strongest; each leaves no more than the one before."""


def explorer_data(run: Run, budget: int = BUDGET) -> str:
    """Texts, edits, scores and answers of a run for `explorer.js`: JSON, by gzip, in base64.

    If it would be longer than `budget`, texts are cut by the mildest of `CUTS` that is enough; the page
    says so. The same run gives the same characters, as far as zlib is the same.
    """
    data = _Explored(run)

    def seems_enough(cut: Cut) -> bool:
        return _SAMPLED * len(data.packed(cut, _SAMPLED)) <= budget

    # Packing is slow, so a sample tells where to begin; what it promises may still be a little too long.
    # Cuts get stronger, so `seems_enough` is False up to one place and True from there on.
    first = bisect_left(CUTS, True, key=seems_enough)
    for cut in CUTS[first:]:
        packed = data.packed(cut)
        if len(packed) <= budget:
            return packed
    return data.packed(CUTS[-1])


class _Explored:
    """All that a run has to show: its datasets, and what each judge made of them."""

    def __init__(self, run: Run) -> None:
        self._datasets: dict[str, _Dataset] = {}
        for result in run.results:
            if result.dataset not in self._datasets:
                self._datasets[result.dataset] = _Dataset(run, result.dataset)
        datasets = list(self._datasets.values())
        self._most = MOST_EXAMPLES if any(each.larger for each in datasets) else None
        self._judges = [_Judge(rated, self._datasets[rated.ratings.dataset]) for rated in run.rated]
        # The table of ratings is read once for all judges, as it may be larger than memory.
        ids = set(chain.from_iterable(each.ids for each in datasets))
        for part in run.ratings_about(ids):
            for judge in self._judges:
                judge.add(part)
            del part  # before the next one is read
        for judge in self._judges:
            judge.complete()

    def packed(self, cut: Cut, step: int = 1) -> str:
        """One example in `step`, with its texts cut, as JSON by gzip in base64."""
        packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
        pieces = []
        # Part by part, so that the whole JSON is never in memory at once.
        for part in self._json(cut, slice(None, cut.examples, step)):
            # Half of a surrogate pair, which UTF-8 cannot hold, becomes a question mark.
            pieces.append(packer.compress(part.encode(errors="replace")))
        pieces.append(packer.flush())
        return base64.b64encode(b"".join(pieces)).decode()

    def _json(self, cut: Cut, kept: slice) -> Iterator[str]:
        """`{"cut": ..., "excerpt": ..., "datasets": {name: ...}, "judges": [...]}` in parts."""
        limits = {"cut": asdict(replace(cut, examples=cut.examples or self._most)), "excerpt": EXCERPT}
        yield f'{{{_members(limits)},"datasets":{{'
        named = []
        for name, dataset in self._datasets.items():
            named.append(chain([f"{_dumped(name)}:"], dataset.json(kept, cut.source)))
        yield from _separated(named)
        yield '},"judges":['
        yield from _separated(judge.json(kept, cut.answer) for judge in self._judges)
        yield "]}"


class _Dataset:
    """The examples of a run, each with the changes that every variant made to it once these are asked for."""

    def __init__(self, run: Run, name: str) -> None:
        of_dataset = (example for example in run.examples if example["dataset"] == name)
        examples = list(islice(of_dataset, MOST_EXAMPLES + 1))  # one more tells whether there are more
        self._examples = examples[:MOST_EXAMPLES]
        self.larger = len(examples) > MOST_EXAMPLES
        self.ids = [example["id"] for example in self._examples]
        shown = set(self.ids)
        levels: dict[str, str] = {}
        self._texts: dict[tuple[str, str], str | None] = {}
        for row in run.perturbed:
            if row["dataset"] == name:
                # Before the example is looked at: a variant that only further examples have is listed, too.
                levels.setdefault(row["variant"], row["level"])
                if row["example"] in shown:
                    self._texts[row["example"], row["variant"]] = row["text"]
        self.variants = []
        for variant, level in levels.items():
            self.variants.append({"name": variant, "words": variant_name(variant), "level": level})
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
        fields = {}
        for field, text in example["fields"].items():
            # A field that holds the rated text itself would show it twice.
            if text and text != original:
                fields[field] = shortened(text, length)
        shown = {
            "id": name,
            "source": shortened(example["source"], length),
            "fields": fields,
            # Of a longer text the changes hold excerpts only, and the page shows these.
            "original": original if len(original) <= EXCERPT else None,
        }
        return f"{{{_members(shown)},{self._changes[name]}}}"

    def _changed(self, example: str, original: str) -> str:
        """The changes of each variant, in their order, and snippets of them."""
        changes: list[list[str] | None] = []
        snippets: list[list[str] | None] = []
        for variant in self.variants:
            text = self._texts.get((example, variant["name"]))
            if text is None:
                changes.append(None)
                snippets.append(None)
            else:
                pieces = excerpt(original, text, variant["level"])
                changes.append(_joined(pieces))
                snippets.append(_joined(snippet(pieces)))
        return _members({"changes": changes, "snippets": snippets})


def _joined(pieces: Pieces) -> list[str]:
    # One string a piece, which `explorer.js` takes apart: `=kept`, `-gone` or `+come`.
    return [operation + piece for operation, piece in pieces]


class _Judge:
    """A judge on a dataset, with its ratings of each example.

    These are its drops by variant and metric, and its scores and answers by text (the original first), metric
    and sample. A text that was not rated is None; instead of a missing score stands its status.
    """

    def __init__(self, rated: RunResult, dataset: _Dataset) -> None:
        self._ratings, self._dataset, self._name = rated.ratings, dataset, rated.result.judge
        self._marks: list[float | None] | None = None
        if rated.result.pass_mark is not None:
            marks = rated.result.pass_mark.marks
            self._marks = [marks.get(metric) for metric in rated.ratings.metrics]
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
        answers = [raw if isinstance(raw, str) else None for raw in mine["raw"].tolist()]
        _collect(self._answers, mine, answers)
        # Columns that not every table of ratings has.
        for name, cells in (("probabilities", self._shares), (NAMED, self._named)):
            if name in mine:
                known = mine[mine[name].notna()]
                _collect(cells, known, known[name].tolist())

    def complete(self) -> None:
        """Put the ratings in the order of the examples, when all of them are there."""
        ratings = self._ratings
        variants = [variant["name"] for variant in self._dataset.variants]
        texts = (ORIGINAL, *variants)
        drops = self._drops()
        places = {example: place for place, example in enumerate(ratings.examples)}
        for example in self._dataset.ids:
            dropped: list[list[float | None] | None] = []
            for variant in variants:
                if (example, variant) in self._scores:  # asked before they are taken out below
                    place = places[example]
                    dropped.append([column[place] for column in drops[variant]])
                else:
                    dropped.append(None)
            shown: dict[str, Any] = {
                "drops": dropped,
                "scores": [self._row(self._scores.pop((example, text), None)) for text in texts],
            }
            if self._shares:
                shown["shares"] = [self._row(self._likely(example, text)) for text in texts]
            if self._named:
                shown["named"] = [self._is_named(example, variant) for variant in variants]
            # JSON already, as no cut changes them; answers stay lists, which each cut shortens anew.
            self._scored.append(_members(shown))
            answers = [self._row(self._answers.pop((example, text), None)) for text in texts]
            self._answered.append(answers)

    def _drops(self) -> dict[str, list[list[float | None]]]:
        """Variant -> for each metric how far the score of each example fell."""
        pairs_read = self._ratings.of_pairs_read()  # of controls and attacks silence is no tie
        drops: dict[str, list[list[float | None]]] = {}
        for variant in self._dataset.variants:
            name = variant["name"]
            # The judge did not rate it, so there is no score either, and nobody asks for these drops.
            if name not in self._ratings.variants:
                continue
            ratings = pairs_read if variant["level"] in PROBES else self._ratings
            drops[name] = []
            for metric in ratings.metrics:
                drops[name].append([_short(drop) for drop in ratings.differences(name, metric).tolist()])
        return drops

    def _row(self, cells: Mapping[str, list[Any]] | None) -> list[list[Any]] | None:
        """The values of each metric; None for a text that was not rated."""
        if cells is None:
            return None
        return [cells.get(metric, []) for metric in self._ratings.metrics]

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
        about = {
            "name": self._name,
            "model": self._ratings.model,
            "protocol": self._ratings.protocol,
            "dataset": self._ratings.dataset,
            "metrics": self._ratings.metrics,
            "marks": self._marks,
        }
        yield f'{{{_members(about)},"examples":['
        examples = zip(self._scored[kept], self._answered[kept], strict=True)
        for number, (scored, answered) in enumerate(examples):
            if number:
                yield ","
            yield f'{{{scored},"answers":{_dumped(_cut(answered, length))}}}'
        yield "]}"


def _collect(cells: _Cells, rows: "pd.DataFrame", values: Sequence[Any]) -> None:
    """Put a value of each row of a table of ratings into its cell."""
    keys = (rows[name].tolist() for name in ("example", "variant", "metric"))
    for example, variant, metric, value in zip(*keys, values, strict=True):
        cells.setdefault((example, variant), {}).setdefault(metric, []).append(value)


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
    # None, where there is no answer, stays None.
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
    # NaN is no JSON, and a browser could not read it: better an error here.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def shortened(text: str, length: int | None) -> str:
    """The text, or if it is longer than `length` its start and its end, where answers name their score."""
    if length is None or len(text) <= length:
        return text
    end = length // 3
    return f"{text[: length - end]} […] {text[len(text) - end :]}" if length else ""
