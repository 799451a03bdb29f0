"""`report.html` of a run with the texts in its explorer, and `index.html` of a folder of runs."""

import base64
import json
import math
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dhp.analysis.results import Result, Results, VariantResult
from dhp.content.catalog import descriptions, variant_name
from dhp.core.diff import EXCERPT, Pieces, excerpt, snippet
from dhp.core.errors import InputError
from dhp.core.files import write_lines
from dhp.core.options import near_keywords
from dhp.core.progress import Progress, numbered, progress_of, stage
from dhp.core.records import ORIGINAL, parse_variant
from dhp.core.signature import protocol_name
from dhp.core.text import printable
from dhp.core.verdicts import verdicts_about
from dhp.report.advice import advice, notes
from dhp.report.charts import detection_chart, discernment_charts, judges_chart, marks_chart
from dhp.report.columns import (
    KIND,
    LOWEST,
    METRICS,
    PAPER,
    RUNS,
    filled,
    kind_columns,
    legend,
    run_columns,
    weighed,
)
from dhp.report.compared import compared_page
from dhp.report.findings import Sentence, by_judge, sentences
from dhp.report.labels import best_mark, percent, percents, sets
from dhp.report.matrix import matrices
from dhp.report.misses import Texts, misses
from dhp.report.web import page
from dhp.runs.compare import Comparisons
from dhp.runs.reader import MANIFEST, RESULTS, Run, RunResult, RunSource, open_run, read_run

if TYPE_CHECKING:
    import pandas as pd
    from markupsafe import Markup


_NAMED = 2
"""The most datasets that a row names."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """A run as a row of the page."""

    name: str
    """Name of the run's folder."""
    path: str
    """Path of the run's folder, as a command takes it."""
    created: str
    """Time of creation, in UTC."""
    page: str | None
    """Path of its report, relative to the index."""
    judges: Sequence[str]
    prompts: Sequence[str]
    """Names of its protocols; empty where no model was asked."""
    data: str
    results: Sequence[Result]
    sentences: Sequence[Sentence]
    """One sentence per judge."""
    cells: Sequence[Sequence[str]]
    """Dataset and judge, kind of damage, verdict, what is shown, interval: for the comparison of two runs."""


def holds_runs(folder: str | Path) -> bool:
    """Whether it is not a run itself, but holds finished runs."""
    return not (Path(folder) / RESULTS).is_file() and any(Path(folder).glob(f"*/{RESULTS}"))


def write_index(folder: str | Path, out: str | Path | None = None) -> Path:
    """Write the page of all finished runs in a folder, by default `index.html` in it; returns its path.

    Runs that are not finished, or of another version, are named on the page and left out.
    """
    path = Path(folder) / "index.html" if out is None else Path(out)
    rows, left_out = [], []
    for each in sorted(Path(folder).iterdir()):
        if not (each / RESULTS).is_file():
            if (each / MANIFEST).is_file():
                left_out.append(f"{printable(each.name)}: not finished")
            continue
        try:
            rows.append(_listed(each, path.parent))
        except InputError as e:
            left_out.append(str(e))
    rows.sort(key=lambda row: row.created, reverse=True)
    every = [result for row in rows for result in row.results]
    text = page(
        "index.html",
        styles=("report.css",),
        scripts=("tables.js", "index.js"),
        rows=rows,
        columns=[c for c in run_columns(every) if c is not LOWEST],  # the sentence names kinds
        left_out=left_out,
        folder=printable(str(folder)),
        runs=[
            {"name": r.name, "path": r.path, "judges": r.judges, "prompts": r.prompts, "cells": r.cells}
            for r in rows
        ],
    )
    write_lines(path, [text])
    return path


def _listed(folder: Path, beside: Path) -> _Listed:
    found = read_run(folder).results
    datasets = list(dict.fromkeys(each.dataset for each in found))
    report = folder / "report.html"
    return _Listed(
        name=printable(folder.name),
        path=str(folder),
        created=max(each.created for each in found),
        page=_link(report, beside) if report.is_file() else None,
        judges=list(dict.fromkeys(each.judge for each in found)),
        prompts=list(dict.fromkeys(protocol_name(e.protocol) for e in found if e.asked)),
        data=sets(datasets, _NAMED),
        results=found,
        sentences=sentences(found),
        cells=[cell for each in found for cell in _cells(each)],
    )


