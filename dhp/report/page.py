"""`report.html`: all that a run found, as one self-contained page."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.analysis.result_parts import VariantResult
from dhp.analysis.results import Result
from dhp.content.catalog import descriptions
from dhp.core.files import write_lines
from dhp.core.progress import Progress, numbered, stage
from dhp.core.records import parse_variant
from dhp.core.terminal_progress import progress_of
from dhp.report.curves import detection_chart, discernment_curves, judges_chart
from dhp.report.explorer import MOST_EXAMPLES, explorer_data
from dhp.report.figures import discernment_chart, scores_chart
from dhp.report.labels import judge_name, state
from dhp.report.next_steps import BlindSpot, blind_spot_pages, next_steps, shared_remedies
from dhp.report.notes import notes
from dhp.report.overview import blind_spots, controls, noticed_count, verdict_sentences
from dhp.report.summary import sentences
from dhp.report.thresholds import threshold_sentence, threshold_sentences
from dhp.report.web import page
from dhp.runs.reader import Run, RunResult, read_run

if TYPE_CHECKING:
    from markupsafe import Markup

_AVERAGES = (("D_avg", "d_avg"), ("D_min", "d_min"), ("effect_avg", "effect_avg"))


@dataclass(frozen=True, slots=True)
class _Section:
    """A result with what the page says about it."""

    place: int
    result: Result
    metrics: Sequence[str]
    sentences: Sequence[str]
    notes: Sequence[str]
    averages: Sequence[Mapping[str, Any]]
    charts: Mapping[str, "Markup | None"]
    blind: Sequence[BlindSpot]
    common: Sequence[str]
    """Remedies for all blind spots alike."""
    steps: Sequence[str]
    """What to do next, besides remedies for the blind spots."""
    damage: Mapping[str, str | None]
    """Perturber -> what it does to a text, in a sentence."""
    repeats: Sequence[str]
    """The figures on single scores that are defined for a metric at least."""
    confusion: Mapping[str, Sequence[float | None]]
    """Variant -> the share of the drop that fell on each metric; None for all where no metric fell."""

    @property
    def title(self) -> str:
        return f"{self.result.dataset}: {self.judge}"

    @property
    def judge(self) -> str:
        return judge_name(self.result)

    @property
    def verdict(self) -> str | None:
        """What the judge sees and misses on this dataset, or from which dose on; None without variants."""
        if self.result.curves:
            return f"{self.judge}: {threshold_sentence(self.result)}"
        return verdict_sentences([self.result])[0] if self.result.variants else None

    @property
    def noticed(self) -> str:
        return noticed_count(self.result)

    @property
    def blind_spots(self) -> Sequence[str]:
        return blind_spots([self.result])

    @property
    def controls(self) -> str:
        return controls(self.result)

    @property
    def levels(self) -> Mapping[str, Sequence[VariantResult]]:
        """Level -> its variants, for the chart of detection; empty where none is defined, and for doses."""
        found: dict[str, list[VariantResult]] = {}
        for row in self.result.variants:
            found.setdefault(row.level, []).append(row)
        defined = any(row.detection is not None for row in self.result.variants)
        return found if defined and not self.result.curves else {}

    @property
    def rows(self) -> Sequence[VariantResult]:
        return (*self.result.variants, *self.result.controls, *self.result.attacks)

    @property
    def seen(self) -> int:
        return sum(state(row) == "noticed" for row in self.result.variants)

    @property
    def stopped(self) -> bool:
        return any(row.stopped_at is not None for row in self.rows)


def html_report(run: Run, progress: Progress | None = None) -> str:
    """The report of a run: a section for each result, then its texts, prompts and manifest.

    `progress` is called as `progress(what, done, total, cost)`, chart by chart.

    One file that needs no network; every text in it is escaped, and all but the texts can be read without
    JavaScript.

    Raises
    ------
    InputError
        Where a file of the run cannot be read.
    """
    manifest = run.manifest
    rated = [result for result in run.results if not result.curves and result.variants]
    dosed = threshold_sentences(run.results)
    texts, sections = _texts(run), []
    for place, each in enumerate(run.rated, 1):
        with stage(numbered(progress, place, len(run.rated)), "drawing the charts of the report"):
            sections.append(_section(place, each, texts))
    with stage(progress, "packing the texts of the report"):
        pairs = explorer_data(run)
    return page(
        "report.html",
        styles=("report.css", "maps.css", "explorer.css"),
        scripts=("tables.js", "explorer.js"),
        sections=sections,
        verdicts=verdict_sentences(rated) + dosed,
        dosed=len(dosed),
        judges_chart=judges_chart(run.results),
        explorer=pairs,
        prompts=run.prompts,
        manifest=json.dumps(manifest, ensure_ascii=False, indent=1),
        made=manifest.get("created", ""),
        perturb_usage=manifest.get("usage_of_perturb_model", {}),
    )


def write_report(
    run: str | Path, out: str | Path | None = None, progress: Progress | bool | None = True
) -> Path:
    """Write the page of a finished run, by default into its folder; returns its path.

    Raises `InputError` for a folder that holds no run.
    """
    found = read_run(run)
    with progress_of(progress) as show:
        text = html_report(found, show)
    path = found.folder / "report.html" if out is None else Path(out)
    write_lines(path, [text])
    return path


def _texts(run: Run) -> dict[str, dict[tuple[str, str], Mapping[str, Any]]]:
    """Dataset -> (example, variant) -> its row, with the original as `before`, of the examples shown."""
    before: dict[str, dict[str, str]] = {}
    for e in run.examples:
        if len(own := before.setdefault(e["dataset"], {})) < MOST_EXAMPLES:
            own[e["id"]] = e["output"]
    found: dict[str, dict[tuple[str, str], Mapping[str, Any]]] = {name: {} for name in before}
    for row in run.perturbed:
        if (original := before[row["dataset"]].get(row["example"])) is not None:
            found[row["dataset"]][row["example"], row["variant"]] = {**row, "before": original}
    return found


def _section(
    place: int, rated: RunResult, texts: Mapping[str, Mapping[tuple[str, str], Mapping[str, Any]]]
) -> _Section:
    result = rated.result
    rows = (*result.variants, *result.controls, *result.attacks)
    perturbers = dict.fromkeys(parse_variant(row.variant).perturber for row in rows)
    known = descriptions()
    columns = dict.fromkeys(name for figures in result.repeats.values() for name in figures)
    spots = [] if result.curves else blind_spot_pages(result, rated.ratings, texts.get(result.dataset, {}))
    blind, common = shared_remedies(spots)
    return _Section(
        place=place,
        result=result,
        metrics=list(rows[0].metrics) if rows else [],
        sentences=sentences(result),
        notes=notes(result),
        averages=[] if result.curves else _averages(result),
        charts={
            "d": discernment_chart(result.variants) if result.variants and not result.curves else None,
            "scores": scores_chart(result) if result.styles else None,
            "detection": detection_chart(result.curves) if any(c.detection for c in result.curves) else None,
            "curves": discernment_curves(result.curves) if result.curves else None,
        },
        blind=blind,
        common=common,
        steps=[] if result.curves else next_steps(result),
        damage={name: known.get(name) for name in perturbers},
        repeats=[n for n in columns if any(f.get(n) is not None for f in result.repeats.values())],
        confusion={r.variant: _shares(r) for r in result.variants if r.misplaced is not None},
    )


def _averages(result: Result) -> list[dict[str, Any]]:
    """Rows of the table of averages: plain and weighted, with the value on 100 examples."""
    figures, at_100 = asdict(result), dict(result.at_100)
    return [
        {
            "name": name,
            "value": figures[key],
            "weighted": figures[f"{key}_ew"],
            "at_100": at_100.get(key),
            "weighted_at_100": at_100.get(f"{key}_ew"),
        }
        for name, key in _AVERAGES
    ]


def _shares(row: VariantResult) -> list[float | None]:
    """How the drop is distributed over the metrics; a metric that rose has no share."""
    fallen = [max(cell.mean_drop or 0.0, 0.0) for cell in row.metrics.values()]
    total = sum(fallen)
    return [drop / total if total else None for drop in fallen]