def _link(path: Path, beside: Path) -> str:
    return quote(Path(relpath(path, beside)).as_posix())


def _cells(result: Result) -> list[list[Any]]:
    return [
        [
            result.dataset,
            result.judge,
            variant_name(row.variant),
            row.state,
            f"{row.state if row in result.probes else row.state.sign} {percent(row.detection)}",
            percents(row.detection_ci),
        ]
        for row in (*result.damage, *result.probes)
    ]


_LOWEST = 0.4
"""Where the charts of detection start at the latest."""
_OPEN = 8
"""Results whose charts show as the page opens."""


def html_report(run: Run, progress: Progress | None = None) -> str:
    """The report of a run: the sentence, the matrix, what to do next, then each result and its texts.

    `progress` is called as `progress(what, done, total, cost)`, chart by chart.

    One file that needs no network; every text in it is escaped, and all but the pairs of texts can be read
    without JavaScript. Raises `InputError` where a file of the run cannot be read.
    """
    found, curves, together = list(run.results), list["Markup | None"](), judges_chart(run.results)
    for number, each in enumerate(found, 1):
        with stage(numbered(progress, number, len(found)), "drawing the charts of the report"):
            curves.append(detection_chart(each.curves) if each.curves and together is None else None)
    with stage(progress, "packing the texts of the report"):
        pairs = explorer_data(run) if run.has_texts else ""
    several, manifest = len(found) > 1, run.manifest if run.has_texts else {}
    rows = [row for each in found for row in (*each.variants, *each.probes)]
    judged = [row for each in found for row in each.damage]
    return page(
        "report.html",
        styles=("report.css", "maps.css", "explorer.css"),
        scripts=("tables.js", "explorer.js"),
        found=found,
        curves=curves,
        notes=notes,
        repeats_of=_repeats,
        several=several,
        opened=len(found) <= _OPEN,
        sentences=sentences(found),
        matrices=[(m, [found.index(f) for f in m.columns]) for m in matrices(found)] if several else [],
        advice={judge: said for judge, of in by_judge(found).items() if (said := advice(of))},
        misses=misses(run.rated, _texts(run)) if run.has_texts else [],
        verdicts=[v for v in verdicts_about("damage") if any(row.state is v for row in judged)],
        start=_start(judged),
        damage=_damage(rows),
        controls=list(
            dict.fromkeys(parse_variant(r.variant).perturber for r in rows if r.level == "control")
        ),
        judges_chart=together,
        discernment=discernment_charts(found),
        KIND=KIND,
        METRICS=METRICS,
        PAPER=PAPER,
        RUNS=RUNS,
        filled=filled,
        best_mark=best_mark,
        marks_chart=marks_chart,
        kind_columns=kind_columns,
        legend=legend,
        weighed=weighed,
        explorer=pairs,
        prompts=run.prompts,
        manifest=json.dumps(manifest, ensure_ascii=False, indent=1),
        made=str(manifest.get("created") or max(each.created for each in found))[:10],
        perturb_usage=manifest.get("usage_of_perturb_model", {}),
    )


@near_keywords
def write_report(
    run: RunSource | Comparisons, out: str | Path | None = None, progress: Progress | bool | None = True
) -> Path:
    """Write the page of a run, its results or a comparison; returns its path.

    The page of a run goes into its folder by default. Of a folder that holds finished runs the page lists
    them: `index.html`. Results of a run without `out` have a page without texts. Raises `InputError` for a
    folder that holds no run, results that are not in a folder without `out`, and anything else.
    """
    if not isinstance(run, str | Path | Results | Comparisons):
        raise InputError(
            f"the report of a {type(run).__name__}: unknown; allowed: the folder of a run, the results of "
            "dhp.run, what dhp.compare returns"
        )
    if isinstance(run, Comparisons):
        path = _path(out, None)
        write_lines(path, [compared_page(run.rated, run, [each for each in run.runs if each.has_texts])])
        return path
    if not isinstance(run, Results) and holds_runs(run):
        return write_index(run, out)
    found = open_run(run, "the results")
    path = _path(out, run.folder if isinstance(run, Results) else found.folder)
    with progress_of(progress) as show:
        text = html_report(found, show)
    write_lines(path, [text])
    return path


def _path(out: str | Path | None, folder: Path | None) -> Path:
    """The file of a page: `out`, or in the folder of the run."""
    if out is None and folder is None:
        raise InputError('there is no folder for the page; name its file: dhp.report(..., "report.html")')
    return Path(out) if out is not None else folder / "report.html"  # type: ignore[operator]


def _repeats(result: Result) -> list[str]:
    """The figures on single scores that are defined for a metric at least."""
    columns = dict.fromkeys(name for figures in result.repeats.values() for name in figures)
    return [n for n in columns if any(f.get(n) is not None for f in result.repeats.values())]


def _start(rows: Sequence[VariantResult]) -> float:
    """Where all charts of detection start, in tenths."""
    lows = [row.detection_ci[0] for row in rows if row.detection_ci is not None]
    return int(10 * min([_LOWEST, *lows])) / 10


def _damage(rows: Sequence[VariantResult]) -> dict[str, str]:
    """Perturber -> what it does to a text, in a sentence."""
    known = descriptions()
    names = dict.fromkeys(parse_variant(row.variant).perturber for row in rows)
    return {name: known.get(name) or "A perturber of your own." for name in names}


def _texts(run: Run) -> Mapping[str, Texts]:
    """Dataset -> (example, variant) -> its row, of the examples shown."""
    found: dict[str, dict[tuple[str, str], Mapping[str, Any]]] = {r.dataset: {} for r in run.results}
    for row in run.pairs(MOST_EXAMPLES):
        found.setdefault(row["dataset"], {})[row["example"], row["variant"]] = row
    return found


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
        said = {"cut": asdict(replace(cut, examples=cut.examples or most)), "excerpt": EXCERPT}
        of_datasets = (chain([f"{_dumped(n)}:"], d.json(kept, cut.source)) for n, d in datasets.items())
        of_judges = (judge.json(kept, cut.answer) for judge in judges)
        head = f'{{{_members(said)},"datasets":{{'
        parts = chain([head], _separated(of_datasets), ['},"judges":['], _separated(of_judges), ["]}"])
        packer = zlib.compressobj(6, wbits=31)
        packed = [packer.compress(part.encode(errors="replace")) for part in parts]
        return base64.b64encode(b"".join([*packed, packer.flush()])).decode()

    def seems_enough(cut: Cut) -> bool:
        return _SAMPLED * len(packed(cut, _SAMPLED)) <= budget

    for cut in CUTS[bisect_left(CUTS, True, key=seems_enough) :]:
        if len(data := packed(cut)) <= budget:
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
    and sample. A text that was not rated is None; in the place of a missing score stands its status.
    """

    def __init__(self, rated: RunResult, dataset: _Dataset) -> None:
        self._ratings, self._dataset, self._name = rated.ratings, dataset, rated.result.judge
        self._scores: _Cells = {}
        self._answers: _Cells = {}
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

    def complete(self) -> None:
        """Put the ratings in the order of the examples, when all of them are there."""
        ratings, variants = self._ratings, [v["name"] for v in self._dataset.variants]
        texts = (ORIGINAL, *variants)
        drops = {
            v: [list(map(_short, ratings.differences(v, m).tolist())) for m in ratings.metrics]
            for v in variants
            if v in ratings.variants
        }
        positions = {example: index for index, example in enumerate(ratings.examples)}
        for e in self._dataset.ids:
            of_texts = [
                [of[positions[e]] for of in drops[v]] if (e, v) in self._scores else None for v in variants
            ]
            scores = [_row(self._scores.pop((e, t), None), ratings.metrics) for t in texts]
            self._scored.append(_members({"drops": of_texts, "scores": scores}))
            self._answered.append([_row(self._answers.pop((e, t), None), ratings.metrics) for t in texts])

    def json(self, kept: slice, length: int | None) -> Iterator[str]:
        """What it is, and its ratings of some examples, its answers cut to so many characters."""
        known = ("model", "protocol", "dataset", "metrics")
        said = {"name": self._name, **{name: getattr(self._ratings, name) for name in known}}
        yield f'{{{_members(said)},"examples":['
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
    """The text, or where it is longer than `length` its start and its end, where answers name their score."""
    if length is None or len(text) <= length:
        return text
    end = length // 3
    return f"{text[: length - end]} […] {text[len(text) - end :]}" if length else ""
